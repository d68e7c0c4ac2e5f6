"""CGKM, proof of Theorem 1: γ on D′ is a conditional rate and does not move; where mass has to move instead."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.compatibility.hypotheses_on_points import (
    QUARTERS,
    acceptable_by_definition,
    gap_by_definition,
    law_count,
    laws,
    reference,
)
from dpfair_lib.compatibility.impossibility.acceptable import hypothesis_grid, statistical_distance
from dpfair_lib.compatibility.impossibility.constructions import four_atoms, unfair_neighbor
from dpfair_lib.compatibility.impossibility.criteria import opportunity_gap
from dpfair_lib.populations import Population

ZETAS = tuple(Fraction(i, 64) for i in range(1, 16))


def check(
    *,
    gap: Callable[..., Any] = opportunity_gap,
    unfair: Callable[..., Population] = unfair_neighbor,
    search: Search,
) -> Evidence:
    """Judge the printed pair of laws, then the move that does make a non-constant hypothesis unfair."""
    _gap_itself(gap, search)
    _printed_pair(gap, search)
    _moved_within_a_cell(unfair, search)
    return search.evidence()


def on_atoms(values: tuple[Any, ...]) -> np.ndarray:
    """Return the hypothesis on four points with these values, whatever the group."""
    return np.array([[value, value] for value in values], dtype=object)


def printed_slack(values: tuple[Any, ...], zeta: Fraction) -> Fraction:
    """Return by how much the gap on D′ stays below the printed one, (¼ + ζ) − (¼ − ζ), from the definition."""
    quarter = Fraction(1, 4)
    atoms = {(0, 0): quarter, (0, 1): quarter - zeta, (1, 0): quarter, (1, 1): quarter + zeta}
    table = [[[Fraction(0)] * 2 for _ in range(2)] for _ in range(4)]
    for x, (a, y) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
        table[x][a][y] = atoms[a, y]
    return gap_by_definition(table, [[value, value] for value in values]) - 2 * zeta


@once
def _gap_itself(gap: Callable[..., Any], search: Search) -> None:
    """Γ by the definition, on laws and hypotheses where it is not 0 as well."""
    search.part("the gap by its definition")
    grid = hypothesis_grid(2, levels=QUARTERS[::2])
    unfair = 0
    for population, h in itertools.product(laws(5)[::29], grid):
        exact = gap_by_definition(population.table.tolist(), h.tolist())
        search.equal(gap(population.table, h), exact, {"table": population.table.tolist(), "h": h.tolist()})
        unfair += exact > 0
    search.sanity(unfair - len(grid), {"what": "pairs with a gap"})


@once
def _printed_pair(gap: Callable[..., Any], search: Search) -> None:
    """Every hypothesis of the proof, in quarters, stays as fair and as accurate on D′ as it was on D."""
    search.part("the printed D and D′")
    chosen = [
        values
        for values in itertools.product(QUARTERS, repeat=4)
        if values[1] == values[3] and values[1] + values[3] > values[0] + values[2]
    ]
    uniform = four_atoms()
    for zeta in ZETAS:
        moved = four_atoms(zeta)
        search.equal(statistical_distance(uniform, moved), zeta, {"zeta": zeta})
        joint = [moved.table[1, 0, 1], moved.table[3, 1, 1]]
        search.agree(joint == [Fraction(1, 4) - zeta, Fraction(1, 4) + zeta], True, {"joint masses": joint})
        for values in chosen:
            h, case = on_atoms(values), {"values": values, "zeta": zeta}
            found = gap(moved.table, h)
            search.equal(found, 0, case)
            search.agree(acceptable_by_definition(moved.table, h), True, case)
            search.against(found - 2 * zeta, case, verify=printed_slack)
    total = sum(
        1
        for i, j, k in itertools.product(range(5), repeat=3)  # h(z₀), h(z₂) and h(z₁) = h(z₃), in quarters
        if 2 * k > i + j
    )
    search.exhausts(
        "all hypotheses of the proof with values in quarters, moves of 1/64 to 15/64",
        cases=3 * total * len(ZETAS) + 2 * len(ZETAS),
    )
    search.fact(
        "hypotheses_tried",
        total,
        "hypotheses of the proof tried, all fair and better than the constants on D′ too",
    )


def _moved_within_a_cell(unfair: Callable[..., Population], search: Search) -> None:
    """Positives of one group that move from one point to another make every non-constant hypothesis unfair."""
    search.part("positives moved within one group")
    deterministic = [(number, h) for number, h in enumerate(hypothesis_grid(2)) if 0 < h.sum() < 4]
    usual, gaps = Fraction(1, 1000), reference(5)[0]
    for at, population in enumerate(laws(5)):
        zeta = (usual, Fraction(1, 30), Fraction(1, 7))[at % 3]
        for number, h in deterministic:
            case = {"table": population.table.tolist(), "h": h.tolist(), "zeta": zeta}
            other = unfair(population, h, zeta)
            search.observe(zeta - _apart(population, other), case)
            found = gap_by_definition(other.table.tolist(), case["h"])
            search.observe(0 if found > 0 else -1, case)
            if gaps[at, number] == 0:
                a = int(h[0, 0] == h[1, 0])  # the first group where h has two values
                search.equal(found, zeta / population.table[:, a, 1].sum(), case)
    search.exhausts(
        "all distributions on two points with people in all four cells (fifths) "
        "and all non-constant deterministic hypotheses",
        cases=2 * law_count(5) * len(deterministic),
    )
    randomised = [h for h in hypothesis_grid(2, levels=QUARTERS[::2]) if len(set(h.flat)) > 1]
    for population, h in itertools.product(laws(5)[::7], randomised):
        case = {"table": population.table.tolist(), "h": h.tolist(), "zeta": usual}
        other = unfair(population, h, usual)
        search.observe(usual - _apart(population, other), case)
        search.observe(0 if gap_by_definition(other.table.tolist(), case["h"]) > 0 else -1, case)


def _apart(one: Population, other: Population) -> Fraction:
    """Return half of the sum of the absolute differences."""
    moved = (p - q for p, q in zip(one.table.flat, other.table.flat, strict=True) if p is not q)
    return sum((abs(each) for each in moved), Fraction(0)) / 2


def _mass_for_rate(table: Any, h: Any) -> Any:
    """The slip of the proof: joint masses of the true positives in the place of conditional rates."""
    hits = (table[..., 1] * h).sum(axis=-2)
    return abs(hits[..., 0] - hits[..., 1])


def _between_groups(population: Population, h: np.ndarray, zeta: Fraction) -> Population:
    """The move of the proof: positives leave one group for the other."""
    table = population.table.copy()
    x = int(np.flatnonzero(table[:, 0, 1] > 0)[0])
    to = int(np.flatnonzero(table[:, 1, 1] > 0)[0])
    table[x, 0, 1] -= zeta
    table[to, 1, 1] += zeta
    moved = Population.from_table(table)
    return moved if opportunity_gap(population.table, h) == 0 else population


def _further(population: Population, h: np.ndarray, zeta: Fraction) -> Population:
    return unfair_neighbor(population, h, 2 * zeta)


def _negatives_moved(population: Population, h: np.ndarray, zeta: Fraction) -> Population:
    """Moves negatives instead, which equal opportunity does not see."""
    if opportunity_gap(population.table, h) != 0:
        return population
    table = population.table.copy()
    x, a = (int(i) for i in np.argwhere(table[..., 0] > 0)[0])
    table[x, a, 0] -= zeta
    table[1 - x, a, 0] += zeta
    return Population.from_table(table)


def _further_if_randomised(population: Population, h: np.ndarray, zeta: Fraction) -> Population:
    return unfair_neighbor(population, h, zeta if set(h.flat) <= {0, 1} else 100 * zeta)


FAULTS: dict[str, dict[str, Any]] = {
    "no gap anywhere": {"gap": lambda table, h: 0 * opportunity_gap(table, h)},
    "a hundred times the mass for randomised hypotheses": {"unfair": _further_if_randomised},
    "the same mass, whatever is allowed": {
        "unfair": lambda population, h, zeta: unfair_neighbor(population, h, min(zeta, Fraction(1, 1000)))
    },
    "joint masses taken for conditional rates": {"gap": _mass_for_rate},
    "rates over the whole group": {
        "gap": lambda table, h: abs(np.diff((table[..., 1] * h).sum(axis=-2) / table.sum(axis=(-3, -1)))[0])
    },
    "mass moved from group to group, as printed": {"unfair": _between_groups},
    "twice the mass moved": {"unfair": _further},
    "negatives moved": {"unfair": _negatives_moved},
}


SHOWN = """\
from fractions import Fraction
zeta, h, label = Fraction(1, 10), (0, 1, 0, 1), (0, 1, 0, 1)  # h and y at z0, z1, z2, z3
mass = [Fraction(1, 4), Fraction(1, 4) - zeta, Fraction(1, 4), Fraction(1, 4) + zeta]  # the law D'
rate_0 = mass[1] * h[1] / mass[1]  # z1 is the only positive point of group 0
rate_1 = mass[3] * h[3] / mass[3]
error = sum(p * (guess != y) for p, guess, y in zip(mass, h, label))
assert rate_0 == rate_1 == 1 and error == 0  # printed: 1/4 - zeta and 1/4 + zeta
"""

CLAIM = Claim(
    id="cgkm.thm-1.proof",
    where="Theorem 1, proof, § 3",
    statement="On the uniform distribution over z₀…z₃ = (x₀,0,0), (x₁,0,1), (x₂,1,0), (x₃,1,1), moving mass "
    "ζ from z₁ to z₃ makes every h with h(z₁) = h(z₃) and h(z₁) + h(z₃) > h(z₀) + h(z₂) unfair: γ₁₀ = ¼ − ζ "
    "≠ ¼ + ζ = γ₁₁.",
    statement_uses=("cgkm.definitions",),
    proof_uses=("cgkm.thm-1.asides",),
    verdict="corrected",
    finding="γ₁₀ and γ₁₁ are rates within cells of one atom each: h(z₁) and h(z₃), on D′ as on D. ¼ − ζ and ¼ + ζ "
    "are the joint masses P₁₀, P₁₁. On D′ each such h is as fair as on D, and errs as rarely. What does "
    "work: moving positives within one group, between two points on which h differs.",
    chapter="cgkm-thm-1",
    headline="The printed proof fails: on its second distribution D′ all 56 hypotheses tried stay exactly as "
    "fair as on D.",
    witness="The hypothesis with values {values} on the four points, and ζ = {zeta}. On the second "
    "distribution of the proof it is exactly as fair as on the first.",
    kind="replaced",
    impact="conclusion",
    because="Theorem 1 is derived from this pair of distributions alone, and the same hypotheses serve both, "
    "so the pair excludes nothing.",
    shown_by="hypotheses_tried",
    errata=(
        Erratum(
            where="Theorem 1, proof, last display on γ",
            printed="γ₁₀ = ¼ − ζ and γ₁₁ = ¼ + ζ on D′",
            correct="those are P₁₀ and P₁₁; γ₁₀ = h(z₁) and γ₁₁ = h(z₃), as on D",
            band="result",
            why="A rate within a group does not change when the mass of its only positive point changes.",
            shown=SHOWN,
        ),
    ),
    check=check,
    faults=FAULTS,
)
