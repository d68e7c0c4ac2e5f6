import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import beta

import dpfair_lib as dpf
from dpfair_lib.fairness.linear_form import NOTIONS
from dpfair_lib.margins import projections
from dpfair_lib.margins.noise_draws import noisy_fairness
from dpfair_lib.margins.projections import (
    largest_projections,
    local_reach,
    markov_reach,
    order_statistic,
    simulated_reach,
    unit_rows,
)


def levels(scores, y, s, notion):
    return np.array(
        list(dpf.group_fairness(y, (scores > 0).astype(int), sensitive_features=s, notion=notion).values())
    )


def axes_universe(groups):
    """Every group has an axis of its own, with a row of each label that are right or wrong together."""
    X = np.repeat(np.eye(groups), 2, axis=0) * np.tile([1, -1], groups)[:, None]
    return X, np.tile([1, 0], groups), np.repeat(np.arange(groups), 2)


def failure_from_optimum(groups, slack, radius, notion="accuracy_parity"):
    """Exact probability that a notion leaves the certificate of a model just out of reach, by enumeration."""
    X, y, s = axes_universe(groups)
    distance = math.nextafter(radius * (1 + 2e-9), math.inf)
    w = np.full(groups, distance)
    made = dpf.fairness_certificate(
        X @ w,
        y,
        X=X,
        sensitive_features=s,
        notion=notion,
        radius=radius,
        bound="signed",
        slack=slack,
    )
    flip, total = float(ndtr(-distance)), 0.0
    for flips in itertools.product((False, True), repeat=groups):
        found = levels(X @ np.where(flips, -w, w), y, s, notion)
        if (found < made.lower - 1e-12).any() or (found > made.upper + 1e-12).any():
            total += math.prod(flip if one else 1 - flip for one in flips)
    return total


def test_exact_coverage_of_all_groups_together():
    groups, zeta, slack = 6, 0.05, 0.45
    right = markov_reach(1.0, zeta=zeta, slack=slack, groups=groups)
    assert 0.4 * zeta < failure_from_optimum(groups, slack, right) <= zeta
    # planted: every group with the whole of ζ
    assert failure_from_optimum(groups, slack, markov_reach(1.0, zeta=zeta, slack=slack, groups=1)) > zeta


def test_exact_coverage_of_the_whole_population_is_nearly_attained():
    axes, zeta = 6, 0.05
    slack = 0.999 / axes  # so that one axis is more than the slack allows
    right = markov_reach(1.0, zeta=zeta, slack=slack, groups=1)
    assert 0.97 * zeta < failure_from_optimum(axes, slack, right, "accuracy") <= zeta
    # planted: Markov's factor left out, then the slack
    assert failure_from_optimum(axes, slack, -float(ndtri(zeta)), "accuracy") > zeta
    unpaid = markov_reach(1.0, zeta=zeta, slack=0.999, groups=1)
    assert failure_from_optimum(axes, 0.0, unpaid, "accuracy") > zeta


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("distance", [0.05, 1.0, 2.5])
def test_exact_coverage_from_the_released_model(notion, distance):
    """Four groups on four axes; each weight is released in one of four intervals of known probability."""
    groups, zeta, slack = 4, 0.2, 0.3
    X, y, s = axes_universe(groups)
    w = distance * np.array([1, -1, 1, 1.2])
    truth, failed = levels(X @ w, y, s, notion), 0.0
    parts = len(truth)
    reach = markov_reach(1.0, zeta=zeta, slack=slack, groups=parts)
    edges = np.array([-np.inf, -reach, 0, reach, np.inf])
    middle = np.array([-reach - 1, -reach / 2, reach / 2, reach + 1])
    mass = np.diff(ndtr(edges[None] - w[:, None]), axis=1)
    for at in itertools.product(range(4), repeat=groups):
        made = dpf.noise_certificate(
            X @ middle[list(at)], y, X=X, sensitive_features=s, notion=notion, sigma=1.0, zeta=zeta,
            reach="markov", slack=slack,
        )  # fmt: skip
        assert made.radius == reach  # which is paid for so many groups, and no more
        if (truth < made.lower - 1e-12).any() or (truth > made.upper + 1e-12).any():
            failed += mass[range(groups), at].prod()
    assert failed <= zeta


def left_out(statistic, values, zeta):
    """How many of exchangeable values are above the bound made of the others, exactly."""
    return sum(value > statistic(np.delete(values, at), zeta) for at, value in enumerate(values))


