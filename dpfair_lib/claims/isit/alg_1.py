"""ISIT, Algorithm 1: the flips are probabilities and lead both groups to one rate, at every pair of rates."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.flips import flip_probabilities
from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search

RATES = tuple(sorted({Fraction(i, n) for n in range(1, 13) for i in range(n + 1)}))


def check(*, flips: Callable[..., Any] = flip_probabilities, search: Search) -> Evidence:
    """Judge our construction at every pair of small rates, and compare it with the printed one."""
    search.part("small fractions")
    for alpha, beta in ((a, b) for a in RATES for b in RATES if b <= a):
        case = {"alpha": alpha, "beta": beta}
        search.under(
            np.array([alpha > 0 and beta < 1]), [printed_slack(alpha, beta)], case, verify=printed_slack
        )
        middle = (alpha + beta) / 2
        (down, nobody_up), (nobody_down, up) = flips(alpha, middle), flips(beta, middle)
        search.equal(alpha * (1 - down), middle, case)
        search.equal(beta + (1 - beta) * up, middle, case)
        search.equal(nobody_up + nobody_down, 0, case)
        search.observe(min(down, 1 - down, up, 1 - up), case)
        if alpha > 0 and beta < 1:
            stay, rise = printed_thresholds(alpha, beta)
            search.equal(1 - down, stay, case)
            search.equal(up, rise, case)
    pairs = len(RATES) * (len(RATES) + 1) // 2
    search.exhausts(
        "all pairs of rates, the larger one first, with denominators up to 12, the midpoint as common rate",
        cases=pairs,
    )
    _near_the_edges(flips, search)
    _order_reversed(search)
    return search.evidence()


def printed_thresholds(alpha: Fraction, beta: Fraction) -> tuple[Fraction, Fraction]:
    """Return the two thresholds for s as Algorithm 1 prints them; divides by zero at α = 0 and at β = 1."""
    return (alpha + beta) / (2 * alpha), (alpha - beta) / (2 * (1 - beta))


def printed_slack(alpha: Fraction, beta: Fraction) -> int:
    """Return 0 if the printed thresholds are numbers in [0, 1], −1 if not."""
    try:
        return 0 if all(0 <= threshold <= 1 for threshold in printed_thresholds(alpha, beta)) else -1
    except ZeroDivisionError:
        return -1


def printed_rates(alpha: Fraction, beta: Fraction) -> tuple[Fraction, Fraction]:
    """Return both groups' rates when the printed thresholds are used as they stand, whatever the order."""
    stay, rise = (
        min(max(threshold, Fraction(0)), Fraction(1)) for threshold in printed_thresholds(alpha, beta)
    )
    return alpha * stay, beta + (1 - beta) * rise


def _order_reversed(search: Search) -> None:
    """For α < β the printed thresholds, used as they stand, leave both rates and so the gap as they were."""
    search.part("order of the groups reversed")
    pairs = [(a, b) for a in RATES for b in RATES if 0 < a < b < 1]
    for alpha, beta in pairs:
        search.agree(printed_rates(alpha, beta) == (alpha, beta), True, {"alpha": alpha, "beta": beta})
    search.fact(
        "kept_gap", len(pairs), "pairs with the order of the groups reversed, which keep their whole gap"
    )


def _near_the_edges(flips: Callable[..., Any], search: Search) -> None:
    """Floats, down to 1e-300 and up to the last float below 1: still probabilities, still one rate."""
    search.part("floats near 0 and 1")
    small = [0.0, 5e-324, 1e-300, 1e-17, 1e-9, 0.3, 0.5]
    values = sorted({*small, *(1 - value for value in small), float(np.nextafter(1, 0))})
    for alpha, beta in ((a, b) for a in values for b in values if b <= a):
        case = {"alpha": alpha, "beta": beta}
        middle = beta + (alpha - beta) / 2
        (down, _), (_, up) = flips(alpha, middle), flips(beta, middle)
        search.observe(min(down, 1 - down, up, 1 - up), case)
        # the change itself, in exact arithmetic on the floats, against half of the gap; rounding is relative
        half = (Fraction(alpha) - Fraction(beta)) / 2
        rounding = float(Fraction(2, 10**16) * (half + Fraction(alpha))) + 1e-323
        search.equal(
            Fraction(alpha) * Fraction(down), Fraction(alpha) - Fraction(middle), case, tolerance=rounding
        )
        rise = Fraction(middle) - Fraction(beta)
        search.equal((1 - Fraction(beta)) * Fraction(up), rise, case, tolerance=float(rise) * 1e-15 + 1e-323)


