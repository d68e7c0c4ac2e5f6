"""The least Δ as a root of a polynomial: which constraints are tight, the polynomial, and a proof in intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from dpfair_lib.local.optimal.intervals import DIGITS, Interval, solved
from dpfair_lib.local.optimal.polynomials import (
    Coefficients,
    distinct_roots,
    interpolated,
    narrowed,
    primitive,
    value_at,
)
from dpfair_lib.local.optimal.program import Program

_Part = tuple[dict[int, Any], dict[int, Any], Any]
_TIGHT = 1e-9  # what a solver leaves of a tight constraint
_NEAR = Fraction(1, 10**7)  # how near the root a solver comes


class Constraint(NamedTuple):
    """One inequality of the program at a level t.

    ``privacy``: x·q_jj ≤ q_ij; ``column``: q_ij ≤ q_jj; ``row``: q_ij ≤ q_ii; ``budget``: Pr(Z ≠ A) ≤ ζ;
    ``above``: N_j ≤ t·D_j; ``below``: −N_j ≤ t·D_j. The last two have no i, the budget neither i nor j.
    """

    kind: str
    i: int = 0
    j: int = 0

    @property
    def of_level(self) -> bool:
        """Whether t stands in it."""
        return self.kind in {"above", "below"}


@dataclass(frozen=True)
class AlgebraicOptimum:
    """The least Δ of a program, proved, as the one root of a polynomial between two fractions.

    Attributes
    ----------
    basis : tuple of Constraint
        The inequalities that are tight, k² − k + 1 of them; with the row sums they determine channel and level.
    polynomial : tuple of int
        Its coefficients, that of 1 first. It need not be irreducible.
    low, high : Fraction
        Between them it has one root, the least Δ; they are equal if that is a fraction.
    channel : list of Interval
        The entries of the one channel with that Δ, row by row.
    multipliers : list of Interval
        One for each constraint of the basis, above 0; those of the level add up to 1.
    row_multipliers : list of Interval
        Of the row sums.
    least_slack : Fraction
        All other constraints have at least this room, above 0.
    """

    basis: tuple[Constraint, ...]
    polynomial: Coefficients
    low: Fraction
    high: Fraction
    channel: list[Interval]
    multipliers: list[Interval]
    row_multipliers: list[Interval]
    least_slack: Fraction

    def __float__(self) -> float:
        return float(self.low)


def largest_degree(groups: int) -> int:
    """Return the largest degree over the field of the data that the least Δ of k ≥ 2 groups can have: k − 1.

    Raises
    ------
    ValueError
        If there are fewer than two groups.
    """
    if groups < 2:
        raise ValueError(f"groups: found {groups}, expected at least 2")
    return groups - 1


def constraints(groups: int) -> list[Constraint]:
    """Return all inequalities of a program of k groups."""
    pairs = [(i, j) for j in range(groups) for i in range(groups) if i != j]
    fixed = [Constraint(kind, i, j) for kind in ("privacy", "column", "row") for i, j in pairs]
    return [
        *fixed,
        Constraint("budget"),
        *(Constraint(kind, 0, j) for kind in ("above", "below") for j in range(groups)),
    ]


def _forms(program: Program, one: Constraint) -> _Part:
    """Return a, b and c of the inequality (a − t·b)·q ≤ c, the forms by the positions of their entries."""
    k, (kind, i, j) = program.k, one
    if kind == "budget":
        return {at * (k + 1): -program.p[at] for at in range(k)}, {}, program.error - 1
    if one.of_level:
        sign, excess = (1 if kind == "above" else -1), program.excess
        return (
            {at * k + j: sign * excess[at] for at in range(k)},
            {at * k + j: program.overall * program.p[at] for at in range(k)},
            0,
        )
    pair = i * k + j
    if kind == "privacy":
        return {pair: -1, j * (k + 1): program.x}, {}, 0
    return {pair: 1, (j if kind == "column" else i) * (k + 1): -1}, {}, 0


def _system(k: int, parts: Sequence[_Part], t: Any, made: Any) -> list[list[Any]]:
    """Return the rows of a basis in the k² entries and θ, with the right side; level rows read … − θ = 0."""
    n, zero = k * k, made(0)
    table = []
    for i in range(k):
        table.append([made(int(at // k == i)) for at in range(n)] + [zero, made(1)])
    for a, b, c in parts:
        row = [zero] * (n + 2)
        for at, value in a.items():
            row[at] = made(value) - t * made(b[at]) if at in b else made(value)
        row[n], row[n + 1] = made(-1 if b else 0), made(c)  # only the level has a b
        table.append(row)
    return table


def determinant(matrix: list[list[Fraction]]) -> Fraction:
    """Return the determinant of a square matrix of fractions."""
    units = [math.lcm(*(entry.denominator for entry in row)) for row in matrix]
    # in whole numbers, many times as fast: the determinant is that of the rows, times over / under
    rows = [[int(entry * unit) for entry in row] for row, unit in zip(matrix, units, strict=True)]
    over, under = 1, math.prod(units)
    n = len(rows)
    for c in range(n):
        at = next((i for i in range(c, n) if rows[i][c]), None)
        if at is None:
            return Fraction(0)
        if at != c:
            rows[c], rows[at], over = rows[at], rows[c], -over
        for i in range(c + 1, n):
            if rows[i][c]:
                common = math.gcd(rows[c][c], rows[i][c])
                up, down = rows[c][c] // common, rows[i][c] // common
                left = [up * a - down * b for a, b in zip(rows[i], rows[c], strict=True)]
                content = math.gcd(*left) or 1
                rows[i] = [entry // content for entry in left]
                over, under = over * content, under * up
    return Fraction(over * math.prod(rows[c][c] for c in range(n)), under)


def level_polynomial(program: Program, basis: Sequence[Constraint]) -> Coefficients:
    """Return the polynomial of which the least Δ is a root if these constraints are tight at the optimum.

    It is the determinant of the row sums and the basis, each with its right side, as a polynomial in the level t; its
    factors t are taken out. At most k rows have a t, so k + 1 determinants suffice.

    Parameters
    ----------
    program : Program
        In fractions, with x < 1.
    basis : sequence of Constraint
        k² − k + 1 of them.

    Raises
    ------
    ValueError
        If it is 0 for all t, or the basis has another size.
    """
    needed = program.k**2 - program.k + 1
    if len(basis) != needed:
        raise ValueError(f"basis: found {len(basis)} constraints, expected {needed}")
    points = [Fraction(n) for n in range(sum(one.of_level for one in basis) + 1)]
    values, parts = [], [_forms(program, one) for one in basis]
    for t in points:
        table = _system(program.k, parts, t, Fraction)
        values.append(determinant([[*row[:-2], row[-1]] for row in table]))
    found = interpolated(points, values)
    if not found:
        raise ValueError(
            "basis: found a determinant that is 0 at every level, expected independent constraints"
        )
    while found[0] == 0:
        found = found[1:]
    return primitive(found)


def tight_constraints(program: Program) -> tuple[float, tuple[Constraint, ...]]:
    """Return a guess of the least Δ, and of the constraints that are tight there, from programs in floats.

    Raises
    ------
    ValueError
        If more constraints are tight than determine channel and level, or fewer.
    """
    k = program.k
    every = constraints(k)
    parts = [_forms(program, one) for one in every]
    fixed, masses = np.zeros((2, len(every), k * k))
    right = np.array([float(c) for _, _, c in parts])
    for at, (a, b, _) in enumerate(parts):
        for table, form in ((fixed, a), (masses, b)):
            table[at, list(form)] = [float(value) for value in form.values()]
    levels = np.array([one.of_level for one in every])
    sums = np.hstack([np.kron(np.eye(k), np.ones(k)), np.zeros((k, 1))])
    t, least = 1.0, np.inf
    for _ in range(60):  # Dinkelbach's iteration
        found = linprog(
            np.eye(k * k + 1)[-1], A_ub=np.c_[fixed - t * masses, -1.0 * levels], b_ub=right, A_eq=sums,
            b_eq=np.ones(k), bounds=(None, None), method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )  # fmt: skip
        if not found.success:
            raise ValueError(f"program: {found.message}")
        q = found.x[:-1]
        t = float(((fixed @ q)[levels] / (masses @ q)[levels]).max())
        if t >= least - 1e-15:
            break
        least = t
    room = right - (fixed - t * masses) @ q
    basis = tuple(one for one, left in zip(every, room, strict=True) if left < _TIGHT)
    if t < _TIGHT or len(basis) != k * k - k + 1:
        raise ValueError(
            f"program: found {len(basis)} tight constraints at Δ = {t:.3g}, expected {k * k - k + 1}"
        )
    return t, basis


def at_basis(program: Program, basis: Sequence[Constraint], near: float) -> AlgebraicOptimum:
    """Return what a basis determines at the root of its polynomial near a number, without judging it.

    Channel and multipliers are computed in intervals that hold the root, and so hold their true values there.

    Parameters
    ----------
    program : Program
        In fractions, with x < 1.
    basis : sequence of Constraint
        As of `tight_constraints`.
    near : float
        Within 10⁻⁷ of the root.

    Raises
    ------
    ValueError
        If no single root with a change of sign is there, or if the constraints are not independent at it.
    """
    polynomial = level_polynomial(program, basis)
    low, high = Fraction(near) - _NEAR, Fraction(near) + _NEAR
    signs = value_at(polynomial, low) * value_at(polynomial, high)
    if low <= 0 or signs >= 0 or distinct_roots(polynomial, low, high) != 1:
        raise ValueError(f"near: found no single root above 0 within {float(_NEAR)} of {near}")
    low, high = narrowed(polynomial, low, high, DIGITS - 32)
    t = Interval.of(low, high)
    n, k = program.k**2, program.k
    table = _system(k, [_forms(program, one) for one in basis], t, Interval.of)
    square = [row[:-1] for row in table]
    channel = solved(square, [row[-1] for row in table])[:n]
    # the multipliers cancel all entries, and those of the level add up to 1
    turned = [list(column) for column in zip(*square, strict=True)]
    multipliers = solved(turned, [Interval.of(0)] * n + [Interval.of(-1)])
    room = [_room(program, one, t, channel).ends[0] for one in constraints(k) if one not in set(basis)]
    return AlgebraicOptimum(
        tuple(basis), polynomial, low, high, channel, multipliers[k:], multipliers[:k], min(room)
    )


def certified(program: Program, basis: Sequence[Constraint], near: float) -> AlgebraicOptimum:
    """Prove that the root of a basis's polynomial near a number is the least Δ, or raise.

    All constraints outside the basis must have room, and all multipliers be above 0. Then the channel is feasible, and
    no other one has its Δ or less. Nothing in the arguments is believed.

    Raises
    ------
    ValueError
        As `at_basis` does, or if a constraint has no room, or a multiplier is not above 0.
    """
    found = at_basis(program, basis, near)
    if found.least_slack <= 0:
        raise ValueError("basis: found a constraint outside it that has no room, expected a feasible channel")
    if any(one.sign != 1 for one in found.multipliers):
        raise ValueError("basis: found a multiplier not above 0, expected an optimum")
    return found


def _room(program: Program, one: Constraint, t: Interval, channel: list[Interval]) -> Interval:
    a, b, c = _forms(program, one)
    left = Interval.of(c)
    for at, value in a.items():
        price = Interval.of(value) - t * Interval.of(b[at]) if at in b else Interval.of(value)
        left = left - price * channel[at]
    return left


def algebraic_optimum(program: Program) -> AlgebraicOptimum:
    """Return the least Δ of a program in fractions as a proved root of a polynomial.

    Raises
    ------
    ValueError
        If the constraints that are tight at the optimum are more than determine it, or fewer, or Δ = 0 there.
    """
    near, basis = tight_constraints(program)
    return certified(program, basis, near)
