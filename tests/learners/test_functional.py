"""The functional mechanism: how far one row moves the sums, what noise that asks for, and what is made of them."""

import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize

import dpfair_lib as dpf
from dpfair_lib.learners import functional
from dpfair_lib.learners.functional import (
    FINE,
    coefficient_sums,
    coefficients,
    covariance,
    entries,
    minimiser,
    sensitivity,
)
from dpfair_lib.learners.minimiser import bounded_rows
from dpfair_lib.privacy import gaussian_delta

STUDY = {"noise": "study", "random_state": 0}
SETTING = {"penalty": 1.0, "feature_bound": 2.0, "epsilon": 1.0, "delta": 1e-5}


def table(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 3)) * 0.5 + 0.4 * a[:, None] * [1, 0, 0]
    y = (X @ [1.0, 1.0, 0.0] + 0.3 * rng.normal(size=n) > 0.2).astype(int)
    return X, y, a


def fitted(data=None, **changes):
    X, y, a = table() if data is None else data
    return dpf.FairFunctionalClassifier(**SETTING | STUDY | changes).fit(X, y, sensitive_features=a)


def moved(one, two, bound):
    sums = [
        coefficient_sums(
            bounded_rows(np.array([x]), bound, intercept=True)[0], np.array([y]), np.array([a]), lam(bound)
        )
        for x, y, a in (one, two)
    ]
    return math.sqrt(sum(int(k) ** 2 for k in sums[0] - sums[1]))


def lam(bound):
    return bounded_rows(np.zeros((1, 1)), bound, intercept=True)[1]


def searched(bound, seeds=60, width=3):
    """Return the largest move of random and of optimised pairs of rows."""
    worst = 0.0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        x, z = rng.normal(size=(2, width)) * 10.0 ** rng.uniform(-2, 3, size=(2, 1))
        for y, a in ((0, 0), (0, 1), (1, 0), (1, 1)):
            worst = max(worst, moved((x, 0, 0), (z, y, a), bound), moved((x, 0, 0), (x, y, a), bound),
                        moved((x, 0, 0), (-x, y, a), bound))  # fmt: skip
    return worst


@pytest.mark.parametrize("bound", [1e-3, 0.3, 1.0, 2.0, 40.0])
def test_one_row_moves_the_sums_by_what_is_stated(bound):
    found = searched(bound)
    assert found <= sensitivity(4)
    assert found > (1 - 1e-5) * sensitivity(4)  # label and group change, the row stays and is longest


@pytest.mark.parametrize("p", [2, 3, 4, 9, 60])
def test_the_sensitivity_covers_what_rounding_to_the_grid_adds(p):
    # exactly: √2 in steps for label and group, and half a step for each entry of either of the two rows
    with mpmath.workdps(40):
        exact = mpmath.sqrt(2) * FINE
        assert sensitivity(p) >= exact + 2 * mpmath.sqrt(entries(p)) / 2
        assert sensitivity(p) <= exact + 2.01 * mpmath.sqrt(entries(p)) / 2
        # planted: the rounding of one row alone; random pairs of rows do not show that it is too little
        assert exact + functional.ROUNDED * mpmath.sqrt(entries(p)) < exact + mpmath.sqrt(entries(p))


def test_a_larger_weight_of_the_squares_would_not_be_free(monkeypatch):
    # planted: twice the weight for the second part; then rows that are far apart move the sums more
    usual = functional.np.rint
    size = entries(4) - 8

    class Heavier:
        def __getattr__(self, name):
            return getattr(np, name)

        def rint(self, values):
            return usual(np.hstack([2 * values[:, :size], values[:, size:]]))

    monkeypatch.setattr(functional, "np", Heavier())
    assert searched(2.0) > sensitivity(4)


