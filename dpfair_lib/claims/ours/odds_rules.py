"""Ours: all rules of least cost with equalized odds that see group and old label."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.ours.odds_rules_universe import (
    RATES,
    SCALE,
    Rates,
    every_rule,
    groups_of,
    least_cost,
    one_group,
    random_group,
    universe,
    wanted_rules,
)
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
    _many(exact, search)
    _what_is_needed(search)
    return search.evidence()


@once
def _exact(exact: Callable[..., ExactOdds], search: Search) -> None:
    search.part("every rule, equal odds")
    cases_of = universe()
    for each, kind, at in cases_of:
        groups = groups_of(each, kind, at)
        chances, wanted, _ = wanted_rules(each, kind, at, Fraction(0))
        found = exact(groups)
        case = {"rates": each, "cost": kind, "number": at}
        search.agree(found.contains(chances), wanted, case)
        search.equal(found.cost, least_cost(groups, Fraction(0)), case)
        search.observe(1 - _different(chances[wanted], each) if found.unique else 0, case)
        shown = [_rules(groups, point) for point in found.corners]
        for rule in shown:
            search.agree(bool(found.contains(rule)), True, case)
            search.observe(min(*rule.flat, *(1 - rule).flat), case)
            spent = sum(g.up * zero + g.down * (1 - one) for g, (zero, one) in zip(groups, rule, strict=True))
            search.equal(spent, found.cost, case)
        search.agree(found.unique or len(shown) > 1 or _loose(groups, found.corners[0]), True, case)
    search.exhausts(
        "two groups and rules in quarters, three and rules in halves, changes or errors: all rules on the grid",
        cases=sum(len(every_rule(*one)[0]) for one in cases_of),
    )


@once
def _many(exact: Callable[..., ExactOdds], search: Search) -> None:
    """Three to five groups of other rates: the corners are among the rules that certified prices allow."""
    search.part("up to five groups, against prices")
    for _ in range(30 * search.effort):
        groups = [random_group(search) for _ in range(int(search.rng.integers(3, 6)))]
        found, solved, case = exact(groups), odds_within(groups, Fraction(0)), {"groups": groups}
        search.equal(found.cost, solved.cost, case)
        for point in found.corners:
            search.agree(bool(solved.contains(_rules(groups, point))), True, case)


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
    cases_of = universe()
    for place, (each, kind, at) in enumerate(cases_of):
        gamma = Fraction((1, 2, 4)[place % 3], 8)
        groups = groups_of(each, kind, at)
        chances, wanted, _ = wanted_rules(each, kind, at, gamma)
        found = within(groups, gamma)
        case = {"rates": each, "cost": kind, "number": at, "γ": gamma}
        search.agree(found.contains(chances), wanted, case)
        search.equal(found.bound(), found.cost, case)
        search.equal(found.cost, least_cost(groups, gamma), case)
    search.exhausts(
        "the same groups within one γ each: all rules on the grid",
        cases=sum(len(every_rule(*one)[0]) for one in cases_of),
    )


@once
def _two(pair: Callable[..., OddsWithin], search: Search) -> None:
    """Two groups, for which the prices have a closed form, in either order."""
    search.part("two groups within γ, in closed form")
    cases_of = [one for one in universe() if len(one[0]) == 2]
    for each, kind, at in cases_of:
        gamma = Fraction((1, 2, 4)[at % 3], 8)
        groups = groups_of(each, kind, at)
        chances, wanted, _ = wanted_rules(each, kind, at, gamma)
        found = pair(*groups, gamma)
        case = {"rates": each, "cost": kind, "number": at, "γ": gamma}
        search.equal(found.cost, least_cost(groups, gamma), case)
        search.agree(found.contains(chances), wanted, case)
        search.equal(pair(*groups[::-1], 0 * gamma).cost, least_cost(groups, 0 * gamma), case)
    search.exhausts(
        "two of these groups within one γ, in closed form: all rules on the grid", cases=len(cases_of) * 25**2
    )


def _moved(search: Search) -> None:
    """Changes: who is raised has a lowest rate, who is lowered a highest one; no more than a share 1 − γ/Δ is paid."""
    search.part("who is changed within γ")
    for place, (each, kind, at) in enumerate(universe()):
        gamma = Fraction((1, 2, 4)[place % 3], 8)
        if kind == "errors":
            continue
        groups = groups_of(each, kind, at)
        chances, wanted, rates = wanted_rules(each, kind, at, gamma)
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
        if alike and least_cost(groups, gamma) > 0:  # then lots are needed
            search.observe(-int((chances % 1 == 0).all(axis=(1, 2)).sum()), case)
        spread = Fraction(int(np.ptp(np.array(each), axis=0).max()), 4)
        if spread > gamma:
            most = (1 - gamma / spread) * least_cost(groups, Fraction(0))
            search.observe(most - least_cost(groups, gamma), case)


@once
def _region(classifier: Callable[..., Point | None], search: Search) -> None:
    """Points on a grid: the common classifier's region is where those of all groups meet."""
    search.part("the common region")
    points = np.array(list(itertools.product(range(17), repeat=2)))  # in 16ths
    every = list(itertools.product(range(5), repeat=2))
    own = {rates: _inside((Fraction(rates[0], 4), Fraction(rates[1], 4)), points) for rates in every}
    cases = [*itertools.combinations_with_replacement(every, 2), *itertools.combinations(RATES, 3)]
    for each in cases:
        found = classifier([one_group(rates, "changes", 1) for rates in each])
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
    cases_of = [(each, at) for each, kind, at in universe() if kind == "changes"]
    for each, at in cases_of:
        at -= at % 3 == 2  # a set of weights without 0
        groups = groups_of(each, "changes", at)
        least, case = SCALE * least_cost(groups, Fraction(0)), {"rates": each, "number": at}
        chances, rates, costs = every_rule(each, "changes", at)
        equal = np.ptp(rates, axis=1).max(axis=1) == 0
        best = np.array(costs * least.denominator == least.numerator) & equal
        search.part("without lots")
        search.agree(chance(groups), bool((best & (chances % 1 == 0).all(axis=(1, 2))).any()), case)
        search.part("without the group")
        # with equal odds such a rule gives one chance to everybody, and some chance is 0 or 1 if it costs least
        same = (chances == chances[:, :1]).all(axis=(1, 2))
        search.agree(group(groups), bool((best & same).any()), case)
    search.exhausts(
        "the groups that count changes: without lots, and without the group", cases=2 * len(cases_of)
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
    rate = g.true_positive  # a label that nobody has costs nothing
    return LabelGroup(rate, rate, g.up if rate < 1 else 0 * g.up, g.down if rate else 0 * g.down)


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
    finding="Proved, and compared with every rule on a grid for changes and errors. For γ = 0 and T ≠ F the least cost "
    "is the least of at most four numbers, and for two groups it has a closed form for every γ. If changes count, "
    "nobody is raised in a group without a lowest rate, nor lowered in one without a highest.",
    headline="For equalized odds all groups together act as one classifier; all cheapest rules follow from the corners "
    "of its region.",
    kind="theorem",
    statement_uses=("ours.equalized-odds",),
    chapter="several-groups",
    check=check,
    faults=FAULTS,
)
