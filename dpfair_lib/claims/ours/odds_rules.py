"""Ours: all rules of least cost with equalized odds that see group and old label."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.postprocessing.odds_prices import OddsWithin, odds_of_pair, odds_within
from dpfair_lib.postprocessing.optimal_odds import (
    ExactOdds,
    LabelGroup,
    Point,
    common_classifier,
    exact_odds,
    odds_without_chance,
    odds_without_group,
)

QUARTERS = np.array(list(itertools.product(range(5), repeat=2)))  # q₀ and q₁
HALVES = QUARTERS[(QUARTERS % 2 == 0).all(axis=1)]
RATES = [(0, 2), (0, 4), (2, 4), (1, 3), (1, 2), (4, 0), (3, 1), (0, 0), (2, 2), (4, 4)]  # F, T in quarters
FEW = [RATES[at] for at in (0, 2, 3, 6, 7, 8)]
WEIGHTS = [(1, 1, 1), (1, 3, 2), (2, 1, 0)]
KINDS = ("changes", "errors")
SOLVED, SCALE = 1e-9, 64
Rates = tuple[int, int]


def check(
    *,
    exact: Callable[..., ExactOdds] = exact_odds,
    within: Callable[..., OddsWithin] = odds_within,
    pair: Callable[..., OddsWithin] = odds_of_pair,
    classifier: Callable[..., Point | None] = common_classifier,
    chance: Callable[..., bool] = odds_without_chance,
    group: Callable[..., bool] = odds_without_group,
    search: Search,
) -> Evidence:
    """Judge for every rule on a grid whether it is among the rules that are described exactly if it costs least."""
    _region(classifier, search)
    _exact(exact, search)
    _simple(chance, group, search)
    _relaxed(within, search)
    _two(pair, search)
    _moved(search)
    _what_is_needed(search)
    return search.evidence()


@functools.cache
def _group(rates: Rates, kind: str, weight: int, base: int = 2) -> LabelGroup:
    """Return a group of a base rate in quarters; for errors a group whose rates are equal may have any."""
    false, true, share = (Fraction(part, 4) for part in (*rates, base))
    if kind == "errors":
        return LabelGroup.of_errors(false, true, share, Fraction(weight))
    return LabelGroup.of_changes(false, true, share * true + (1 - share) * false, Fraction(weight))


@functools.cache
def _groups(each: tuple[Rates, ...], kind: str, at: int) -> tuple[LabelGroup, ...]:
    weights, bases = WEIGHTS[at % 3], (2, 1 + 2 * (at % 2), 2)
    return tuple(_group(r, kind, w, b) for r, w, b in zip(each, weights, bases, strict=False))


@functools.cache
def _joint(each: tuple[Rates, ...], kind: str, at: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all rules of all groups on the grid, their rates in 16ths, and their costs in 64ths."""
    rules = QUARTERS if len(each) == 2 else HALVES
    places = np.stack(np.meshgrid(*[np.arange(len(rules))] * len(each)), axis=-1).reshape(-1, len(each))
    chances = rules[places]
    zero, one = chances[..., 0], chances[..., 1]
    before = np.array(each)
    rates = (4 - before) * zero[..., None] + before * one[..., None]
    prices = [[int(SCALE * part / 4) for part in (g.up, g.down)] for g in _groups(each, kind, at)]
    costs = zero @ [up for up, _ in prices] + (4 - one) @ [down for _, down in prices]
    return chances / 4, rates, costs


@functools.cache
def _least(groups: tuple[LabelGroup, ...], gamma: Fraction) -> Fraction:
    """Return the least cost as a linear program finds it, certified in fractions; no fault changes it."""
    least: Fraction = odds_within(groups, gamma).cost
    return least


def _universe() -> list[tuple[tuple[Rates, ...], str, int]]:
    pairs = list(itertools.combinations_with_replacement(RATES, 2))
    triples = list(itertools.combinations_with_replacement(FEW, 3))
    return [
        *((pair, KINDS[at % 4 == 3], at) for at, pair in enumerate(pairs)),
        *((triple, KINDS[at % 4 == 3], at) for at, triple in enumerate(triples)),
    ]


