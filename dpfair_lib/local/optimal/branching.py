"""The fairest channel by branch and bound, the thesis's method (Jiao and Li, 2022).

It is here for comparison. It treats the k ratios N_j/D_j as independent unknowns, which is not necessary: see
`dpfair_lib.local.optimal.level_programs`.
"""

from __future__ import annotations

import heapq
import itertools
import time

import numpy as np
from scipy import sparse

from dpfair_lib._progress import Progress
from dpfair_lib.local.optimal.certificate import Multipliers, lower_bound
from dpfair_lib.local.optimal.level_programs import Found, level, optimal
from dpfair_lib.local.optimal.linear_program import assemble, everything, feasible_channel, solver
from dpfair_lib.local.optimal.program import Program

# a lower bound, the order of arrival, both ends of the ratios' ranges, and where to bisect them
Box = tuple[float, int, np.ndarray, np.ndarray, int | None]


def by_branching(program: Program, start: np.ndarray, *, tol: float, deadline: float) -> Found:
    """Close in on the least Δ by bisecting ranges [l_j, u_j] of the ratios t_j that bound |N_j|/D_j.

    On a box the product t_j·D_j in |N_j| ≤ t_j·D_j is replaced by its concave envelope, the smaller one of
    u_j·D_j + d_j·(t_j − u_j) and l_j·D_j + d̄_j·(t_j − l_j) for D_j in [d_j, d̄_j]. That gives a linear program
    whose least max_j t_j is a lower bound on the box; its channel gives an upper one. The box of the lowest bound
    is bisected at the ratio whose envelope is the loosest.

    Parameters
    ----------
    program, start, tol, deadline
        As of `dpfair_lib.local.optimal.level_programs.by_levels`.

    Returns
    -------
    matrix, multipliers, rounds
        Likewise; the multipliers come from one program at a level found, not from the boxes. It ends as soon as
        boxes or multipliers prove the channel optimal up to ``tol``.
    """
    best, high = start, program.ratio(start)
    counter = itertools.count()
    k, rounds = program.k, 0
    boxes: list[Box] = [(0.0, next(counter), np.zeros(k), np.full(k, high), None)]
    low, proved, proof, asked, watched = 0.0, 0.0, None, None, Progress("boxes")
    while boxes and time.monotonic() < deadline:
        low, _, lower, upper, split = heapq.heappop(boxes)
        if asked is None or high < asked:
            # the boxes close in slowly from below: one program at the level of each new channel may prove it before
            asked, (proved, proof) = high, _proved(program, best, high, deadline)
        watched.add(note=f"best between {max(low, proved):.6g} and {high:.6g}")
        if high - max(low, proved) <= tol:
            break
        halves = [(lower, upper)]
        if split is not None:
            middle = (lower[split] + upper[split]) / 2
            left, right = upper.copy(), lower.copy()
            left[split] = right[split] = middle
            halves = [(lower, left), (right, upper)]
        for low_side, high_side in halves:
            found = _relaxed(program, low_side, high_side, deadline)
            rounds += 1
            if found is None:
                continue
            bound, matrix, ratios = found
            if (value := program.ratio(matrix)) < high:
                best, high = matrix, value
            if bound < high - tol:
                away = abs(program.excess @ matrix) / (program.overall * (program.p @ matrix))
                widest = int(np.argmax(np.where(high_side > low_side, away - ratios, -np.inf)))
                heapq.heappush(boxes, (max(bound, low), next(counter), low_side, high_side, widest))
    if asked is None or high < asked:
        _, proof = _proved(program, best, high, deadline)
    return best, proof, rounds


def _proved(
    program: Program, channel: np.ndarray, high: float, deadline: float
) -> tuple[float, Multipliers | None]:
    """Return the lower bound from the program at a level, and its multipliers; 0 and None where they prove nothing."""
    scale = program.overall * (program.p @ channel)
    solution = level(program, high, scale, max(deadline - time.monotonic(), 0.0), (1, 1))
    bound = 0.0 if solution is None else float(lower_bound(program, solution.multipliers))
    return (bound, solution.multipliers) if solution is not None and bound > 0 else (0.0, None)


def _relaxed(
    program: Program, lower: np.ndarray, upper: np.ndarray, deadline: float
) -> tuple[float, np.ndarray, np.ndarray] | None:
    """Return the relaxation's least maximum of the ratios on a box, a channel, and the ratios; None if it has none."""
    k, x, overall = program.k, program.x, program.overall
    layout = everything(k)
    lp = assemble(program, 0.0, np.ones(k), layout)
    columns, rows = layout.columns(k), layout.rows(k)
    matrix = sparse.csc_array(
        (np.array(lp.a_matrix_.value_), np.array(lp.a_matrix_.index_), np.array(lp.a_matrix_.start_)),
        shape=(lp.num_row_, lp.num_col_),
    )
    excess = matrix[rows.above].toarray()  # at level 0
    excess[:, columns.theta] = 0
    i, j = layout.pairs.T
    mass = np.zeros((k, lp.num_col_))
    mass[np.arange(k), np.r_[columns.diagonal]] = overall * (x + (1 - x) * program.p)
    mass[j, np.r_[columns.slacks]] = overall * program.p[i]
    least = overall * (x + (1 - x) * program.p) / k
    most = np.full(k, overall)
    own, theta = np.eye(k), np.zeros((k, lp.num_col_))
    theta[:, columns.theta] = 1.0
    others = np.delete(np.arange(lp.num_row_), np.r_[rows.above, rows.below])
    parts = [sparse.hstack([matrix[others], sparse.csc_array((len(others), k))])]
    row_low = [np.array(lp.row_lower_)[others]]
    row_high = [np.array(lp.row_upper_)[others]]
    for sign in (1, -1):
        for edge, slope in ((upper, least), (lower, most)):
            parts.append(np.hstack([sign * excess - edge[:, None] * mass, -slope[:, None] * own]))
            row_low.append(np.full(k, -np.inf))
            row_high.append(-slope * edge)
    parts.append(np.hstack([-theta, own]))
    row_low.append(np.full(k, -np.inf))
    row_high.append(np.zeros(k))
    whole = sparse.vstack([sparse.csc_array(part) for part in parts], format="csc")
    lp.num_col_, lp.num_row_ = whole.shape[1], whole.shape[0]
    lp.col_cost_ = np.concatenate([lp.col_cost_, np.zeros(k)])
    lp.col_lower_ = np.concatenate([lp.col_lower_, lower])
    lp.col_upper_ = np.concatenate([lp.col_upper_, upper])
    lp.row_lower_, lp.row_upper_ = np.concatenate(row_low), np.concatenate(row_high)
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = whole.indptr, whole.indices, whole.data
    highs = solver(max(deadline - time.monotonic(), 0.0))
    highs.passModel(lp)
    highs.run()
    if not optimal(highs):
        return None
    values = np.array(highs.getSolution().col_value)
    slacks = np.zeros((k, k))
    slacks[i, j] = values[columns.slacks]
    channel = feasible_channel(program, values[columns.diagonal], slacks)
    return float(values[columns.theta][0]), channel, values[columns.slacks.stop :]
