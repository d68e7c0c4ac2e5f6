"""Ours: all rules of least change with which one rate of any number of groups is within γ."""

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
from dpfair_lib.claims.shared.central.band_universe import (
    OPPORTUNITY,
    RULES,
    UNIT,
    Group,
    every_rule,
    least_change,
)
from dpfair_lib.postprocessing.group_unknown import least_blind_change
from dpfair_lib.postprocessing.optimal_rules import (
    Cells,
    Face,
    OptimalRules,
    optimal_rules,
    optimal_without_chance,
    optimal_without_group,
)

PAIRED = [(1, 1), (1, 3), (2, 1), (0, 1)]
GAPS = (0, 2, 8)  # in 16ths
HALVES = [group for group in OPPORTUNITY if group.rate % 2 == 0]
# three cells: sizes in quarters, counted people in quarters, and half of the chances before
SIZES = (1, 1, 2)
COUNTED = [(2, 1, 1), (0, 2, 2), (1, 1, 2), (2, 2, 0)]
BEFORE = [(0, 0, 2), (2, 0, 2), (2, 2, 0), (1, 2, 0)]
SHAPES = list(itertools.product(COUNTED, BEFORE))
EIGHTHS = np.array(list(itertools.product(range(9), repeat=3)))
COARSE = EIGHTHS[(EIGHTHS % 4 == 0).all(axis=1)]
JOINT = np.stack(np.meshgrid(*[np.arange(len(COARSE))] * 2), axis=-1).reshape(-1, 2)


def check(
    *,
    optimal: Callable[..., OptimalRules] = optimal_rules,
    chance: Callable[..., bool] = optimal_without_chance,
    group: Callable[..., bool] = optimal_without_group,
    search: Search,
) -> Evidence:
    """Judge for every rule on a grid whether it is among the rules that are described exactly if it costs least."""
    _labels(optimal, search)
    _cells(optimal, search)
    _simple(chance, group, search)
    half, zero, one = Fraction(1, 2), Fraction(0), Fraction(1)
    # all people are counted; the group goes from the rate 1/2 to 1/4, or loses one half and gains one quarter
    search.needs(
        "one direction within a group: with the same rates and both",
        slack=half * half - (half * one + half * half),
        case={"rate": half, "from, to": (half, half / 2)},
    )
    # the dear cell first: both have half of the people, and all counted ones stand in the first
    cells = Cells((half, half), (Fraction(3, 4), Fraction(1, 4)), (one, one))
    search.needs(
        "the order of the cells: with the dear one first",
        slack=cells.curve().cost(Fraction(3, 4)) - half,
        case={"counted": cells.counted, "rate": "1 to 3/4"},
    )
    search.needs(
        "positive weights: a group without weight may change for nothing",
        slack=zero - one,
        case={"weight": 0, "chances before": (0, 1), "and after": (1, 0)},
    )
    return search.evidence()


@once
def _labels(optimal: Callable[..., OptimalRules], search: Search) -> None:
    """Rules see group and old label."""
    search.part("every rule of two and of three groups that see the old label")
    for groups, weights, step in _universe():
        gaps, costs, rates, _ = every_rule(groups, weights, step)
        # in the order of `every_rule`
        places = np.stack(np.meshgrid(*[np.arange(len(RULES[step]))] * len(groups)), axis=-1)
        chances = RULES[step][places.reshape(-1, len(groups))] / 4
        cells = [_by_label(g, w) for g, w in zip(groups, weights, strict=True)]
        for gap in GAPS:
            least = _least(groups, weights, gap)
            wanted = (gaps <= gap) & (costs * least.denominator == UNIT * least.numerator)
            found = optimal(cells, Fraction(gap, UNIT))
            case = {"groups": groups, "weights": weights, "γ": Fraction(gap, UNIT)}
            search.agree(found.contains(list(np.moveaxis(chances, 1, 0))), wanted, case)
            _unique(found, rates[wanted], case, search)
    search.exhausts(
        "two groups in quarters, three in halves, with weights, three values of γ: all rules on the grid",
        cases=(153 * 25**2 + 56 * 9**3) * len(GAPS),
    )


