"""The linear program that decides whether a channel with unfairness t exists, over chosen columns and constraints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from dpfair_lib._extras import extra
from dpfair_lib.local.optimal.certificate import Multipliers
from dpfair_lib.local.optimal.program import Program

if TYPE_CHECKING:
    import highspy

_INFINITY = math.inf  # which is HiGHS's own


class Columns(NamedTuple):
    """Where each kind of column stands; without ``spread`` or ``elastic`` its kind is empty."""

    diagonal: slice
    theta: slice
    maximum: slice
    shortfalls: slice
    slacks: slice


class Rows(NamedTuple):
    """Where each kind of row stands; ``maximum`` is M_i ≤ max M, ``floor`` x·max M ≤ M_i, both with ``spread`` only."""

    sums: slice
    above: slice
    below: slice
    truth: slice
    maximum: slice
    floor: slice
    column_caps: slice
    row_caps: slice


@dataclass(frozen=True)
class Layout:
    """Which slacks s_ij the program has, and which of their caps; each an array of pairs, shape (n, 2).

    Attributes
    ----------
    pairs : ndarray
        The slacks, in the order of their columns.
    column_caps, row_caps : ndarray of shape (n,)
        Positions in ``pairs`` whose caps (1 − x)·M_j, or M_i − x·M_j, are rows.
    spread : bool
        Whether x·max M ≤ M_i stands as rows; the caps of all pairs imply it.
    elastic : float
        Price of a row sum that falls short; 0 where it may not.
    """

    pairs: np.ndarray
    column_caps: np.ndarray
    row_caps: np.ndarray
    spread: bool = False
    elastic: float = 0.0

    def columns(self, k: int) -> Columns:
        """Return the places of the columns for k groups."""
        return Columns(*_consecutive(k, 1, int(self.spread), k if self.elastic else 0, len(self.pairs)))

    def rows(self, k: int) -> Rows:
        """Return the places of the rows for k groups."""
        spread = k if self.spread else 0
        return Rows(*_consecutive(k, k, k, 1, spread, spread, len(self.column_caps), len(self.row_caps)))


def _consecutive(*sizes: int) -> Iterator[slice]:
    """Return slices of these sizes, one after the other."""
    start = 0
    for size in sizes:
        yield slice(start, start + size)
        start += size


def everything(k: int) -> Layout:
    """Return the layout with every slack and every cap."""
    pairs = np.argwhere(~np.eye(k, dtype=bool))
    return Layout(pairs, np.arange(len(pairs)), np.arange(len(pairs)))


def assemble(
    program: Program, t: float, scale: np.ndarray, layout: Layout, sides: tuple[float, float] = (1, 1)
) -> highspy.HighsLp:
    """Return the program at level t with fairness rows divided by ``scale``.

    `Layout.columns` and `Layout.rows` say where its columns and rows stand.
    """
    k, x, p = program.k, program.x, program.p
    i, j = layout.pairs[:, 0], layout.pairs[:, 1]
    at = layout.columns(k)
    columns = at.slacks.stop
    own, slack, short = np.r_[at.diagonal], np.r_[at.slacks], np.r_[at.shortfalls]
    theta, top = at.theta.start, at.maximum.start
    overall, excess = program.overall, program.excess
    base = x + (1 - x) * p  # P(Z = j) without slacks is base_j·M_j

    def block(rows: int, *entries: tuple[Any, Any, Any]) -> sparse.coo_array:
        parts = [np.broadcast_arrays(*entry) for entry in entries]
        at_row, at_column, value = (np.concatenate([part[c] for part in parts]) for c in range(3))
        return sparse.coo_array((value.astype(float), (at_row, at_column)), shape=(rows, columns))

    totals = x * np.ones((k, k)) + (1 - x) * np.eye(k)
    row, column = np.indices((k, k)).reshape(2, -1)
    row_entries = [(row, column, totals.ravel()), (i, slack, 1.0)]
    if layout.elastic:
        row_entries.append((own, short, 1.0))
    blocks = [block(k, *row_entries)]
    for sign, side in ((1, sides[0]), (-1, sides[1])):
        of_truth = (sign * (1 - x) * excess - side * t * overall * base) / scale
        of_slack = (sign * excess[i] - side * t * overall * p[i]) / scale[j]
        blocks.append(block(k, (own, own, of_truth), (j, slack, of_slack), (own, theta, -1.0)))
    blocks.append(block(1, (0, own, p)))
    lower = [np.ones(k), np.full(2 * k, -_INFINITY), np.array([1 - program.error])]
    upper = [np.ones(k), np.zeros(2 * k), np.array([_INFINITY])]
    if layout.spread:
        blocks.append(block(k, (own, own, 1.0), (own, top, -1.0)))
        blocks.append(block(k, (own, own, -1.0), (own, top, x)))
        lower.append(np.full(2 * k, -_INFINITY))
        upper.append(np.zeros(2 * k))
    for caps, of_own, of_other in (
        (layout.column_caps, 0.0, 1 - x),
        (layout.row_caps, 1.0, -x),
    ):
        count = np.arange(len(caps))
        if len(caps):
            entries = [(count, slack[caps], 1.0), (count, j[caps], -of_other)]
            if of_own:
                entries.append((count, i[caps], -of_own))
            blocks.append(block(len(caps), *entries))
        lower.append(np.full(len(caps), -_INFINITY))
        upper.append(np.zeros(len(caps)))
    matrix = sparse.vstack(blocks, format="csc")

    with extra("solver"):
        import highspy

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = columns, matrix.shape[0]
    cost = np.zeros(columns)
    cost[at.theta], cost[at.shortfalls] = 1.0, layout.elastic
    floor, ceiling = np.zeros(columns), np.full(columns, _INFINITY)
    floor[at.diagonal], ceiling[at.diagonal] = 1 / k, 1.0
    floor[at.theta] = -_INFINITY
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, floor, ceiling
    lp.row_lower_, lp.row_upper_ = np.concatenate(lower), np.concatenate(upper)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
    return lp


@dataclass(frozen=True)
class Solution:
    """What the solver says of one linear program.

    Attributes
    ----------
    theta : float
        The least θ.
    diagonal : ndarray of shape (k,)
    slacks : ndarray of shape (k, k)
        0 where the layout has none.
    shortfall : float
        The largest that an elastic row sum falls short.
    multipliers : Multipliers
    """

    theta: float
    diagonal: np.ndarray
    slacks: np.ndarray
    shortfall: float
    multipliers: Multipliers

    def caps(self, x: float) -> np.ndarray:
        """Return the caps that truthfulness of columns and of rows puts on the slacks, shape (2, k, k)."""
        own = self.diagonal[:, None]
        return np.stack(np.broadcast_arrays((1 - x) * self.diagonal, own - x * self.diagonal))


def read(
    program: Program,
    t: float,
    scale: np.ndarray,
    layout: Layout,
    solution: Any,
    sides: tuple[float, float] = (1, 1),
) -> Solution:
    """Put the solver's vectors into the shape of the program."""
    k, pairs = program.k, layout.pairs
    values, duals = np.array(solution.col_value), np.array(solution.row_dual)
    columns, rows = layout.columns(k), layout.rows(k)
    slacks = np.zeros((k, k))
    slacks[pairs[:, 0], pairs[:, 1]] = values[columns.slacks]
    caps = []
    for chosen, place in ((layout.column_caps, rows.column_caps), (layout.row_caps, rows.row_caps)):
        table = np.zeros((k, k))
        table[pairs[chosen, 0], pairs[chosen, 1]] = np.maximum(-duals[place], 0)
        caps.append(table)
    multipliers = Multipliers(
        t=t,
        above=np.maximum(-duals[rows.above], 0) / scale,
        below=np.maximum(-duals[rows.below], 0) / scale,
        truth=max(float(duals[rows.truth][0]), 0.0),
        rows=duals[rows.sums],
        column_caps=caps[0],
        row_caps=caps[1],
        sides=sides,
    )
    shortfall = float(values[columns.shortfalls].max()) if layout.elastic else 0.0
    return Solution(float(values[columns.theta][0]), values[columns.diagonal], slacks, shortfall, multipliers)


