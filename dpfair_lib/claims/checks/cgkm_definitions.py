"""CGKM, Definitions 1 and 2, 5, 7, 8 against one another."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.checks.compat_universe import (
    error_by_definition,
    gap_by_definition,
    law_count,
    laws,
)
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.compat.acceptable import hypothesis_grid, statistical_distance
from dpfair_lib.populations import Population

ALPHAS = (Fraction(0), Fraction(1, 10), Fraction(1, 4))


def promised(optimum: Any, fair_error: Any, error: Any, alpha: Fraction) -> tuple[Any, Any]:
    """Return what Γ + err ≤ OPT + α says of Γ, and of err where the class has an exactly fair hypothesis."""
    return optimum + alpha - error, fair_error + alpha


def subgroup_weight(table: Any) -> Any:
    """Return what Definition 8's product of size and difference is in units of |γ₀₀ − γ₀₁|, for one group g(a) = a."""
    negatives = table[..., 0].sum(axis=0)
    return negatives[0] * negatives[1] / negatives.sum()


def check(
    *,
    distance: Callable[..., Any] = statistical_distance,
    consequences: Callable[..., Any] = promised,
    weight: Callable[..., Any] = subgroup_weight,
    search: Search,
) -> Evidence:
    """Judge the three comparisons that the definitions are accompanied by."""
    _samples(distance, search)
    _definition_7(consequences, search)
    _definition_8(weight, search)
    return search.evidence()


def printed_slack(printed: str, table: Any, h: Any, alpha: Fraction, other: Any = None) -> Fraction:
    """Return the slack of a printed inference at one case, from the definitions."""
    if printed == "Definition 8 implies α-discrimination":
        return alpha - _false_positive_gap(table, h)
    best = min(error_by_definition(table, h), error_by_definition(table, other))
    return min(alpha - gap_by_definition(table, h), best + alpha - error_by_definition(table, h))


def empirical(sample: tuple[int, ...]) -> Population:
    """Return the empirical law of a multiset of points 0, 1, 2, all of one group and label."""
    counts = Counter(sample)
    table = np.array([[[Fraction(counts[x], len(sample)), Fraction(0)]] for x in range(3)], dtype=object)
    return Population.from_table(table)