def _universe() -> list[tuple[tuple[Group, ...], tuple[int, ...], int]]:
    pairs = itertools.combinations_with_replacement(OPPORTUNITY, 2)
    some = HALVES[::2]
    return [
        *((groups, PAIRED[at % 4], 1) for at, groups in enumerate(pairs)),
        *((groups, (1, 2, 1), 2) for groups in itertools.combinations_with_replacement(some, 3)),
    ]


def _by_label(group: Group, weight: int) -> Cells:
    return Cells.by_label(Fraction(group.rate, 4), Fraction(group.selected, 4), Fraction(weight))


@functools.cache
def _least(groups: tuple[Group, ...], weights: tuple[int, ...], gap: int) -> Fraction:
    """Return the least change over all bands; the cost of a band is convex, so it is least at a kink."""
    gamma, own = Fraction(gap, UNIT), [Fraction(g.rate, 4) for g in groups]
    starts = {Fraction(0), 1 - gamma, *own, *(rate - gamma for rate in own)}
    return min(
        sum(
            (
                w * least_change(g, min(max(rate, start), start + gamma))
                for w, g, rate in zip(weights, groups, own, strict=True)
            ),
            Fraction(0),
        )
        for start in starts
        if 0 <= start <= 1 - gamma
    )


def _unique(found: OptimalRules, rates: np.ndarray, case: dict[str, Any], search: Search) -> None:
    """If only one rule is said to be optimal, the grid has no two; if several, two different ones are shown."""
    kept = np.array([group.weight > 0 for group in found.groups])
    if found.unique:
        search.observe(1 - len(np.unique(rates[:, kept], axis=0)), case)
        return
    shown = [_filled(found, start, way) for start in found.band[1:3] for way in (1, -1)]
    search.agree(all(bool(found.contains(rule)) for rule in shown), True, case)
    different = {tuple(tuple(rule) for rule, on in zip(s, kept, strict=True) if on) for s in shown}
    search.agree(len(different) > 1, True, case)


def _filled(found: OptimalRules, start: Fraction, way: int) -> list[np.ndarray]:
    """Return a rule of the described ones: the box is filled cell by cell, from the first or from the last."""
    rules = []
    for group, face in zip(found.groups, found.faces(start), strict=True):
        chances = [Fraction(low) for low in face.lowest]
        missing = face.rates[0] - sum(c * q for c, q in zip(group.counted, chances, strict=True))
        for i in range(len(chances))[::way]:
            if group.counted[i]:
                more = min(missing, (face.highest[i] - chances[i]) * group.counted[i])
                chances[i] += Fraction(more) / group.counted[i]
                missing -= more
        rules.append(np.array(chances, dtype=object))
    return rules


@once
def _cells(optimal: Callable[..., OptimalRules], search: Search) -> None:
    """Rules see three cells, in which the counted people have other shares; some chances before are 1/2."""
    search.part("every rule of two groups of three cells")
    pairs = list(itertools.combinations_with_replacement(SHAPES, 2))
    for at, pair in enumerate(pairs):
        gap, weights = (2, 4, 8)[at % 3], PAIRED[at % 3]
        rates, costs = _joint(pair, weights)
        least = _least_of_cells(pair, weights, gap)
        wanted = (np.ptp(rates, axis=1) <= 2 * gap) & (costs == least)
        found = optimal(
            [_in_cells(shape, w) for shape, w in zip(pair, weights, strict=True)], Fraction(gap, UNIT)
        )
        case = {"counted, before": pair, "weights": weights, "γ": Fraction(gap, UNIT)}
        search.agree(found.contains([COARSE[place] / 8 for place in JOINT.T]), wanted, case)
        search.equal(32 * found.band.cost, least, case)
        _unique(found, JOINT[wanted], case, search)
    search.exhausts("two groups of three cells: all rules in halves", cases=len(pairs) * len(JOINT))


