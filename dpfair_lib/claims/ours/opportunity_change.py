"""Ours: the least change of predictions with which the true positive rates of any number of groups are within γ."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.central.band_universe import OPPORTUNITY, Group, judge_groups
from dpfair_lib.postprocessing.bands import Band, cheapest_band, opportunity_curve
from dpfair_lib.postprocessing.curves import Curve

WEIGHTS = [(1, 1), (1, 3), (2, 1)]
HALVES = [group for group in OPPORTUNITY if group.rate % 2 == 0]


def check(
    *,
    curve: Callable[..., Curve] = opportunity_curve,
    best: Callable[..., Band] = cheapest_band,
    search: Search,
) -> Evidence:
    """Judge the closed form and all best bands against every rule that sees group and old label."""
    _every_rule(curve, best, search)
    _programs(curve, best, search)
    half = Fraction(1, 2)  # of the group is selected, has the true label 1, and both
    blind = opportunity_curve(half, half).cost(half / 2)
    search.needs(
        "that the true label is not seen",
        slack=half * half / 2 - blind,
        case={"T": half, "s": half, "d": half / 2},
    )
    return search.evidence()


@once
def _every_rule(curve: Callable[..., Curve], best: Callable[..., Band], search: Search) -> None:
    search.part("every rule of two and of three groups")
    cases = 0
    for groups, weights, step in _universe():
        curves = [
            curve(Fraction(g.rate, 4), Fraction(g.selected, 4), Fraction(w))
            for g, w in zip(groups, weights, strict=True)
        ]
        cases += judge_groups(groups, weights, curves, best, step, search)
    search.exhausts(
        "two groups in quarters, three in halves, with weights, γ in eighths", cases=(153 + 286) * 9
    )
    search.fact("rules", cases, "joint rules of all groups that were compared")


def _universe() -> list[tuple[Sequence[Group], Sequence[int], int]]:
    pairs = itertools.combinations_with_replacement(OPPORTUNITY, 2)
    return [
        *((groups, WEIGHTS[at % 3], 1) for at, groups in enumerate(pairs)),
        *((groups, (1, 2, 1), 2) for groups in itertools.combinations_with_replacement(HALVES, 3)),
    ]


def _programs(curve: Callable[..., Curve], best: Callable[..., Band], search: Search) -> None:
    """Up to eight groups of random rates: a linear program over all q₀, q₁."""
    search.part("linear programs")
    for _ in range(60 * search.effort):
        k = int(search.rng.integers(2, 9))
        rates, selected = search.rng.uniform(0.02, 0.98, size=(2, k))
        weights, gamma = search.rng.exponential(size=k), float(search.rng.choice([0.0, 0.1, 0.4]))
        found = best([curve(t, s, w) for t, s, w in zip(rates, selected, weights, strict=True)], gamma).cost
        case = {
            "rates": rates.tolist(),
            "selected": selected.tolist(),
            "weights": weights.tolist(),
            "γ": gamma,
        }
        search.equal(found, _program(rates, selected, weights, gamma), case, tolerance=1e-7)


def _program(rates: np.ndarray, selected: np.ndarray, weights: np.ndarray, gamma: float) -> float:
    from scipy.optimize import linprog

    k = len(rates)
    # variables: q₀, 1 − q₁ and the lower end; a rate is (1 − T)q₀ + T − T(1 − q₁)
    rows = np.zeros((2 * k, 2 * k + 1))
    at = np.arange(k)
    rows[at, at], rows[at, k + at], rows[at, -1] = 1 - rates, -rates, -1
    rows[k + at] = -rows[at]
    solved = linprog(
        np.concatenate([weights * (1 - selected), weights * selected, [0]]), rows,
        np.concatenate([gamma - rates, rates]), bounds=[(0, 1)] * (2 * k + 1), method="highs-ds",
    )  # fmt: skip
    return float(solved.fun)


def _known_label(rate: Any, selected: Any, weight: Any = 1) -> Curve:
    """As if the true label were known: one change for each person by whom the rate moves."""
    found = opportunity_curve(rate, selected, weight)
    return found._replace(costs=weight * abs(found.rates - rate))


def _turned(rate: Any, selected: Any, weight: Any = 1) -> Curve:
    """Costs of up and down exchanged."""
    found = opportunity_curve(rate, selected, weight)
    costs = found.costs.copy()
    costs[0], costs[-1] = weight * (1 - selected) * (rate > 0), weight * selected * (rate < 1)
    return found._replace(costs=costs)


def _no_median(curves: Sequence[Curve], gamma: Any) -> Band:
    """Slopes counted as one, whatever they are."""
    from dpfair_lib.postprocessing.bands import change_curve

    flat = cheapest_band([change_curve(c.best_rate) for c in curves], gamma)
    return cheapest_band(curves, gamma)._replace(lowest=flat.lowest, highest=flat.highest)


FAULTS: dict[str, dict[str, Any]] = {
    "the true label is known": {"curve": _known_label},
    "up for down": {"curve": _turned},
    "selected people of every group alike": {
        "curve": lambda rate, selected, weight=1: opportunity_curve(rate, (selected + rate) / 2, weight)
    },
    "weights forgotten": {
        "curve": lambda rate, selected, weight=1: opportunity_curve(rate, selected, 1 + 0 * weight)
    },
    "the median of the true positive rates": {"best": _no_median},
    "a band of half the length": {
        "best": lambda curves, gamma: cheapest_band(curves, gamma / 2)._replace(gamma=gamma)
    },
    "γ counted twice": {
        "best": lambda curves, gamma: cheapest_band(curves, min(2 * gamma, 1))._replace(gamma=gamma)
    },
}


CLAIM = Claim(
    id="ours.opportunity-change",
    where="Any number of groups, Result 3",
    statement="Let group a have the true positive rate T and the selection rate s. A rule that sees the group and "
    "the old label needs at least s·d/T of the group's people to lower T by d, and (1 − s)·d/(1 − T) to "
    "raise it. The least Σ w P(change) with which all true positive rates are within γ is ∫ min(F(t), G(t "
    "+ γ)) dt, where F sums w(1 − s)/(1 − T) over T ≤ t and G sums ws/T over T ≥ t.",
    verdict="holds",
    finding="Proved, and compared with every rule of two and of three groups and with linear programs. The true "
    "label is not known at prediction, so people of true label 0 are changed as well; the best common "
    "rate is a weighted median whose weights differ upwards and downwards.",
    headline="Equal opportunity has a closed least change too; it also changes people whom the notion does not "
    "speak of.",
    kind="theorem",
    chapter="several-groups",
    check=check,
    faults=FAULTS,
)
