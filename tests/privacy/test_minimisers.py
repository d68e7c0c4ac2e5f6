"""The sensitivity of minimisers; the classical one is judged by the ledger's mpbt.sensitivity."""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import expit

from dpfair_lib.learners.minimiser import minimise
from dpfair_lib.privacy.minimisers import (
    LARGEST_PULL,
    gradient_radius,
    logistic_perturbation_sensitivity,
    minimiser_reach,
    output_perturbation_sensitivity,
)
from dpfair_lib.privacy.worst_replacements import worst_replacement

REACHES = [1e-6, 0.01, 0.3, 1.0, 1.28, 3.17, 30.0, 1e4]


def test_the_largest_pull_is_where_its_derivative_vanishes():
    with mpmath.workdps(30):
        a = mpmath.findroot(lambda a: 1 - a / (1 + mpmath.exp(-a)), 1.3)  # of ln(aσ(−a)), times a
        assert float(a / (1 + mpmath.exp(a))) == LARGEST_PULL
        assert float(a) == pytest.approx(1 + LARGEST_PULL, rel=1e-15)


@pytest.mark.parametrize("reach", REACHES)
def test_the_radius_is_the_maximum_over_the_leaning(reach):
    with mpmath.workdps(40):
        top = mpmath.mpf(reach)
        # stationary where Rσ(−Rs)(1 − s²) = s, found on (0, 1) without the formula's substitution
        s = mpmath.findroot(
            lambda s: top / (1 + mpmath.exp(top * s)) * (1 - s * s) - s, (0, 1), solver="anderson", tol=1e-30
        )
        largest = mpmath.sqrt(1 - s * s) / (1 + mpmath.exp(-top * s))
    assert gradient_radius(reach) == pytest.approx(float(largest), rel=4e-16)
    grid = np.linspace(-1, 1, 100_001)
    assert (expit(reach * grid) * np.sqrt(1 - grid**2)).max() <= gradient_radius(reach) * (1 + 1e-15)


@pytest.mark.parametrize("reach", [0.0, *REACHES])
def test_all_gradients_of_a_bounded_row_are_in_one_ball_of_that_radius(reach):
    # over angles and lengths in the plane that holds h: a gradient's distance from the centre asks for no more
    m = gradient_radius(reach)
    angles, lengths = np.meshgrid(np.linspace(-np.pi, np.pi, 2001), np.linspace(0, 1, 101))
    along, across = lengths * np.cos(angles), lengths * np.sin(angles)
    pull = expit(-reach * along)
    gradients = np.stack([pull * along, pull * across])
    s = np.linspace(0, 1, 1_000_001)
    best = s[(expit(reach * s) * np.sqrt(1 - s**2)).argmax()]
    centre = np.array([-expit(reach * best) * best, 0.0])[:, None, None]
    assert np.linalg.norm(gradients - centre, axis=0).max() <= m * (1 + 1e-5)
    # no smaller ball: two gradients are 2m apart
    assert 2 * gradients[1].max() == pytest.approx(2 * m, rel=1e-4)
    # centred elsewhere along h it would have to be larger
    for shift in (0.02, -0.02):
        elsewhere = centre + shift * np.array([1.0, 0.0])[:, None, None]
        assert np.linalg.norm(gradients - elsewhere, axis=0).max() > m * (1 + 1e-5)


def test_two_angles_gain_nothing_over_one():
    angles = np.linspace(-np.pi / 2, np.pi / 2, 1441)
    for reach in (0.1, 1.0, 3.17, 30.0):
        pulled = expit(reach * np.sin(angles)) * np.exp(1j * angles)
        widest = abs(pulled[:, None] + pulled.conj()[None]).max()
        assert 2 * gradient_radius(reach) * (1 - 1e-3) <= widest <= 2 * gradient_radius(reach)


