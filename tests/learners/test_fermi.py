import math

import numpy as np
import pytest
import torch
from fermi_small import P_S, WITH_ONES, N, S, X, Y, seed, steps
from scipy.special import expit
from sklearn.base import clone

from dpfair_lib import DPFermiClassifier, DPLogisticRegression
from dpfair_lib.learners import opacus_backend
from dpfair_lib.learners.fermi_penalty import penalty, renyi_information
from dpfair_lib.learners.fermi_training import printed_noise, train_private
from dpfair_lib.learners.linear import LEFT_OUT
from dpfair_lib.learners.settings import Steps
from dpfair_lib.privacy import STUDY_NOTE, dp_sgd_epsilon, dp_sgd_noise

SEX = np.where(S == 0, "f", "m")
GOOD = {
    "penalty": 1.0, "epsilon": 2.0, "delta": 1e-5, "steps": 5, "batch_size": 20, "noise": "study", "random_state": 0,
    "group_frequencies": {"f": 0.4, "m": 0.6},
}  # fmt: skip
SECURE = {"noise": "secure", "random_state": None}
AS_RUN = {**GOOD, "group_frequencies": None, "as_run": True}


def test_without_penalty_it_is_dp_sgd():
    plan = steps(strengths=np.array([0.0]), clip=0.5, count=4, learning_rate=0.3)
    ours = train_private((WITH_ONES, Y, S), P_S, plan, seed())[0][0]
    same = Steps(
        noise_multiplier=0.0,
        max_grad_norm=0.5,
        sample_rate=1.0,
        count=4,
        learning_rate=0.3,
        fit_intercept=True,
    )
    theirs = opacus_backend.train(X, Y, same, [seed()], torch.device("cpu"))[0]
    assert ours == pytest.approx(theirs, abs=1e-5)  # Opacus adds 1e-6 to each norm


def test_larger_penalty_smaller_gap():
    rng = np.random.default_rng(2)
    n = 4000
    s = rng.integers(0, 2, n)
    x = np.column_stack([rng.normal(size=n) + 1.5 * s, rng.normal(size=n), np.ones(n)])
    y = (x @ [1.0, 1.0, -0.7] + rng.logistic(size=n) > 0).astype(float)
    strengths, frequencies = np.array([0.0, 0.5, 2.0, 8.0]), np.bincount(s) / n
    plan = steps(
        strengths=strengths, count=1500, batch_size=400, learning_rate=0.3, w_learning_rate=0.1, clip=5.0,
        w_clip=5.0, w_radius=math.sqrt(2 / frequencies.min()),
    )  # fmt: skip
    weights, W = train_private((x, y, s), frequencies, plan, seed())
    p = expit(weights @ x.T)
    information = renyi_information(p, s, frequencies)
    chosen = p > 0.5
    gaps = abs(chosen[:, s == 0].mean(axis=1) - chosen[:, s == 1].mean(axis=1))
    assert (np.diff(information) < 0).all()
    assert (np.diff(gaps) < 0).all()
    assert gaps[0] > 0.3 > 0.1 > gaps[-1]
    assert penalty(p, s, frequencies, W)[1:] == pytest.approx(information[1:], abs=0.02)  # W keeps up


def test_as_run_penalises_the_chosen_groups_rate_and_not_dependence():
    def largest(rates, share):
        rate = share * rates[0] + (1 - share) * rates[1]
        return share * rates[0] ** 2 / rate - 1

    # equal rates are no minimum, and any gap in the other direction is rewarded
    assert largest((0.0, 0.5), 0.5) == -1 < largest((0.25, 0.25), 0.5) < largest((0.5, 0.0), 0.5)
    p = np.repeat([[0.2, 0.6]], 50, axis=0).T.reshape(1, -1)
    s, halves = np.repeat([0, 1], 50), np.array([0.5, 0.5])
    entries = np.zeros((2001, 2, 2))
    entries[:, 0, 1] = np.linspace(-3, 3, 2001)
    values = penalty(np.repeat(p, 2001, axis=0), s, halves, entries)
    assert values.max() == pytest.approx(largest((0.2, 0.6), 0.5), abs=1e-5)
    assert renyi_information(p, s, halves)[0] > 0 > values.max()


# -- the estimator


def fitted(base=None, **changes):
    return DPFermiClassifier(**{**(base or GOOD), **changes}).fit(X, Y, sensitive_features=SEX)


