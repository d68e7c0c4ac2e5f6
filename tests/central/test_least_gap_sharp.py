import itertools
import math

import numpy as np
import pytest

from dpfair_lib.central.least_gap import matching_gap, simple_least_gap
from dpfair_lib.central.least_gap_exact import _below as below
from dpfair_lib.central.least_gap_exact import least_gap
from dpfair_lib.central.least_gap_sharp import (
    best_length,
    count_noise_variance,
    near_one_half,
    noise_variance,
    privacy_least_gap,
    sampling_least_gap,
    sharp_least_gap,
    shrunk_gap,
    two_rates_apart,
)

SIZES = [*range(1, 41), 64, 99, 300, 301, 1000, 10**4, 10**6, 10**9]
FINE = [0.0, *np.geomspace(1e-12, 1e-3, 10).tolist(), *np.geomspace(2e-3, 30, 36).tolist(), math.inf]
FAILING = [
    0.0,
    1e-300,
    1e-100,
    *np.geomspace(1e-12, 1e-3, 10).tolist(),
    *np.geomspace(2e-3, 0.99, 30).tolist(),
]


def test_the_two_are_a_factor_of_three_apart_at_most():
    """More than 10⁵ cases: no privacy, δ far below and far above ε, δ near 1, and nε and nδ of every size."""
    worst, many, cases = 0.0, 0.0, 0
    for n, epsilon, delta in itertools.product(SIZES, FINE, [*FAILING, 1 - 1e-6, 1 - 1e-12]):
        low, high = sharp_least_gap(n, epsilon, delta), shrunk_gap(n, epsilon, delta)
        cases += 1
        assert low <= high <= (2.5 if n >= 300 else 3) * low, (n, epsilon, delta)
        worst = max(worst, high / low)
        many = max(many, high / low) if n >= 300 else many
    assert cases > 10**5
    assert worst > 2.7
    assert many > 2.1


def test_geometric_and_uniform_noise_alone_are_further_apart():
    n, epsilon, delta = 1000, 0.05, 0.01
    alone = min(shrunk_gap(n, epsilon), shrunk_gap(n, 0.0, delta))
    assert alone > 1.2 * shrunk_gap(n, epsilon, delta)


def _edges(odds, delta):
    """Where the density of the best noise changes: half-integers, and the ends of the support."""
    x, low = 0.5, (1 - delta) / (odds + 1)
    edges = [x]
    while (following := (low - delta) / odds) > 0:
        x, low = x + 1, following
        edges.append(x)
    edges.append(x + low / (low - following))
    return sorted([*edges, *(-edge for edge in edges)])


@pytest.mark.parametrize("shift", [0.1, 0.5, 0.9, 1.0])
def test_the_best_noise_is_private_for_numbers_that_move_by_less_than_one(shift):
    for odds, delta in itertools.product((1.0, 1.1, 3.0), (0.01, 0.2, 0.7)):
        own = _edges(odds, delta)
        edges = sorted({*own, *(edge + shift for edge in own)})
        law, moved = (np.diff([below(edge - by, odds, delta) for edge in edges]) for by in (0.0, shift))
        assert law.sum() == pytest.approx(1)
        assert np.maximum(law - odds * moved, 0).sum() <= delta + 1e-12, (odds, delta)
        assert np.maximum(moved - odds * law, 0).sum() <= delta + 1e-12, (odds, delta)


def test_the_bound_of_its_variance():
    for odds, delta in itertools.product((1.0, 1.05, 1.5, 20.0), (0.01, 0.2, 0.7)):
        edges = [0.0, *(edge for edge in _edges(odds, delta) if edge > 0)]
        tail = [below(-x, odds, delta) for x in edges]  # F is straight between two of them
        square = sum(
            (y - x) * (4 * x * f + 2 * x * g + 2 * y * f + 4 * y * g) / 3
            for (x, y), (f, g) in zip(itertools.pairwise(edges), itertools.pairwise(tail), strict=True)
        )
        bound = noise_variance(math.log(odds), delta)
        assert square <= bound * (1 + 1e-9), (odds, delta)
        assert bound <= (1.1 if odds < 2 else 2) * square, (odds, delta)
    assert noise_variance(0.0, 0.25) == pytest.approx(16 / 12)
    assert noise_variance(1e-9, 0.25) == pytest.approx(16 / 12)
    assert noise_variance(0.0, 0.0) == math.inf
    assert noise_variance(0.1, 0.0) == pytest.approx(200)
    assert count_noise_variance(0.1, 0.0) == pytest.approx(0.5 / math.sinh(0.05) ** 2)
    # r = e − 1 with δ = ½: ln(1 + r) = 1
    short = (1 - 1.5 / (math.e - 1)) / (2 * math.tanh(0.5) ** 2)
    assert noise_variance(1.0, 0.5) == pytest.approx(min(short, 1 / 3))
    below_it, above_it = (noise_variance(math.log1p(2 * 0.01 * r), 0.01) for r in (0.999e-3, 1.001e-3))
    assert below_it == pytest.approx(above_it, rel=1e-5)


