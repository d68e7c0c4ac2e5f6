import math

import numpy as np
import pytest
from axes import axes_universe
from scipy.special import ndtr
from scipy.stats import beta

import dpfair_lib as dpf
from dpfair_lib.margins import projections
from dpfair_lib.margins.projections import (
    largest_projections,
    local_reach,
    markov_reach,
    order_statistic,
    simulated_reach,
    unit_rows,
)


def test_reach_in_one_dimension_is_as_rare_as_said():
    # the exact P(|Z| > r) is a Beta variable with parameters k and R + 1 − k: of mean k/(R + 1) = 1/4 and variance
    # 0.0090. By Bernstein the mean of 4,000 of them is within 0.0115 of it but with probability 2 · 10⁻⁹. So k/R,
    # 0.0132 away, would be noticed, and so would a place more or less
    rng = np.random.default_rng(1)
    found = [
        2 * ndtr(-simulated_reach([[3.0], [-0.5]], 2.0, zeta=0.25, draws=19, rng=rng) / 2.0)
        for _ in range(4000)
    ]
    assert np.mean(found) == pytest.approx(0.25, abs=0.0115)


def coverage_failures(reach, *, repeats=3000):
    """Failures of a reach computed from the released model, and their Clopper–Pearson lower limit at 10⁻⁹."""
    rng = np.random.default_rng(5)
    angles = np.linspace(0, np.pi, 40, endpoint=False)
    X, w = np.stack([np.cos(angles), np.sin(angles)], axis=1), np.array([2.0, 1.0])
    failures = 0
    for _ in range(repeats):
        v = w + rng.normal(size=2)
        r = reach(np.abs(X @ v), X, rng)
        changed = np.sign(X @ v) != np.sign(X @ w)
        failures += bool((np.abs(X @ v)[changed] > r).any() or (np.abs(X @ w)[changed] > r).any())
    return failures, beta.ppf(1e-9, failures, repeats - failures + 1) if failures else 0.0


def local(distances, X, rng):
    wide = simulated_reach(X, 1.0, zeta=0.02, draws=99, rng=rng)
    return local_reach(distances, X, 1.0, wide=wide, zeta=0.18, draws=99, rng=rng)


def test_local_reach_covers_and_helps():
    assert coverage_failures(local)[1] <= 0.2
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    w = 40 * rng.normal(size=20) / math.sqrt(20)
    wide = simulated_reach(X, 1.0, zeta=0.001, draws=2000, rng=rng)
    distances = np.abs(X @ w) / np.linalg.norm(X, axis=1)
    assert local_reach(distances, X, 1.0, wide=wide, zeta=0.009, draws=2000, rng=rng) < wide
    assert local_reach(distances + 100, X, 1.0, wide=wide, zeta=0.009, draws=2000, rng=rng) == 0


def one_axis_failures(near, *, axes, zeta, repeats):
    """Lower limit at 10⁻⁹ of the failures of the local reach over rows within near · wide, a model just on one side."""
    rng, X, failures = np.random.default_rng(6), np.eye(axes), 0
    for _ in range(repeats):
        released = 1e-9 + rng.normal(size=axes)
        wide = simulated_reach(X, 1.0, zeta=zeta / 10, draws=199, rng=rng)
        distances = np.abs(released) * 2 / near  # within 2w just where the true ones are within near · w
        r = local_reach(distances, X, 1.0, wide=wide, zeta=0.9 * zeta, draws=199, rng=rng)
        failures += bool(released.min() < -r)
    return beta.ppf(1e-9, failures, repeats - failures + 1) if failures else 0.0


def test_local_reach_needs_the_rows_that_came_from_near():
    assert one_axis_failures(2, axes=1, zeta=0.05, repeats=2000) <= 0.05
    assert one_axis_failures(0.5, axes=1, zeta=0.05, repeats=10_000) > 0.05
    assert one_axis_failures(0.3, axes=1, zeta=0.05, repeats=2000) > 0.05
    assert one_axis_failures(2, axes=200, zeta=0.2, repeats=400) <= 0.2
    assert one_axis_failures(0.05, axes=200, zeta=0.2, repeats=400) > 0.2