def test_an_exact_share_of_the_group_moves_every_row():
    # planted: the covariance with the exact mean; one a of 100 changes
    x = np.array([1.5, 1.0, 0.8, 1.0])
    rows = np.vstack([x, np.tile(x * [-1, -1, -1, 1], (99, 1))])  # all others on the other side
    groups = np.zeros(100), np.append(1.0, np.zeros(99))
    centred, apart = (
        np.linalg.norm(
            sum(
                sign * ((g - middle(g))[:, None] * rows).sum(axis=0)
                for sign, g in zip((1, -1), groups, strict=True)
            )
        )
        for middle in (np.mean, lambda _: 0.5)
    )
    assert apart == pytest.approx(np.linalg.norm(x))
    assert centred > 1.7 * apart


def test_the_noise_is_calibrated_for_it(monkeypatch):
    seen = []
    usual = functional.NoiseSource.add_gaussian
    monkeypatch.setattr(
        functional.NoiseSource,
        "add_gaussian",
        lambda s, v, sigma: seen.append((v, sigma)) or usual(s, v, sigma),
    )
    model = fitted()
    ((values, sigma),) = seen
    assert len(values) == entries(4) == 17
    assert gaussian_delta(1.0, sigma, sensitivity(4)) <= 1e-5
    assert gaussian_delta(1.0, 0.99 * sigma, sensitivity(4)) > 1e-5  # planted
    statement = model.privacy_statement_
    assert (statement.epsilon, statement.delta, statement.relation) == (1.0, 1e-5, "replace-one")
    assert statement.mechanism[0].ratio == pytest.approx(sensitivity(4) / sigma)


def test_the_regularization_is_the_one_given_or_follows_the_noise(monkeypatch):
    seen = []
    monkeypatch.setattr(functional, "minimiser", lambda *given: seen.append(given[-1]) or np.zeros(4))
    monkeypatch.setattr(functional, "gaussian_sigma", lambda *_: 3.0 * FINE)
    for given in (0.25, 1e-9, None):
        fitted(regularization=given)
    bound = math.hypot(2.0, 1.0)  # of the rows with their entry 1
    assert seen[:2] == [0.25, 1e-9]
    assert seen[2] == pytest.approx(math.sqrt(4) * 3 * 2 * bound**2 / (2 * 3000))


def test_a_bound_of_1e50_is_allowed_and_none_beyond():
    assert np.isfinite(fitted(feature_bound=1e50).coef_).all()
    with pytest.raises(ValueError, match="feature_bound: found 1"):
        fitted(feature_bound=math.nextafter(1e50, math.inf))


def test_sums_are_those_of_the_definition_and_add_up_exactly():
    X, y, a = table(1500)
    rows, bound = bounded_rows(X, 2.0, intercept=True)
    sums = coefficient_sums(rows, y, a, bound)
    found = coefficients(sums.astype(float), 4, 1500, bound)
    near = 1500 * bound**2 / FINE
    assert found.second == pytest.approx(rows.T @ rows, abs=near)
    assert found.labels == pytest.approx(((y - 0.5)[:, None] * rows).sum(axis=0), abs=near)
    assert found.groups == pytest.approx(((a - 0.5)[:, None] * rows).sum(axis=0), abs=near)
    assert covariance(found, 1500)[:3] == pytest.approx(np.cov(rows[:, :3].T, a, bias=True)[3, :3], abs=1e-5)
    apart = [coefficient_sums(rows[at : at + 1], y[at : at + 1], a[at : at + 1], bound) for at in range(1500)]
    assert (sum(apart) == sums).all()


def test_sums_beyond_what_floats_hold_are_cut_off(monkeypatch):
    monkeypatch.setattr(functional, "EXACT", 1000)
    rows, bound = bounded_rows(np.ones((5, 2)), 1.0, intercept=True)
    sums = [coefficient_sums(sign * rows, np.ones(5), np.ones(5), bound) for sign in (1, -1)]
    assert max(sums[0]) == 1000 == -min(sums[1])
    assert all(abs(one).max() == 1000 for one in sums)