def _in_cells(shape: tuple[tuple[int, ...], tuple[int, ...]], weight: int) -> Cells:
    sizes, counted, before = (
        [Fraction(number, unit) for number in part]
        for part, unit in zip((SIZES, *shape), (4, 4, 2), strict=True)
    )
    return Cells(sizes, counted, before, Fraction(weight))


def _outcomes(
    shape: tuple[tuple[int, ...], tuple[int, ...]], rules: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rate and the changes of rules in eighths, both in 32nds."""
    counted, before = (np.array(part) for part in shape)
    return rules @ counted, abs(rules - 4 * before) @ np.array(SIZES)


@functools.cache
def _joint(pair: Any, weights: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return both rates, and the cost, of all coarse rules of both groups."""
    each = [_outcomes(shape, COARSE) for shape in pair]
    rates = np.stack([rate[place] for (rate, _), place in zip(each, JOINT.T, strict=True)], axis=1)
    changes = np.stack([changed[place] for (_, changed), place in zip(each, JOINT.T, strict=True)], axis=1)
    return rates, changes @ np.array(weights)


@functools.cache
def _least_of_cells(pair: Any, weights: tuple[int, ...], gap: int) -> int:
    """Return the least cost in 32nds: all kinks lie at eighths, where some rule in eighths costs least."""
    tables = [w * _table(shape) for shape, w in zip(pair, weights, strict=True)]
    width = gap // 2  # in eighths
    return min(sum(int(t[at : at + width + 1].min()) for t in tables) for at in range(9 - width))


@functools.cache
def _table(shape: Any) -> np.ndarray:
    """Return the least change for each rate in eighths, over all rules in eighths."""
    rates, changes = _outcomes(shape, EIGHTHS)
    least = np.full(33, 10**6)
    np.minimum.at(least, rates, changes)
    return least[::4]


@once
def _simple(chance: Callable[..., bool], group: Callable[..., bool], search: Search) -> None:
    """When a rule without lots, or without the group, is among the optimal ones that see the old label."""
    for groups, gap in itertools.product(itertools.combinations_with_replacement(OPPORTUNITY, 2), GAPS[:2]):
        _simple_case(groups, PAIRED[gap % 3], gap, chance, group, search)
    threes = [(0, 2), (2, 1), (2, 2), (4, 3), (4, 4), (0, 0)]
    for triple, gap in itertools.product(itertools.combinations_with_replacement(threes, 3), GAPS[:2]):
        _simple_case(tuple(Group(*g) for g in triple), (1, 2, 1), gap, chance, group, search)
    search.exhausts(
        "two and three groups, γ = 0 and 1/8: without lots, and without the group", cases=(153 + 56) * 2 * 2
    )


def _simple_case(
    groups: tuple[Group, ...],
    weights: tuple[int, ...],
    gap: int,
    chance: Callable[..., bool],
    group: Callable[..., bool],
    search: Search,
) -> None:
    least, gamma = _least(groups, weights, gap), Fraction(gap, UNIT)
    cells = [_by_label(g, w) for g, w in zip(groups, weights, strict=True)]
    case = {"groups": groups, "weights": weights, "γ": gamma}
    search.part("without lots")
    whole = []
    for labels in itertools.product(itertools.product((0, 1), repeat=2), repeat=len(groups)):
        rates = [(4 - g.rate) * zero + g.rate * one for g, (zero, one) in zip(groups, labels, strict=True)]
        if 4 * (max(rates) - min(rates)) <= gap:
            whole.append(
                sum(
                    w * ((4 - g.selected) * zero + g.selected * (1 - one))
                    for w, g, (zero, one) in zip(weights, groups, labels, strict=True)
                )
            )
    search.agree(chance(cells, gamma), Fraction(min(whole), 4) == least, case)
    search.part("without the group")
    own = [Fraction(g.rate, 4) for g in groups]
    blind = least_blind_change([Fraction(g.selected, 4) for g in groups], max(own) - min(own), gamma, weights)
    search.agree(group(cells, gamma), blind.cost == least, case)


class _OtherFaces(OptimalRules):
    """Another description of each group's rules, with the right bands."""

    def faces(self, start: Any) -> list[Face]:
        return [self.face(group, start) for group in self.groups]

    def face(self, group: Cells, start: Any) -> Face:
        """Return what rules a group may have; here the right ones."""
        return group.cheapest(start, self.band.gamma)


class _AnyWay(_OtherFaces):
    """All rules that have the rates."""

    def face(self, group: Cells, start: Any) -> Face:
        found = super().face(group, start)
        return Face([Fraction(0)] * len(found.lowest), [Fraction(1)] * len(found.lowest), found.rates)


class _DearFirst(Cells):
    """Cells in the wrong order."""

    def ranks(self) -> list[list[int]]:
        return super().ranks()[::-1]


class _DearCells(_OtherFaces):
    def face(self, group: Cells, start: Any) -> Face:
        return super().face(_DearFirst(*group), start)


class _Shared(_OtherFaces):
    """All cells that may be changed are free."""

    def face(self, group: Cells, start: Any) -> Face:
        found = super().face(group, start)
        up = found.rates[0] > group.rate
        ends = [h if found.rates[0] == group.rate else Fraction(int(up)) for h in group.before]
        pairs = list(zip(group.before, ends, strict=True))
        return found._replace(lowest=[min(p) for p in pairs], highest=[max(p) for p in pairs])


class _Weighty(_OtherFaces):
    """A group without weight changes as little as it can."""

    def face(self, group: Cells, start: Any) -> Face:
        return super().face(group._replace(weight=group.weight or Fraction(1)), start)


def _one_band(groups: Sequence[Cells], gamma: Any) -> OptimalRules:
    found = optimal_rules(groups, gamma)
    return found._replace(band=found.band._replace(highest=found.band.lowest))


def _every_band(groups: Sequence[Cells], gamma: Any) -> OptimalRules:
    found = optimal_rules(groups, gamma)
    return found._replace(band=found.band._replace(lowest=0 * gamma, highest=1 - gamma))


FAULTS: dict[str, dict[str, Any]] = {
    "one best band where there are several": {"optimal": _one_band},
    "every band": {"optimal": _every_band},
    "both directions within a group": {"optimal": lambda *case: _AnyWay(*optimal_rules(*case))},
    "the dear cells first": {"optimal": lambda *case: _DearCells(*optimal_rules(*case))},
    "cells in any order": {"optimal": lambda *case: _Shared(*optimal_rules(*case))},
    "a group without weight stays near": {"optimal": lambda *case: _Weighty(*optimal_rules(*case))},
    "every group of the same weight": {
        "optimal": lambda groups, gamma: optimal_rules(
            [g._replace(weight=Fraction(g.weight > 0)) for g in groups], gamma
        )
    },
    "lots are always needed": {
        "chance": lambda groups, gamma: max(g.rate for g in groups) - min(g.rate for g in groups) <= gamma
    },
    "one answer for all is cheapest for every γ": {
        "chance": lambda groups, gamma: optimal_without_chance(groups, 0 * gamma)
    },
    "without the group only if without lots": {"group": optimal_without_chance},
    "the group is never needed for two rates": {
        "group": lambda groups, gamma: (
            optimal_without_group(groups, gamma) or len({g.rate for g in groups}) == 2
        )
    },
}


CLAIM = Claim(
    id="ours.opportunity-rules",
    where="Any number of groups, Result 8",
    statement="Let all weights be positive. A rule has the least change with which one rate of all groups is within γ "
    "exactly if three things hold. Its rates are the old ones moved into a best band. In no group some people are "
    "raised and others lowered. In each group cells are used up in the order of size over counted people, and cells "
    "without counted people stay.",
    verdict="holds",
    finding="Proved, and compared with every rule on a grid: labels alone, and cells of features. If rules see group "
    "and old label alone, one is optimal without lots only if nothing has to change, or if γ = 0 and one answer for "
    "everybody is cheapest.",
    headline="All rules of least change for true positive rates: any best band, one direction within a group, and the "
    "people first who count most.",
    kind="theorem",
    statement_uses=("ours.opportunity-change",),
    chapter="several-groups",
    check=check,
    faults=FAULTS,
)
