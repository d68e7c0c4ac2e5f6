"""Ours: the least change of predictions with which the selection rates of any number of groups are within γ."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.central.band_universe import PARITY, Group, judge_groups
from dpfair_lib.postprocessing.bands import Band, change_curve, cheapest_band, least_total_change

QUARTERS = [Fraction(i, 4) for i in range(5)]
WEIGHTS = [(1, 1, 1), (1, 2, 3), (3, 1, 1)]


def check(
    *,
    total: Callable[..., Any] = least_total_change,
    best: Callable[..., Band] = cheapest_band,
    curve: Callable[..., Any] = change_curve,
    search: Search,
) -> Evidence:
    """Judge the closed form and the set of all best bands against every rule, and against every band."""
    _every_rule(best, curve, search)
    _pairs(total, search)
    _weighted(total, search)
    _floats(total, best, curve, search)
    rates = (Fraction(0), Fraction(0), Fraction(1))
    at_the_mean = _of_band(rates, [1] * 3, Fraction(0), Fraction(1, 3))
    search.needs(
        "a median: at the mean rate",
        slack=least_total_change(rates, Fraction(0)) - at_the_mean,
        case={"rates": rates},
    )
    return search.evidence()


@once
def _every_rule(best: Callable[..., Band], curve: Callable[..., Any], search: Search) -> None:
    """Up to three groups: no rule changes less; those that change as little are those that are described."""
    search.part("every rule of up to three groups")
    cases = 0
    for groups, weights, step in _universe():
        curves = [curve(Fraction(g.rate, 4), Fraction(w)) for g, w in zip(groups, weights, strict=True)]
        cases += judge_groups(groups, weights, curves, best, step, search)
    search.exhausts(
        "two and three groups of rates in quarters, three sets of weights, γ in eighths",
        cases=(25 + 35) * 3 * 9,
    )
    search.fact("rules", cases, "joint rules of all groups that were compared")


def _universe() -> list[tuple[Sequence[Group], Sequence[int], int]]:
    pairs = [(groups, w[:2], 1) for groups in itertools.product(PARITY, repeat=2) for w in WEIGHTS]
    triples = [
        (groups, w, 2) for groups in itertools.combinations_with_replacement(PARITY, 3) for w in WEIGHTS
    ]
    return [*pairs, *triples]


@once
def _pairs(total: Callable[..., Any], search: Search) -> None:
    """Up to six groups of rates in quarters, in every order that matters: the least over all bands."""
    search.part("the sum over pairs")
    for rates, gamma, least in _pair_cases():
        search.equal(total(rates, gamma), least, {"rates": rates, "γ": gamma})
    search.exhausts("up to six rates in quarters, γ in eighths, every band that can be best", cases=9 * 461)


@functools.cache
def _pair_cases() -> list[tuple[list[Fraction], Fraction, Fraction]]:
    """Return rates, γ and the least change of all bands, which does not depend on what is examined."""
    found = []
    for k in range(1, 7):
        for rates in itertools.combinations_with_replacement(QUARTERS, k):
            turned = [*rates[k // 2 :], *rates[: k // 2]]
            for gamma in (Fraction(i, 8) for i in range(9)):
                found.append((turned, gamma, _least_of_bands(turned, [1] * k, gamma)))
    return found


@once
def _weighted(total: Callable[..., Any], search: Search) -> None:
    search.part("weights")
    for rates, weights, gamma, least in _weighted_cases():
        found = total(rates, gamma, [Fraction(w) for w in weights])
        search.equal(found, least, {"rates": rates, "weights": weights, "γ": gamma})
    search.exhausts("three rates in quarters, weights 0 to 2, γ in quarters below 1", cases=35 * 27 * 4)


@functools.cache
def _weighted_cases() -> list[tuple[tuple[Fraction, ...], tuple[int, ...], Fraction, Fraction]]:
    """Return rates, weights, γ and the least weighted change of all bands."""
    every = itertools.product(
        itertools.combinations_with_replacement(QUARTERS, 3),
        itertools.product(range(3), repeat=3),
        QUARTERS[:4],
    )
    return [
        (rates, weights, gamma, _least_of_bands(rates, weights, gamma)) for rates, weights, gamma in every
    ]


def _least_of_bands(rates: Sequence[Fraction], weights: Sequence[int], gamma: Fraction) -> Fraction:
    """Return the least over all bands that can be best, in eighths, since rates are quarters and γ is in eighths."""
    own, width = [int(8 * rate) for rate in rates], int(8 * gamma)
    # where the cost of a band can have a kink
    kinks = {0, 8 - width, *own, *(rate - width for rate in own)}
    starts = [start for start in kinks if 0 <= start <= 8 - width]
    costs = (
        sum(w * max(start - rate, rate - start - width, 0) for w, rate in zip(weights, own, strict=True))
        for start in starts
    )
    return Fraction(min(costs), 8)


def _of_band(rates: Sequence[Fraction], weights: Sequence[int], gamma: Fraction, start: Fraction) -> Fraction:
    away = (max(start - rate, rate - start - gamma, Fraction(0)) for rate in rates)
    return sum((w * d for w, d in zip(weights, away, strict=True)), Fraction(0))


def _floats(
    total: Callable[..., Any], best: Callable[..., Band], curve: Callable[..., Any], search: Search
) -> None:
    """Random rates and weights, up to forty groups: no band among many is better, and the best one has its cost."""
    search.part("at random")
    for _ in range(100 * search.effort):
        k = int(search.rng.integers(2, 41))
        rates, weights = search.rng.random(k), search.rng.exponential(size=k)
        gamma = float(search.rng.choice([0.0, 0.05, 0.3]))
        starts = np.linspace(0, 1 - gamma, 400)[:, None]
        away = np.maximum(np.maximum(starts - rates, rates - starts - gamma), 0)
        case = {"rates": rates.tolist(), "weights": weights.tolist(), "γ": gamma}
        for shares, value in ((weights, total(rates, gamma, weights)), (np.ones(k), total(rates, gamma))):
            band = best([curve(r, w) for r, w in zip(rates, shares, strict=True)], gamma)
            search.observe(away @ shares - value, case, tolerance=1e-9)
            search.equal(value, band.cost, case, tolerance=1e-9)
            spent = np.maximum(np.maximum(band.middle - rates, rates - band.middle - gamma), 0) @ shares
            search.equal(value, spent, case, tolerance=1e-9)


def _mean_rate(curves: Sequence[Any], gamma: Any) -> Band:
    """The mean rate instead of a median."""
    found = cheapest_band(curves, gamma)
    mean = sum(c.best_rate for c in curves) / len(curves)
    start = min(max(mean - gamma / 2, 0 * gamma), 1 - gamma)
    return found._replace(lowest=start, highest=start)


def _only_the_lowest(curves: Sequence[Any], gamma: Any) -> Band:
    found = cheapest_band(curves, gamma)
    return found._replace(highest=found.lowest)


def _wider(curves: Sequence[Any], gamma: Any) -> Band:
    found = cheapest_band(curves, gamma)
    return found._replace(lowest=max(found.lowest - Fraction(1, 16), 0 * gamma))


def _farthest_pair(rates: Sequence[Any], gamma: Any, weights: Sequence[Any] | None = None) -> Any:
    """The two extreme groups only, as with two groups."""
    if weights is not None:
        return least_total_change(rates, gamma, weights)
    return max(max(rates) - min(rates) - gamma, 0 * gamma)


def _without_pairs(rates: Sequence[Any], gamma: Any, weights: Sequence[Any] | None = None) -> Any:
    """γ is taken off once, not once for each pair."""
    if weights is not None:
        return least_total_change(rates, gamma, weights)
    return max(least_total_change(rates, 0 * gamma) - gamma, 0 * gamma)


FAULTS: dict[str, dict[str, Any]] = {
    "the mean of the rates": {"best": _mean_rate},
    "one best band where there are several": {"best": _only_the_lowest},
    "too many best bands": {"best": _wider},
    "a band of half the length": {
        "best": lambda curves, gamma: cheapest_band(curves, gamma / 2)._replace(gamma=gamma)
    },
    "every group of the same weight": {"curve": lambda rate, weight=1: change_curve(rate, 1 + 0 * weight)},
    "the two extreme groups alone": {"total": _farthest_pair},
    "γ for all pairs together": {"total": _without_pairs},
    "weights forgotten": {"total": lambda rates, gamma, *_: least_total_change(rates, gamma)},
    "γ forgotten": {
        "total": lambda rates, gamma, weights=None: least_total_change(rates, 0 * gamma, weights)
    },
    "weights squared": {
        "total": lambda rates, gamma, weights=None: least_total_change(
            rates, gamma, None if weights is None else [w * w for w in weights]
        )
    },
}


CLAIM = Claim(
    id="ours.least-change",
    where="Any number of groups, Result 2",
    statement="Let k groups have selection rates α₍₁₎ ≤ … ≤ α₍ₖ₎. The least sum of the groups' change rates with "
    "which all selection rates are within γ is Σ max(α₍ₖ₊₁₋ᵢ₎ − α₍ᵢ₎ − γ, 0), i ≤ k/2. A classifier "
    "attains it exactly if its rates are the old ones moved into one of the best bands, and in no group "
    "some people are raised and others lowered.",
    verdict="holds",
    finding="Proved, and compared with every rule of up to three groups. For γ = 0 the common rate is a median of "
    "the rates, not their mean; with an odd number of groups the middle one is not changed at all. With "
    "weights it is a weighted median.",
    headline="Equal rates cost least at a median of the groups' rates; the least change is a sum over pairs of "
    "groups.",
    kind="theorem",
    chapter="several-groups",
    check=check,
    faults=FAULTS,
)