@pytest.mark.parametrize("zeta", [0.01, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("draws", [99, 100, 137, 500])
def test_order_statistic_over_exchangeable_values(zeta, draws):
    values = np.random.default_rng(draws).permutation(draws + 1).astype(float)
    assert left_out(order_statistic, values, zeta) == math.floor(zeta * (draws + 1) + 1e-9)


@pytest.mark.parametrize(
    "fault",
    [
        lambda values, zeta: np.quantile(values, 1 - zeta),  # interpolated among the draws alone
        lambda values, zeta: np.sort(values)[math.ceil((1 - zeta) * len(values)) - 2],  # one too low
    ],
)
def test_other_order_statistics_fail(fault):
    values = np.random.default_rng(0).permutation(100).astype(float)
    assert left_out(fault, values, 0.01) > 0.01 * 100


def test_reach_in_one_dimension_is_as_rare_as_said():
    # the mean over simulations of the exact P(|Z| > r) is 1 − k/(R + 1); the mean of 4,000 numbers in [0, 1]
    # is within 0.055 of it but with probability 2exp(−2 · 4000 · 0.055²) < 10⁻¹⁰
    rng = np.random.default_rng(1)
    found = [
        2 * ndtr(-simulated_reach([[3.0], [-0.5]], 2.0, zeta=0.25, draws=19, rng=rng) / 2.0)
        for _ in range(4000)
    ]
    assert np.mean(found) == pytest.approx(0.25, abs=0.055)


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
    common = {"X": X, "sensitive_features": s, "notion": "accuracy"}
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
        reach="markov", slack=slack,
    )  # fmt: skip
    assert made.lower[0] == pytest.approx(1 - slack)
    assert ndtr(-0.01) ** axes <= zeta  # only if all change is more than the slack lost


@pytest.mark.parametrize("reach", ["local", "simulated", "markov"])
@pytest.mark.parametrize("notion", NOTIONS)
def test_rows_of_zeros_are_predicted_as_the_learner_predicts_them(reach, notion):
    rng = np.random.default_rng(8)
    X, s = rng.normal(size=(200, 2)), np.arange(200) % 2
    y = (X[:, 0] > 0).astype(int)
    X[:60] = 0.0  # of both labels
    w = np.array([1000.0, 0.0])  # too far for anything else to change
    made = dpf.noise_certificate(
        X @ w, y, X=X, sensitive_features=s, notion=notion, sigma=1e-9, zeta=0.1, reach=reach, draws=200,
        rng=rng,
    )  # fmt: skip
    truth = levels(X @ w, y, s, notion)
    assert made.fairness == pytest.approx(truth, abs=1e-12)
    assert (made.lower <= truth + 1e-12).all()
    assert (truth <= made.upper + 1e-12).all()


@pytest.mark.parametrize(
    "fault",
    [
        lambda distances, X, rng: 0.1 * local(distances, X, rng),
        lambda distances, X, rng: np.median(local(distances, X, rng) * np.array([0, 0.2])),  # half of nothing
    ],
)
def test_short_reaches_fail(fault):
    assert coverage_failures(fault)[1] > 0.2


def test_simulating_from_the_release_is_no_certificate_but_the_reach_is_sharp():
    """N orthogonal rows just right: half of them are released wrong, and nothing in the release tells them apart."""
    n, rng = 400, np.random.default_rng(2)
    X, y = np.vstack([np.eye(n), -np.eye(n)]), np.repeat([1, 0], n)
    w = np.full(n, 1e-9)
    released = w + rng.normal(size=n)
    s = np.arange(2 * n) % 2
    plug_in = noisy_fairness(
        released, y, X=X, sensitive_features=s, sigma=1.0, draws=200, rng=rng, notions=("accuracy",)
    )["accuracy"]
    assert abs(plug_in - plug_in[0]).max() < 0.2  # and yet the accuracy was 1
    assert 1 - plug_in[0] > 0.4
    made = dpf.noise_certificate(
        X @ released,
        y,
        X=X,
        sensitive_features=s,
        notion="accuracy",
        sigma=1.0,
        zeta=0.01,
        draws=2000,
        rng=rng,
    )
    assert made.upper == pytest.approx([1.0])


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


@pytest.mark.parametrize("notion", NOTIONS)
def test_noisy_levels_are_the_notions(notion):
    rng = np.random.default_rng(4)
    X, y, s = rng.normal(size=(300, 3)), rng.integers(0, 2, 300), rng.integers(0, 3, 300)
    w = np.array([1.0, -0.4, 0.2])
    found = noisy_fairness(w, y, X=X, sensitive_features=s, sigma=0.5, draws=3, rng=np.random.default_rng(9))[
        notion
    ]
    noise = 0.5 * np.random.default_rng(9).normal(size=(3, 3))
    for level, vector in zip(found, [w, *(w + noise)], strict=True):
        assert level == pytest.approx(levels(X @ vector, y, s, notion), abs=1e-12)


GOOD = {"notion": "accuracy", "sigma": 1.0, "zeta": 0.1, "draws": 200}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sigma", 0), ("zeta", 0), ("zeta", 1), ("zeta", 0.01), ("reach", "norm"), ("rng", 3), ("rng", None),
        ("draws", 0), ("notion", "parity"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(name, value):
    X, y, s = axes_universe(2)
    arguments = {"rng": np.random.default_rng(0), **GOOD, name: value}
    expected = "draws" if value == 0.01 else name
    with pytest.raises(ValueError, match=f"{expected}: found"):
        dpf.noise_certificate(X @ [1.0, 2.0], y, X=X, sensitive_features=s, **arguments)


def test_labels_that_are_strings_are_told_what_to_pass():
    X, y, s = axes_universe(2)
    with pytest.raises(ValueError, match=r"y: found labels that are strings.*y == model\.classes_\[1\]"):
        dpf.noise_certificate(
            X[:, 0], np.where(y, "yes", "no"), X=X, sensitive_features=s, rng=np.random.default_rng(0), **GOOD
        )
    dpf.noise_certificate(X[:, 0], y == 1, X=X, sensitive_features=s, rng=np.random.default_rng(0), **GOOD)


def test_scores_of_several_vectors_and_bad_slacks_are_refused():
    X, y, s = axes_universe(2)
    with pytest.raises(ValueError, match="scores: found"):
        dpf.noise_certificate(
            np.zeros((4, 2)), y, X=X, sensitive_features=s, rng=np.random.default_rng(0), **GOOD
        )
    for slack in (0, 1):
        with pytest.raises(ValueError, match="slack: found"):
            dpf.noise_certificate(X[:, 0], y, X=X, sensitive_features=s, reach="markov", slack=slack, **GOOD)
    with pytest.raises(ValueError, match="slack: found"):
        dpf.fairness_certificate(
            X[:, 0], y, X=X, sensitive_features=s, notion="accuracy", radius=1, slack=1.5
        )