def test_the_radius_grows_from_a_half_to_one():
    reaches = [0.0, *REACHES, 1e7, 1e200, math.inf]
    values = [gradient_radius(reach) for reach in reaches]
    assert values == sorted(values)
    assert values[0] == 0.5
    assert values[-1] == 1.0
    assert values[2] - 0.5 == pytest.approx(0.01**2 / 16, rel=1e-4)  # m = 1/2 + R²/16 + O(R⁴)


@pytest.mark.parametrize("ratio", [1e-3, 0.5, 2.0, 5.86, 5.88, 9.0, 36.0, 1e6])
def test_no_minimiser_is_longer_than_its_reach_and_some_are_as_long(ratio):
    reach, rng = minimiser_reach(ratio), np.random.default_rng(0)
    for _ in range(30):
        rows = rng.normal(size=(int(rng.integers(1, 5)), 2))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True) / rng.random((len(rows), 1)) ** 0.1
        assert np.linalg.norm(minimise(rows, np.ones(len(rows)), 1 / ratio, 1e-12)) <= reach * (1 + 1e-9)
    # one row of the length at which its margin is 1 + W, or of the largest
    row = np.array([[min(1.0, (1 + LARGEST_PULL) / reach)]])
    assert minimise(row, np.ones(1), 1 / ratio, 1e-14)[0] == pytest.approx(reach, rel=1e-7)


@pytest.mark.parametrize("ratio", [0.1, 1.0, 9.0, 36.0, 1000.0])
@pytest.mark.parametrize("lipschitz", [0.5, 6.0])
def test_it_is_never_exceeded_and_attained_as_the_records_grow(ratio, lipschitz):
    mu, shares = lipschitz**2 / ratio, []
    for n in (10, 100, 1000, 10_000):
        base, one, two = worst_replacement(lipschitz, mu, n)
        ends = [minimise(np.vstack([base, z]), np.ones(n), mu, 1e-6 * lipschitz / n) for z in (one, two)]
        allowed = logistic_perturbation_sensitivity(lipschitz=lipschitz, strong_convexity=mu, n=n)
        shares.append(np.linalg.norm(ends[0] - ends[1]) / allowed)
    assert shares == sorted(shares)
    assert 0.998 < shares[-1] < 1


def test_known_shares_of_the_classical_sensitivity():
    shares = {}
    for lipschitz, mu in ((6.0, 1.0), (3.0, 1.0), (1e-6, 1.0), (1.0, 1e-12)):
        known = {"lipschitz": lipschitz, "strong_convexity": mu, "n": 50}
        shares[lipschitz, mu] = logistic_perturbation_sensitivity(**known) / output_perturbation_sensitivity(
            **known
        )
    assert list(shares.values()) == pytest.approx([0.72012, 0.59939, 0.5, 1.0], abs=5e-6)


def test_extreme_constants_are_no_accident():
    huge = {"lipschitz": 1e200, "strong_convexity": 1e-200, "n": 1}
    assert logistic_perturbation_sensitivity(**huge) == output_perturbation_sensitivity(**huge) == math.inf
    tiny = {"lipschitz": 1e-200, "strong_convexity": 1e100, "n": 1}
    assert logistic_perturbation_sensitivity(**tiny) == output_perturbation_sensitivity(**tiny) / 2


@pytest.mark.parametrize("sensitivity", [output_perturbation_sensitivity, logistic_perturbation_sensitivity])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lipschitz", 0), ("lipschitz", math.inf), ("lipschitz", "6"), ("strong_convexity", 0.0),
        ("strong_convexity", -1), ("strong_convexity", math.nan), ("n", 0), ("n", 2.5), ("n", True),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(sensitivity, name, value):
    with pytest.raises(ValueError, match=f"{name}: found"):
        sensitivity(**({"lipschitz": 6.0, "strong_convexity": 1.0, "n": 10} | {name: value}))


def test_a_negative_reach_or_ratio_is_named():
    with pytest.raises(ValueError, match="reach: found -1"):
        gradient_radius(-1)
    with pytest.raises(ValueError, match="ratio: found -1"):
        minimiser_reach(-1)
