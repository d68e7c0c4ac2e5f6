"""Table 2.1: the odds of one noisy rate, by the definition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpfair_lib.central.released_rates import Rate, rational_decay
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search


@once
def odds_of_one_rate(odds: Callable[..., Any], search: Search) -> None:
    """All pairs of rates of up to three records, two levels of noise, clipped or not, by the definition."""
    search.part("odds of one noisy rate")
    rates = [Rate(k, m) for m in (1, 2, 3) for k in range(m + 1)]
    for decay, (before, after), clipped in itertools.product(
        (slow, _quick), itertools.product(rates, repeat=2), (True, False)
    ):
        case = {"before": before, "after": after, "clipped": clipped, "decay": decay.__name__}
        found = odds(before, after, decay, clipped=clipped)
        expected = odds_by_definition(before, after, decay, clipped)
        search.agree(found == math.inf, expected is None, case)
        if expected is not None and found != math.inf:
            search.equal(found, expected, case)


def slow(t: Fraction) -> Fraction:
    """Return e^(−εt) for a small ε, e^(−ε/12) = 19/20."""
    return rational_decay(Fraction(19, 20), 12)(t)


def _quick(t: Fraction) -> Fraction:
    return rational_decay(Fraction(1, 2), 12)(t)


def odds_by_definition(before: Rate, after: Rate, decay: Any, clipped: bool) -> Fraction | None:
    """Return the largest ratio of two densities of noisy rates, at all twelfths, and of their atoms; None: infinite.

    The density at x is proportional to size times e^(−ε|size x − selected|). Between places where one of the two
    turns, their ratio rises or falls; all such places are twelfths.
    """
    (k, m), (j, n) = before, after
    if not clipped and m < n:
        return None  # the heavier tail
    places = range(13) if clipped else range(-36, 49)
    ratios = [
        Fraction(m, n) * decay(abs(m * x - k) - abs(n * x - j)) for x in (Fraction(i, 12) for i in places)
    ]
    if clipped:
        ratios += [decay(Fraction(k - j)), decay(Fraction((m - k) - (n - j)))]
    return max(*ratios, Fraction(1))
