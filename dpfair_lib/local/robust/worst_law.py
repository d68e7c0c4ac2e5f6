"""The law of a set under which the reports of a channel are most unfair."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.robust.ball import CellBall, Laws
from dpfair_lib.local.robust.ball_extremes import worst_in_ball
from dpfair_lib.local.robust.laws import CellBounds

SIDES = (1, -1)  # a report is too often, or too rarely, from people with label 1


class WorstLaw(NamedTuple):
    """A law under which the reports of a channel are most unfair.

    Attributes
    ----------
    unfairness : float
        The largest Δ over the set: the largest |P(Y = 1 | Z = j)/P(Y = 1) − 1|.
    report : int
        The report j that attains it.
    side : {1, -1}
        Whether its share of label 1 is too high, or too low.
    cells : ndarray of shape (k, 2)
        P(A = i, Y = y).

    Examples
    --------
    >>> from dpfair_lib.local import CellBounds, worst_unfairness
    >>> laws = CellBounds.around([0.5, 0.5], [0.5, 0.5], radius=0.05)
    >>> worst_unfairness([[0.75, 0.25], [0.25, 0.75]], laws).cells.round(2).tolist()
    [[0.2, 0.3], [0.3, 0.2]]
    """

    unfairness: float
    report: int
    side: int
    cells: np.ndarray


class Filling:
    """The extremes of Σ v_i y_i over low ≤ y ≤ high with a given total: the cells of the largest v are filled first."""

    def __init__(self, values: np.ndarray, low: np.ndarray, high: np.ndarray, side: int) -> None:
        self.low, self.room, self.order = low, high - low, np.argsort(-side * values, kind="stable")
        ordered = self.room[self.order]
        self.totals = low.sum() + np.concatenate([[0.0], np.cumsum(ordered)])
        self.sums = low @ values + np.concatenate([[0.0], np.cumsum(ordered * values[self.order])])

    def sum_at(self, total: Any) -> Any:
        """Return the extreme sum at one total, or several."""
        return np.interp(total, self.totals, self.sums)

    def cells_at(self, total: float) -> np.ndarray:
        """Return what attains it."""
        cells, left = self.low.copy(), total - self.low.sum()
        for i in self.order:
            step = min(max(left, 0.0), self.room[i])
            cells[i] += step
            left -= step
        return cells


def worst_unfairness(channel: Randomizer | Any, laws: Laws) -> WorstLaw:
    """Return the largest unfairness of a channel's reports over a set of laws, and a law that attains it.

    Parameters
    ----------
    channel : Randomizer, or array of shape (k, m)
        A channel without an entry 0.
    laws : CellBounds or CellBall
        The set.

    Returns
    -------
    WorstLaw
        Exact but for the rounding of floats.

    Raises
    ------
    ValueError
        If the channel has other groups than the set, or an entry 0.

    Notes
    -----
    For a given P(Y = 1) the cells of either label enter by one linear sum each, whose extremes are found by filling.
    Between two knots of these the unfairness is a quotient of quadratics, whose extremes are roots of a quadratic. In a
    ball probability is taken from some cells and put on one of each label; the edges are treated in the same way.

    References
    ----------
    Derived in the chapter on the distribution that is not known.

    Examples
    --------
    >>> from dpfair_lib.local import CellBounds, generalized_randomized_response, worst_unfairness
    >>> laws = CellBounds([[0.3, 0.1], [0.2, 0.1]], [[0.4, 0.2], [0.3, 0.2]])
    >>> worst = worst_unfairness(generalized_randomized_response(2, 1.0), laws)
    >>> round(worst.unfairness, 3), worst.report
    (0.154, 0)
    """
    matrix = np.asarray(channel.matrix if isinstance(channel, Randomizer) else channel, dtype=float)
    if matrix.ndim != 2 or len(matrix) != laws.k:
        raise ValueError(f"channel: found shape {matrix.shape}, expected {laws.k} rows, one for each group")
    if not (matrix > 0).all():
        raise ValueError(f"channel: found the entry {matrix.min()}, expected all above 0")
    found = worst_of_reports(matrix, laws)
    return max(found, key=lambda worst: worst.unfairness)


def worst_of_reports(matrix: np.ndarray, laws: Laws) -> list[WorstLaw]:
    """Return the worst law of each report and side."""
    return [_worst(column, j, side, laws) for j, column in enumerate(matrix.T) for side in SIDES]


def _worst(column: np.ndarray, report: int, side: int, laws: Laws) -> WorstLaw:
    if isinstance(laws, CellBall):
        unfair, cells = worst_in_ball(column, side, laws)
        return WorstLaw(unfair, report, side, cells)
    return _worst_in_box(column, report, side, laws)


def _worst_in_box(column: np.ndarray, report: int, side: int, laws: CellBounds) -> WorstLaw:
    """Find the P(Y = 1) at which a report is most unfair to one side."""
    (zeros_low, ones_low), (zeros_high, ones_high) = laws.low.T, laws.high.T
    ones = Filling(column, ones_low, ones_high, side)
    zeros = Filling(column, zeros_low, zeros_high, -side)
    least, most = laws.positives
    knots = np.unique(np.clip(np.concatenate([[least, most], ones.totals, 1 - zeros.totals]), least, most))
    shares = np.concatenate([knots, _between(knots, ones.sum_at(knots), zeros.sum_at(1 - knots))])
    above, below = ones.sum_at(shares), zeros.sum_at(1 - shares)
    excess = side * (above / (shares * (above + below)) - 1)
    at = int(np.argmax(excess))
    share = float(shares[at])
    cells = np.stack([zeros.cells_at(1 - share), ones.cells_at(share)], axis=1)
    return WorstLaw(float(excess[at]), report, side, cells)


def _between(knots: np.ndarray, above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return where (a + bτ) / (τ(A + Bτ)) is stationary between two knots: bBτ² + 2aBτ + aA = 0."""
    lengths = np.diff(knots)
    if not lengths.size:
        return knots[:0]
    b, falling = np.diff(above) / lengths, np.diff(below) / lengths
    a = above[:-1] - b * knots[:-1]
    both, slope = a + below[:-1] - falling * knots[:-1], b + falling
    with np.errstate(all="ignore"):
        root = np.sqrt((a * slope) ** 2 - b * slope * a * both)
        roots = np.concatenate([(sign * root - a * slope) / (b * slope) for sign in (1, -1)])
    inside = np.isfinite(roots) & (roots > np.tile(knots[:-1], 2)) & (roots < np.tile(knots[1:], 2))
    return roots[inside]