def _denominators_swapped(rate: Any, target: Any) -> tuple[Any, Any]:
    down, up = flip_probabilities(rate, target)
    return (down * rate / (1 - rate), up) if 0 < rate < 1 else (down, up)


def _twice(rate: Any, target: Any) -> tuple[Any, Any]:
    down, up = flip_probabilities(rate, target)
    return min(2 * down, 1 + 0 * down), min(2 * up, 1 + 0 * up)


def _share_of_everyone(rate: Any, target: Any) -> tuple[Any, Any]:
    return max(rate - target, 0 * rate), max(target - rate, 0 * rate)


def _both_ways(rate: Any, target: Any) -> tuple[Any, Any]:
    """The rate is right, but a group that goes up also demotes some of those it selects."""
    down, up = flip_probabilities(rate, target)
    if up > 0 and rate > 0:
        down = min((1 + 0 * rate) / 4, (1 - up) * (1 - rate))
        up = up + down * rate / (1 - rate)
    return down, up


FAULTS: dict[str, dict[str, Any]] = {
    "flip probability over the other label's share": {"flips": _denominators_swapped},
    "factor ½ dropped": {"flips": _twice},
    "flips as a share of the whole group": {"flips": _share_of_everyone},
    "flips both ways": {"flips": _both_ways},
    "no flips at tiny rates": {
        "flips": lambda rate, target: (
            flip_probabilities(rate, target) if rate == 0 or rate > 1e-16 else (0 * rate, 0 * rate)
        )
    },
    "demotion forgotten": {"flips": lambda rate, target: (0 * rate, flip_probabilities(rate, target)[1])},
}


CLAIM = Claim(
    id="isit.alg-1",
    where="ISIT Algorithm 1, § III-A; thesis Algorithm 1, § 3.3",
    statement="With rates of 1s α ≥ β (no loss), any h*₀, h*₁ give a random classifier: keep a 1 "
    "of group 0 with probability (α+β)/(2α), turn a 0 of group 1 into 1 with probability (α−β)/(2(1−β)).",
    verdict="corrected",
    finding="At α = β = 0 and at α = β = 1 a printed threshold is 0/0 (it would concern no one), and for "
    "α < β the printed thresholds flip no one. One formula for either group, (p − r)/p down and "
    "(r − p)/(1 − p) up from rate p to the common rate r, 0 where there is nothing to flip, needs no order of "
    "the groups.",
    headline="The flips are defined unless both rates are 0 or both are 1; there nobody needs to be flipped.",
    witness="The groups have the selection rates {alpha} and {beta}. The printed threshold is then 0/0, "
    "which is no probability.",
    kind="condition",
    impact="none",
    because="Where a printed threshold is 0/0 it would apply to nobody, and Theorem 2 holds with either value.",
    chapter="isit-thm-2",
    errata=(
        Erratum(
            where="Algorithm 1, last line, in both documents; also the proof of ISIT Thm 2, thesis Thm 7",
            printed="thresholds with denominators 2α and 2(1 − β), without a word on α = 0 and β = 1",
            correct="where no one can be flipped, no one needs to be: the threshold is 1, or 0, there",
            band="condition",
            why="At α = β = 0 the first threshold is 0/0, at α = β = 1 the second is.",
        ),
        Erratum(
            where="Algorithm 1, line 1, in both documents",
            printed="α ≥ β is assumed without loss of generality inside an algorithm whose cases name groups 0 and 1",
            correct="compare the rates and give the part of group 0 to the group of higher rate",
            band="slip",
            why="For α < β the printed thresholds flip no one, so the whole gap remains.",
            used="Algorithm 2, which swaps the roles where α̃ < β̃",
        ),
        Erratum(
            where="Algorithm 1, line 2, in both documents",
            printed="s is sampled for (x, a): once for all, once per point, or once per person is left open",
            correct="one independent draw per person: every reading has parity on average over the draws, "
            "and with many people this one nearly has it in outcome",
            band="condition",
            why="With one draw for all, no outcome has parity where 0 < β < α < 1.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
