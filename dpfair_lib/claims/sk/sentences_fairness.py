"""SK § 2 and § 6, exact fairness together with privacy, and which notion of fairness."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.claims.shared.compatibility.hypotheses_on_points import (
    gap_by_definition,
    law_count,
    laws,
)
from dpfair_lib.compatibility.impossibility.acceptable import acceptable_table, hypothesis_grid
from dpfair_lib.compatibility.impossibility.constructions import sign_pair
from dpfair_lib.compatibility.impossibility.criteria import Criterion, beats_constants, fair_within
from dpfair_lib.compatibility.impossibility.feasibility import is_contradiction, keeps_promises

OPPORTUNITY, ODDS, PARITY = (fair_within(notion) for notion in ("opportunity", "odds", "parity"))
ACCURATE = beats_constants()
STEPS, FEWER = 6, 5  # denominators of the probabilities of all laws that are gone through


def printed_slack(denominator: int) -> int:
    """Return −1 if some constant has equal rates for both labels on all laws in such steps: private, exactly fair."""
    everyone = [[1, 1], [1, 1]]
    return -int(all(rate_gap(law.table, everyone, y) == 0 for law in laws(denominator) for y in (0, 1)))


def rate_gap(table: Any, h: Any, label: int) -> Fraction:
    """Return how far apart the groups' rates of people of this label are, person by person."""
    ordered = [
        [people if label else people[::-1] for people in point] for point in np.asarray(table).tolist()
    ]
    return gap_by_definition(ordered, h)


@once
def exact_fairness(feasible: Callable[..., Any], search: Search) -> None:
    """§ 2, "no differentially private model is exactly fair": constants are. With accuracy it is impossible."""
    search.part("exact fairness and privacy")
    grid = hypothesis_grid(2)
    no_constants = grid[1:-1]
    for criterion, labels, epsilon in (
        (OPPORTUNITY, (1,), 0), (ODDS, (0, 1), 0), (ODDS, (0, 1), 3), (OPPORTUNITY, (1,), Fraction(1, 2))
    ):  # fmt: skip
        options: dict[str, Any] = {"epsilon": float(epsilon), "fair": criterion}
        for hypotheses in (grid, no_constants):
            count = len(hypotheses)
            answer = feasible(laws(FEWER), hypotheses, accurate=None, zeta=Fraction(1, FEWER), **options)
            case = {"labels": labels, "ε": epsilon, "hypotheses": count, "asked for": "exact fairness alone"}
            # constants are exactly fair on every law, and nobody else is on all of them
            search.agree(answer.feasible, count == len(grid), case)
            if count == len(
                grid
            ):  # constants among them: "none" is contradicted where nothing else is asked for
                excluded = {"denominator": FEWER}
                search.under(np.array([False]), [-int(answer.feasible)], excluded, verify=printed_slack)
            search.agree(_proved(answer, epsilon), True, case)
            fair = _fair_by_definition(labels)[:, slice(None) if count == len(grid) else slice(1, -1)]
            search.agree(answer.acceptable.shape == fair.shape, True, case)
            search.agree(bool((answer.acceptable == fair).all()), True, case)
            constants = np.isin(hypotheses.sum(axis=(1, 2)), (0, 4))
            search.agree(fair.all(axis=0), constants, {**case, "h": np.arange(count)})
        near = Fraction(1, 100)
        answer = feasible(sign_pair(near), grid, accurate=ACCURATE, zeta=near, **options)
        case = {"labels": labels, "ε": epsilon, "asked for": "fair and better than every constant"}
        search.under(np.array([True]), [-int(answer.feasible)], case, verify=printed_slack)
        search.agree(_proved(answer, epsilon), True, case)
        # two laws that are further apart are no neighbours: each may have its own fair and accurate hypothesis
        answer = feasible(sign_pair(near), grid, accurate=ACCURATE, zeta=near / 100, **options)
        search.agree(answer.feasible, True, case | {"ζ": near / 100})