def _samples(distance: Callable[..., Any], search: Search) -> None:
    """Multisets of one size: the distance of their laws counts replacements. Of different sizes: it does not."""
    search.part("samples and laws")
    pairs = 0
    for n in range(1, 6):
        multisets = list(itertools.combinations_with_replacement(range(3), n))
        for one, two in itertools.combinations_with_replacement(multisets, 2):
            replaced = sum((Counter(one) - Counter(two)).values())
            found = distance(empirical(one), empirical(two))
            search.equal(n * found, replaced, {"one": one, "two": two})
            pairs += 1
    counted = sum(k * (k + 1) // 2 for k in ((n + 2) * (n + 1) // 2 for n in range(1, 6)))
    search.exhausts("all pairs of multisets of one size up to 5 over three values", cases=counted)
    farthest = Fraction(0)
    for n in range(1, 5):
        for one in itertools.combinations_with_replacement(range(3), n):
            for extra in range(3):
                added = distance(empirical(one), empirical((*one, extra)))
                share = Fraction(one.count(extra), n)
                search.equal(added, (1 - share) / (n + 1), {"one": one, "added": extra})
                farthest = max(farthest, added * (n + 1))
            search.equal(distance(empirical(one), empirical(one + one)), 0, {"one": one, "doubled": True})
    search.fact("pairs of multisets of one size: the distance is replacements/n in all", pairs)
    search.fact("a sample and itself twice over differ in n entries, and in distance by", 0)


def _definition_7(consequences: Callable[..., Any], search: Search) -> None:
    """All classes of two hypotheses: what Γ + err ≤ OPT + α implies for Γ and for err."""
    search.part("Definition 7")
    hypotheses = hypothesis_grid(2)
    chosen, other = np.array(list(itertools.permutations(range(16), 2))).T
    never = Fraction(2)  # in the place of the error of a fair hypothesis where the class has none
    for law, alpha in itertools.product(laws(5), ALPHAS):
        gaps = np.array([gap_by_definition(law.table, h) for h in hypotheses], dtype=object)
        errors = np.array([error_by_definition(law.table, h) for h in hypotheses], dtype=object)
        fair = np.where(gaps == 0, errors, never)
        optimum = np.minimum((gaps + errors)[chosen], (gaps + errors)[other])
        gap, error = gaps[chosen], errors[chosen]
        best, best_fair = np.minimum(error, errors[other]), np.minimum(fair[chosen], fair[other])
        limit, worst_error = consequences(optimum, best_fair, error, alpha)
        may = gap + error <= optimum + alpha
        case = {"table": law.table.tolist(), "alpha": alpha}
        slack = np.where(may, np.minimum(limit - gap, worst_error - error), 1)
        search.observe(slack, case | {"output": chosen, "other": other})
        tight = gap + error == optimum + alpha
        search.agree((limit == gap)[tight], np.ones(tight.sum(), dtype=bool), case)
        printed = np.where(may, np.minimum(alpha - gap, best + alpha - error), 1)
        at = int(printed.argmin())
        search.against(
            printed[at],
            case
            | {"printed": "Definition 7", "h": hypotheses[chosen[at]].tolist()}
            | {"other": hypotheses[other[at]].tolist()},
            verify=printed_slack,
        )
    search.exhausts(
        "all classes of two of the 16 hypotheses, all laws in fifths, α = 0, 1/10, ¼, every output",
        cases=law_count(5) * 16 * 15 * len(ALPHAS),
    )


def _false_positive_gap(table: Any, h: Any) -> Fraction:
    return gap_by_definition([[people[::-1] for people in point] for point in table], h)


def _violation(table: Any, h: Any) -> Fraction:
    """Return A_FP·B_FP of Definition 8 for the group a = 1, from its definition."""
    negatives = sum((Fraction(point[a][0]) for point in table for a in (0, 1)), Fraction(0))
    members = sum((Fraction(point[1][0]) for point in table), Fraction(0))
    hits = [
        sum((Fraction(point[a][0]) * Fraction(h[x][a]) for x, point in enumerate(table)), Fraction(0))
        for a in (0, 1)
    ]
    return members * abs(sum(hits) / negatives - hits[1] / members)


def _definition_8(weight: Callable[..., Any], search: Search) -> None:
    """For one group Definition 8 is Definition 5 on negatives, at another level: a rare group has no protection."""
    search.part("Definition 8")
    hypotheses = hypothesis_grid(2)
    for law in laws(6):
        table = law.table.tolist()
        unit = weight(law.table)
        search.observe(Fraction(1, 4) - unit, {"table": table})
        for h in hypotheses:
            case = {"table": table, "h": h.tolist()}
            violation, gap = _violation(table, h), _false_positive_gap(table, h)
            search.equal(violation, unit * gap, case)
            if gap > violation:
                at = case | {"printed": "Definition 8 implies α-discrimination", "alpha": violation}
                search.against(violation - gap, at, verify=printed_slack)
    search.exhausts("all laws in sixths and all 16 hypotheses, for Definition 8", cases=law_count(6) * 17)


FAULTS: dict[str, dict[str, Any]] = {
    "sum of absolute differences, not halved": {
        "distance": lambda one, two: 2 * statistical_distance(one, two)
    },
    "largest difference of one probability": {"distance": lambda one, two: abs(one.table - two.table).max()},
    "Γ at most α, as printed": {
        "consequences": lambda optimum, fair_error, error, alpha: (alpha, fair_error + alpha)
    },
    "error within α of the sum's optimum less α": {
        "consequences": lambda optimum, fair_error, error, alpha: (optimum + alpha - error, fair_error)
    },
    "the error forgotten in the bound on Γ": {
        "consequences": lambda optimum, fair_error, error, alpha: (optimum + alpha, fair_error + alpha)
    },
    "weight of the group alone": {"weight": lambda table: table[..., 0].sum(axis=0)[1]},
    "weight of the product alone": {
        "weight": lambda table: table[..., 0].sum(axis=0)[0] * table[..., 0].sum(axis=0)[1]
    },
}