def test_statement_of_the_private_method():
    model = fitted()
    statement = model.privacy_statement_
    assert model.noise_multiplier_ == dp_sgd_noise(2.0, 1e-5, 20 / N, 5, "pld")
    assert statement.epsilon == dp_sgd_epsilon(model.noise_multiplier_, 20 / N, 5, 1e-5, "pld") <= 2.0
    assert (statement.delta, statement.relation, statement.accountant) == (1e-5, "add-remove", "pld")
    assert "the group frequencies" in statement.public
    assert statement.note == f"{LEFT_OUT}; {STUDY_NOTE}"
    assert model.group_frequencies_.tolist() == [0.4, 0.6]


def test_estimated_frequencies_are_paid_for():
    model = fitted(group_frequencies=None, frequency_epsilon=0.5)
    statement = model.privacy_statement_
    assert model.noise_multiplier_ == dp_sgd_noise(1.5, 1e-5, 20 / N, 5, "pld")
    assert 1.999 < statement.epsilon <= 2.0
    assert statement.delta == 1e-5
    assert statement.parts[0].epsilon == 0.5
    assert "the group frequencies" not in statement.public
    assert model.group_frequencies_.sum() == pytest.approx(1)
    exact = np.unique(SEX, return_counts=True)[1] / N
    assert (model.group_frequencies_ != exact).all()
    close = fitted(group_frequencies=None, frequency_epsilon=99.0, epsilon=100.0)
    assert close.group_frequencies_ == pytest.approx(exact, abs=0.01)


def test_statement_of_what_was_run():
    model = fitted(AS_RUN)
    statement = model.privacy_statement_
    assert not statement.guarantee
    assert (statement.epsilon, statement.delta) == (2.0, 1e-5)
    for reason in ("batch mean is clipped", "not shuffled ones", STUDY_NOTE):
        assert reason in statement.note
    assert statement.sampling == "shuffled batches of 20, 5 steps"
    smallest = np.unique(SEX, return_counts=True)[1].min()
    assert model.noise_deviations_ == printed_noise(2.0, 1e-5, N, 5, (smallest - 1) / N)
    first, other = (fitted(AS_RUN, penalised_group=g) for g in (SEX[0], {"f": "m", "m": "f"}[SEX[0]]))
    assert np.array_equal(model.coef_, first.coef_)
    assert not np.array_equal(model.coef_, other.coef_)


@pytest.mark.parametrize("base", [GOOD, AS_RUN])
def test_many_models_in_one_call(base):
    several = fitted(base, penalty=[0.0, 1.0, 2.0], replicates=2)
    assert several.coef_.shape == (2, 3, 1, 3)
    assert several.intercept_.shape == (2, 3, 1)
    assert several.W_.shape == (2, 3, 2, 2)
    assert several.predict_proba(X).shape == (2, 3, N, 2)
    assert several.predict(X).shape == (2, 3, N)
    one = fitted(base)
    assert one.coef_.shape == (1, 3)
    assert one.predict(X).shape == (N,)
    assert several.coef_[0, 1] == pytest.approx(one.coef_, abs=1e-12)
    assert not np.array_equal(several.coef_[0], several.coef_[1])
    assert "each of 6 models alone" in several.privacy_statement_.note
    assert "each of" not in one.privacy_statement_.note


@pytest.mark.parametrize("base", [GOOD, AS_RUN])
def test_one_seed_one_model(base):
    first, again, other = fitted(base), fitted(base), fitted(base, random_state=1)
    assert np.array_equal(first.coef_, again.coef_)
    assert not np.array_equal(first.coef_, other.coef_)
    assert not np.array_equal(fitted(base, random_state=None).coef_, fitted(base, random_state=None).coef_)
    assert clone(first).get_params() == first.get_params()