def test_local_reach_looks_at_the_rows_within_twice_the_reach():
    # one factor of the reach would pass every sampled coverage here: this pins the two of the proof
    keep = {"wide": 3.0, "zeta": 0.1, "draws": 99}
    alone, near, far = (
        local_reach(distances, X, 1.0, rng=np.random.default_rng(7), **keep)
        for distances, X in (([0.0], [[1.0, 0.0]]), ([5.99], [[1.0, 0.0]]), ([6.01], [[1.0, 0.0]]))
    )
    assert 0 < alone == near
    assert far == 0


def test_the_default_reach_uses_fresh_draws_and_no_more_than_zeta(monkeypatch):
    X, y, s = axes_universe(3)
    drawn, spent = [], []
    monkeypatch.setattr(
        projections, "largest_projections", lambda axes, z: drawn.append(z) or largest_projections(axes, z)
    )
    monkeypatch.setattr(
        projections,
        "order_statistic",
        lambda values, zeta: spent.append(zeta) or order_statistic(values, zeta),
    )
    dpf.noise_certificate(
        X[:, 0] + X[:, 1] - X[:, 2], y, X=X, sensitive_features=s, rng=np.random.default_rng(0), **GOOD
    )
    assert spent == [pytest.approx(0.01), pytest.approx(0.09)]
    assert len(drawn) == 2
    assert not np.isin(drawn[0], drawn[1]).any()


def test_slack_of_the_markov_reach_is_in_the_interval():
    """Six axes, all just right, of which the slack forgives two: exactly, by how many are released far away."""
    axes, zeta, slack = 6, 0.05, 0.45
    X, y, s = axes_universe(axes)
    r = markov_reach(1.0, zeta=zeta, slack=slack, groups=1)
    common = {"X": X, "sensitive_features": s, "notion": "accuracy", "intercept": False}
    failed = {"right": 0.0, "planted: no slack": 0.0}
    for moved in range(axes + 1):
        scores = X @ np.where(np.arange(axes) < moved, -r - 1, r / 2)
        chance = math.comb(axes, moved) * float(ndtr(-r)) ** moved * float(ndtr(r)) ** (axes - moved)
        made = {
            "right": dpf.noise_certificate(
                scores, y, **common, sigma=1.0, zeta=zeta, reach="markov", slack=slack
            ),
            "planted: no slack": dpf.fairness_certificate(scores, y, **common, radius=r, bound="signed"),
        }
        for name, one in made.items():
            failed[name] += chance * bool(one.upper[0] < 1 - 1e-12)
    assert failed["right"] <= zeta < failed["planted: no slack"]


def test_a_slack_that_needs_no_reach():
    """ζs above ½: three rows change with at most ½ each, and four fifths of them seldom do, exactly."""
    zeta, slack, axes = 0.9, 0.8, 3
    assert markov_reach(1.0, zeta=zeta, slack=slack, groups=1) == 0
    X, y, s = axes_universe(axes)
    made = dpf.noise_certificate(
        X @ np.full(axes, 0.01), y, X=X, sensitive_features=s, notion="accuracy", sigma=1.0, zeta=zeta,
        reach="markov", slack=slack, intercept=False,
    )  # fmt: skip
    assert made.lower[0] == pytest.approx(1 - slack)
    assert ndtr(-0.01) ** axes <= zeta  # only if all change is more than the slack lost


@pytest.mark.parametrize(
    "fault",
    [
        lambda distances, X, rng: 0.1 * local(distances, X, rng),
        lambda distances, X, rng: np.median(local(distances, X, rng) * np.array([0, 0.2])),  # half of nothing
    ],
)
def test_short_reaches_fail(fault):
    assert coverage_failures(fault)[1] > 0.2


def test_reaches_agree_with_all_products():
    rng = np.random.default_rng(3)
    X, z = rng.normal(size=(50, 4)) * 10, rng.normal(size=(30, 4))
    X[7] = 0
    axes = unit_rows(X)
    assert largest_projections(axes, z) == pytest.approx(np.abs(axes @ z.T).max(axis=0), rel=1e-14)
    whole, projections.BLOCK = projections.BLOCK, 100
    try:
        assert largest_projections(axes, z) == pytest.approx(np.abs(axes @ z.T).max(axis=0), rel=1e-14)
    finally:
        projections.BLOCK = whole


GOOD = {"notion": "accuracy", "sigma": 1.0, "zeta": 0.1, "draws": 200, "intercept": False}
