"""CGKM, Definitions 1 and 2, 5, 7, 8 against one another."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.compatibility.hypotheses_on_points import (
    error_by_definition,
    gap_by_definition,
    law_count,
    laws,
    reference,
)
from dpfair_lib.compatibility.impossibility.acceptable import hypothesis_grid, statistical_distance
from dpfair_lib.populations import Population

ALPHAS = (Fraction(0), Fraction(1, 10), Fraction(1, 4))
UNIT = 20  # gaps and errors on laws in fifths with people in all cells, and α, are multiples of 1/20


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


@functools.cache
def empirical(sample: tuple[int, ...]) -> Population:
    """Return the empirical law of a multiset of points 0, 1, 2, 3, all of one group and label."""
    counts = Counter(sample)
    table = np.array([[[Fraction(counts[x], len(sample)), Fraction(0)]] for x in range(4)], dtype=object)
    return Population.from_table(table)


def _samples(distance: Callable[..., Any], search: Search) -> None:
    """Multisets of one size: the distance of their laws counts replacements. Of different sizes: it does not."""
    search.part("samples and laws")
    pairs = 0
    for n in range(1, 5):
        multisets = list(itertools.combinations_with_replacement(range(4), n))
        for one, two in itertools.combinations_with_replacement(multisets, 2):
            replaced = sum((Counter(one) - Counter(two)).values())
            found = distance(empirical(one), empirical(two))
            search.equal(n * found, replaced, {"one": one, "two": two})
            pairs += 1
    counted = sum(k * (k + 1) // 2 for k in (math.comb(n + 3, 3) for n in range(1, 5)))
    search.exhausts("all pairs of multisets of one size up to 4 over four values", cases=counted)
    for n in range(1, 4):
        for one in itertools.combinations_with_replacement(range(4), n):
            for extra in range(4):
                added = distance(empirical(one), empirical((*one, extra)))
                share = Fraction(one.count(extra), n)
                search.equal(added, (1 - share) / (n + 1), {"one": one, "added": extra})
            search.equal(distance(empirical(one), empirical(one + one)), 0, {"one": one, "doubled": True})
    search.fact(
        "same_size_pairs", pairs, "pairs of multisets of one size: the distance is replacements/n in all"
    )
    search.fact(
        "doubled_distance", 0, "a sample and itself twice over differ in n entries, and in distance by"
    )


def _definition_7(consequences: Callable[..., Any], search: Search) -> None:
    """All classes of two hypotheses: what Γ + err ≤ OPT + α implies for Γ and for err."""
    search.part("Definition 7")
    hypotheses = hypothesis_grid(2)
    chosen, other = np.array(list(itertools.permutations(range(16), 2))).T
    every_gap, every_error = ((UNIT * values).astype(np.int64) for values in reference(5)[:2])
    search.agree((every_gap == UNIT * reference(5)[0]).all(), True, {"unit": Fraction(1, UNIT)})
    search.agree((every_error == UNIT * reference(5)[1]).all(), True, {"unit": Fraction(1, UNIT)})
    largest = 0
    for number, alpha in itertools.product(range(len(every_gap)), ALPHAS):
        gaps, errors, allowed = every_gap[number], every_error[number], int(UNIT * alpha)
        fair = np.where(gaps == 0, errors, 2 * UNIT)  # more than any error where the class has none
        optimum = np.minimum((gaps + errors)[chosen], (gaps + errors)[other])
        gap, error = gaps[chosen], errors[chosen]
        best, best_fair = np.minimum(error, errors[other]), np.minimum(fair[chosen], fair[other])
        limit, worst_error = consequences(optimum, best_fair, error, allowed)
        may = gap + error <= optimum + allowed
        if alpha == ALPHAS[1]:
            largest = max(largest, int(gap[may & (best_fair <= UNIT)].max(initial=0)))
        case = {"law": number, "alpha": alpha}
        slack = np.where(may, np.minimum(limit - gap, worst_error - error), UNIT)
        search.observe(slack, case | {"output": chosen, "other": other})
        tight = gap + error == optimum + allowed
        if tight.any():  # then the bound on Γ is attained
            search.agree((limit == gap)[tight], np.ones(tight.sum(), dtype=bool), case)
        printed = np.where(may, np.minimum(allowed - gap, best + allowed - error), UNIT)
        at = int(printed.argmin())
        shown = {"printed": "Definition 7", "table": laws(5)[number].table.tolist(), "alpha": alpha}
        shown |= {"h": hypotheses[chosen[at]].tolist(), "other": hypotheses[other[at]].tolist()}
        search.against(Fraction(int(printed[at]), UNIT), shown, verify=printed_slack)
    search.exhausts(
        "all classes of two of the 16 hypotheses, all distributions in fifths, α = 0, 1/10, ¼, every output",
        cases=law_count(5) * 16 * 15 * len(ALPHAS),
    )
    search.fact(
        "largest_gap", str(Fraction(largest, UNIT)),
        "largest Γ of an output that Definition 7 admits at α = 1/10, although its class has an exactly fair h",
    )  # fmt: skip


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


@functools.cache
def _violations() -> tuple[np.ndarray, np.ndarray]:
    """Return the violation of Definition 8 and the gap of false positive rates, on laws in sixths, by definition."""
    grid = hypothesis_grid(2).tolist()
    tables = [law.table.tolist() for law in laws(6)]
    found = [[_violation(table, h) for h in grid] for table in tables]
    gaps = [[_false_positive_gap(table, h) for h in grid] for table in tables]
    return np.array(found, dtype=object), np.array(gaps, dtype=object)


def _definition_8(weight: Callable[..., Any], search: Search) -> None:
    """For one group Definition 8 is Definition 5 on negatives, at another level: a rare group has no protection."""
    search.part("Definition 8")
    violations, gaps = _violations()
    for law, violation, gap in zip(laws(6), violations, gaps, strict=True):
        table = law.table.tolist()
        unit = weight(law.table)
        search.observe(Fraction(1, 4) - unit, {"table": table})
        search.equal(violation, unit * gap, {"table": table, "h": np.arange(len(gap))})
        worst = int((violation - gap).argmin())
        case = {"table": table, "h": hypothesis_grid(2)[worst].tolist(), "alpha": violation[worst]}
        case["printed"] = "Definition 8 implies α-discrimination"
        search.against(violation[worst] - gap[worst], case, verify=printed_slack)
    search.exhausts(
        "all distributions in sixths and all 16 hypotheses, for Definition 8", cases=law_count(6) * 17
    )


FAULTS: dict[str, dict[str, Any]] = {
    "sum of absolute differences, not halved": {
        "distance": lambda one, two: 2 * statistical_distance(one, two)
    },
    "largest difference of one probability": {"distance": lambda one, two: abs(one.table - two.table).max()},
    "Γ at most α, as printed": {
        "consequences": lambda optimum, fair_error, _, alpha: (alpha + 0 * optimum, fair_error + alpha)
    },
    "error within α of the sum's optimum less α": {
        "consequences": lambda optimum, fair_error, error, alpha: (optimum + alpha - error, fair_error)
    },
    "the error forgotten in the bound on Γ": {
        "consequences": lambda optimum, fair_error, _, alpha: (optimum + alpha, fair_error + alpha)
    },
    "weight of the group alone": {"weight": lambda table: table[..., 0].sum(axis=0)[1]},
    "weight of the product alone": {
        "weight": lambda table: table[..., 0].sum(axis=0)[0] * table[..., 0].sum(axis=0)[1]
    },
}


SHOWN = """\
import numpy as np
positives = np.array([[0.025, 0.025], [0.0, 0.05]])  # group by x; all negatives, 0.9, are at x = 0
hypotheses = {"x": np.array([0, 1]), "everyone": np.array([1, 1])}
rates = {name: positives @ h / positives.sum(axis=1) for name, h in hypotheses.items()}
gap = {name: abs(rate[0] - rate[1]) for name, rate in rates.items()}
error = {name: (positives * (1 - h)).sum() + 0.9 * h[0] for name, h in hypotheses.items()}
total = {name: gap[name] + error[name] for name in hypotheses}
alpha = 0.1
assert total["x"] == min(total.values()) and gap["x"] > 4 * alpha and gap["everyone"] == 0
"""

CLAIM = Claim(
    id="cgkm.definitions",
    where="Definitions 1–2, § 2.1; 5, § 2.3; 7, § 2.4; 8, § 5",
    statement="ζ-closeness generalises neighbouring multisets; Pr[Γ(h) + err(h) ≤ OPT + α] ≥ 1 − β "
    "makes a learner (α, β)-accurate and at most α-discriminatory w.p. 1 − β; FP-subgroup "
    "fairness generalises α-discrimination.",
    verdict="corrected",
    finding="Between multisets of one size n, ζ = 1/n is exactly replace-one; the size is not seen. Definition 7 "
    "gives Γ ≤ α + OPT − err and err ≤ (best fair error) + α, neither Γ ≤ α nor accuracy. Definition 8 "
    "for one group reads P₀₀P₀₁/P₀·|γ₀₀ − γ₀₁| ≤ α: weaker than α-discrimination, and void for a rare "
    "group.",
    chapter="cgkm-thm-1",
    headline="Definition 7 bounds Γ + err by OPT + α; that implies neither Γ ≤ α nor accuracy within α.",
    witness="{printed} at α = {alpha}, on two points and two groups. The labels 0 and 1 have the probabilities: "
    "{table:point,group}. The hypothesis has the values: {h:point,group}. The competitor has: "
    "{other:point,group}. The printed inference fails.",
    kind="replaced",
    impact="conclusion",
    because="Theorem 2 is read as giving α-discrimination and accuracy; what its definition gives is Γ ≤ "
    "α + OPT − err.",
    shown_by="largest_gap",
    errata=(
        Erratum(
            where="§ 2.2, after Definition 4",
            printed="equality of false negatives, because it requires that the false positive rates be equal",
            correct="because it requires that the false negative rates be equal",
            band="slip",
            why="False negatives are equal where true positive rates are.",
            used="Definition 4 itself, which compares true positive rates",
        ),
        Erratum(
            where="Definition 7, last sentence, § 2.4",
            printed="a learner with Γ + err ≤ OPT + α is (α, β)-accurate and at most α-discriminatory, "
            "with probability 1 − β",
            correct="then Γ ≤ α + OPT − err, and err is at most α above the best exactly fair h",
            band="result",
            why="A hypothesis with little error may have a large Γ and still the smallest sum.",
            shown=SHOWN,
        ),
    ),
    check=check,
    faults=FAULTS,
)