@pytest.mark.parametrize("penalty", [0.0, 3.0, 1e4])
def test_the_minimiser_is_one(penalty):
    X, y, a = table()
    rows, bound = bounded_rows(X, 2.0, intercept=True)
    found = coefficients(coefficient_sums(rows, y, a, bound).astype(float), 4, 3000, bound)

    def objective(w):  # from the rows
        z = rows @ w
        spread = ((a - a.mean()) * z).mean()
        return (z**2 / 8 - (y - 0.5) * z).mean() + penalty * spread**2 + 0.01 / 2 * w @ w

    assert minimiser(found, 3000, penalty, 0.01) == pytest.approx(
        minimize(objective, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x, abs=1e-3
    )


def test_negative_curvature_is_cut_off():
    second = np.diag([-50.0, 3.0, 100.0])
    found = functional.Coefficients(second, np.array([1.0, 1.0, 1.0]), np.zeros(3))
    assert minimiser(found, 100, 0.0, 0.1) == pytest.approx([0.1, 0.01 / 0.1075, 0.01 / 0.35])


def test_it_learns_and_the_penalty_brings_mean_scores_together():
    X, y, a = table()
    plain, fair = fitted(penalty=0.0, epsilon=8.0), fitted(penalty=1e4, epsilon=8.0)
    assert (plain.predict(X) == y).mean() > 0.85
    gaps = [
        abs(m.decision_function(X)[a == 1].mean() - m.decision_function(X)[a == 0].mean())
        for m in (plain, fair)
    ]
    assert gaps[0] > 0.3
    assert gaps[1] < gaps[0] / 8
    rates = [dpf.demographic_parity_difference(y, m.predict(X), sensitive_features=a) for m in (plain, fair)]
    assert rates[1] < rates[0] / 3


def test_labels_and_groups_may_be_declared():
    X, y, a = table()
    names = np.array(["f", "m"])[a]
    model = fitted((X, y, names), groups=["m", "f"], classes=[0, 1])
    assert model.groups_.tolist() == ["f", "m"]
    fitted((X, np.zeros_like(y), np.full(len(y), "f")), groups=["m", "f"], classes=[0, 1])
    with pytest.raises(ValueError, match="sensitive_features: found 1 groups"):
        fitted((X, y, np.full(len(y), "f")))
    with pytest.raises(ValueError, match="sensitive_features: found group 'm'"):
        fitted((X, y, names), groups=["f", "x"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"penalty": -1.0}, "penalty: found -1.0"),
        ({"penalty": math.inf}, "penalty: found inf|penalty, regularization: found inf"),
        ({"feature_bound": 0.0}, "feature_bound: found 0.0"),
        ({"feature_bound": 1e51}, "feature_bound: found 1e"),
        ({"epsilon": 0}, "epsilon: found 0"),
        ({"delta": 0}, "delta: found 0"),
        ({"regularization": 0}, "regularization: found 0"),
        ({"noise": "secure"}, "random_state: found 0 beside noise='secure'"),
        ({"groups": [0, 1, 2]}, "groups: found"),
        ({"penalty": 1e308, "feature_bound": 1e50}, "penalty, regularization: found 1e"),
    ],
)
def test_bad_input_is_refused_by_name(changes, message):
    X, y, a = table()
    data = X * 1e60 if "feature_bound" in changes else X, y, a
    with pytest.raises(ValueError, match=message):
        fitted(data, **changes)


def test_an_audit_finds_no_more_than_is_stated_and_finds_noise_that_is_left_out(monkeypatch):
    X, y, a = np.full((4, 1), 50.0), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    pair = (X, y, a), (X, np.array([1, 0, 1, 1]), a)

    def release(data, n, rng):
        X, y, a = data
        setting = {"penalty": 0.0, "feature_bound": 2.0, "epsilon": 1.0, "delta": 1e-3, "regularization": 1e6}
        return [
            dpf.FairFunctionalClassifier(**setting, classes=[0, 1], noise="study", random_state=rng)
            .fit(X, y, sensitive_features=a)
            .coef_[0, 0]
            for _ in range(n)
        ]

    assert dpf.audit(release, [pair], 400, 0.01, np.random.default_rng(0)).epsilon_lower < 1
    usual = functional.gaussian_sigma
    monkeypatch.setattr(functional, "gaussian_sigma", lambda *given: usual(*given) / 20)
    assert dpf.audit(release, [pair], 400, 0.01, np.random.default_rng(0)).epsilon_lower > 1
