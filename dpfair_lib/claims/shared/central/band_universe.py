"""Every random change of labels in a few groups, by enumeration: rates and costs in sixteenths, as integers.

A group has a rate T of its own, in quarters, and a share s of people with the old label 1, in quarters. A rule gives
the new label 1 with probability q₀ to the old label 0, and q₁ to the old label 1; both in quarters or in halves. Then
the rate becomes (1 − T)q₀ + Tq₁, and (1 − s)q₀ + s(1 − q₁) of the group change. For selection rates T = s; for true
positive rates T is the rate among people of true label 1.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dpfair_lib.claims.search import Search
from dpfair_lib.postprocessing.bands import Band
from dpfair_lib.postprocessing.curves import Curve

UNIT = 16
RULES = {step: np.array(list(itertools.product(range(0, 5, step), repeat=2))) for step in (1, 2)}  # q₀, q₁


class Group(NamedTuple):
    """A group's rate T and the share s of its people with the old label 1, in quarters."""

    rate: int
    selected: int


PARITY = [Group(rate, rate) for rate in range(5)]
OPPORTUNITY = [
    Group(rate, selected)
    for rate, selected in itertools.product(range(5), repeat=2)
    if (selected > 0 or rate == 0) and (selected < 4 or rate == 4)
]


def outcomes(group: Group, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rate and the changes of every rule, in sixteenths."""
    zero, one = RULES[step].T
    rate = (4 - group.rate) * zero + group.rate * one
    changed = (4 - group.selected) * zero + group.selected * (4 - one)
    return rate, changed


@functools.cache
def every_rule(
    groups: tuple[Group, ...], weights: tuple[int, ...], step: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return what all rules of all groups together give.

    Returns
    -------
    gaps, costs : ndarray of shape (m,)
        In sixteenths.
    rates : ndarray of shape (m, groups)
        In sixteenths.
    one_way : ndarray of shape (m,), bool
        Whether each group only loses labels 1, or only gains some.
    """
    zero, one = RULES[step].T
    each = [outcomes(group, step) for group in groups]
    places = np.stack(np.meshgrid(*[np.arange(len(zero))] * len(groups)), axis=-1).reshape(-1, len(groups))
    rates = np.stack([rate[at] for (rate, _), at in zip(each, places.T, strict=True)], axis=1)
    changes = np.stack([changed[at] for (_, changed), at in zip(each, places.T, strict=True)], axis=1)
    # a label that nobody has can be changed for nothing
    nobody = [(group.selected == 4, group.selected == 0) for group in groups]
    stays = [
        ((zero == 0) | none_zero)[at] | ((one == 4) | none_one)[at]
        for (none_zero, none_one), at in zip(nobody, places.T, strict=True)
    ]
    return rates.max(axis=1) - rates.min(axis=1), changes @ np.array(weights), rates, np.all(stays, axis=0)


def judge_groups(
    groups: Sequence[Group],
    weights: Sequence[int],
    curves: Sequence[Curve],
    best: Callable[..., Band],
    step: int,
    search: Search,
) -> int:
    """Compare the closed form with every rule of these groups, for every γ in eighths.

    Parameters
    ----------
    groups, weights : sequence
        The groups, and the weight of each one's changes.
    curves : sequence of Curve
        What each group's rates cost.
    best : callable
        (curves, γ) ↦ the best bands.
    step : {1, 2}
        Whether q₀ and q₁ go in quarters or in halves.
    search : Search
        Receives the cases.

    Returns
    -------
    int
        How many cases were judged.
    """
    case = {
        "rate": [g.rate for g in groups],
        "selected": [g.selected for g in groups],
        "weights": list(weights),
    }
    gaps, costs, rates, one_way = every_rule(tuple(groups), tuple(weights), step)
    cheapest = np.full(UNIT + 1, np.iinfo(np.int64).max)
    np.minimum.at(cheapest, gaps, costs)
    cheapest = np.minimum.accumulate(cheapest)  # of all rules of at most this gap
    for gap in range(0, UNIT + 1, 2):
        gamma = Fraction(gap, UNIT)
        band = best(curves, gamma)
        search.observe(cheapest[gap] - UNIT * band.cost, case | {"γ": gamma})  # no rule costs less
        # and those that cost no more have the rates of one of the best bands, and change one way only
        cost = Fraction(UNIT * band.cost)
        cheap = (gaps <= gap) & (costs * cost.denominator == cost.numerator)
        starts = np.minimum(rates[cheap].min(axis=1), UNIT - gap)
        for start in np.unique(starts):
            wanted = [Fraction(UNIT * band.rate(curve, Fraction(int(start), UNIT))) for curve in curves]
            numerators, denominators = np.array([one.as_integer_ratio() for one in wanted]).T
            same = (rates[cheap][starts == start] * denominators == numerators).all(axis=1)
            search.observe(
                int((same & one_way[cheap][starts == start]).sum()) - len(same), case | {"γ": gamma}
            )
        starts_in_eighths = {Fraction(t, UNIT) for t in range(0, UNIT - gap + 1, 2)}
        for start in sorted(starts_in_eighths | {Fraction(band.lowest), Fraction(band.highest)}):
            placed = [band.rate(curve, start) for curve in curves]
            spent = sum(
                weight * least_change(group, rate)
                for weight, group, rate in zip(weights, groups, placed, strict=True)
            )
            inside = band.lowest <= start <= band.highest
            # a band among the best has the least cost; any other costs more
            search.observe(
                (spent == band.cost) - 1 if inside else (spent > band.cost) - 1,
                case | {"γ": gamma, "t": start},
            )
            search.observe(gamma - (max(placed) - min(placed)), case | {"γ": gamma, "t": start})
    return len(costs)


@functools.cache
def least_change(group: Group, rate: Fraction) -> Fraction:
    """Return the least change of one group for a rate, over all q₀ and q₁: at an end of the segment of them."""
    own, selected = Fraction(group.rate, 4), Fraction(group.selected, 4)
    corners = []
    for fixed in (Fraction(0), Fraction(1)):
        if own < 1:
            corners.append(((rate - own * fixed) / (1 - own), fixed))
        if own > 0:
            corners.append((fixed, (rate - (1 - own) * fixed) / own))
    return min(
        (1 - selected) * zero + selected * (1 - one)
        for zero, one in corners
        if 0 <= zero <= 1 and 0 <= one <= 1
    )
