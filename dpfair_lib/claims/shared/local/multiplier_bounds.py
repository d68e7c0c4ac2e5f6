"""The Lagrangian bound of the k-ary program a second time, for multipliers that are not the best, by corners."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.search import Search
from dpfair_lib.local.optimal.certificate import Multipliers
from dpfair_lib.local.optimal.program import Program

EXACT = np.vectorize(lambda number: Fraction(int(number)), otypes=[object])
LEVELS = (Fraction(1, 2), Fraction(1), Fraction(5, 4), Fraction(3, 4))
SIDES = (*[(Fraction(1), Fraction(1))] * 3, (Fraction(2, 5), Fraction(3, 5)))


def judge_bound(bound: Any, program: Program, proof: Multipliers, search: Search) -> None:
    """Judge what multipliers about a proof of optimality prove: the number, at levels below and above the optimum."""
    case: dict[str, Any] = {"p": program.p, "p1": program.p1, "x": program.x, "error": program.error}
    for share, sides in zip(LEVELS, SIDES, strict=True):
        tried = moved(proof, share, sides, search.rng)
        case |= {"share of the level": share, "sides": sides}
        search.agree(bound(program, tried) == bound_again(program, tried), True, case)
    search.agree(bound(program, without_weights(proof)), 0, case)


def without_weights(proof: Multipliers) -> Multipliers:
    """Return multipliers that are all 0: their sum is 0 on every channel, which says nothing of the level."""
    nothing = {
        name: 0 * getattr(proof, name) for name in ("above", "below", "rows", "column_caps", "row_caps")
    }
    return replace(proof, truth=0 * proof.truth, **nothing)


def moved(proof: Multipliers, share: Fraction, sides: Any, rng: np.random.Generator) -> Multipliers:
    """Return multipliers near a proof, for a share of its level and other sides, each part somewhat larger."""

    def more(part: Any) -> np.ndarray:
        extra = rng.integers(0, 5, size=np.shape(part)) * rng.integers(0, 2, size=np.shape(part))
        return np.asarray(part, dtype=object) + EXACT(extra) / 10_000

    return replace(
        proof,
        t=proof.t * share / max(sides),
        above=more(proof.above),
        below=more(proof.below),
        truth=more([proof.truth])[0],
        rows=more(proof.rows) - Fraction(int(rng.integers(0, 3)), 10_000),
        column_caps=more(proof.column_caps),
        row_caps=more(proof.row_caps),
        sides=sides,
    )


def _price(program: Program, above: Any, below: Any, t: Any, sides: Any, i: int, j: int) -> Any:
    """Return what one unit of q_ij adds to the two sides of the fairness constraint of report j."""
    overall = sum(program.p * program.p1)
    excess, mass = program.p[i] * (program.p1[i] - overall), overall * program.p[i]
    return above[j] * (excess - sides[0] * t * mass) + below[j] * (-excess - sides[1] * t * mass)


def lagrangian(program: Program, m: Multipliers, i: int, j: int) -> Any:
    """Return what a unit of q_ij adds to the Lagrangian, constraint by constraint."""
    added = _price(program, m.above, m.below, m.t, m.sides, i, j) - m.rows[i]
    if i != j:
        return added + m.column_caps[i, j] + m.row_caps[i, j]
    others = [a for a in range(program.k) if a != i]
    capped = sum(m.column_caps[a, i] for a in others) + sum(m.row_caps[i, a] for a in others)
    return added - m.truth * program.p[i] - capped


def bound_again(program: Program, m: Multipliers) -> Any:
    """Return the bound of `lower_bound` from the corners of its relaxation.

    q_ij = x·M_j + s_ij for i ≠ j, where all M_i lie in [max(1/k, x·U), U] for some U from 1/k to 1, and the slacks of a
    row are at least 0 and sum to at most 1. The Lagrangian is affine; it is least at a corner.
    """
    k, x = program.k, program.x
    added = [[lagrangian(program, m, i, j) for j in range(k)] for i in range(k)]
    least = sum(m.rows) + m.truth * (1 - program.error)
    through = [sum(added[i][j] * (1 if i == j else x) for i in range(k)) for j in range(k)]
    tops = {Fraction(1, k), Fraction(1)} | ({1 / (k * x)} if k * x > 1 else set())
    least += min(
        sum(cost * height for cost, height in zip(through, diagonal, strict=True))
        for top in tops
        for diagonal in itertools.product({max(Fraction(1, k), x * top), top}, repeat=k)
    )
    for i in range(k):
        least += min(0, *(added[i][j] for j in range(k) if i != j))
    weights = m.sides[0] * m.above + m.sides[1] * m.below
    overall = sum(program.p * program.p1)
    if not max(weights) > 0:
        return 0
    if least >= 0:  # D_j is at most P(Y = 1), and the D_j sum to that
        return m.t + least / (overall * max(weights))
    # P(Z = j) is at least the least diagonal entry, 1/k, times what every other group reports of it, x
    smallest = sum(
        w * overall * (share + x * (1 - share)) / k for w, share in zip(weights, program.p, strict=True)
    )
    return max(m.t + least / smallest, 0)
