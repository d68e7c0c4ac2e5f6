"""A lower bound on the unfairness of every channel under its worst law, from multipliers, in exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.local.robust.ball import CellBall, Laws, into_ball


@dataclass(frozen=True)
class Proof:
    """Multipliers of the program at a level.

    Parameters
    ----------
    t : float
        The level.
    conditions : tuple
        Report, side (1 or −1), weight and law (cells of shape (k, 2)) of each condition.
    privacy, column_truth, row_truth : ndarray of shape (k, k)
        Multipliers of x·q_jj ≤ q_ij, q_ij ≤ q_jj and q_ij ≤ q_ii; only their part above 0 counts.
    error : float
        Multiplier of the error.
    shares : ndarray of shape (k,)
        The P(A = i) at which the error is counted.
    """

    t: float
    conditions: tuple[tuple[int, int, float, np.ndarray], ...]
    privacy: np.ndarray
    column_truth: np.ndarray
    row_truth: np.ndarray
    error: float
    shares: np.ndarray


def lower_bound(laws: Laws, epsilon: float, error: float, proof: Proof) -> Fraction:
    """Return what every private, truthful channel has as its unfairness under some law, if it errs so rarely.

    Parameters
    ----------
    laws : CellBounds or CellBall
        The set of laws.
    epsilon, error : float
        ε, and the largest error: for any shares of the groups within ``laws.shares`` of bounds, under any law of a
        ball.
    proof : Proof
        The multipliers. Whatever they are, the bound holds: laws are first moved into the set.

    Returns
    -------
    Fraction
        The bound, at least 0.

    Raises
    ------
    ValueError
        If a condition is about no report of the channel, or about no side.

    Notes
    -----
    A weighted sum of the conditions, each (Δ − t)·D for a law and a report, and of the constraints, each at most 0, is
    a linear function of the channel. Its least value B over all channels, row by row, is at most (Δ − t)·Σ wD. If
    B ≥ 0, then Δ ≥ t. Otherwise Δ ≥ t + B/least Σ wD.
    """
    k, x = laws.k, _below_exp(epsilon)
    costs = [[Fraction(0)] * k for _ in range(k)]
    least, t = Fraction(0), Fraction(proof.t)
    for report, side, weight, cells in proof.conditions:
        if report not in range(k) or side not in (1, -1):  # σ(ρ − 1) ≤ Δ for these sides only
            raise ValueError(
                f"proof: found a condition on side {side} of report {report}, expected the side 1 or −1 of a report "
                f"from 0 to {k - 1}"
            )
        w, inside = Fraction(max(weight, 0.0)), exact_cells(cells, laws)
        share = sum((one for _, one in inside), Fraction(0))
        for i, (none, one) in enumerate(inside):
            costs[i][report] += w * (int(side) * one - (int(side) + t) * share * (none + one))
        own = sum(inside[report])
        least += w * share * (x + (1 - x) * own) / k
    for i in range(k):
        for j in range(k):
            if i != j:
                h, g, r = (
                    Fraction(max(float(table[i, j]), 0.0))
                    for table in (proof.privacy, proof.column_truth, proof.row_truth)
                )
                costs[j][j] += x * h - g
                costs[i][j] += g + r - h
                costs[i][i] -= r
    e = Fraction(max(proof.error, 0.0))
    for i, share in enumerate(_exact_shares(proof.shares, laws)):
        costs[i][i] -= e * share
    total = e * (1 - Fraction(error)) + sum(min(row) for row in costs)
    if not least:  # no condition has a weight: nothing is said of Δ
        return Fraction(0)
    return max(t + min(total / least, Fraction(0)), Fraction(0))


def _below_exp(epsilon: float) -> Fraction:
    """Return a fraction of at most e^(−ε) and near it, also where floats near it have few digits."""
    return max(Fraction(math.exp(-epsilon)) * (1 - Fraction(1, 2**49)) - Fraction(1, 2**1074), Fraction(0))


def exact_cells(cells: Any, laws: Laws) -> list[tuple[Fraction, Fraction]]:
    """Return a law of the set near these cells: moved between the bounds, with sums that fit, or into the ball."""
    if isinstance(laws, CellBall):
        centre = [cell for row in laws.exact_cells for cell in row]
        flat = into_ball(np.ravel(cells).tolist(), centre, laws.radius)
        return list(zip(flat[::2], flat[1::2], strict=True))
    least, most = laws.exact_positives
    share = min(max(sum(map(Fraction, cells[:, 1].tolist()), Fraction(0)), least), most)
    zeros, ones = (
        _moved(*(map(Fraction, end[:, y].tolist()) for end in (cells, laws.low, laws.high)), total=total)
        for y, total in ((0, 1 - share), (1, share))
    )
    return list(zip(zeros, ones, strict=True))


def _exact_shares(shares: np.ndarray, laws: Laws) -> list[Fraction]:
    if isinstance(laws, CellBall):
        return into_ball(shares.tolist(), [a + b for a, b in laws.exact_cells], laws.radius)
    low, high = ([Fraction(a) + Fraction(b) for a, b in end.tolist()] for end in (laws.low, laws.high))
    return _moved(map(Fraction, shares.tolist()), low, high, total=Fraction(1))


def _moved(
    values: Iterable[Fraction], low: Iterable[Fraction], high: Iterable[Fraction], *, total: Fraction
) -> list[Fraction]:
    """Clip numbers between ends, then add what is missing to the total where there is room, in order."""
    ends = list(zip(low, high, strict=True))
    found = [min(max(v, a), b) for v, (a, b) in zip(values, ends, strict=True)]
    missing = total - sum(found)
    for i, (a, b) in enumerate(ends):
        step = min(missing, b - found[i]) if missing > 0 else max(missing, a - found[i])
        found[i] += step
        missing -= step
    return found
