"""Intervals hold the exact results of all operations, and the solutions of linear systems."""

import itertools
from fractions import Fraction

import pytest

from dpfair_lib.local.optimal.intervals import DIGITS, Interval, solved

NUMBERS = [Fraction(n, d) for n in (-7, -1, 0, 2, 5) for d in (1, 3, 11)]


@pytest.mark.parametrize(("a", "b"), list(itertools.product(NUMBERS, repeat=2)))
def test_an_interval_holds_the_exact_result(a, b):
    one, two = Interval.of(a), Interval.of(b)
    results = [(one + two, a + b), (one - two, a - b), (one * two, a * b)]
    if b:
        results.append((one / two, a / b))
    for found, exact in results:
        low, high = found.ends
        assert low <= exact <= high
        assert (high - low) * 2 ** (DIGITS - 16) < 1


def test_wide_intervals_hold_the_results_of_their_ends():
    one, two = Interval.of(Fraction(-1, 3), 2), Interval.of(Fraction(1, 7), 5)
    for a, b in itertools.product((Fraction(-1, 3), 2), (Fraction(1, 7), 5)):
        for found, exact in ((one * two, a * b), (one / two, Fraction(a) / b), (one - two, a - b)):
            assert found.ends[0] <= exact <= found.ends[1]


def test_signs():
    assert [Interval.of(n).sign for n in (-1, 0, 1)] == [-1, 0, 1]
    assert Interval.of(-1, 1).sign == 0
    assert Interval.of(0).vanishes
    assert not Interval.of(0, 1).vanishes
    with pytest.raises(ZeroDivisionError):
        Interval.of(1) / Interval.of(0, 1)


def test_a_system_is_solved_and_a_singular_one_refused():
    table = [[Interval.of(n) for n in row] for row in ([0, 2], [3, 1])]
    found = solved(table, [Interval.of(1), Interval.of(2)])
    for one, exact in zip(found, (Fraction(1, 2), Fraction(1, 2)), strict=True):
        assert one.ends[0] <= exact <= one.ends[1]
    with pytest.raises(ValueError, match="no pivot in column 1"):
        solved([[Interval.of(1), Interval.of(2)]] * 2, [Interval.of(0)] * 2)
