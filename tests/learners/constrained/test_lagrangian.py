"""DP-SGD on a Lagrangian, as an estimator: what it learns, what it costs, what it refuses."""

import math

import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib.learners.constrained import lagrangian
from dpfair_lib.learners.constrained.lagrangian_steps import Ascent
from dpfair_lib.learners.counted_steps import divided
from dpfair_lib.privacy import dp_sgd_epsilon

STUDY = {"noise": "study", "random_state": 0}
STEPS = {"delta": 1e-5, "max_grad_norm": 1.0, "sample_rate": 0.25, "steps": 100, "learning_rate": 2.0}


def rows(n=4000, seed=0):
    """Return rows of two groups, of which one has the label more often; a second feature tells of the group."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 2, n)
    merit = rng.normal(size=n)
    X = np.column_stack([merit, groups + 0.3 * rng.normal(size=n)]) / 4
    y = (merit + 1.5 * groups - 0.75 + 1.5 * rng.normal(size=n) > 0).astype(int)
    return X, y, np.array(["f", "m"])[groups]


def fitted(data=None, **changes):
    X, y, groups = rows() if data is None else data
    settings = {"notion": "demographic_parity", "epsilon": 4.0} | STEPS | STUDY | changes
    return dpf.DPLagrangianClassifier(**settings).fit(X, y, sensitive_features=groups)


def gaps(model):
    X, y, groups = rows(seed=1)
    chosen = model.predict(X)
    parity = abs(chosen[groups == "m"].mean() - chosen[groups == "f"].mean())
    odds = [
        abs(np.subtract(*(chosen[(groups == k) & (y == label)].mean() for k in ("f", "m"))))
        for label in (0, 1)
    ]
    return {"demographic_parity": parity, "equal_opportunity": odds[1], "equalized_odds": max(odds)}


@pytest.mark.parametrize("notion", ["demographic_parity", "equal_opportunity", "equalized_odds"])
def test_multipliers_bring_the_rates_together(notion):
    free = gaps(fitted(multiplier_rate=1e-9))[notion]
    bound = gaps(fitted(notion=notion, multiplier_rate=0.1))[notion]
    assert free > 0.1
    assert bound < 0.7 * free


@pytest.mark.parametrize("noise", ["study", "secure"])
def test_it_learns_where_nothing_is_to_be_made_equal(noise):
    X, y, _ = rows()
    model = fitted(gamma=0.9, noise=noise, random_state=0 if noise == "study" else None)
    assert (model.predict(X) == y).mean() > 0.7
    assert (model.multipliers_ == 0).all()


def test_what_it_costs_is_one_account_of_counts_and_sums():
    model = fitted(noise="secure", random_state=None, steps=20)
    statement, sigma = model.privacy_statement_, model.noise_multiplier_
    assert (statement.relation, statement.delta, statement.guarantee) == ("add-remove", 1e-5, True)
    assert 3.999 < statement.epsilon <= 4
    assert dp_sgd_epsilon(sigma, 0.25, 20, 1e-5, "pld") == pytest.approx(statement.epsilon, rel=1e-3)
    # planted: the sum alone is accounted for
    assert dp_sgd_epsilon(divided(sigma, 0.2).gradients, 0.25, 20, 1e-5, "pld") < 0.95 * statement.epsilon


def test_the_steps_get_the_numbers_of_the_estimator(monkeypatch):
    seen = []

    def train(X, _, groups, steps, share, ascent, study):
        seen.append((steps.noise_multiplier, steps.max_grad_norm, share, ascent, groups, study))
        return np.zeros(X.shape[1] + 1)

    monkeypatch.setattr(lagrangian, "train_lagrangian", train)
    model = fitted(
        notion="equalized_odds", gamma=0.1, multiplier_rate=0.2, largest_multiplier=3.0, memory=0.4, count_share=0.3,
        noise="secure", random_state=None,
    )  # fmt: skip
    ((sigma, norm, share, ascent, groups, study),) = seen
    assert (sigma, norm, share, study) == (model.noise_multiplier_, 1.0, 0.3, None)
    numbers = ascent.gap, ascent.rate, ascent.largest, ascent.memory, ascent.divisor, ascent.width
    assert numbers == (0.1, 0.2, 3.0, 0.4, 1000.0, 8)
    assert groups.tolist() == (rows()[2] == "m").astype(int).tolist()
    assert model.groups_.tolist() == ["f", "m"]
    assert model.multipliers_.shape == (2, 2, 2)


def test_groups_that_are_declared_and_those_that_are_refused():
    X, y, groups = rows(200)
    model = fitted((X, y, groups), groups=["f", "m", "x"], expected_batch_size=45.0, steps=5)
    assert model.groups_.tolist() == ["f", "m", "x"]
    assert (
        "the expected batch size, a number given by the user, and that there is a row"
        in model.privacy_statement_.public
    )
    one = np.full(len(y), "f")
    fitted((X, y, one), groups=["f", "m"], steps=5)
    for data, message, more in (
        ((X, y, one), "sensitive_features: found one group", {}),
        ((X, y, groups), "sensitive_features: found group 'm'", {"groups": ["f", "x"]}),
        ((X, y, groups[1:]), "sensitive_features", {}),
    ):
        with pytest.raises(ValueError, match=message):
            fitted(data, **more)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"notion": "parity"}, "notion: found 'parity'"),
        ({"gamma": 1.0}, "gamma: found 1.0"),
        ({"gamma": -0.1}, "gamma: found -0.1"),
        ({"multiplier_rate": 0.0}, "multiplier_rate: found 0.0"),
        ({"multiplier_rate": np.inf}, "multiplier_rate: found inf"),
        ({"largest_multiplier": 0.0}, "largest_multiplier: found 0.0"),
        ({"largest_multiplier": 1e10}, r"largest_multiplier: found 1\S+, expected at most 1e\+09"),
        ({"memory": 1.0}, "memory: found 1.0"),
        ({"epsilon": None}, "epsilon, noise_multiplier: found neither"),
        ({"noise_multiplier": 1.0}, "epsilon, noise_multiplier: found both"),
        ({"count_share": 1.0}, "count_share: found 1.0"),
        ({"count_share": 1e-30}, "count_share: found a part of the noise"),
        ({"max_grad_norm": 1e200}, "max_grad_norm: found"),
        ({"delta": 0.0}, "delta: found 0.0"),
        ({"noise": "secure"}, "random_state: found 0 beside noise='secure'"),
        ({"learning_rate": 1e300}, "learning_rate: found 1e"),
    ],
)
def test_bad_input_is_refused_by_name(changes, message):
    with pytest.raises(ValueError, match=message):
        fitted(rows(100), **{"steps": 3} | changes)


def test_the_largest_multiplier_may_be_a_billion_and_no_more():
    assert abs(fitted(rows(100), steps=3, largest_multiplier=1e9).multipliers_).max() <= 1e9
    with pytest.raises(
        ValueError, match=r"largest_multiplier: found 1000000000\.0000001, expected at most 1e"
    ):
        fitted(rows(100), steps=3, largest_multiplier=math.nextafter(1e9, 2e9))


def test_no_intercept():
    assert fitted(rows(200), fit_intercept=False, steps=5).intercept_.tolist() == [0.0]


# One record more in group 1, which is selected: all others there are not.
X_PAIR = np.array([[1.0], [1.0], [-1.0], [-1.0], [1.0]])
PAIR = tuple((X_PAIR[:n], np.ones(n, dtype=int), np.array([0, 0, 1, 1, 1])[:n]) for n in (5, 4))


def release(data, n, rng):
    """Return a multiplier of many fits."""
    X, y, groups = data
    settings = {
        "notion": "demographic_parity", "multiplier_rate": 5.0, "memory": 0.0, "noise_multiplier": 3.0, "delta": 1e-3,
        "max_grad_norm": 1.0, "sample_rate": 1.0, "steps": 2, "learning_rate": 1.0, "expected_batch_size": 4.0,
        "classes": [0, 1], "groups": [0, 1], "fit_intercept": False, "noise": "study",
    }  # fmt: skip
    found = []
    for _ in range(n):
        model = dpf.DPLagrangianClassifier(**settings, random_state=rng).fit(X, y, sensitive_features=groups)
        found.append(model.multipliers_[0, 0, 0])
    return found


def test_an_audit_finds_no_more_than_is_stated_and_that_exact_multipliers_tell_who_is_there(monkeypatch):
    stated = dp_sgd_epsilon(3.0, 1.0, 2, 1e-3, "pld")
    found = dpf.audit(release, [PAIR], 300, 0.01, np.random.default_rng(0))
    assert found.epsilon_lower < stated
    # planted: multipliers that follow the gaps of the batch as they are; gradients keep their noise
    seen, cells, move = {}, Ascent.cells, Ascent.coefficients

    def counted(self, y, groups, selected):
        places = cells(self, y, groups, selected)
        seen["counts"] = np.bincount(places[places >= 0], minlength=self.width).astype(float)
        return places

    monkeypatch.setattr(Ascent, "cells", counted)
    monkeypatch.setattr(Ascent, "coefficients", lambda self, _: move(self, seen["counts"]))
    loud = dpf.audit(release, [PAIR], 300, 0.01, np.random.default_rng(0))
    assert loud.epsilon_lower > stated
