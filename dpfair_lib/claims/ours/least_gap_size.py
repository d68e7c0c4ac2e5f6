"""The part of the check of the least gap that compares the best noise, by its definition, with a bound of its size."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

from dpfair_lib.central.least_gap_sharp import privacy_least_gap
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search


def _mean_square(odds: Fraction, delta: Fraction) -> Fraction:
    """Return E N², 4∫xF(−x) over x > 0, exactly: F is straight between half-integers, so Simpson's rule is exact."""
    total, x, high = Fraction(0), Fraction(0), Fraction(1, 2)
    end, low = Fraction(1, 2), (1 - delta) / (odds + 1)
    while high > 0:
        if low < 0:
            end, low = x + (end - x) * high / (high - low), Fraction(0)
        total += (end - x) / 6 * (x * high + (x + end) * (high + low) + end * low)
        x, high, end, low = end, low, end + 1, (low - delta) / odds
    return 4 * total


@once
def size(variance: Callable[..., float], search: Search) -> None:
    """The best noise is no larger than its bound, not much smaller, and near to what privacy costs."""
    search.part("the size of the noise")
    for odds, delta in itertools.product(
        (Fraction(1), Fraction(21, 20), Fraction(3, 2), Fraction(3), Fraction(20)),
        (Fraction(1, 300), Fraction(1, 20), Fraction(1, 3), Fraction(19, 20)),
    ):
        square, epsilon, case = float(_mean_square(odds, delta)), math.log(odds), {"odds": odds, "δ": delta}
        bound = variance(epsilon, float(delta))
        search.observe(bound - square, case, tolerance=1e-9)
        search.observe((1.1 if odds < 2 else 2) * square - bound, case)
        privacy = privacy_least_gap(10**12, epsilon, float(delta), response=1) * (10**6 + 1) ** 2
        search.observe(2 * privacy**2 - bound, case)