def _wanted(
    each: tuple[Rates, ...], kind: str, at: int, gamma: Fraction
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rules, whether each is within γ and costs least, and their rates."""
    chances, rates, costs = _joint(each, kind, at)
    least = SCALE * _least(_groups(each, kind, at), gamma)
    within = np.ptp(rates, axis=1).max(axis=1) <= 16 * gamma
    return chances, within & (costs * least.denominator == least.numerator), rates


@once
def _exact(exact: Callable[..., ExactOdds], search: Search) -> None:
    search.part("every rule, equal odds")
    universe = _universe()
    for each, kind, at in universe:
        groups = _groups(each, kind, at)
        chances, wanted, _ = _wanted(each, kind, at, Fraction(0))
        found = exact(groups)
        case = {"rates": each, "cost": kind, "number": at}
        search.agree(found.contains(chances), wanted, case)
        search.equal(found.cost, _least(groups, Fraction(0)), case)
        search.observe(1 - _different(chances[wanted], each) if found.unique else 0, case)
        shown = [_rules(groups, point) for point in found.corners]
        for rule in shown:
            search.agree(bool(found.contains(rule)), True, case)
            search.observe(min(*rule.flat, *(1 - rule).flat), case)
            spent = sum(g.up * zero + g.down * (1 - one) for g, (zero, one) in zip(groups, rule, strict=True))
            search.equal(spent, found.cost, case)
        search.agree(found.unique or len(shown) > 1 or _loose(groups, found.corners[0]), True, case)
    search.exhausts(
        "two groups in quarters, three in halves, changes or errors: all rules on the grid",
        cases=sum(len(_joint(*one)[0]) for one in universe),
    )


def _different(chances: np.ndarray, each: tuple[Rates, ...]) -> int:
    """Return how many rules differ, where chances of labels that nobody has do not count."""
    counts = chances * ~np.array([[r == (4, 4), r == (0, 0)] for r in each])
    return len(np.unique(counts.reshape(len(chances), 2 * len(each)), axis=0))


def _rules(groups: Sequence[LabelGroup], point: Point) -> np.ndarray:
    return np.array([g.rule(point) for g in groups], dtype=object)


def _loose(groups: Sequence[LabelGroup], point: Point) -> bool:
    """Return whether some group whose rates are equal may have a common point, not at an end, by several rules."""
    free = [g for g in groups if not g.informativeness and 0 < g.true_positive < 1 and g.both_ways() == 0]
    return bool(free) and 0 < point[0] < 1


@once
def _relaxed(within: Callable[..., OddsWithin], search: Search) -> None:
    search.part("every rule, within γ")
    universe = _universe()
    for place, (each, kind, at) in enumerate(universe):
        gamma = Fraction((1, 2, 4)[place % 3], 8)
        groups = _groups(each, kind, at)
        chances, wanted, _ = _wanted(each, kind, at, gamma)
        found = within(groups, gamma)
        case = {"rates": each, "cost": kind, "number": at, "γ": gamma}
        search.agree(found.contains(chances), wanted, case)
        search.equal(found.bound(), found.cost, case)
        search.equal(found.cost, _least(groups, gamma), case)
    search.exhausts(
        "the same groups within one γ each: all rules on the grid",
        cases=sum(len(_joint(*one)[0]) for one in universe),
    )


@once
def _two(pair: Callable[..., OddsWithin], search: Search) -> None:
    """Two groups, for which the prices have a closed form, in either order."""
    search.part("two groups within γ, in closed form")
    universe = [one for one in _universe() if len(one[0]) == 2]
    for each, kind, at in universe:
        gamma = Fraction((1, 2, 4)[at % 3], 8)
        groups = _groups(each, kind, at)
        chances, wanted, _ = _wanted(each, kind, at, gamma)
        found = pair(*groups, gamma)
        case = {"rates": each, "cost": kind, "number": at, "γ": gamma}
        search.equal(found.cost, _least(groups, gamma), case)
        search.agree(found.contains(chances), wanted, case)
        search.equal(pair(*groups[::-1], 0 * gamma).cost, _least(groups, 0 * gamma), case)
    search.exhausts("two of these groups, in closed form: all rules on the grid", cases=len(universe) * 25**2)


def _moved(search: Search) -> None:
    """Changes: who is raised has a lowest rate, who is lowered a highest one; no more than a share 1 − γ/Δ is paid."""
    search.part("who is changed within γ")
    for place, (each, kind, at) in enumerate(_universe()):
        gamma = Fraction((1, 2, 4)[place % 3], 8)
        if kind == "errors":
            continue
        groups = _groups(each, kind, at)
        chances, wanted, rates = _wanted(each, kind, at, gamma)
        rates, chances = rates[wanted], chances[wanted]
        case = {"rates": each, "number": at, "γ": gamma}
        for g, (group, old) in enumerate(zip(groups, each, strict=True)):
            if group.up + group.down == 0:  # a group without weight
                continue
            raised = (chances[:, g, 0] > 0) & (old != (4, 4))
            lowered = (chances[:, g, 1] < 1) & (old != (0, 0))
            lowest = (rates[:, g] == rates.min(axis=1)).any(axis=1)
            highest = (rates[:, g] == rates.max(axis=1)).any(axis=1)
            search.observe(-int((raised & ~lowest).sum() + (lowered & ~highest).sum()), case)
        alike = all(group.informativeness >= 0 and group.up + group.down > 0 for group in groups)
        if alike and _least(groups, gamma) > 0:  # then lots are needed
            search.observe(-int((chances % 1 == 0).all(axis=(1, 2)).sum()), case)
        spread = Fraction(int(np.ptp(np.array(each), axis=0).max()), 4)
        if spread > gamma:
            most = (1 - gamma / spread) * _least(groups, Fraction(0))
            search.observe(most - _least(groups, gamma), case)


@once
def _region(classifier: Callable[..., Point | None], search: Search) -> None:
    """Points on a grid: the common classifier's region is where those of all groups meet."""
    search.part("the common region")
    points = np.array(list(itertools.product(range(17), repeat=2)))  # in 16ths
    every = list(itertools.product(range(5), repeat=2))
    own = {rates: _inside((Fraction(rates[0], 4), Fraction(rates[1], 4)), points) for rates in every}
    cases = [*itertools.combinations_with_replacement(every, 2), *itertools.combinations(RATES, 3)]
    for each in cases:
        found = classifier([_group(rates, "changes", 1) for rates in each])
        region = _inside(found, points) if found else points[:, 0] == points[:, 1]
        wanted = np.stack([own[rates] for rates in each]).all(axis=0)
        search.agree(region, wanted, {"rates": each})
    search.exhausts(
        "pairs of rates in quarters, and some triples: all points in 16ths", cases=len(cases) * len(points)
    )


def _inside(classifier: Point, points: np.ndarray) -> np.ndarray:
    """Return which points in 16ths the classifier can have with chances from 0 to 1, in whole numbers."""
    unit = math.lcm(*(Fraction(rate).denominator for rate in classifier))
    false, true = (int(rate * unit) for rate in classifier)
    along, across = points[:, 0], points[:, 1] - points[:, 0]
    span = true - false  # q₁ − q₀ is across · unit / span
    if not span:
        return np.asarray(across == 0)
    sign = 1 if span > 0 else -1
    zero = sign * (along * span - across * false)
    one = sign * (along * span + across * (unit - false))
    return np.asarray((zero >= 0) & (zero <= 16 * abs(span)) & (one >= 0) & (one <= 16 * abs(span)))


@once
def _simple(chance: Callable[..., bool], group: Callable[..., bool], search: Search) -> None:
    """When a rule without lots, or without the group, is among the optimal ones, with equal odds."""
    universe = [(each, at) for each, kind, at in _universe() if kind == "changes"]
    for each, at in universe:
        at -= at % 3 == 2  # a set of weights without 0
        groups = _groups(each, "changes", at)
        least, case = SCALE * _least(groups, Fraction(0)), {"rates": each, "number": at}
        chances, rates, costs = _joint(each, "changes", at)
        equal = np.ptp(rates, axis=1).max(axis=1) == 0
        best = np.array(costs * least.denominator == least.numerator) & equal
        search.part("without lots")
        search.agree(chance(groups), bool((best & (chances % 1 == 0).all(axis=(1, 2))).any()), case)
        search.part("without the group")
        # with equal odds such a rule gives one chance to everybody, and some chance is 0 or 1 if it costs least
        same = (chances == chances[:, :1]).all(axis=(1, 2))
        search.agree(group(groups), bool((best & same).any()), case)
    search.exhausts(
        "the groups that count changes: without lots, and without the group", cases=2 * len(universe)
    )


def _what_is_needed(search: Search) -> None:
    search.part("what cannot be left out")
    half, one = Fraction(1, 2), Fraction(1)
    low, high = (LabelGroup.of_changes(f, f + half, f / 2 + (f + half) / 2) for f in (half, 0 * half))
    search.needs(
        "the largest (1 − T)/(1 − F): the group of least T/F keeps its labels",
        slack=one - high.rule((low.false_positive, low.true_positive))[1],  # a chance above 1
        case={"rates": ((half, one), (0 * half, half))},
    )
    search.needs(
        "that T and F differ in every group: with a group of equal rates",
        slack=-high.informativeness,  # all common points have none
        case={"rates": ((0 * half, half), (half, half))},
    )


def _least_informative(groups: Sequence[LabelGroup]) -> Point | None:
    least = min(groups, key=lambda g: abs(g.informativeness))
    point = (least.false_positive, least.true_positive)
    return (
        point if least.informativeness > 0 else (1 - point[0], 1 - point[1]) if point[0] != point[1] else None
    )


def _least_ratio(groups: Sequence[LabelGroup]) -> Point | None:
    if (found := common_classifier(groups)) is None:
        return None
    turned = [g if g.informativeness > 0 else _turned(g) for g in groups]
    least = min(turned, key=lambda g: abs(g.true_positive * found[0] - g.false_positive * found[1]))
    return least.false_positive, least.true_positive


def _turned(g: LabelGroup) -> LabelGroup:
    return LabelGroup(1 - g.false_positive, 1 - g.true_positive, -g.down, -g.up)


def _not_turned(groups: Sequence[LabelGroup]) -> Point | None:
    informative = [g for g in groups if g.informativeness > 0]
    return common_classifier(informative or groups)


def _one_corner(groups: Sequence[LabelGroup]) -> ExactOdds:
    found = exact_odds(groups)
    return found._replace(if_zero=(found.if_zero[0],) * 2, if_one=(found.if_one[0],) * 2)


def _prices(change: Callable[[Any, Any], Point]) -> Callable[..., OddsWithin]:
    def within(groups: Sequence[LabelGroup], gamma: Any) -> OddsWithin:
        found = odds_within(groups, gamma)
        return found._replace(prices=[change(*pair) for pair in found.prices])

    return within


def _alike(g: LabelGroup) -> LabelGroup:
    return g._replace(false_positive=g.true_positive)


FAULTS: dict[str, dict[str, Any]] = {
    "the least informative group's point": {
        "exact": lambda groups: (r := exact_odds(groups))._replace(apex=r.apex and _least_informative(groups))
    },
    "one common point where several are best": {"exact": _one_corner},
    "every common point": {
        "exact": lambda groups: exact_odds(groups)._replace(
            if_zero=(Fraction(0), Fraction(1)), if_one=(Fraction(0), Fraction(1))
        )
    },
    "both labels changed where rates are equal": {
        "exact": lambda groups: exact_odds(groups)._replace(groups=[g._replace(up=0, down=0) for g in groups])
    },
    "weights forgotten": {
        "exact": lambda groups: exact_odds(
            [
                g._replace(up=g.up / (g.up + g.down), down=g.down / (g.up + g.down)) if g.up + g.down else g
                for g in groups
            ]
        )
    },
    "prices of one rate alone": {"within": _prices(lambda x, y: (x, 0 * y))},
    "prices exchanged": {"within": _prices(lambda x, y: (y, x))},
    "rates are worth nothing": {"within": _prices(lambda x, y: (0 * x, 0 * y))},
    "half of γ": {"within": lambda groups, gamma: odds_within(groups, gamma / 2)._replace(gamma=gamma)},
    "two groups pay for one rate alone": {
        "pair": lambda first, second, gamma: odds_of_pair(_alike(first), _alike(second), gamma)._replace(
            groups=(first, second)
        )
    },
    "two groups exchanged": {
        "pair": lambda first, second, gamma: odds_of_pair(second, first, gamma)._replace(
            groups=(first, second)
        )
    },
    "γ of two groups forgotten": {
        "pair": lambda first, second, gamma: odds_of_pair(first, second, 0 * gamma)._replace(gamma=gamma)
    },
    "the region of the least informative group": {"classifier": _least_informative},
    "the least T/F alone": {"classifier": _least_ratio},
    "groups with TPR < FPR left out": {"classifier": _not_turned},
    "lots are needed unless one answer is best": {"chance": odds_without_group},
    "the group is needed only with lots": {"group": odds_without_chance},
    "one answer is never best": {
        "group": lambda groups: len({(g.false_positive, g.true_positive) for g in groups}) == 1
    },
}


CLAIM = Claim(
    id="ours.odds-rules",
    where="Any number of groups, Result 9",
    statement="Let rules see group and old label alone. The common points of rates of groups with T ≠ F are those of "
    "one classifier. It has the least T/F and the largest (1 − T)/(1 − F) of the groups, where labels of groups with "
    "T < F are exchanged. With γ = 0 the optimal points are the corners of least cost of its region, and what lies "
    "between them. For each γ the optimal rules are those that prices of the rates allow.",
    verdict="holds",
    finding="Proved, and compared with every rule on a grid for changes and errors. For γ = 0 the least cost is the "
    "least of at most four numbers, and for two groups it has a closed form for every γ. For γ > 0 nobody is raised in "
    "a group without a lowest rate, nor lowered in one without a highest.",
    headline="For equalized odds all groups together act as one classifier; all cheapest rules follow from the corners "
    "of its region.",
    kind="theorem",
    statement_uses=("ours.equalized-odds",),
    chapter="several-groups",
    check=check,
    faults=FAULTS,
)
