"""Releases chosen by the earlier results, within limits that are set before the first: every way to choose."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.privacy import PrivacyStatement, gaussian_delta
from dpfair_lib.privacy.budgets.adaptive_releases import adaptive_delta
from dpfair_lib.privacy.budgets.filters import make_filter

STRENGTHS = (1, 2, 3, 4)  # in quarters of ε
UNIT = 0.25
MOST = 6
MENUS: list[tuple[tuple[int, Fraction], ...]] = [  # strength and chance to fail of each release
    ((1, Fraction(0)), (2, Fraction(0))),
    ((1, Fraction(1, 20)), (3, Fraction(0))),
    ((2, Fraction(1, 9)),),
]
SUMMED = 1e-12  # rounding of sums of products
INTEGRATED = 1e-9

Counts = tuple[int, ...]
Menu = tuple[tuple[int, float], ...]


def check(
    *,
    search: Search,
    limit: Callable[..., Any] = make_filter,
    worst: Callable[..., float] = adaptive_delta,
    profile: Callable[..., float] = gaussian_delta,
) -> Evidence:
    """No way to choose exceeds the promised δ; Gaussian releases attain it; limits set later fail."""
    _exact_recursion(worst, search)
    _every_way_to_choose(limit, worst, search)
    _pure_releases_go_on(limit, search)
    _a_release_is_divided(profile, search)
    _what_is_needed(limit, worst, profile, search)
    return search.evidence()


@once
def _exact_recursion(worst: Callable[..., float], search: Search) -> None:
    """The recursion in fractions, where e^unit and all probabilities are rational."""
    search.part("the recursion, in fractions")
    ratio = Fraction(5, 4)
    for menu, most, rungs in itertools.product(MENUS, (1, 2, 4), (0, 1, 3)):
        for cap in (2, 5):  # on the sum of the strengths
            exact = _worst_exactly(menu, ratio, rungs, cap, most)
            found = worst(
                [(m, float(fails)) for m, fails in menu],
                rungs * math.log(ratio),
                functools.partial(_within, menu=menu, cap=cap),
                unit=math.log(ratio),
                most=most,
            )
            search.equal(found, float(exact), {"menu": menu, "most": most, "cap": cap}, tolerance=SUMMED)


def _within(counts: Counts, menu: Any, cap: int) -> bool:
    return sum(n * m for n, (m, _) in zip(counts, menu, strict=True)) <= cap


def _worst_exactly(menu: Any, ratio: Fraction, rungs: int, cap: int, most: int) -> Fraction:
    """Return the largest δ of all ways to choose: by the lists of choices themselves, with every result kept."""

    def go(loss: int, counts: Counts) -> Fraction:
        values = [max(1 - ratio ** (rungs - loss), Fraction(0))]
        for at, (m, fails) in enumerate(menu):
            after = (*counts[:at], counts[at] + 1, *counts[at + 1 :])
            if sum(counts) < most and _within(after, menu, cap):
                rises = ratio**m / (1 + ratio**m)
                mean = rises * go(loss + m, after) + (1 - rises) * go(loss - m, after)
                values.append(fails + (1 - fails) * mean)
        return max(values)

    return go(0, (0,) * len(menu))


@once
def _every_way_to_choose(limit: Callable[..., Any], worst: Callable[..., float], search: Search) -> None:
    search.part("every way to choose")
    menus: list[Menu] = [
        tuple((m, 0.0) for m in chosen)
        for size in range(1, len(STRENGTHS) + 1)
        for chosen in itertools.combinations(STRENGTHS, size)
    ]
    failing: list[Menu] = [((1, 0.0), (2, 0.004), (4, 0.001)), ((1, 0.02),), ((2, 0.01), (3, 0.0))]
    levels = list(itertools.product((0.5, 1.0, 2.0), (0.02, 0.2)))
    largest = 0.0
    for menu, (epsilon, delta) in itertools.product([*menus, *failing], levels):
        openly = delta / 4 if menu in failing else 0.0
        filtered = limit("gaussian", epsilon, delta, openly)
        chosen = worst(menu, epsilon, _allowed(filtered, menu), unit=UNIT, most=MOST)
        case = {"ε": epsilon, "δ": delta, "releases": menu, "δ of open failure": openly}
        search.observe(delta - chosen, case, tolerance=SUMMED)
        largest = max(largest, chosen / delta)
    search.exhausts(
        "all ways to choose up to six releases from 18 menus of strengths and open failures, at six levels",
        cases=(2 ** len(STRENGTHS) - 1 + len(failing)) * len(levels),
    )
    search.fact(
        "share_used", round(largest, 3), "largest share of δ that randomised responses chosen on the way use"
    )


def _allowed(filtered: Any, menu: Menu, factor: Fraction = Fraction(1)) -> Callable[[Counts], bool]:
    """Return whether a list is within the limits of a filter, if each release costs a factor of what it should."""
    costs = [filtered.cost(PrivacyStatement(m * UNIT, fails, "replace-one")) for m, fails in menu]

    def fits(counts: Counts) -> bool:
        totals = (
            sum(n * cost[at] for n, cost in zip(counts, costs, strict=True))
            for at in range(len(filtered.limits))
        )
        return not filtered.excess(tuple(factor * total for total in totals))

    return fits


@once
def _pure_releases_go_on(limit: Callable[..., Any], search: Search) -> None:
    """Beyond the limit of the squares a filter allows pure releases exactly up to the total ε."""
    search.part("pure releases go on")
    for epsilon, delta in itertools.product((0.5, 1.0, 2.0), (1e-6, 0.2)):
        filtered = limit("gaussian", epsilon, delta)
        (squares, _, _, _) = filtered.cost(PrivacyStatement(UNIT, 0.0, "replace-one"))
        for count in range(1, 41):
            fits = _allowed(filtered, ((1, 0.0),))((count,))
            by_sum, by_squares = count * UNIT <= epsilon, count * squares <= filtered.limits[0]
            search.agree(fits, bool(by_sum or by_squares), {"ε": epsilon, "δ": delta, "releases": count})


@once
def _a_release_is_divided(profile: Callable[..., float], search: Search) -> None:
    """G_m is as much as G_μ and then G_r, for every result of the first: the mean of what is left is the whole."""
    from scipy.special import log_ndtr, ndtr

    search.part("a Gaussian release is divided")
    x, step = np.linspace(-12, 12, 2401, retstep=True)
    weight = np.exp(-x * x / 2) / math.sqrt(2 * math.pi) * step
    levels, shares = ((0.0, 1.0), (0.3, 2.0), (1.0, 1.0), (3.0, 0.5)), np.linspace(0.05, 0.95, 7)
    for (epsilon, moved), whole, share in itertools.product(levels, (0.1, 0.5, 1.0, 2.5), shares):
        first, rest = whole * math.sqrt(share), whole * math.sqrt(1 - share)
        left = epsilon - (first * x + first * first / 2)  # after the loss of the first result
        after = ndtr(rest / 2 - left / rest) - np.exp(left + log_ndtr(-rest / 2 - left / rest))
        case = {"ε": epsilon, "m": whole, "share of the first": share}
        search.equal(
            float(weight @ after), profile(epsilon, moved / whole, moved), case, tolerance=INTEGRATED
        )


def _what_is_needed(
    limit: Callable[..., Any], worst: Callable[..., float], profile: Callable[..., float], search: Search
) -> None:
    search.part("what cannot be left out")
    menu: Menu = tuple((m, 0.0) for m in STRENGTHS)
    late = worst(menu, 1.0, lambda counts: _total(counts) <= 0.05, unit=UNIT, most=MOST)
    search.needs(
        "limits that are set before the first result: where every list that can happen costs at most δ",
        slack=0.05 - late,
        case={"ε": 1.0, "δ": 0.05},
    )
    cheap = worst(menu, 1.0, _allowed(limit("gaussian", 1.0, 0.2), menu, Fraction(3, 5)), unit=UNIT, most=9)
    search.needs("the costs: with 0.6 of each", slack=0.2 - cheap, case={"ε": 1.0, "δ": 0.2})
    # two Gaussian releases that use up the limit attain the whole of it
    both = math.hypot(0.6, 0.8)
    promised = 0.999 * profile(1.0, 1.0, 1.0)
    search.needs(
        "δ: with 0.999 of it, for two Gaussian releases",
        slack=promised - profile(1.0, 1 / both, 1.0),
        case={"μ": (0.6, 0.8), "ε": 1.0},
    )
    search.fact(
        "chosen_late", round(late, 4), "δ of lists that each cost at most 0.05, if they are chosen on the way"
    )


@functools.cache
def _total(counts: Counts) -> float:
    """Return δ at ε = 1 of a fixed list of randomised responses, exactly but for rounding."""
    losses = {0: 1.0}
    for m in (m for m, times in zip(STRENGTHS, counts, strict=True) for _ in range(times)):
        rises, after = 1 / (1 + math.exp(-m * UNIT)), dict[int, float]()
        for loss, chance in losses.items():
            after[loss + m] = after.get(loss + m, 0.0) + chance * rises
            after[loss - m] = after.get(loss - m, 0.0) + chance * (1 - rises)
        losses = after
    return sum(chance * max(-math.expm1(1.0 - loss * UNIT), 0.0) for loss, chance in losses.items())


def _changed(**replaced: Any) -> Callable[..., Any]:
    """Return filters with an argument changed by a function of all."""

    def wrong(kind: Any, epsilon: float, delta: float, open_delta: float = 0.0) -> Any:
        given = {"kind": kind, "epsilon": epsilon, "delta": delta, "open_delta": open_delta}
        return make_filter(**(given | {name: change(given) for name, change in replaced.items()}))

    return wrong


FAULTS: dict[str, dict[str, Any]] = {
    "twice the ε": {"limit": _changed(epsilon=lambda given: 2 * given["epsilon"])},
    "three times the δ": {"limit": _changed(delta=lambda given: min(3 * given["delta"], 0.99))},
    "the best choice is the mean choice": {
        "worst": lambda menu, epsilon, allowed, **how: adaptive_delta(
            menu[:1], epsilon, _first(allowed, menu), **how
        )
    },
    "one release more": {
        "worst": lambda menu, epsilon, allowed, *, unit, most: adaptive_delta(
            menu, epsilon, allowed, unit=unit, most=most + 1
        )
    },
    "open failure forgotten": {
        "worst": lambda menu, *rest, **how: adaptive_delta([(m, 0.0) for m, _ in menu], *rest, **how)
    },
    "a loss of another unit": {
        "worst": lambda menu, epsilon, allowed, *, unit, most: adaptive_delta(
            menu, epsilon, allowed, unit=0.9 * unit, most=most
        )
    },
    "distances add up": {
        "profile": lambda epsilon, sigma, sensitivity: gaussian_delta(epsilon, sigma / 1.01, sensitivity)
    },
    "the profile at another ε": {
        "profile": lambda epsilon, *rest: gaussian_delta(1.01 * epsilon + 0.001, *rest)
    },
}


def _first(allowed: Callable[[Counts], bool], menu: Any) -> Callable[[Counts], bool]:
    return lambda counts: allowed((*counts, *(0 for _ in menu[1:])))


CLAIM = Claim(
    id="ours.grown-lists",
    where="Composition, Result 2 and its corollary",
    statement="Let release i reveal at every real ε at most as much as N(μ_i, 1) against N(0, 1), and δ_i more. If "
    "each release is chosen by the earlier results, and the list stops before ∑ μ_i^2 exceeds m^2 or ∑ δ_i exceeds d, "
    "it is (ε, H + d)-private. Here H is the δ at ε of one Gaussian release of μ = m. Pure releases may go on "
    "while their ε add up to at most the total.",
    verdict="holds",
    finding="Gaussian releases attain the bound, so they lose nothing by being chosen on the way. If the limits are "
    "not set beforehand, lists that cost at most 0.05 each reach a δ above it.",
    headline="Gaussian releases cost the same whether they are planned or chosen by earlier results, if their limits "
    "are set before the first one.",
    kind="theorem",
    chapter="composition",
    check=check,
    faults=FAULTS,
)
