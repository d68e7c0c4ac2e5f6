"""The extremes over a ball of laws: what is taken from some cells is put on one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpfair_lib.local.robust.ball import CellBall


class Taking:
    """What takes the most, or the least, of Σ v_i y_i from cells y when their sum falls by so much."""

    def __init__(self, values: np.ndarray, cells: np.ndarray, side: int) -> None:
        self.cells, self.order = cells, np.argsort(-side * values, kind="stable")
        ordered = cells[self.order]
        self.amounts = np.concatenate([[0.0], np.cumsum(ordered)])
        self.sums = np.concatenate([[0.0], np.cumsum(ordered * values[self.order])])

    def sum_of(self, amount: np.ndarray) -> np.ndarray:
        """Return what the sum loses with an amount, or several."""
        return np.interp(amount, self.amounts, self.sums)

    def left(self, amount: float) -> np.ndarray:
        """Return the cells that are left."""
        cells = self.cells.copy()
        for i in self.order:
            step = min(max(amount, 0.0), cells[i])
            cells[i] -= step
            amount -= step
        return cells


def moved_sum(values: np.ndarray, cells: np.ndarray, amount: float, side: int) -> float:
    """Return the largest (side 1) or least (side −1) Σ v_i y_i when so much of the cells may be put elsewhere."""
    taken = Taking(values, cells, -side).sum_of(np.array([amount]))[0]
    return float(values @ cells - taken + amount * side * (side * values).max())


class Edges(NamedTuple):
    """Segments on which an amount a is put on label 1 and b is taken from it, each from a start to an end."""

    put: np.ndarray
    taken: np.ndarray


def worst_in_ball(column: np.ndarray, side: int, laws: CellBall) -> tuple[float, np.ndarray]:
    """Return how unfair a report with this column is to one side at worst, and the cells of the law.

    Half of the radius is taken from cells of the centre, b of it from label 1, and put on others, a of it on label 1.
    For given a and b the best cells are known. Between two knots of b everything is linear in a and b, and for a given
    P(Y = 1) the unfairness is monotone along a segment: so it is largest where a is at an end, or b at a knot.
    """
    half, (zeros, ones) = laws.radius / 2, laws.cells.T
    ones_taken, zeros_taken = Taking(column, ones, -side), Taking(column, zeros, side)
    to_one, to_zero = int(np.argmax(side * column)), int(np.argmin(side * column))

    def parts(put: np.ndarray, taken: np.ndarray) -> np.ndarray:
        """Return P(Y = 1, Z = j), P(Y = 1) and P(Z = j)."""
        of_ones = ones @ column + put * column[to_one] - ones_taken.sum_of(taken)
        of_zeros = zeros @ column + (half - put) * column[to_zero] - zeros_taken.sum_of(half - taken)
        return np.stack([of_ones, ones.sum() + put - taken, of_ones + of_zeros])

    edges = _edges(half, ones_taken.amounts, zeros_taken.amounts)
    start, end = (parts(put, taken) for put, taken in zip(edges.put, edges.taken, strict=True))
    along = np.concatenate(
        [np.zeros_like(start[:1]), np.ones_like(start[:1]), _stationary(start, end - start)]
    )
    put, taken = ((1 - along) * ends[0] + along * ends[1] for ends in edges)
    of_ones, share, often = parts(put, taken)
    unfair = side * (of_ones / (share * often) - 1)
    at = np.unravel_index(int(np.argmax(unfair)), unfair.shape)
    cells = np.stack([zeros_taken.left(half - taken[at]), ones_taken.left(taken[at])], axis=1)
    cells[to_one, 1] += put[at]
    cells[to_zero, 0] += half - put[at]
    return float(unfair[at]), cells


def _edges(half: float, ones: np.ndarray, zeros: np.ndarray) -> Edges:
    """Return the sides of the rectangles between knots of b: all a at each knot, all b at either end of a."""
    knots = np.unique(np.clip(np.concatenate([[0.0, half], ones, half - zeros]), 0, half))
    low, high, none = knots[:-1], knots[1:], np.zeros(len(knots))
    put = [[none, 0 * low, 0 * low + half], [none + half, 0 * low, 0 * low + half]]
    taken = [[knots, low, low], [knots, high, high]]
    return Edges(*(np.array([np.concatenate(part) for part in ends]) for ends in (put, taken)))


def _stationary(start: np.ndarray, move: np.ndarray) -> np.ndarray:
    """Return where S/(τM) is stationary along segments, as shares in [0, 1]; 0 where it is not.

    S′τM = S(τM)′ is the quadratic S′τ′M′u² + 2Sτ′M′u + SτM′ + SMτ′ − S′τM = 0, with the values at the start.
    """
    (s, t, m), (ds, dt, dm) = start, move
    a, b, c = ds * dt * dm, s * dt * dm, s * t * dm + s * m * dt - ds * t * m
    with np.errstate(all="ignore"):
        root = np.sqrt(b * b - a * c)
        found = np.stack([-c / (b + root), -c / (b - root)])
    return np.where(np.isfinite(found) & (found > 0) & (found < 1), found, 0.0)
