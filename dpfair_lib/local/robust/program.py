"""The linear program of one level: channels under which no law with given P(Y = 1) is more unfair than t."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dpfair_lib._extras import extra
from dpfair_lib.local.optimal.linear_program import solver
from dpfair_lib.local.robust.laws import CellBounds
from dpfair_lib.local.robust.proof import Proof
from dpfair_lib.local.robust.worst_law import Filling

_TOLERANCE = 1e-9


class Cut(NamedTuple):
    """One report and side, and a P(Y = 1) of which all laws are considered."""

    report: int
    side: int
    share: float


class Solved(NamedTuple):
    """A channel of a linear program, the multipliers of its conditions, and all multipliers."""

    matrix: np.ndarray
    weights: np.ndarray
    proof: Proof


class _Part(NamedTuple):
    """The cells of one label in a condition: its rows, and the size of its coefficient."""

    rows: slice
    size: float


class _Condition(NamedTuple):
    """Where a condition stands among the rows."""

    ones: _Part
    zeros: _Part
    row: int


class _Solution(NamedTuple):
    """The unknowns of a linear program, and the multipliers of its inequalities."""

    values: np.ndarray
    multipliers: np.ndarray


class Builder:
    """Rows of a linear program, each as entries and a right-hand side."""

    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []
        self.columns: list[np.ndarray] = []
        self.entries: list[np.ndarray] = []
        self.right: list[np.ndarray] = []
        self.count = 0

    def add(self, *parts: tuple[Any, Any], right: Any = 0.0) -> slice:
        """Add rows; each part has columns and entries, of shape (rows, any) or (rows,)."""
        number = max(np.atleast_1d(columns).shape[0] for columns, _ in parts)
        for columns, entries in parts:
            at = np.asarray(columns).reshape(number, -1)
            self.columns.append(at.ravel())
            self.entries.append(np.asarray(entries, dtype=float).reshape(at.shape).ravel())
            self.rows.append(np.repeat(self.count + np.arange(number), at.shape[1]))
        self.right.append(np.broadcast_to(np.asarray(right, dtype=float), number))
        self.count += number
        return slice(self.count - number, self.count)

    def matrix(self, width: int) -> tuple[Any, np.ndarray]:
        """Return the matrix and the right-hand sides."""
        parts = (np.concatenate(self.entries), (np.concatenate(self.rows), np.concatenate(self.columns)))
        return sparse.csr_array(parts, shape=(self.count, width)), np.concatenate(self.right)


class Program(NamedTuple):
    """The set of laws, the privacy x = e^(−ε), and the truth that every law must have."""

    laws: CellBounds
    x: float
    truth: float

    @property
    def places(self) -> np.ndarray:
        """The number of each entry of the channel among the unknowns."""
        return np.arange(self.laws.k**2).reshape(self.laws.k, self.laws.k)


def most_truthful(laws: CellBounds, x: float) -> np.ndarray:
    """Return the private, truthful channel whose least truth probability over the laws is largest."""
    program, rows = Program(laws, x, 0.0), Builder()
    level, width = _common(program, rows, with_truth=True)
    costs = np.zeros(width)
    costs[level] = -1.0
    solution = _solve(program, rows, costs, free=[level, level + 1])
    assert solution is not None
    k = laws.k
    return solution.values[: k * k].reshape(k, k)


def least_truth(matrix: np.ndarray, laws: CellBounds) -> float:
    """Return the least P(Z = A) over the laws: the groups whose reports are true least often are filled first."""
    low, high = laws.shares
    return float(Filling(np.diag(matrix), low, high, -1).sum_at(1.0))


def mended(matrix: np.ndarray) -> np.ndarray:
    """Return a truthful channel near a matrix that is nearly one: entries are cut, and the diagonal takes the rest."""
    channel = np.maximum(matrix, 0.0)
    channel /= channel.sum(axis=1, keepdims=True)
    own = np.diag(channel).copy()
    channel = np.minimum(channel, np.minimum(own[:, None], own[None, :]))
    np.fill_diagonal(channel, 0.0)
    np.fill_diagonal(channel, 1 - channel.sum(axis=1))
    return channel


def solve(program: Program, cuts: Sequence[Cut], t: float, scale: np.ndarray) -> Solved | None:
    """Return the channel that violates the conditions of level t least.

    Parameters
    ----------
    program : Program
        The laws and the constraints.
    cuts : sequence of Cut
        The conditions.
    t : float
        The level of the unfairness.
    scale : ndarray of shape (len(cuts),)
        What a violation of 1 means for each condition.

    Returns
    -------
    Solved or None
        None if the solver fails.
    """
    rows = Builder()
    level, width = _common(program, rows, with_truth=False)
    truth_row = rows.count - 1
    conditions: list[_Condition] = []
    free = [level, level + 1]
    for cut, unit in zip(cuts, scale, strict=True):
        conditions.append(_condition(program, rows, cut, t, unit, level, width))
        free += [width, width + 1 + program.laws.k]
        width += 2 * (program.laws.k + 1)
    costs = np.zeros(width)
    costs[level] = 1.0
    solution = _solve(program, rows, costs, free)
    if solution is None:
        return None
    k, multipliers = program.laws.k, solution.multipliers
    proof = _proof(program, cuts, t, conditions, multipliers, truth_row)
    weights = np.array([multipliers[one.row] for one in conditions])
    return Solved(solution.values[: k * k].reshape(k, k), weights, proof)


def _common(program: Program, rows: Builder, *, with_truth: bool) -> tuple[int, int]:
    """Add privacy, truthfulness and the error over all laws; return θ's number and how many unknowns there are.

    The least truth over the laws is max over λ of λ(1 − Σ high) + Σ high d − Σ (high − low) max(d − λ, 0), d being
    the diagonal.
    """
    k, q = program.laws.k, program.places
    apart = ~np.eye(k, dtype=bool)
    entry, own_column, own_row = q[apart], np.tile(np.diag(q), (k, 1))[apart], np.repeat(np.diag(q), k - 1)
    ones = np.ones(len(entry))
    rows.add((own_column, program.x * ones), (entry, -ones))
    rows.add((entry, ones), (own_column, -ones))
    rows.add((entry, ones), (own_row, -ones))
    level, price, over = k * k, k * k + 1, k * k + 2 + np.arange(k)
    rows.add((np.diag(q), np.ones(k)), (np.full(k, price), -np.ones(k)), (over, -np.ones(k)))
    low, high = program.laws.shares
    parts = [
        (np.array([[price]]), [[high.sum() - 1]]),
        (np.diag(q)[None, :], -high[None, :]),
        (over[None, :], (high - low)[None, :]),
    ]
    if with_truth:
        parts.append((np.array([[level]]), [[1.0]]))
    rows.add(*parts, right=-program.truth)
    return level, k * k + 2 + k


def _condition(
    program: Program, rows: Builder, cut: Cut, t: float, unit: float, level: int, first: int
) -> _Condition:
    """Add a condition: for all laws with this P(Y = 1), side · (excess of the report) is at most t, but for θ."""
    k, column = program.laws.k, program.places[:, cut.report]
    spread = (cut.side + t) * cut.share
    parts: list[tuple[Any, Any]] = [(np.array([[level]]), [[-unit]])]
    pieces: list[_Part] = []
    for y, weight in ((1, cut.side - spread), (0, -spread)):
        low, high = program.laws.low[:, y], program.laws.high[:, y]
        total = cut.share if y else 1 - cut.share
        sign, size = (1.0, weight) if weight >= 0 else (-1.0, -weight)
        price, over = first, first + 1 + np.arange(k)
        first += k + 1
        inner = rows.add((column, np.full(k, sign)), (np.full(k, price), -np.ones(k)), (over, -np.ones(k)))
        parts += [
            (np.array([[price]]), [[size * (total - low.sum())]]),
            (column[None, :], (sign * size * low)[None, :]),
            (over[None, :], (size * (high - low))[None, :]),
        ]
        pieces.append(_Part(inner, size))
    return _Condition(pieces[0], pieces[1], rows.add(*parts).start)


def _solve(program: Program, rows: Builder, costs: np.ndarray, free: list[int]) -> _Solution | None:
    """Solve by an interior point method; what rounding leaves does no harm, as value and bound are recomputed."""
    with extra("solver"):
        import highspy

    k, width = program.laws.k, len(costs)
    table, right = rows.matrix(width)
    sums = sparse.csr_array(
        (np.ones(k * k), (np.repeat(np.arange(k), k), np.arange(k * k))), shape=(k, width)
    )
    matrix = sparse.vstack([table, sums]).tocsc()
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = width, matrix.shape[0]
    floor = np.zeros(width)
    floor[free] = -np.inf
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = costs, floor, np.full(width, np.inf)
    lp.row_lower_ = np.concatenate([np.full(len(right), -np.inf), np.ones(k)])
    lp.row_upper_ = np.concatenate([right, np.ones(k)])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
    highs = solver(tolerance=_TOLERANCE)
    for option, value in (
        ("presolve", "on"),
        ("solver", "ipm"),
        ("run_crossover", "off"),
        ("ipm_optimality_tolerance", _TOLERANCE),
    ):
        highs.setOptionValue(option, value)
    highs.passModel(lp)
    highs.run()
    found = highs.getSolution()
    values, duals = np.array(found.col_value), np.array(found.row_dual)
    if len(values) != width or len(duals) != len(right) + k or not np.isfinite(values).all():
        return None
    # a row "at most" has a dual of at most 0
    return _Solution(values, np.maximum(-duals[: len(right)], 0.0))


def _proof(
    program: Program,
    cuts: Sequence[Cut],
    t: float,
    conditions: Sequence[_Condition],
    multipliers: np.ndarray,
    truth_row: int,
) -> Proof:
    """Read the weights of the conditions, the laws that they mean, and the multipliers of the other constraints."""
    laws, k = program.laws, program.laws.k
    apart = ~np.eye(k, dtype=bool)

    def table(part: int) -> np.ndarray:
        found = np.zeros((k, k))
        found[apart] = multipliers[part * k * (k - 1) : (part + 1) * k * (k - 1)]
        return found

    price = multipliers[truth_row]
    low, high = laws.shares
    at_truth = multipliers[3 * k * (k - 1) : 3 * k * (k - 1) + k]
    shares = high - (at_truth / price if price else 0.0)
    used = []
    for cut, condition in zip(cuts, conditions, strict=True):
        weight = float(multipliers[condition.row])
        if weight <= 0:
            continue
        cells = laws.low.copy()
        for y, part in ((1, condition.ones), (0, condition.zeros)):
            if part.size > 0:
                cells[:, y] += multipliers[part.rows] / (weight * part.size)
        used.append((cut.report, cut.side, weight, cells))
    return Proof(t, tuple(used), table(0), table(1), table(2), float(price), np.maximum(shares, low))
