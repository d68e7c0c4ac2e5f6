"""What learners with noisy counts in their steps share: parameters, public facts, refusals."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import dpfair_lib as dpf
from dpfair_lib.learners.counted_descent import CountedByGroup, CountedDescent
from dpfair_lib.learners.linear import LEFT_OUT
from dpfair_lib.privacy import dp_sgd_statement
from dpfair_lib.privacy.grid_noise import grid_statement

STEPS = {"delta": 1e-5, "max_grad_norm": 0.5, "sample_rate": 0.5, "steps": 3, "learning_rate": 1.0}
OWN = {
    dpf.DPGroupClippingClassifier: {},
    dpf.DPGlobalScalingClassifier: {"scale_norm": 2.0},
    dpf.DPLagrangianClassifier: {"notion": "demographic_parity"},
}
X, Y, GROUPS = np.eye(4), np.array([0, 1, 0, 1]), np.array(["f", "f", "m", "m"])


def fitted(kind, whose=GROUPS, **changes):
    settings = {"epsilon": 2.0, "noise": "study", "random_state": 0} | STEPS | OWN[kind] | changes
    whom = {"sensitive_features": whose} if issubclass(kind, CountedByGroup) else {}
    return kind(**settings).fit(X, Y, **whom)


@pytest.mark.parametrize("kind", OWN)
def test_each_parameter_is_kept_as_it_was_given(kind):
    given = {name: object() for name in kind(**STEPS, **OWN[kind]).get_params()}
    found = clone(kind(**given), safe=False).get_params(deep=False)
    assert found.keys() == given.keys()
    assert all(getattr(kind(**given), name) is value for name, value in given.items())


@pytest.mark.parametrize("kind", OWN)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": None}, "epsilon, noise_multiplier: found neither"),
        ({"noise_multiplier": 1.0}, "epsilon, noise_multiplier: found both"),
        ({"count_share": 1.0}, "count_share: found 1"),
        ({"delta": 0.0}, "delta: found 0"),
        ({"fit_intercept": "yes"}, "fit_intercept: found 'yes'"),
        ({"learning_rate": 1e300}, "learning_rate: found 1e\\+300, at which weights overflow"),
        ({"noise": "secure"}, "random_state: found 0"),
    ],
)
def test_what_is_out_of_range_is_refused_by_each(kind, changes, message):
    with pytest.raises(ValueError, match=message):
        fitted(kind, **changes)


@pytest.mark.parametrize("kind", OWN)
def test_what_is_public_is_said(kind):
    found = fitted(kind).privacy_statement_.public
    by_group = issubclass(kind, CountedByGroup)
    assert ("which groups there are" in found) == by_group
    assert issubclass(kind, CountedDescent)
    assert found[0] != fitted(kind, expected_batch_size=2.0).privacy_statement_.public[0]


@pytest.mark.parametrize("kind", [kind for kind in OWN if issubclass(kind, CountedByGroup)])
def test_groups_are_those_that_were_declared_or_those_that_occur(kind):
    assert fitted(kind).groups_.tolist() == ["f", "m"]
    assert fitted(kind, groups=("x", "m", "f")).groups_.tolist() == ["f", "m", "x"]
    with pytest.raises(ValueError, match=r"sensitive_features: found one group"):
        fitted(kind, np.full(4, "f"))
    with pytest.raises(ValueError, match="sensitive_features"):
        fitted(kind, groups=("f", "x"))


COUNTS = dict(
    zip(OWN, (4, 1, 4), strict=True)
)  # a long and a short gradient of each group; a long one; rates


@pytest.mark.parametrize("kind", OWN)
@pytest.mark.parametrize("intercept", [True, False])
def test_the_cost_is_that_of_noise_on_the_grid_for_every_number_that_is_released(kind, intercept):
    changes = {"epsilon": None, "noise_multiplier": 3.0, "fit_intercept": intercept}
    secure = fitted(kind, noise="secure", random_state=None, **changes).privacy_statement_
    width = X.shape[1] + intercept + COUNTS[kind]
    expected = grid_statement(3.0, 0.5, 3, width, 1e-5, public=secure.public)
    assert secure == replace(expected, note=LEFT_OUT)
    study = fitted(kind, **changes).privacy_statement_
    assert not study.guarantee
    expected = dp_sgd_statement(3.0, 0.5, 3, 1e-5, "pld")
    assert (study.epsilon, study.delta) == (expected.epsilon, expected.delta)
    assert study.mechanism == expected.mechanism != secure.mechanism


@pytest.mark.parametrize("kind", OWN)
@pytest.mark.parametrize("at", range(5))
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_weights_of_either_sign_may_be_as_heavy_as_floats_bear_and_none_may_be_heavier(
    kind, at, sign, monkeypatch
):
    weights = np.zeros(5)
    for name in ("train_counted", "train_lagrangian"):
        monkeypatch.setattr(sys.modules[kind.__module__], name, lambda *_: weights, raising=False)
    numbers = {"epsilon": None, "noise_multiplier": 3.0}
    weights[at] = sign * 1e200
    model = fitted(kind, **numbers)
    assert [*model.coef_[0], *model.intercept_] == weights.tolist()
    for heavy in (sign * np.nextafter(1e200, np.inf), np.nan):
        weights[at] = heavy
        with pytest.raises(ValueError, match=r"learning_rate: found 1\.0, at which weights overflow"):
            fitted(kind, **numbers)
