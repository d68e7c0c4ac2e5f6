"""CGKM, Theorem 7: Hoeffding's bound, with both sides and with one, against exact laws of sums."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.compatibility.private_learner.mean_tail import mean_tail_bound

THREE = [law for law in itertools.product(range(7), repeat=3) if sum(law) == 6 and max(law) < 6]
SIZES = (1, 2, 3, 4, 5, 6, 8)


def check(*, bound: Callable[..., float] = mean_tail_bound, search: Search) -> Evidence:
    """Judge every distance that the mean of n numbers can have, in exact probabilities.

    Between two such distances the probability does not change and the bound falls, so that P(distance ≥ r) against
    the bound at r decides all ρ.
    """
    worst = {1: 0.0, 2: 0.0}
    for law, n, (low, high) in itertools.product(THREE, SIZES, ((0, 1), (-2, 3))):
        search.part("three values")
        _all_distances(bound, law, n, Fraction(low), Fraction(high), worst, search)
    for share, n in itertools.product(range(1, 12), (1, 2, 5, 10, 20, 40)):
        search.part("two values")
        _all_distances(bound, (12 - share, 0, share), n, Fraction(0), Fraction(1), worst, search)
    search.exhausts(
        "distributions in sixths on the ends and the middle of an interval with up to 8 draws, two-point distributions "
        "in twelfths with up to 40, every distance of the mean",
        cases=2
        * 2
        * sum(distances(sum(i * w for i, w in enumerate(law)), 6, n) for law in THREE for n in SIZES)
        + 2 * sum(distances(2 * share, 12, n) for share in range(1, 12) for n in (1, 2, 5, 10, 20, 40)),
    )
    search.part("constants")
    search.equal(bound(0.5, 3, 0), 0, {"spread": 0})
    for sides in (1, 2):
        search.fact(
            f"largest_ratio_{sides}", round(worst[sides], 4),
            f"largest exact probability over exp(−2nρ²/(b − a)²), sides: {sides}",
        )  # fmt: skip
    return search.evidence()


def distances(mean: int, unit: int, n: int) -> int:
    """Return how many distances from its expectation the sum of n draws of 0, 1 or 2 can have, of mean/unit each.

    Every whole number up to 2n has another one as far off on the other side if twice the expectation is whole.
    """
    expected = Fraction(mean * n, unit)
    if (2 * expected).denominator == 1:
        return max(math.floor(expected), 2 * n - math.ceil(expected)) + 1
    return 2 * n + 1


def _all_distances(
    bound: Callable[..., float],
    law: tuple[int, ...],
    n: int,
    low: Fraction,
    high: Fraction,
    worst: dict[int, float],
    search: Search,
) -> None:
    spread = high - low
    for r, both, above in _tails(law, n):
        case = {"law": law, "n": n, "low": low, "high": high, "distance": r * spread}
        for sides, exact in ((2, both), (1, above)):
            limit = bound(float(r * spread), n, float(spread), sides=sides)
            search.observe(limit - exact, case | {"sides": sides}, tolerance=1e-12)
            if r > 0:
                worst[sides] = max(worst[sides], exact * math.exp(2 * n * r * r))


@functools.cache
def _tails(law: tuple[int, ...], n: int) -> list[tuple[Fraction, float, float]]:
    """Return each distance of the mean, in units of the interval, with the chances of it or more, and of it above."""
    weights = np.array([1], dtype=object)
    for _ in range(n):
        weights = np.convolve(weights, np.array(law, dtype=object))
    whole = sum(law) ** n
    mean = Fraction(sum(i * w for i, w in enumerate(law)), 2 * sum(law))
    signed = [Fraction(i, 2 * n) - mean for i in range(2 * n + 1)]
    found = []
    for r in sorted({abs(d) for d in signed}):
        both = sum(w for w, d in zip(weights, signed, strict=True) if abs(d) >= r)
        above = sum(w for w, d in zip(weights, signed, strict=True) if d >= r)
        found.append((r, float(Fraction(int(both), whole)), float(Fraction(int(above), whole))))
    return found


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
    headline="Holds, with the factor 2 for two sides; one toss of a fair coin needs a factor of 1.65.",
    kind="as-printed",
    impact="none",
    because="The theorem holds as printed, but for the name of an index.",
    errata=(
        Erratum(
            where="Theorem 7, Appendix B",
            printed="variables X₁, …, X_d, of which the sum is divided by n",
            correct="X₁, …, Xₙ",
            band="slip",
            why="The number of variables is what the sum is divided by.",
            used="the bound, in which n is the number of variables",
        ),
    ),
    check=check,
    faults=FAULTS,
)
