import itertools
import math

import numpy as np
import pytest
from axes import axes_universe
from scipy.special import ndtr, ndtri

import dpfair_lib as dpf
from dpfair_lib.fairness.linear_form import NOTIONS
from dpfair_lib.margins.noise_draws import noisy_fairness
from dpfair_lib.margins.projections import (
    local_reach,
    markov_reach,
    simulated_reach,
)


def levels(scores, y, s, notion):
    return np.array(
        list(dpf.group_fairness(y, (scores > 0).astype(int), sensitive_features=s, notion=notion).values())
    )


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
        intercept=False,
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
            reach="markov", slack=slack, intercept=False,
        )  # fmt: skip
        assert made.radius == reach  # which is paid for so many groups, and no more
        if (truth < made.lower - 1e-12).any() or (truth > made.upper + 1e-12).any():
            failed += mass[range(groups), at].prod()
    assert failed <= zeta


def local(distances, X, rng):
    wide = simulated_reach(X, 1.0, zeta=0.02, draws=99, rng=rng)
    return local_reach(distances, X, 1.0, wide=wide, zeta=0.18, draws=99, rng=rng)


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
        intercept=False,
        sigma=1.0,
        zeta=0.01,
        draws=2000,
        rng=rng,
    )
    assert made.upper == pytest.approx([1.0])


GOOD = {"notion": "accuracy", "sigma": 1.0, "zeta": 0.1, "draws": 200, "intercept": False}


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
            X[:, 0], y, X=X, sensitive_features=s, notion="accuracy", radius=1, slack=1.5, intercept=False
        )