def solver(time_limit: float = _INFINITY, tolerance: float = 1e-10) -> highspy.Highs:
    """Return a silent HiGHS with this tolerance, primal and dual, on one thread."""
    with extra("solver"):
        import highspy

    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("presolve", "off"),
        ("primal_feasibility_tolerance", tolerance),
        ("dual_feasibility_tolerance", tolerance),
        ("small_matrix_value", 1e-12),
        ("time_limit", time_limit),
    ):
        highs.setOptionValue(option, value)
    return highs


def completed(program: Program, diagonal: np.ndarray, slacks: np.ndarray) -> np.ndarray:
    """Return a channel with this diagonal and nearly these slacks that keeps every constraint, to rounding.

    Slacks above their caps are cut; what a row then lacks is spread over the room that its other caps leave, which
    is enough: M_i + Σ_j min(M_i, M_j) ≥ 1 where all M ≥ 1/k.
    """
    x = program.x
    room = np.maximum(np.minimum((1 - x) * diagonal, diagonal[:, None] - x * diagonal), 0)
    np.fill_diagonal(room, 0)
    slacks = np.minimum(np.maximum(slacks, 0), room)
    need = np.maximum(1 - (1 - x) * diagonal - x * diagonal.sum(), 0)
    slacks = slacks * np.minimum(_over(need, slacks.sum(axis=1)), 1)[:, None]
    free = room - slacks
    share = np.minimum(_over(need - slacks.sum(axis=1), free.sum(axis=1)), 1)
    matrix = x * diagonal + slacks + free * np.maximum(share, 0)[:, None]
    np.fill_diagonal(matrix, diagonal)
    return matrix


def feasible_channel(program: Program, diagonal: np.ndarray, slacks: np.ndarray) -> np.ndarray:
    """Return a channel near what the solver found that keeps every constraint, to rounding."""
    return completed(program, mended(program, diagonal), slacks)


def mended(program: Program, diagonal: np.ndarray) -> np.ndarray:
    """Return a diagonal of a channel of the program near one that misses that by the solver's tolerance."""
    x, k = program.x, program.k
    least = 1 / (k + 0 * x)
    diagonal = np.maximum(diagonal, np.maximum(least, x * diagonal.max()))
    over = np.maximum((1 - x) * diagonal + x * diagonal.sum() - 1, 0)
    back = _over(over, over + (1 - x) * (1 - least)).max()  # towards 1/k, where no row is too long
    diagonal = (1 - back) * diagonal + back * least
    short = 1 - program.error - program.p @ diagonal
    if short > 0:
        truthful = program.truthful_diagonal
        share = min(short / max(program.p @ (truthful - diagonal), short), 1)
        diagonal = (1 - share) * diagonal + share * truthful
    return diagonal


def _over(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Divide; nothing by nothing is 0."""
    return np.where(whole > 0, part, 0 * part) / np.where(whole > 0, whole, 1 + 0 * whole)