def _proved(answer: Any, epsilon: Any) -> bool:
    """Return whether an answer's certificate is one, at a factor that is at least e^ε (or at 1, if it is feasible)."""
    if answer.feasible:
        return bool(keeps_promises(answer.mechanism, answer.acceptable, answer.neighbors, 1))
    large = answer.factor >= math.exp(epsilon)
    return large and bool(
        is_contradiction(answer.infeasible, answer.acceptable, answer.neighbors, answer.factor)
    )


@cache
def _people(denominator: int) -> tuple[np.ndarray, np.ndarray]:
    """Return whole numbers: people of all laws, by law, point, group and label, and the 16 hypotheses."""
    people = [[int(value * denominator) for value in law.table.flat] for law in laws(denominator)]
    return np.array(people).reshape(-1, 2, 2, 2), np.array(hypothesis_grid(2).tolist(), dtype=int)


def _equal_rates(people: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Return on which laws both groups have the same rate under each hypothesis, in whole numbers of people."""
    hits, everybody = np.einsum("lxa,hxa->lha", people, h), people.sum(axis=1)[:, None]
    return np.asarray(hits[..., 0] * everybody[..., 1] == hits[..., 1] * everybody[..., 0])


@cache
def _fair_by_definition(labels: tuple[int, ...]) -> np.ndarray:
    """Return on which laws each of the 16 hypotheses has equal rates, from the definitions."""
    people, h = _people(FEWER)
    return np.logical_and.reduce([_equal_rates(people[..., y], h) for y in labels])


@cache
def _met_by_definition() -> dict[str, np.ndarray]:
    """Return what each of the 16 hypotheses satisfies on each law, from the definitions."""
    people, h = _people(STEPS)
    false, true = (_equal_rates(people[..., y], h) for y in (0, 1))
    wrong = np.einsum("lxa,hxa->lh", people[..., 1], 1 - h) + np.einsum("lxa,hxa->lh", people[..., 0], h)
    least = people.sum(axis=(1, 2)).min(axis=1)  # people whom the better constant gets wrong
    return {
        "opportunity": true,
        "odds": true & false,
        "parity": _equal_rates(people.sum(axis=-1), h),
        "better": wrong < least[:, None],
    }


@once
def which_notion(opportunity: Criterion, odds: Criterion, parity: Criterion, search: Search) -> None:
    """§ 2, "using equalized odds": CGKM's notion is equal opportunity, which asks for less. § 6 on other notions."""
    search.part("the notions")
    hypotheses, expected = hypothesis_grid(2), _met_by_definition()
    found = {}
    for name, criterion in (("opportunity", opportunity), ("odds", odds), ("parity", parity)):
        found[name] = acceptable_table(laws(STEPS), hypotheses, criterion, None)
        at, h = np.indices(found[name].shape)
        case = {"notion": name, "law": at.ravel(), "h": h.ravel()}
        search.agree(found[name].ravel(), expected[name].ravel(), case)
    search.exhausts(
        "three notions, all distributions in sixths, all 16 hypotheses", cases=3 * 16 * law_count(STEPS)
    )
    # "a more relaxed version": odds imply opportunity, not the other way round, not even with accuracy
    weaker = found["opportunity"] & ~found["odds"]
    search.agree(bool((found["odds"] & ~found["opportunity"]).any()), False, {"odds": "without opportunity"})
    search.agree(
        bool((weaker & expected["better"]).any()), True, {"opportunity and accuracy": "without odds"}
    )
    # "does not address … disparate impact": it does where base rates are equal, and there only
    unequal = np.array([law.table[:, 0, 1].sum() * law.table[:, 1].sum() != law.table[:, 1, 1].sum()
                        * law.table[:, 0].sum() for law in laws(STEPS)])  # fmt: skip
    apart = found["odds"] & ~found["parity"]
    search.agree(bool(apart[unequal].any()), True, {"odds without parity": "unequal base rates"})
    search.agree(bool(apart[~unequal].any()), False, {"odds without parity": "equal base rates"})
    search.fact(
        "fair_and_better",
        f"{int((found['opportunity'] & expected['better']).sum())}; {int((weaker & expected['better']).sum())}",
        "fair by equal opportunity and better than constants, in sixths; of these without equalized odds",
    )
