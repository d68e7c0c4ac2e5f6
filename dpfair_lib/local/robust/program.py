"""The linear program of one level: channels under which no law with given P(Y = 1) is more unfair than t."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from dpfair_lib._extras import extra
from dpfair_lib.local.robust import ball_rows, box_rows
from dpfair_lib.local.robust.ball import CellBall, Laws
from dpfair_lib.local.robust.ball_extremes import moved_sum
from dpfair_lib.local.robust.box_rows import Reader
from dpfair_lib.local.robust.builder import Builder
from dpfair_lib.local.robust.proof import Proof
from dpfair_lib.local.robust.worst_law import Filling

_TOLERANCE = 1e-9
_RESIDUAL = (
    1e-11  # below what the constraints leave for rounding where entries are small: else channels break them
)


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


class _Solution(NamedTuple):
    """The unknowns of a linear program, and the multipliers of its inequalities."""

    values: np.ndarray
    multipliers: np.ndarray


class Program(NamedTuple):
    """The set of laws, the privacy x = e^(−ε), and the truth that every law must have."""

    laws: Laws
    x: float
    truth: float

    @property
    def places(self) -> np.ndarray:
        """The number of each entry of the channel among the unknowns."""
        return np.arange(self.laws.k**2).reshape(self.laws.k, self.laws.k)


def most_truthful(laws: Laws, x: float) -> np.ndarray:
    """Return the private, truthful channel whose least truth probability over the laws is largest."""
    program, rows = Program(laws, x, 0.0), Builder()
    level, _ = _common(program, rows, with_truth=True)
    solution = _solve(program, rows, {level: -1.0})
    assert solution is not None
    k = laws.k
    return solution.values[: k * k].reshape(k, k)


def least_truth(matrix: np.ndarray, laws: Laws) -> float:
    """Return the least P(Z = A) over the laws: the groups whose reports are true least often are filled first.

    In a ball, half of its radius is taken from those whose reports are true most often.
    """
    truths = np.diag(matrix)
    if isinstance(laws, CellBall):
        return float(moved_sum(truths, laws.cells.sum(axis=1), laws.radius / 2, -1))
    low, high = laws.shares
    return float(Filling(truths, low, high, -1).sum_at(1.0))


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
    level, shares = _common(program, rows, with_truth=False)
    truth_row = rows.count - 1
    conditions: list[tuple[int, Reader]] = []
    kind = ball_rows if isinstance(program.laws, CellBall) else box_rows
    for cut, unit in zip(cuts, scale, strict=True):
        spread = (cut.side + t) * cut.share
        conditions.append(kind.condition_rows(
            rows, program.laws, cut.share, (-spread, cut.side - spread), program.places[:, cut.report],
            (np.array([[level]]), [[-unit]]),
        ))  # fmt: skip
    solution = _solve(program, rows, {level: 1.0})
    if solution is None:
        return None
    k, multipliers = program.laws.k, solution.multipliers
    weights = multipliers[[row for row, _ in conditions]]
    used = tuple(
        (cut.report, cut.side, float(weight), law(multipliers, weight))
        for cut, weight, (_, law) in zip(cuts, weights, conditions, strict=True)
        if weight > 0
    )
    price = multipliers[truth_row]
    at = shares(multipliers, price) if price else program.laws.middle.sum(axis=1)
    privacy, column, row = (_table(multipliers, part, k) for part in range(3))
    proof = Proof(t, used, privacy, column, row, float(price), at)
    return Solved(solution.values[: k * k].reshape(k, k), weights, proof)


def _table(multipliers: np.ndarray, part: int, k: int) -> np.ndarray:
    """Return one of the first three kinds of multipliers, off the diagonal."""
    found = np.zeros((k, k))
    found[~np.eye(k, dtype=bool)] = multipliers[part * k * (k - 1) : (part + 1) * k * (k - 1)]
    return found


def _common(program: Program, rows: Builder, *, with_truth: bool) -> tuple[int, Reader]:
    """Add privacy, truthfulness and the error over all laws; return θ's number, and what reads the worst shares."""
    k, q = program.laws.k, program.places
    rows.unknowns(k * k)
    (level,) = rows.unknowns(1, free=True)
    apart = ~np.eye(k, dtype=bool)
    entry, own_column, own_row = q[apart], np.tile(np.diag(q), (k, 1))[apart], np.repeat(np.diag(q), k - 1)
    ones = np.ones(len(entry))
    rows.add((own_column, program.x * ones), (entry, -ones))
    rows.add((entry, ones), (own_column, -ones))
    rows.add((entry, ones), (own_row, -ones))
    further = [(np.array([[level]]), [[1.0]])] if with_truth else []
    kind = ball_rows if isinstance(program.laws, CellBall) else box_rows
    return level, kind.truth_rows(rows, program.laws, np.diag(q), (*further, -program.truth))


def _solve(program: Program, rows: Builder, priced: dict[int, float]) -> _Solution | None:
    """Solve by an interior point method; what rounding leaves does no harm, as value and bound are recomputed.

    The rows of one condition touch one column of the channel. So a direct factorisation stays sparse, where the
    iterative one of HiGHS needs most of its time: with 50 groups it took five times as long, and more.
    """
    with extra("solver"):
        import clarabel

    k, width = program.laws.k, rows.width
    table, right = rows.matrix()
    costs = np.zeros(width)
    costs[list(priced)] = list(priced.values())
    sums = sparse.csr_array(
        (np.ones(k * k), (np.repeat(np.arange(k), k), np.arange(k * k))), shape=(k, width)
    )
    bounded = np.setdiff1d(np.arange(width), rows.free)
    signs = sparse.csr_array(
        (-np.ones(len(bounded)), (np.arange(len(bounded)), bounded)), shape=(len(bounded), width)
    )
    matrix = sparse.csc_matrix(sparse.vstack([sums, table, signs]))
    limits = np.concatenate([np.ones(k), right, np.zeros(len(bounded))])
    cones = [clarabel.ZeroConeT(k), clarabel.NonnegativeConeT(len(limits) - k)]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.direct_solve_method = False, "qdldl"  # of one thread, so that runs repeat
    settings.tol_gap_abs = settings.tol_gap_rel = _TOLERANCE
    settings.tol_feas = _RESIDUAL
    found = clarabel.DefaultSolver(
        sparse.csc_matrix((width, width)), costs, matrix, limits, cones, settings
    ).solve()
    values, multipliers = np.array(found.x), np.array(found.z)[k : k + len(right)]
    if not (np.isfinite(values).all() and np.isfinite(multipliers).all()):
        return None
    return _Solution(values, np.maximum(multipliers, 0.0))
