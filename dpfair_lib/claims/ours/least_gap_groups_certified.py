"""The part of the check of several groups that is certified in fractions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.claims.shared.central.certified_gaps import NONE, certified_gap

CASES = [((2,), 6), ((3,), 6), ((4,), 6), ((1, 1), 6), ((1, 2), 6), ((2, 2), 6)]
MANY = [((1, 1, 1), 2), ((2, 2, 1), 2), ((2, 2, 2), 2), ((3, 3, 3), 2), ((1, 1, 1, 1), 2)]
DELTAS = (Fraction(1, 100), Fraction(1, 5))
ODDS = (Fraction(21, 20), Fraction(3, 2), Fraction(3), Fraction(20))
CLOSE = Fraction(1, 10**6)


@once
def certified(upper: Callable[..., float], privacy: Callable[..., float], search: Search) -> None:
    """Bounds in fractions: they meet; two groups are as hard as one of both sizes, twice; the formulas fit in."""
    search.part("certificates in fractions")
    widest, many = NONE, []
    cases = [*itertools.product(CASES, ODDS, (NONE,)), *itertools.product(MANY, ODDS[2:3], (NONE, *DELTAS))]
    for (sizes, steps), odds, delta in cases:
        case: dict[str, Any] = {"n": sizes, "odds": odds, "steps": steps, "δ": delta}
        low, high = certified_gap(sizes, steps, odds, delta)
        search.observe(high - low, case)
        search.observe(CLOSE * low - (high - low), case)
        widest = max(widest, (high - low) / low)
        if len(sizes) > 2:
            many.append((sizes, float(delta), float(low), float(high)))
        if len(sizes) > 1:
            how = math.log(odds), float(delta)
            search.observe(upper(sizes, *how, response=0.5) - float(low) / 2, case)
            search.observe(float(high) - privacy(sizes, 1.0, *how), case)  # whose rates are 0 and 1
        if len(sizes) == 2:
            search.observe((1 + CLOSE) * low - 2 * certified_gap((sum(sizes),), steps, odds)[0], case)
    search.fact("certified", f"{float(widest):.0e}", "largest relative distance of two certified bounds")
    search.fact("of_three_and_four", many)
