import itertools
import math

import pytest

from dpfair_lib.central.least_gap import matching_gap, simple_least_gap
from dpfair_lib.central.least_gap_exact import least_gap
from dpfair_lib.central.least_gap_sharp import (
    privacy_least_gap,
    sampling_least_gap,
    sharp_least_gap,
    shrunk_gap,
)

LEVELS = [0.0, 1e-6, 0.01, 0.1, 0.5, 1.0, 3.0, 20.0, math.inf]


@pytest.mark.parametrize("n", [1, 2, 3, 31, 400, 10**6])
def test_without_delta_the_two_are_a_factor_of_three_apart_at_most(n):
    for epsilon in LEVELS:
        low, high = sharp_least_gap(n, epsilon), shrunk_gap(n, epsilon)
        assert low <= high <= 3 * low, (n, epsilon)


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
