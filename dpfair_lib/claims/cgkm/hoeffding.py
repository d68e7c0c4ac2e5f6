"""CGKM, Theorem 7: Hoeffding's bound, with both sides and with one, against exact laws of sums."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.compat.concentration import mean_tail_bound

THREE = [law for law in itertools.product(range(7), repeat=3) if sum(law) == 6 and max(law) < 6]
SIZES = (1, 2, 3, 4, 5, 6, 8)


def check(*, bound: Callable[..., float] = mean_tail_bound, search: Search) -> Evidence:
    """Judge every distance that the mean of n numbers can have, in exact probabilities.

    Between two such distances the probability does not change and the bound falls, so that P(distance ≥ r) against
    the bound at r decides all ρ.
    """
    worst, cases = {1: 0.0, 2: 0.0}, 0
    for law, n, (low, high) in itertools.product(THREE, SIZES, ((0, 1), (-2, 3))):
        search.part("three values")
        cases += _all_distances(bound, law, n, Fraction(low), Fraction(high), worst, search)
    for share, n in itertools.product(range(1, 12), (1, 2, 5, 10, 20, 40)):
        search.part("two values")
        cases += _all_distances(bound, (12 - share, 0, share), n, Fraction(0), Fraction(1), worst, search)
    search.exhausts(
        "laws in sixths on the ends and the middle of an interval with up to 8 draws, two-point laws in twelfths "
        "with up to 40, every distance of the mean",
        cases=cases,
    )
    search.part("constants")
    search.equal(bound(0.5, 3, 0), 0, {"spread": 0})
    for sides in (1, 2):
        search.fact(
            f"largest exact probability over exp(−2nρ²/(b − a)²), sides: {sides}", round(worst[sides], 4)
        )
    return search.evidence()


def _all_distances(
    bound: Callable[..., float],
    law: tuple[int, ...],
    n: int,
    low: Fraction,
    high: Fraction,
    worst: dict[int, float],
    search: Search,
) -> int:
    weights = np.array([1], dtype=object)
    for _ in range(n):
        weights = np.convolve(weights, np.array(law, dtype=object))
    whole, spread = sum(law) ** n, high - low
    mean = Fraction(sum(i * w for i, w in enumerate(law)), 2 * sum(law))
    off = [abs(Fraction(i, 2 * n) - mean) for i in range(2 * n + 1)]  # in units of the interval
    for r in sorted(set(off)):
        case = {"law": law, "n": n, "low": low, "high": high, "distance": r * spread}
        both = Fraction(int(sum(w for w, d in zip(weights, off, strict=True) if d >= r)), whole)
        above = Fraction(
            int(
                sum(
                    w
                    for i, (w, d) in enumerate(zip(weights, off, strict=True))
                    if d >= r and Fraction(i, 2 * n) >= mean
                )
            ),
            whole,
        )
        for sides, exact in ((2, both), (1, above)):
            limit = bound(float(r * spread), n, float(spread), sides=sides)
            search.observe(limit - float(exact), case | {"sides": sides}, tolerance=1e-12)
            if r > 0:
                worst[sides] = max(worst[sides], float(exact) * math.exp(2 * n * r * r))
    return 2 * len(set(off))


def _with(factor: float = 1.0, exponent: float = 1.0, square: bool = True) -> Callable[..., float]:
    def bound(deviation: float, n: int, spread: float, *, sides: int = 2) -> float:
        if spread == 0:
            return 0.0
        width = spread**2 if square else spread
        return factor * sides * math.exp(-2 * exponent * n * deviation**2 / width)

    return bound


FAULTS: dict[str, dict[str, Any]] = {
    "the factor of one side for both": {"bound": _with(factor=0.5)},
    "exponent twice as large": {"bound": _with(exponent=2.0)},
    "a quarter more in the exponent": {"bound": _with(exponent=1.25)},
    "width not squared": {"bound": _with(square=False)},
    "number of draws forgotten": {
        "bound": lambda rho, n, spread, sides=2: mean_tail_bound(rho, 1, spread, sides=sides) ** (n * 1.2)
    },
}


CLAIM = Claim(
    id="cgkm.hoeffding",
    where="Theorem 7, Appendix B",
    statement="The mean of n i.i.d. variables in [a, b] is more than ρ away from its expectation with "
    "probability at most 2·exp(−2ρ²n/(b − a)²).",
    verdict="holds",
    finding="True with both sides and, without the factor 2, for one side; 'at least ρ' as well as 'more than ρ'. "
    "For both sides a factor is needed: of one toss of a fair coin it is √e = 1.649.",
    chapter="cgkm-tools",
    errata=(
        Erratum(
            where="Theorem 7, Appendix B",
            printed="variables X₁, …, X_d, of which the sum is divided by n",
            correct="X₁, …, Xₙ",
        ),
    ),
    check=check,
    faults=FAULTS,
)
