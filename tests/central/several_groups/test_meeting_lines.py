"""Where two random bent lines meet: coordinates in fractions, and the integral round the square against lists."""

import itertools

import numpy as np
import pytest

from dpfair_lib.central.several_groups.meeting_lines import meets_within, places, square
from dpfair_lib.central.several_groups.noisy_labels import LabelLaw


def gaps(f, g, t, s, false, true):
    """The larger difference of the true rates, if noisy rates f, g and t, s are moved to the corner of both."""
    low, high = np.stack([f, g]), np.stack([t, s])
    with np.errstate(divide="ignore"):
        left = (high / low).argmin(axis=0)
        right = ((1 - high) / (1 - low)).argmax(axis=0)
    at = np.arange(len(f))
    f, t, g, s = low[left, at], high[left, at], low[right, at], high[right, at]
    part = (s - g) / (t * (1 - g) - f * (1 - s))
    kappa = part * (t - f) / (high - low)
    return np.maximum(
        abs(np.diff(kappa * (np.array(false)[:, None] - low), axis=0)[0]),
        abs(np.diff(kappa * (np.array(true)[:, None] - high), axis=0)[0]),
    )


def small_laws(rng, false, true, size=4):
    def law(low, high):
        return LabelLaw(np.sort(rng.uniform(low, high, size)), rng.dirichlet(np.ones(size)), 0.0, 0.0)

    return (
        tuple(law(max(f - 0.1, 0), min(f + 0.1, 0.5)) for f in false),
        tuple(law(max(t - 0.1, 0.51), min(t + 0.1, 1)) for t in true),
    )


def listed(laws, false, true):
    index = np.array(list(itertools.product(*(range(len(law.shares)) for label in laws for law in label)))).T
    four = [law.shares[i] for law, i in zip((*laws[0], *laws[1]), index, strict=True)]
    masses = np.prod([law.masses[i] for law, i in zip((*laws[0], *laws[1]), index, strict=True)], axis=0)
    return gaps(*four, false, true), masses


@pytest.mark.parametrize("seed", range(60))
def test_integral_is_the_sum_over_all_lines(seed):
    rng = np.random.default_rng(seed)
    false, true = rng.uniform(0, 0.4, 2), rng.uniform(0.6, 1, 2)
    if seed % 4 == 0:
        false[0] = 0
    if seed % 5 == 0:
        true[1] = 1
    laws = small_laws(rng, false, true)
    found, masses = listed(laws, false, true)
    for gap in rng.uniform(0, min(true - false) / 4, 3):
        chance, error = meets_within(gap, tuple(false), tuple(true), laws, 1e-10)
        assert chance == pytest.approx(masses[found <= gap].sum(), abs=error + 1e-12)
        assert error <= 1e-10
        rough, error = meets_within(gap, tuple(false), tuple(true), laws, 0.05)
        assert abs(rough - masses[found <= gap].sum()) <= error + 1e-12
        assert error <= 0.05


def test_faults_would_be_seen():
    """Labels exchanged, one label fixed, and the product of both labels' chances differ from the sum."""
    rng = np.random.default_rng(1)
    false, true = (0.2, 0.3), (0.7, 0.8)
    laws = small_laws(rng, false, true, size=6)
    found, masses = listed(laws, false, true)
    gap = 0.08
    right = masses[found <= gap].sum()
    fixed = tuple(
        law._replace(shares=np.array([f]), masses=np.ones(1)) for law, f in zip(laws[0], false, strict=True)
    )
    fault = meets_within(gap, false, true, (fixed, laws[1]), 1e-9)[0]
    assert abs(fault - right) > 0.01
    fault = meets_within(gap, false, true, (laws[0][::-1], laws[1]), 1e-9)[0]
    assert abs(fault - right) > 0.01


@pytest.mark.parametrize("seed", range(20))
def test_places_solve_the_two_equations(seed):
    rng = np.random.default_rng(seed)
    false, true = rng.uniform(0, 0.5, 2), rng.uniform(0.5, 1, 2)
    u, v = rng.uniform(-0.1, 0.1, (2, 200)) * (true - false).min()
    at = places(tuple(false), tuple(true), u, v)
    first, second = at.kappa
    assert np.allclose(at.x + false[1] * second - false[0] * first, u, atol=1e-12)
    assert np.allclose(at.x + true[1] * second - true[0] * first, v, atol=1e-12)
    # Y, from either κ
    up = np.minimum(at.x, 0) + 1 - first
    y = np.where(1 - second - np.maximum(at.x, 0) > 1e-12, 1 - second - np.maximum(at.x, 0), -up)
    assert np.allclose(first, 1 - np.maximum(-at.x, 0) - np.maximum(-y, 0), atol=1e-9)
    assert np.allclose(second, 1 - np.maximum(at.x, 0) - np.maximum(y, 0), atol=1e-9)
    assert (first > 0).all()
    assert (second > 0).all()


def test_square_goes_round_once_and_no_line_bends_between_its_points():
    false, true = (0.2, 0.25), (0.7, 0.74)
    u, v = square(false, true, 0.1, (0.02, 0.03), 9)
    assert np.maximum(abs(u), abs(v)) == pytest.approx(0.1)
    assert (u[0], v[0]) == (u[-1], v[-1])
    angle = np.unwrap(np.arctan2(v, u))
    assert (np.diff(angle) >= -1e-12).all()
    assert angle[-1] - angle[0] == pytest.approx(2 * np.pi)
    x = places(false, true, u, v).x
    assert not ((x[1:] > 1e-12) & (x[:-1] < -1e-12)).any()
    assert not ((x[1:] < -1e-12) & (x[:-1] > 1e-12)).any()
    assert (x > 1e-3).any()
    assert (x < -1e-3).any()
