"""The fairest channel by a sequence of linear programs: bisection, and Dinkelbach's iteration."""

from __future__ import annotations

import heapq
import itertools
import time
from typing import TYPE_CHECKING

import numpy as np

from dpfair_lib._extras import extra
from dpfair_lib._progress import Progress
from dpfair_lib.local.optimal.certificate import Multipliers, lower_bound
from dpfair_lib.local.optimal.linear_program import (
    Solution,
    assemble,
    everything,
    feasible_channel,
    read,
    solver,
)
from dpfair_lib.local.optimal.program import Program

if TYPE_CHECKING:
    import highspy

# a lower bound, the order of arrival, both ends of a range of shares, and what proves the bound
Cell = tuple[float, int, float, float, Multipliers | None]
# the best channel, the multipliers that prove the best lower bound (None where that is 0), how many programs
Found = tuple[np.ndarray, Multipliers | None, int]


def optimal(highs: highspy.Highs) -> bool:
    """Whether the solver's last run ended with an optimal basis."""
    with extra("solver"):
        import highspy

    return bool(highs.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def level(
    program: Program, t: float, scale: np.ndarray, time_limit: float, sides: tuple[float, float]
) -> Solution | None:
    """Return the least θ at level t over all columns; None if time ran out or the solver failed twice."""
    layout = everything(program.k)
    lp, end = assemble(program, t, scale, layout, sides), time.monotonic() + time_limit
    for presolve in ("choose", "off"):  # with tiny shares what presolve leaves may be beyond the solver
        highs = solver(max(end - time.monotonic(), 0.0))
        highs.setOptionValue("presolve", presolve)
        highs.passModel(lp)
        highs.run()
        if optimal(highs):
            return read(program, t, scale, layout, highs.getSolution(), sides)
    return None


def by_levels(
    program: Program,
    start: np.ndarray,
    *,
    newton: bool,
    tol: float,
    deadline: float,
    sides: tuple[float, float] = (1, 1),
    from_above: bool = False,
) -> Found:
    """Close in on the least Δ by linear programs at levels t.

    Each program gives a channel, hence an upper bound, and multipliers, hence a lower one. The next level is the
    middle between the best two (bisection), or the best channel's Δ (Dinkelbach), from above.

    Parameters
    ----------
    program : Program
    start : ndarray of shape (k, k)
        A feasible channel.
    newton : bool
        Dinkelbach's iteration instead of bisection.
    tol : float
        The gap at which to stop.
    deadline : float
        On the clock of `time.monotonic`.
    sides : tuple of two floats
        Of `Program.level`; (1, 1) for Δ.
    from_above : bool
        Begin Dinkelbach's iteration at the level of ``start`` and not at 0.

    Returns
    -------
    matrix : ndarray of shape (k, k)
        The best channel.
    multipliers : Multipliers or None
        They prove the best lower bound; None where that is 0.
    rounds : int
    """
    best, high = start, program.level(start, sides)
    t = high if from_above else 0.0
    low, proof, rounds, stalled = 0.0, None, 0, 0
    watched = Progress("linear programs")
    scale = program.overall * (program.p @ start)
    # after a second round without progress rounding has the last word
    while high - low > tol * max(1, high) and time.monotonic() < deadline and stalled < 2:
        if stalled or not newton:
            t = (low + high) / 2
        solution = level(program, t, scale, deadline - time.monotonic(), sides)
        if solution is None:
            break
        rounds += 1
        matrix = feasible_channel(program, solution.diagonal, solution.slacks)
        value, bound = program.level(matrix, sides), lower_bound(program, solution.multipliers)
        progress = value < high or bound > low
        if value < high:
            best, high = matrix, value
            if newton:
                scale = program.overall * (program.p @ best)
        if bound > low:
            low, proof = bound, solution.multipliers
        watched.add(note=f"best between {low:.6g} and {high:.6g}")
        stalled = 0 if progress else stalled + 1
        t = high
    return best, proof, rounds


def by_shares(
    program: Program, start: np.ndarray, *, tol: float, deadline: float
) -> tuple[np.ndarray, tuple[Multipliers, ...], int]:
    """Close in on the least Δ′ = a + b, where −b ≤ P(Y = 1 | Z = j) − P(Y = 1) ≤ a for all j.

    If the share s = b/(a + b) were known, this would be a program of levels with the sides (1 − s, s). Over a cell
    s₀ ≤ s ≤ s₁ the sides (1 − s₀, s₁) ask for less, and for hardly less where the cell is short: cells are halved,
    the one of the lowest bound first.

    Parameters
    ----------
    program, start, tol, deadline
        As of `by_levels`.

    Returns
    -------
    matrix : ndarray of shape (k, k)
        The best channel.
    proofs : tuple of Multipliers
        One for each cell; together they prove the lower bound.
    rounds : int
    """
    best, high = start, program.difference(start)
    order, watched = itertools.count(), Progress("intervals of shares")
    rounds = 0

    def solved(first: float, last: float, parent: Cell | None) -> Cell:
        nonlocal best, high, rounds
        sides = (1 - first, last)
        matrix, proof, needed = by_levels(
            program, best, newton=True, tol=tol / 4, deadline=deadline, sides=sides, from_above=True
        )
        rounds += needed
        if (value := program.difference(matrix)) < high:
            best, high = matrix, value
        bound = 0.0 if proof is None else float(program.overall * lower_bound(program, proof))
        if parent is not None and (proof is None or parent[0] > bound):
            bound, proof = parent[0], parent[4]  # what holds on a cell holds on its halves
        return bound, next(order), first, last, proof

    cells = [solved(0.0, 1.0, None)]
    while high - cells[0][0] > tol * max(1, high) and time.monotonic() < deadline:
        parent = heapq.heappop(cells)
        first, last = parent[2:4]
        middle = (first + last) / 2
        heapq.heappush(cells, solved(first, middle, parent))
        heapq.heappush(cells, solved(middle, last, parent))
        watched.add(2, note=f"best between {cells[0][0]:.6g} and {high:.6g}")
    return best, tuple(cell[4] for cell in cells if cell[4] is not None), rounds
