"""How far one row moves the noisy sums: over all values, exactly; and what the sums are for."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.preparation import moments
from dpfair_lib.preparation.moments import HALF, MOST, moments_mechanism, noisy_moments, row_sums
from dpfair_lib.privacy import audit
from dpfair_lib.privacy.mechanisms import Mechanism
from dpfair_lib.privacy.noise_source import NoiseSource

ENDS = [-1e308, -1.0, -1 + 2**-22, -0.5, -(2**-22), 0.0, 2**-22, 0.5, 1 - 2**-22, 1.0, np.inf, np.nan]


def one_row(value, squares=True):
    """What a row adds to the sums of a column between −1 and 1."""
    return row_sums(np.array([value]), -1.0, 1.0, squares=squares)


def moved(first, second, squares):
    return int(abs(one_row(first, squares) - one_row(second, squares)).sum())


def largest_move(squares, values):
    """The largest move by a row added, and by a row replaced."""
    added = max(moved(one, np.nan, squares) for one in values)
    return added, max(moved(one, two, squares) for one, two in itertools.product(values, repeat=2))


@pytest.mark.parametrize("squares", [True, False])
def test_one_row_moves_the_sums_by_a_range_at_most_and_attains_it(squares):
    grid = [*ENDS, *np.linspace(-1, 1, 60).tolist()]
    assert largest_move(squares, grid) == (MOST, MOST)


@given(st.floats(-1, 1), st.floats(-1, 1), st.booleans())
def test_no_pair_of_values_moves_them_further(first, second, squares):
    assert moved(first, second, squares) <= MOST
    assert moved(first, np.nan, squares) <= MOST


def test_every_step_at_a_coarser_range(monkeypatch):
    # all pairs of a range of 2·16 steps, and of 2·1 steps
    for half in (16, 2):
        monkeypatch.setattr(moments, "HALF", half)
        monkeypatch.setattr(moments, "MOST", 2 * half)
        steps = [*np.linspace(-1, 1, 2 * half + 1).tolist(), np.nan]
        for squares in (True, False):
            assert largest_move(squares, steps) == (2 * half, 2 * half)


def test_sums_around_the_lower_bound_would_move_twice_as_far(monkeypatch):
    def from_below(values, low, high, **_):
        k = np.rint((np.clip(values, low, high) - low) / (high - low) * MOST).astype(np.int64)
        return np.array([k.sum(), (k * k // MOST).sum()])

    monkeypatch.setitem(globals(), "row_sums", from_below)
    assert moved(-1.0, 1.0, True) == 2 * MOST


def test_sums_are_exact_and_add_up():
    values = np.random.default_rng(0).normal(size=1000)
    values[::7] = np.nan
    whole = row_sums(values, -1.0, 1.0, squares=True)
    each = sum(one_row(value) for value in values)
    assert whole.dtype == np.int64
    assert whole.tolist() == each.tolist()
    assert whole[2] == (HALF // 2) * (~np.isnan(values)).sum()
    assert row_sums(np.zeros(0), -1.0, 1.0, squares=True).tolist() == [0, 0, 0]


def test_means_and_squares_are_those_of_the_present_values():
    rng = np.random.default_rng(1)
    values = rng.uniform(2, 5, size=20_000)
    values[:5000] = np.nan
    unit = (values[5000:] - 0) / 10 - 0.5
    source = NoiseSource.of("study", 0)
    for squares in (True, False):
        ((mean, square),) = noisy_moments([(values, 0.0, 10.0)], 50.0, source, squares=squares)
        assert abs(mean - unit.mean()) < 1e-3
        assert abs(square - ((unit**2).mean() if squares else 0)) < 1e-3
    assert moments_mechanism(1, 50.0) == Mechanism("laplace", 50.0)


def test_without_any_value_they_stay_in_range():
    for seed in range(30):
        source = NoiseSource.of("study", seed)
        ((mean, square),) = noisy_moments([(np.full(3, np.nan), 0.0, 1.0)], 0.1, source, squares=True)
        assert -0.5 <= mean <= 0.5
        assert 0 <= square <= 0.25


def test_the_noise_is_that_of_all_columns_together():
    asked = []

    class Source(NoiseSource):
        def add_laplace(self, values, scale):
            asked.append((len(values), scale))
            return np.asarray(values, dtype=float)

    columns = [(np.ones(4), -1.0, 1.0)] * 5
    noisy_moments(columns, 0.8, Source("secure"), squares=True)
    assert asked == [(15, 5 * MOST / 0.8)]
    assert moments_mechanism(5, 0.8).ratio == 0.8


def least_epsilon():
    """A lower bound of ε at δ = 0, from outside, of the mean and square of one column at ε = 1."""

    def release(value, runs, rng):
        # many rows that stay, so that nothing is cut off, and one at one end or at the other
        column = np.append(np.zeros(99), value)
        source = NoiseSource.given(rng)
        found = [noisy_moments([(column, -1.0, 1.0)], 1.0, source, squares=True)[0] for _ in range(runs)]
        return np.array([one.mean for one in found])

    return audit(release, [(-1.0, 1.0)], n=6_000, alpha=1e-9, rng=np.random.default_rng(0)).epsilon_lower


def test_an_audit_finds_less_than_the_claim_and_more_at_half_the_noise(monkeypatch):
    usual = moments.noise_scale
    assert 0.5 < least_epsilon() < 1.0
    monkeypatch.setattr(moments, "noise_scale", lambda *given: usual(*given) / 2)
    assert least_epsilon() > 1.0


class Told:
    """A source that adds given numbers."""

    def __init__(self, noise):
        self.noise = np.array(noise, dtype=float)

    def add_laplace(self, values, scale):
        assert scale > 0
        return values + self.noise


@pytest.mark.parametrize("squares", [True, False])
def test_a_noisy_count_below_one_half_counts_as_one_half(squares):
    # of nobody: the noise alone says a sum of 0.1 ranges, and of 0.05 squared ones
    for present in (-3.0, 0.0, 0.49, 0.51):
        count = present * MOST / (4 if squares else 2)
        noise = [0.1 * MOST, *[0.05 * MOST] * squares, count]
        ((mean, square),) = noisy_moments([(np.zeros(0), 0.0, 1.0)], 1.0, Told(noise), squares=squares)
        rows = max(present, 0.5)
        assert mean == pytest.approx(0.1 / rows)
        assert square == (pytest.approx(0.05 / rows) if squares else 0.0)
