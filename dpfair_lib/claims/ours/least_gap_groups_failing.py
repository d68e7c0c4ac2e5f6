"""The part of the check of several groups with δ > 0: programs over all mechanisms that may fail, and the order."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.claims.shared.central.mechanism_programs import of_signs

SOLVED = 1e-8  # what a linear program may miss
ABOVE, BELOW = 5, 42  # how far the least gap is from its order, by proof


def failing(
    lower: Callable[..., float], upper: Callable[..., float], privacy: Callable[..., float],
    order: Callable[..., float], search: Search,
) -> None:  # fmt: skip
    """Judge the bounds for many groups with δ > 0, and the order."""
    _one_sign(search)
    _signs(privacy, search)
    _order(lower, upper, order, search)
    _bounds(lower, upper, privacy, search)


@functools.cache
def _chances(n: int, odds: Fraction, delta: Fraction, start: Fraction) -> list[tuple[Fraction, ...]]:
    """Return all chances of an event at 0 to n that begin with one: least, equal or largest beside the last."""
    if n == 0:
        return [(start,)]
    found = []
    for before in _chances(n - 1, odds, delta, start):
        at = before[-1]
        up = min(odds * at + delta, 1 - (1 - at - delta) / odds, Fraction(1))
        down = max((at - delta) / odds, 1 - odds * (1 - at) - delta, Fraction(0))
        found += [(*before, chance) for chance in (down, at, up)]
    return found


@once
def _one_sign(search: Search) -> None:
    """All extreme events of mechanisms of up to four records: P₊ ≤ Rⁿ P₋ + δ_n, attained by one record."""
    search.part("what an event says about one sign, with δ")
    for n, odds, delta, tau in itertools.product(
        range(1, 5),
        (Fraction(3, 2), Fraction(4)),
        (Fraction(1, 50), Fraction(1, 5)),
        (Fraction(1, 3), Fraction(1)),
    ):
        case = {"n": n, "odds": odds, "δ": delta, "τ": tau}
        high = (1 + tau) / 2
        law = [math.comb(n, k) * high**k * (1 - high) ** (n - k) for k in range(n + 1)]
        ratio, fails = _of_one_sign(n, odds, delta, tau)
        # Rⁿ P₋ − P₊ is one sum over the counts
        weights = [ratio * p - q for p, q in zip(reversed(law), law, strict=True)]
        for start in (Fraction(0), delta, Fraction(1, 2)):
            every = zip(itertools.product(range(3), repeat=n), _chances(n, odds, delta, start), strict=True)
            for moves, chances in every:
                slack = fails + sum(w * f for w, f in zip(weights, chances, strict=True))
                search.observe(slack, case | {"start": start, "moves": moves})
                if n == 1 and start == 0 and moves == (2,):
                    search.equal(slack, Fraction(0), case)


def _of_one_sign(n: int, odds: Fraction, delta: Fraction, tau: Fraction) -> tuple[Fraction, Fraction]:
    """Return Rⁿ and δ_n."""
    part = tau * (odds - 1) / (odds + 1)
    ratio = ((1 + part) / (1 - part)) ** n
    return ratio, delta * (ratio - 1) / (odds - 1)


@once
def _signs(privacy: Callable[..., float], search: Search) -> None:
    search.part("random signs with δ, by linear programs")
    for sizes, shift, epsilon, delta in itertools.product(
        ((1, 1), (1, 1, 1), (2, 2, 1)), (0.4, 1.0), (0.1, 1.0), (0.001, 0.03)
    ):
        case = {"n": sizes, "τ": shift, "epsilon": epsilon, "δ": delta}
        search.observe(
            of_signs(sizes, shift, epsilon, delta) - privacy(sizes, shift, epsilon, delta),
            case,
            tolerance=SOLVED,
        )
    for n, k, odds, little, tau in itertools.product(
        (1, 4),
        (2, 9),
        (Fraction(3, 2), Fraction(4)),
        (Fraction(1, 1000), Fraction(1, 50)),
        (Fraction(1, 3), Fraction(1)),
    ):
        ratio, fails = _of_one_sign(n, odds, little, tau)
        beta = 1 / (1 + ratio)
        bound = tau * (1 + (1 - 2 * beta) ** k - 2 * (1 - beta) ** k - k * beta * fails)
        found = privacy([n] * k, float(tau), math.log(odds), float(little))
        case = {"k": k, "n": n, "odds": odds, "δ": little, "τ": tau}
        search.equal(found, max(float(bound), 0.0), case, tolerance=1e-12)
    search.needs(
        "the price of δ: with a quarter of it",  # half of it is the truth here
        slack=of_signs((1, 1), 1.0, 0.0, 0.3) - (0.5 - 0.25 * 0.3),
        case={"n": (1, 1), "τ": 1.0, "epsilon": 0.0, "δ": 0.3},
    )


@functools.cache
def _range_of_noise(k: int, epsilon: float, delta: float) -> float:
    """Return the mean range of k noises with the distribution function of Result 1, by its definition."""

    @functools.cache  # most points are whole steps from another
    def below(x: float) -> float:
        if x > 0:
            return 1 - below(-x)
        first = (1 - delta) / (math.exp(epsilon) + 1)
        if x >= -0.5:
            return first + (x + 0.5) * (1 - 2 * first)
        return max(0.0, math.exp(-epsilon) * (below(x + 1) - delta))

    points = np.arange(-60, 60, 0.25)
    law = np.array([below(float(x)) for x in points])
    return float((1 - law**k - (1 - law) ** k).sum()) * 0.25


@once
def _order(
    lower: Callable[..., float], upper: Callable[..., float], order: Callable[..., float], search: Search
) -> None:
    """The least gap has the order on both sides: with δ far below, near, and far above ε."""
    search.part("the order")
    least, most, cases = math.inf, 0.0, 0
    for n, epsilon, delta, k in itertools.product(
        (1, 10, 1000, 10**5, 10**7),
        (1e-6, 1e-3, 0.1, 1.0),
        (0.0, 1e-30, 1e-9, 1e-6, 1e-3, 0.1, 0.9),
        (2, 3, 40, 1000),
    ):
        case = {"k": k, "n": n, "epsilon": epsilon, "δ": delta}
        expected = order(k, n, epsilon, delta)
        low, high = (bound((n,) * k, epsilon, delta) * 2 for bound in (lower, upper))
        search.observe(ABOVE * expected - high, case)
        search.observe(BELOW * low - expected, case)
        search.observe(high - low, case, tolerance=1e-12)
        least, most, cases = min(least, low / expected), max(most, high / expected), cases + 1
    search.fact("below", f"{least:.2f}", "least ratio of the lower bound and the order")
    search.fact("above", f"{most:.1f}", "largest ratio of the upper bound and the order")
    search.fact("ordered", cases, "cases in which both bounds were compared with the order")


@once
def _bounds(
    lower: Callable[..., float], upper: Callable[..., float], privacy: Callable[..., float], search: Search
) -> None:
    search.part("lower and upper bound with δ")
    worst = 0.0
    for n, epsilon, delta, k in itertools.product(
        (10, 1000, 10**5), (0.0, 1e-3, 0.1, 1.0), (1e-9, 1e-6, 1e-3, 0.05), (3, 100)
    ):
        low, high = lower((n,) * k, epsilon, delta), upper((n,) * k, epsilon, delta)
        case = {"k": k, "n": n, "epsilon": epsilon, "δ": delta}
        search.observe(high - low, case, tolerance=1e-12)
        search.observe(12 * low - high, case)
        worst = max(worst, high / low)
    for k, epsilon, delta in itertools.product((3, 100), (0.3, 1.0), (1e-3, 0.05)):
        n = 10**9  # so many records that the noise is a small part of them, and next to nothing is cut off
        noise = _range_of_noise(k, epsilon, delta) / n
        case = {"k": k, "epsilon": epsilon, "δ": delta}
        search.observe(
            2 * upper((n,) * k, epsilon, delta) - 2 * upper((n,) * k, 30.0, 0.0) + 1.1e-9 - noise, case
        )
    sizes, epsilon = (10**6,) * 10**4, 1e-3
    for delta in (1e-9, 1e-7, 1e-5, 1e-3):
        for shift in (1e-3, 5e-3, 1e-2, 2e-2):
            case = {"k": len(sizes), "τ": shift, "δ": delta}
            search.observe(2 * upper(sizes, epsilon, delta) - privacy(sizes, shift, epsilon, delta), case)
    few = lower(sizes[:4], epsilon, 1e-9)
    search.observe(lower(sizes, epsilon, 1e-9) - 1.5 * few, {"k": len(sizes), "δ": 1e-9})
    search.needs(
        "δ small beside ε/k for order log k: noise of bounded range does better",
        slack=2 * upper(sizes, epsilon, 1e-3) - lower(sizes, epsilon) * 2,
        case={"k": len(sizes), "epsilon": epsilon, "δ": 1e-3},
    )
    search.fact("failing", round(worst, 1), "largest ratio of the bounds with 3 or more groups, δ > 0")