def test_lower_bounds_by_hand():
    assert sharp_least_gap(1, math.inf, response=1) == 1 / 4
    assert two_rates_apart(4, math.inf, 0.0) == pytest.approx(1 / 32)
    assert two_rates_apart(4, 0.0, 0.1) == pytest.approx(0.3)
    assert near_one_half(2, 1.0) == pytest.approx(0.25 / 2 - 1 / 12)  # m = 1, S = 1/8
    s = sampling_least_gap(50, response=1)
    below_it, above_it = (sampling_least_gap(n) * math.sqrt(n + 0.5) for n in (19998, 20000))
    assert below_it == pytest.approx(above_it, rel=1e-8)
    assert near_one_half(50, best_length(50)) == pytest.approx(2 * s - math.sqrt(s / 51))
    assert max(near_one_half(50, x) for x in (0.1, 0.3, 0.5, 0.9)) < near_one_half(50, best_length(50))
    # the share of 10¹² records errs by 0.399/√n on average at the rate ½
    many = sharp_least_gap(10**14, 30.0, response=1) * 1e7 * math.sqrt(2 * math.pi)
    assert 0.999 < many < 1


@pytest.mark.parametrize("n", [1, 2, 7])
def test_they_enclose_the_exact_least_gap(n):
    for epsilon, delta in itertools.product((0.0, 0.3, 1.0, 4.0), (0.0, 0.02, 0.4)):
        exact = least_gap(n, math.exp(epsilon), delta)
        assert sharp_least_gap(n, epsilon, delta, response=1) <= exact.low * (1 + 1e-3), (epsilon, delta)
        assert 2 * shrunk_gap(n, epsilon, delta) >= exact.high * (1 - 1e-3), (epsilon, delta)


def test_they_improve_on_the_old_ones():
    assert sharp_least_gap(1000, 0.1) > 1.3 * simple_least_gap(1000, 0.1)
    assert shrunk_gap(1000, 0.1) < 0.8 * matching_gap(1000, 0.1)


def test_small_cases_by_hand():
    assert sampling_least_gap(1, response=1) == pytest.approx(1 / 8)
    assert sampling_least_gap(4, response=1) == pytest.approx(3 / 32)
    assert sampling_least_gap(0, response=1) == pytest.approx(1 / 4)
    assert privacy_least_gap(3, math.log(1.1), response=1) == pytest.approx(1 / 2.3)
    assert privacy_least_gap(4, math.inf, response=1) == pytest.approx(1 / 18)
    assert privacy_least_gap(5, 0.0, response=1) == pytest.approx(0.5)
    assert shrunk_gap(9, math.inf) == pytest.approx(1 / 16)
    assert shrunk_gap(9, 0.0) == 0.25


def test_the_loss_of_delta_has_no_jump_where_the_series_begins():
    below, above = (privacy_least_gap(50, 2e-4 * 0.1 * side, 0.1) for side in (0.999, 1.001))
    assert below == pytest.approx(above, rel=1e-5)
    assert privacy_least_gap(100, 0.0, 0.1, response=1) == pytest.approx(0.5 / (2 * 0.1 * 11**2))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: sampling_least_gap(-1), "n"),
        (lambda: privacy_least_gap(5, -1.0), "epsilon"),
        (lambda: sharp_least_gap(5, 1.0, 1.0), "delta"),
        (lambda: sharp_least_gap(5, 1.0, response=1.5), "response"),
        (lambda: shrunk_gap(5, 1.0, response=0.6), "response"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=f"^{named}: found"):
        call()