def test_without_penalty_the_noise_is_that_of_dp_sgd():
    ours = fitted(penalty=0.0)
    peer = DPLogisticRegression(
        epsilon=2.0,
        delta=1e-5,
        max_grad_norm=5.0,
        sample_rate=20 / N,
        steps=5,
        learning_rate=0.1,
        noise="study",
    ).fit(X, Y)
    assert ours.noise_multiplier_ == peer.noise_multiplier_
    assert ours.privacy_statement_.epsilon == peer.privacy_statement_.epsilon
    assert {0, 1} >= set(ours.predict(X))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"penalty": -1}, "penalty: found -1"),
        ({"penalty": [1.0, np.inf]}, "penalty: found an infinite"),
        ({"penalty": []}, "penalty: found shape"),
        ({"penalty": "1"}, "penalty: found '1'"),
        ({"epsilon": 0}, "epsilon: found 0"),
        ({"delta": 1}, "delta: found 1"),
        ({"steps": 0}, "steps: found 0"),
        ({"batch_size": 0}, "batch_size: found 0"),
        ({"batch_size": N + 1}, "batch_size: found 61, expected at most the 60 rows"),
        ({"as_run": "yes"}, "as_run: found 'yes'"),
        ({"learning_rate": 0}, "learning_rate: found 0"),
        ({"learning_rate": 1e308, "steps": 50}, "w_learning_rate: found 1e.308, .* the loss is not finite"),
        ({"w_learning_rate": -1}, "w_learning_rate: found -1"),
        ({"max_grad_norm": np.nan}, "max_grad_norm: found nan"),
        ({"w_max_grad_norm": 0}, "w_max_grad_norm: found 0"),
        ({"w_radius": 0}, "w_radius: found 0"),
        ({"replicates": 0}, "replicates: found 0"),
        ({"noise": "secure"}, "random_state: found 0 beside noise='secure'"),
        (SECURE | {"replicates": 2}, "replicates: found 2 beside noise='secure'"),
        (SECURE | {"penalty": [0.0, 1.0]}, "penalty: found 2 numbers beside noise='secure', expected one"),
        (SECURE | {"max_grad_norm": 1e101}, "max_grad_norm: found 1e.101, expected a number from 1e-100"),
        (SECURE | {"w_max_grad_norm": 1e-101}, "w_max_grad_norm: found 1e-101, expected a number from"),
        (SECURE | {"learning_rate": 1e300}, "at which weights or W overflow"),
        (SECURE | {"penalty": 1e300}, "at which weights or W overflow"),
        (
            SECURE | {"as_run": True, "group_frequencies": None},
            "noise: found 'secure', which as_run=True does not provide",
        ),
        ({"random_state": -1}, "random_state: found -1"),
        ({"frequency_epsilon": 1.0}, "group_frequencies, frequency_epsilon: found both"),
        ({"group_frequencies": None}, "group_frequencies, frequency_epsilon: found neither"),
        (
            {"group_frequencies": None, "frequency_epsilon": 2.0},
            "frequency_epsilon: found 2.0, expected less",
        ),
        ({"group_frequencies": {"f": 1.0}}, "group_frequencies: found .'f'., expected a frequency for each"),
        ({"group_frequencies": [0.4, 0.6]}, r"group_frequencies: found \[0.4, 0.6\]"),
        ({"group_frequencies": {"f": 0.4, "m": 0.5}}, "group_frequencies: found a sum of 0.9"),
        ({"group_frequencies": {"f": 0, "m": 1}}, "group_frequencies: found 0"),
        ({"penalised_group": "f"}, "penalised_group: found 'f' with as_run=False"),
        ({"as_run": True}, "group_frequencies: found .* with as_run=True"),
    ],
)
def test_bad_parameters_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        fitted(**changes)


def test_bad_data_are_refused():
    with pytest.raises(ValueError, match="penalised_group: found 'x', expected one of"):
        fitted(AS_RUN, penalised_group="x")
    alone = np.where(np.arange(N) == 0, "f", "m")
    for x, y, groups, base, message in (
        (X, Y, SEX[:-1], GOOD, "lengths differ"),
        (X, Y, np.full(N, "f"), GOOD, "sensitive_features: found one group"),
        (X, np.zeros(N), SEX, GOOD, "y: found one class"),
        (X * 1e200, Y, SEX, GOOD, "X: found an entry of size"),
        (X * np.nan, Y, SEX, GOOD, "X contains NaN"),
        (X, Y, alone, AS_RUN, "sensitive_features: found a group with one row"),
    ):
        with pytest.raises(ValueError, match=message):
            DPFermiClassifier(**base).fit(x, y, sensitive_features=groups)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {**GOOD, "learning_rate": 1e300},
            "learning_rate, w_learning_rate: found 1e.300, 0.01, at which .* finite",
        ),
        ({**GOOD, "w_learning_rate": 1e300, "w_radius": 1e300}, "the loss is not finite, expected less"),
        ({**AS_RUN, "learning_rate": 1e300}, "the loss is not finite, expected less"),
        (
            {**AS_RUN, "w_radius": 1e300},
            "max_grad_norm, w_radius: found 5.0, 1e.300, at which .* overflow, expected",
        ),
    ],
)
def test_a_loss_that_is_not_finite_is_an_error(given, message):
    with pytest.raises(ValueError, match=message):
        DPFermiClassifier(**{**given, "steps": 8}).fit(X, Y, sensitive_features=SEX)
