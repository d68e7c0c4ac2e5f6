"""Networks in the comparison: all is paid for, chosen elsewhere, and pairs differ in the model alone."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

import dpfair_lib as dpf
from dpfair_lib.experiments import mean_interval
from dpfair_lib.experiments.fair_learners import networks, people, settings, trials
from dpfair_lib.experiments.fair_learners.bases import ATTRIBUTE, PRESENT
from dpfair_lib.experiments.fair_learners.methods import CHANGED, GAMMAS, PLAIN
from dpfair_lib.experiments.ours.private_learners_settings import SIZES, STANDS_FOR
from dpfair_lib.experiments.recorded_results import read_record

SETTINGS = {
    "DP-SGD": [{"sample_rate": 0.2, "steps": 5, "learning_rate": 3.0}] * 4,
    "network": [{"hidden": 4, "sample_rate": 0.2, "steps": 5, "learning_rate": 3.0}] * 4,
}
TUNING = {f"{one.protection}/{one.name}": [one.candidates[0]] for one in networks.RUN}


@pytest.fixture(scope="module")
def data():
    return dpf.synthetic("compas", n=900, random_state=0)


def trial(data, number):
    return pd.DataFrame(
        networks.run_trial(data, split=number, seed=0, settings=SETTINGS, tuning=TUNING, epsilons=(1.0,))
    )


def test_methods_that_take_any_classifier_run_under_add_remove():
    assert {one.name for one in networks.RUN} == {PLAIN, *CHANGED}
    assert {one.protection for one in networks.RUN} == {PRESENT}


def test_a_trial_has_every_method_at_every_setting_of_its_dial_once(data):
    rows = trial(data, 0)
    assert not rows.duplicated(["protection", "method", "notion", "level", "dial"]).any()
    for one in networks.RUN:
        its = rows[(rows["protection"] == PRESENT) & (rows["method"] == one.name)]["dial"]
        bare = one.name in (PLAIN, "Algorithm 2")
        assert its.isna().tolist() == [True] if bare else its.tolist() == list(GAMMAS)
    assert rows[["error", *people.NOTIONS]].stack().between(0, 1).all()
    pd.testing.assert_frame_equal(rows.drop(columns="seconds"), trial(data, 0).drop(columns="seconds"))
    assert not trial(data, 1)["error"].equals(rows["error"])


@pytest.fixture(scope="module")
def bases(data):
    train, test = people.split_people(data, 0, 0)
    return networks.NetworkBases(train, SETTINGS, (0, 0)), test


def test_a_method_that_costs_more_is_refused(bases):
    bases, test = bases
    for one in networks.RUN:
        found = next(trials.checked(one, bases, test, 1.0, one.candidates[0])).statement
        assert found.epsilon <= 1
        assert found.relation == PRESENT
        dear = one._replace(
            fit=lambda bases, test, _, candidate, one=one: one.fit(bases, test, 2.0, candidate)
        )
        with pytest.raises(RuntimeError, match=r"expected ε = 1\.0"):
            next(trials.checked(dear, bases, test, 1.0, one.candidates[0]))


def test_scores_are_those_of_the_fitted_network(bases):
    bases, test = bases
    model = dpf.DPNetworkClassifier(
        hidden=4, epsilon=1.0, delta=bases.delta, max_grad_norm=1.0, classes=(0, 1), noise="study",
        random_state=bases.seed("descent", 1.0), sample_rate=0.2, steps=5, learning_rate=3.0,
    ).fit(bases.train.features, bases.train.labels)  # fmt: skip
    assert bases.get(PRESENT, 1.0).scores(test) == pytest.approx(model.decision_function(test.features))
    assert bases.get(PRESENT, 1.0).statement == model.privacy_statement_


def test_the_network_without_privacy_is_that_of_scikit_learn(bases):
    bases, test = bases
    model = MLPClassifier(16, activation="tanh", solver="lbfgs", max_iter=200, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(bases.train.features, bases.train.labels)
    base = bases.get(ATTRIBUTE, 1.0)
    assert base.statement is None
    assert np.array_equal(base.guesses(test), model.predict(test.features))


def test_the_candidate_with_the_least_mean_error_is_chosen():
    held = pd.DataFrame([
        {"level": level, "candidate": at, "draw": draw, "error": 0.3 - 0.01 * (at == (3 + place) % 12) + 0.02 * draw}
        for place, level in enumerate((0.1, 0.3, 1.0, 3.0)) for at in range(12) for draw in range(2)
    ])  # fmt: skip
    assert networks.chosen(held) == [networks.CANDIDATES[at] for at in (3, 4, 5, 6)]
    assert {one["hidden"] for one in networks.CANDIDATES} == {4, 16}


def lines(error, gaps, splits):
    """Return rows of every method at two settings of its dial; errors and gaps by split, larger at the other dial."""
    frames = [
        pd.DataFrame(
            {"protection": "none", "method": PLAIN, "level": np.nan, "dial": np.nan, "split": splits}
        )
    ]
    for one in networks.RUN:
        for level in settings.EPSILONS:
            for dial in (np.nan,) if one.name in (PLAIN, "Algorithm 2") else (0.0, 0.1):
                frames.append(pd.DataFrame({
                    "protection": PRESENT, "method": one.name, "level": level, "dial": dial, "split": splits,
                }))  # fmt: skip
    rows = pd.concat(frames, ignore_index=True)
    at = rows["split"].to_numpy()
    more = 0.3 * (rows["dial"] == 0.1)
    return rows.assign(error=np.take(error, at) + more, parity=np.take(gaps, at) + more)


def test_differences_are_paired_by_split():
    rng = np.random.default_rng(0)
    error, gaps = rng.random(6), rng.random(6)
    own_error = error[:3] + np.array([-0.01, -0.02, -0.03])
    own_gaps = gaps[:3] + np.array([0.001, 0.002, 0.001])
    dials = {
        (PRESENT, one.name, level): None if one.name in (PLAIN, "Algorithm 2") else 0.0
        for one in networks.RUN for level in settings.EPSILONS
    }  # fmt: skip
    linear = lines(error, gaps, range(6))
    found = networks.compared(lines(own_error, own_gaps, range(3)), linear, dials, "parity", level=0.9)
    assert len(found) == 1 + 4 * len(networks.RUN)
    for line in found.itertuples():
        assert line.error == pytest.approx(
            mean_interval(pd.Series([-0.01, -0.02, -0.03]), level=0.9, test_to_train=0.25)
        )
        assert line.loss[0] == pytest.approx(-0.02 + 0.004 / 3)
        assert line.gap[0] == pytest.approx(0.004 / 3)
        assert line.verdict == ("better" if line.loss[0] + line.loss[1] < 0 else "not apart")
    swapped = networks.compared(
        lines(error, gaps, range(3)), lines(own_error, own_gaps, range(3)), dials, "parity", level=0.5
    )
    assert set(swapped["verdict"]) == {"worse"}


@pytest.mark.parametrize("size", SIZES)
def test_every_candidate_was_tried_on_the_held_rows(size):
    held, _ = read_record(f"private-fair-networks-settings-{size}")
    draws = held.groupby(["level", "candidate"])[["label", "draw"]].apply(
        lambda its: len(its.drop_duplicates())
    )
    assert set(draws) == {2 * SIZES[size].draws}
    assert len(draws) == 4 * len(networks.CANDIDATES)
    assert not held.duplicated(["level", "candidate", "label", "draw"]).any()


@pytest.mark.parametrize("data", STANDS_FOR)
def test_the_record_has_the_first_splits_and_the_settings_that_were_chosen(data):
    rows, record = read_record(f"private-fair-networks-{data}")
    linear, other = read_record(f"private-fair-{data}")
    held, _ = read_record(f"private-fair-networks-settings-{STANDS_FOR[data]}")
    parameters = record["parameters"]
    assert parameters["settings"]["network"] == networks.chosen(held)
    assert parameters["tuning"] == {key: other["parameters"]["tuning"][key] for key in parameters["tuning"]}
    assert record["data"] == other["data"]
    splits = set(range(networks.TRIALS))
    assert parameters["tasks"] == len(splits)
    keys = ["protection", "method", "notion", "level", "dial"]
    assert rows.groupby(keys, dropna=False)["split"].agg(set).eq(splits).all()
    # the same rows: the constant errs alike
    constant = [
        its[its["method"] == "constant"].set_index("split")["error"].loc[list(splits)]
        for its in (rows, linear)
    ]
    assert constant[0].tolist() == constant[1].tolist()
    dials = settings.dials(settings.held_rows(data), data, "parity")
    assert len(networks.compared(rows, linear, dials, "parity", level=0.95)) == 1 + 4 * len(networks.RUN)
