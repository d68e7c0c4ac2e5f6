"""Ours: the least change where the group is not known at prediction and only the old label is seen."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.postprocessing.bands import least_total_change
from dpfair_lib.postprocessing.group_unknown import GroupBlindRule, least_blind_change

FIFTHS = [Fraction(i, 5) for i in range(6)]
PARTS = 20  # q₀, q₁ go in these
WEIGHTS = [(1, 1, 1), (1, 2, 4), (5, 1, 0)]


def check(*, least: Callable[..., GroupBlindRule] = least_blind_change, search: Search) -> Evidence:
    """Judge the closed form against every rule on a grid, for all notions, and the rule that attains it."""
    _attained(least, search)
    _every_rule(least, search)
    rates = (Fraction(1, 5), Fraction(3, 5))
    known = least_total_change(rates, Fraction(0))
    blind = least_blind_change(rates, Fraction(2, 5), Fraction(0)).cost
    search.needs("that the group is not known", slack=known - blind, case={"rates": rates, "γ": 0})
    return search.evidence()


@once
def _every_rule(least: Callable[..., GroupBlindRule], search: Search) -> None:
    """All q₀, q₁ in twentieths; the gap is one of selection rates, and of other rates that a notion wants equal."""
    search.part("every rule")
    zero, one = np.array(list(itertools.product(range(PARTS + 1), repeat=2))).T
    judged = 0
    for selection, weights in itertools.product(
        itertools.combinations_with_replacement(range(6), 3), WEIGHTS
    ):
        rates = np.array(selection)
        # in 100ths: a group's new rate is its old one, scaled and moved
        change = ((5 - rates)[:, None] * zero + rates[:, None] * (PARTS - one)) * np.array(weights)[:, None]
        cost = change.sum(axis=0)
        for spread in range(6):  # of the rates that the notion speaks of, in fifths
            gap = spread * abs(one - zero)  # in 100ths
            for at in np.unique(gap):
                shares = [Fraction(int(w)) for w in weights]
                found = least(
                    [FIFTHS[r] for r in selection], FIFTHS[spread], Fraction(int(at), 100), shares
                ).cost
                case = {"selection": selection, "weights": weights, "gap before": spread, "γ": int(at)}
                search.observe(int(cost[gap <= at].min()) - 100 * found, case)
                judged += int((gap <= at).sum())
    search.fact("rules", judged, "rules that were compared")


@once
def _attained(least: Callable[..., GroupBlindRule], search: Search) -> None:
    """The rule that is returned has that cost and that gap; with the group known it is never dearer."""
    search.part("attained")
    for selection in itertools.product(FIFTHS, repeat=3):
        before = max(selection) - min(selection)
        for gamma, weights in itertools.product(FIFTHS, (None, (1, 3, 2))):
            found = least(selection, before, gamma, weights)
            shares = weights or (1, 1, 1)
            spent = sum(
                w * ((1 - r) * found.if_zero + r * (1 - found.if_one))
                for w, r in zip(shares, selection, strict=True)
            )
            case = {"selection": selection, "γ": gamma, "weights": weights}
            search.equal(spent, found.cost, case)
            search.observe(gamma - before * abs(found.if_one - found.if_zero), case)
            search.observe(min(found.if_zero, found.if_one, 1 - found.if_zero, 1 - found.if_one), case)
            search.observe(found.cost - _known(selection, gamma, weights), case)
    search.exhausts("three selection rates in fifths, γ in fifths, two sets of weights", cases=216 * 6 * 2)


@cache
def _known(selection: Sequence[Fraction], gamma: Fraction, weights: Sequence[int] | None) -> Fraction:
    """Return the least change with the group known; no fault changes it."""
    least: Fraction = least_total_change(selection, gamma, weights and [Fraction(w) for w in weights])
    return least


def _always_down(selection: Sequence[Any], gap: Any, gamma: Any, weights: Any = None) -> GroupBlindRule:
    """Nobody is moved up, even where most are selected."""
    shares = weights or [1] * len(selection)
    lost = max(1 - gamma / gap, 0 * gamma) if gap else 0 * gamma
    return GroupBlindRule(
        lost * sum(w * r for w, r in zip(shares, selection, strict=True)), 0 * lost, 1 - lost
    )


def _as_if_known(selection: Sequence[Any], gap: Any, gamma: Any, weights: Any = None) -> GroupBlindRule:
    rule = least_blind_change(selection, gap, gamma, weights)
    return rule._replace(cost=max(gap - gamma, 0 * gamma))


FAULTS: dict[str, dict[str, Any]] = {
    "nobody is moved up": {"least": _always_down},
    "as cheap as with the group known": {"least": _as_if_known},
    "γ counted twice": {
        "least": lambda rates, gap, gamma, weights=None: least_blind_change(rates, gap, 2 * gamma, weights)
    },
    "γ forgotten": {
        "least": lambda rates, gap, gamma, weights=None: least_blind_change(rates, gap, 0 * gamma, weights)
    },
    "weights forgotten": {"least": lambda rates, gap, gamma, *_: least_blind_change(rates, gap, gamma)},
    "the gap forgotten": {
        "least": lambda rates, _, *rest: least_blind_change(rates, max(rates) - min(rates), *rest)
    },
    "the labels exchanged": {
        "least": lambda *case: GroupBlindRule(
            least_blind_change(*case).cost,
            least_blind_change(*case).if_one,
            least_blind_change(*case).if_zero,
        )
    },
}


CLAIM = Claim(
    id="ours.group-unknown",
    where="Any number of groups, Result 5",
    statement="Let a rule see the old label alone, and let Δ be the gap of a notion before, over all rates that it "
    "wants equal. Each is the rate of predicted label 1 in a group, or among those of its people who share a true "
    "label. The least Σ w P(change) with a gap of at most γ is max(1 − γ/Δ, 0) · min(Σ wα, Σ w(1 − α)), for selection "
    "rates α; and 0 if Δ = 0.",
    verdict="holds",
    finding="Proved, and compared with every rule in twentieths. All these notions have one form, because such a rule "
    "scales all differences of rates alike. For γ = 0 and Δ > 0 a cheapest rule answers everybody alike.",
    headline="Without the group, rates that differ become equal by the old label alone only if everybody has the same "
    "chance.",
    kind="theorem",
    chapter="several-groups",
    check=check,
    faults=FAULTS,
)
