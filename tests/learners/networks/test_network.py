"""A network by DP-SGD as an estimator: parameters, refusals, what it costs and what it keeps."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import dpfair_lib as dpf
from dpfair_lib.learners.linear import LEFT_OUT
from dpfair_lib.learners.networks import network
from dpfair_lib.privacy import dp_sgd_noise, dp_sgd_statement
from dpfair_lib.privacy.grid_noise import continuous_delta, grid_statement

STEPS = {"delta": 1e-5, "max_grad_norm": 0.5, "sample_rate": 0.5, "steps": 3, "learning_rate": 1.0}
STUDY = {"noise": "study", "random_state": 0}
X, Y = np.eye(4), np.array([0, 1, 0, 1])


def fitted(**changes):
    return dpf.DPNetworkClassifier(**{"epsilon": 2.0, "hidden": 3} | STUDY | STEPS | changes).fit(X, Y)


def test_each_parameter_is_kept_as_it_was_given():
    given = {name: object() for name in dpf.DPNetworkClassifier(**STEPS).get_params()}
    made = dpf.DPNetworkClassifier(**given)
    assert clone(made, safe=False).get_params(deep=False).keys() == given.keys()
    assert all(getattr(made, name) is value for name, value in given.items())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": None}, "epsilon, noise_multiplier: found neither"),
        ({"noise_multiplier": 1.0}, "epsilon, noise_multiplier: found both"),
        ({"delta": 0.0}, "delta: found 0"),
        ({"hidden": 0}, "hidden: found 0, expected an integer of at least 1"),
        ({"hidden": 10_001}, "hidden: found 10,001, expected at most 10,000"),
        ({"start": 0}, "start: found 0, expected an integer of at least 1"),
        ({"steps": 0}, "steps: found 0"),
        ({"sample_rate": 1.5}, "sample_rate: found 1.5"),
        ({"max_grad_norm": 1e101}, "max_grad_norm: found 1e\\+101"),
        ({"learning_rate": 1e300}, "learning_rate: found 1e\\+300, at which weights overflow"),
        ({"noise": "secure"}, "random_state: found 0"),
    ],
)
def test_what_is_out_of_range_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        fitted(**changes)


def test_another_start_is_another_network_and_the_same_start_the_same():
    one, same, other = (fitted(start=start).coefs_[0] for start in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_shapes_are_those_of_scikit_learn():
    model = fitted()
    assert [part.shape for part in (*model.coefs_, *model.intercepts_)] == [(4, 3), (3, 1), (3,), (1,)]
    units = np.tanh(X @ model.coefs_[0] + model.intercepts_[0])
    scores = (units @ model.coefs_[1] + model.intercepts_[1])[:, 0]
    assert model.decision_function(X) == pytest.approx(scores)
    assert model.predict_proba(X)[:, 1] == pytest.approx(1 / (1 + np.exp(-scores)))


@pytest.mark.parametrize("divisor", [None, 2.0])
def test_the_cost_is_that_of_the_linear_model_but_for_the_number_of_weights(divisor):
    changes = {"epsilon": None, "noise_multiplier": 3.0, "expected_batch_size": divisor}
    secure = fitted(noise="secure", random_state=None, **changes).privacy_statement_
    linear = dpf.DPLogisticRegression(**STEPS | changes).fit(X, Y).privacy_statement_
    assert replace(secure, mechanism=linear.mechanism) == linear
    expected = grid_statement(3.0, 0.5, 3, 3 * (4 + 2) + 1, 1e-5, public=secure.public)
    assert secure == replace(expected, note=LEFT_OUT)
    study = fitted(**changes).privacy_statement_
    assert not study.guarantee
    expected = dp_sgd_statement(3.0, 0.5, 3, 1e-5, "pld")
    assert (study.epsilon, study.delta, study.mechanism) == (expected.epsilon, 1e-5, expected.mechanism)


def test_noise_for_an_epsilon_leaves_the_part_of_delta_for_its_being_discrete():
    secure = fitted(noise="secure", random_state=None)
    assert secure.noise_multiplier_ == dp_sgd_noise(2.0, continuous_delta(1e-5), 0.5, 3, "pld")
    assert secure.privacy_statement_.epsilon <= 2.0
    assert secure.privacy_statement_.guarantee
    assert fitted().noise_multiplier_ == dp_sgd_noise(2.0, 1e-5, 0.5, 3, "pld")


@pytest.mark.parametrize("at", [0, 11, 14, 15, 17, 18])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_no_weight_may_be_heavier_than_steps_bear(at, sign, monkeypatch):
    weights = np.zeros(3 * (4 + 2) + 1)
    monkeypatch.setattr(network, "train_network", lambda *_: weights)
    weights[at] = sign * 1e40
    model = fitted()
    assert sum(abs(part).sum() for part in (*model.coefs_, *model.intercepts_)) == 1e40
    for heavy in (sign * np.nextafter(1e40, np.inf), np.nan):
        weights[at] = heavy
        with pytest.raises(ValueError, match=r"learning_rate: found 1\.0, at which weights overflow"):
            fitted()


def test_declared_labels_need_not_occur():
    model = dpf.DPNetworkClassifier(epsilon=2.0, classes=("no", "yes"), **STEPS, **STUDY).fit(X, ["no"] * 4)
    assert model.classes_.tolist() == ["no", "yes"]
    with pytest.raises(ValueError, match="y: found one class"):
        dpf.DPNetworkClassifier(epsilon=2.0, **STEPS, **STUDY).fit(X, ["no"] * 4)


def test_a_network_may_be_a_step_of_a_private_pipeline():
    learner = dpf.DPNetworkClassifier(epsilon=1.0, hidden=4, classes=(0, 1), **STEPS)
    made = dpf.PrivatePipeline(
        [("scale", dpf.PublicScaler(dict.fromkeys(range(4), (0, 1)))), ("learn", learner)]
    )
    statement = made.fit(X, Y).privacy_statement_
    assert statement.guarantee
    assert statement.epsilon <= 1.0
