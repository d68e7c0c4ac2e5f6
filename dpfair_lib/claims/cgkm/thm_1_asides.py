"""CGKM: three remarks in the proof of Theorem 1 about its four-point distribution, whichever features are equal."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.compatibility.hypotheses_on_points import (
    QUARTERS,
    constant_error,
    error_by_definition,
    gap_by_definition,
)
from dpfair_lib.compatibility.impossibility.acceptable import acceptable_table, hypothesis_grid
from dpfair_lib.compatibility.impossibility.criteria import Criterion, beats_constants, fair_within
from dpfair_lib.populations import Population

FAIR, ACCURATE = fair_within("opportunity"), beats_constants()
ATOMS = ((0, 0), (0, 1), (1, 0), (1, 1))
"""Group and label of the four points of the distribution."""

GROUPS = tuple(group for group, _ in ATOMS)


def check(
    *,
    accurate: Criterion = ACCURATE,
    fair: Criterion = FAIR,
    search: Search,
) -> Evidence:
    """Judge the asides on the uniform law of four atoms, whatever features are equal."""
    search.part("the uniform law of four atoms")
    patterns = list(restricted_growth(4))
    for pattern in patterns:
        _one_pattern(pattern, accurate, fair, search)
    hypotheses = sum(3 ** len(set(zip(pattern, GROUPS, strict=True))) for pattern in patterns)
    search.exhausts(
        "all 15 ways in which the four features may coincide, all hypotheses on what is left with values 0, ½, 1",
        cases=4
        * hypotheses,  # of each: its error, its gap, whether it beats the constants, whether it is fair
    )
    _independent_labels(accurate, search)
    return search.evidence()


def restricted_growth(length: int) -> Iterator[tuple[int, ...]]:
    """Yield each partition of ``length`` points once, as the number of the block of each point."""
    for pattern in itertools.product(range(length), repeat=length):
        if all(block <= max(pattern[:i], default=-1) + 1 for i, block in enumerate(pattern)):
            yield pattern


def patterned_law(pattern: tuple[int, ...]) -> Any:
    """Return the uniform law of (x_i, a_i, y_i) with these features, as a table."""
    table = np.full((max(pattern) + 1, 2, 2), Fraction(0), dtype=object)
    for x, (a, y) in zip(pattern, ATOMS, strict=True):
        table[x, a, y] += Fraction(1, 4)
    return table


def printed_slack(pattern: tuple[int, ...]) -> Fraction:
    """Return minus the total variation distance between the law and the product of its marginals, by definition."""
    atoms = [(x, a, y) for x, (a, y) in zip(pattern, ATOMS, strict=True)]
    distance = Fraction(0)
    for x, a, y in itertools.product(sorted(set(pattern)), (0, 1), (0, 1)):
        joint = Fraction(sum(atom == (x, a, y) for atom in atoms), 4)
        product = Fraction(pattern.count(x), 4) * Fraction(1, 2) * Fraction(1, 2)
        distance += abs(joint - product) / 2
    return -distance


def _one_pattern(pattern: tuple[int, ...], accurate: Criterion, fair: Criterion, search: Search) -> None:
    table, case = patterned_law(pattern), {"pattern": pattern}
    search.against(printed_slack(pattern), case, verify=printed_slack)
    independent = printed_slack(pattern) == 0
    search.agree(independent, len(set(pattern)) == 1, case)
    search.agree(
        [table[:, a, y].sum() for a, y in ATOMS] == [Fraction(1, 4)] * 4, True, case
    )  # group and label are independent
    for constant in QUARTERS:
        h = np.full(table.shape[:2], constant)
        search.equal(error_by_definition(table, h), Fraction(1, 2), case | {"constant": constant})
    population = Population.from_table(table)
    seen = sorted(set(zip(pattern, GROUPS, strict=True)))
    better = False
    for values in itertools.product(QUARTERS[::2], repeat=len(seen)):
        h = np.full(table.shape[:2], Fraction(0), dtype=object)
        for at, value in zip(seen, values, strict=True):
            h[at] = value
        h_at_point = [h[x, a] for x, a in zip(pattern, GROUPS, strict=True)]
        case_of_h = case | {"h": h.tolist()}
        surplus = h_at_point[1] + h_at_point[3] - h_at_point[0] - h_at_point[2]
        search.equal(error_by_definition(table, h), Fraction(1, 2) - surplus / 4, case_of_h)
        search.equal(gap_by_definition(table, h), abs(h_at_point[1] - h_at_point[3]), case_of_h)
        accepted = acceptable_table([population], h[None], None, accurate)[0, 0]
        search.agree(accepted, surplus > 0, case_of_h)
        search.agree(
            acceptable_table([population], h[None], fair, None)[0, 0],
            h_at_point[1] == h_at_point[3],
            case_of_h,
        )
        better = better or bool(accepted)
    if independent:
        search.agree(better, False, case)
    search.fact(
        f"features_{''.join(map(str, pattern))}", f"independent: {independent}; some h beats the constants: {better}",
        f"x₀ to x₃ equal where these numbers are: {pattern}",
    )  # fmt: skip


def _independent_labels(accurate: Criterion, search: Search) -> None:
    """Where the label is independent of the rest, no hypothesis at all beats the constants."""
    search.part("labels independent of features and group")
    hypotheses = hypothesis_grid(2, levels=QUARTERS)
    count = 0
    # quarters of the mass of group 0 with either feature value, of what is left half each in group 1; and of label 1
    for first, second, positive in itertools.product(range(5), repeat=3):
        if first + second > 4 or not 0 < positive < 4:
            continue
        left = Fraction(4 - first - second, 4)
        law = np.array([[Fraction(first, 4), Fraction(second, 4)], [left / 2, left / 2]], dtype=object)
        if not (law.sum(axis=0) > 0).all():
            continue
        base_rate = Fraction(positive, 4)
        population = Population.from_table(np.stack([law * (1 - base_rate), law * base_rate], axis=-1))
        search.equal(
            constant_error(population.table),
            min(base_rate, 1 - base_rate),
            {"table": population.table.tolist()},
        )
        met = acceptable_table([population], hypotheses, None, accurate)[0]
        search.agree(met, np.zeros(len(met), dtype=bool), {"table": population.table.tolist()})
        count += len(met)
    search.fact(
        "independent_pairs",
        count,
        "pairs of a distribution with independent labels and a hypothesis, none beating the constants",
    )


FAULTS: dict[str, dict[str, Any]] = {
    "as good as a constant counts as better": {"accurate": beats_constants(strict=False)},
    "better than the worse constant": {
        "accurate": lambda table, h, one: (
            ((table[..., 1] - table[..., 0]) * h).sum(axis=(-2, -1))
            > one * np.minimum((table[..., 1] - table[..., 0]).sum(axis=(-2, -1)), 0)
        )
    },
    "selection rates compared": {"fair": fair_within("parity")},
    "both rates compared": {"fair": fair_within("odds")},
}


CLAIM = Claim(
    id="cgkm.thm-1.asides",
    where="Theorem 1, proof, § 3",
    statement="Under the proof's uniform distribution on four points x, a and y are independent, every "
    "constant classifier errs with probability ½, and H holds a fair h better than that, or else the theorem "
    "is trivially true.",
    verdict="corrected",
    finding="Group and label are independent, every constant errs ½, and without an acceptable h in H there is "
    "nothing to prove. But x is independent of both only if x₀ = … = x₃, and then no h errs less than ½: "
    "the first aside and the third exclude each other.",
    chapter="cgkm-thm-1",
    headline="x is independent of group and label only if all four features are equal, and then no "
    "hypothesis beats a constant.",
    witness="Features {pattern} on the four atoms: their distribution depends on the group and the label.",
    kind="slip",
    impact="none",
    because="The proof uses only that group and label are independent, which they are.",
    errata=(
        Erratum(
            where="Theorem 1, proof, after D",
            printed="x, a and y are all independent",
            correct="a and y are; x tells both if x₀, …, x₃ differ",
            band="slip",
            why="If x₀ to x₃ differ, x tells group and label.",
            used="the same proof, which assumes h(z₁) + h(z₃) > h(z₀) + h(z₂), so that x tells the label",
        ),
    ),
    check=check,
    faults=FAULTS,
)
