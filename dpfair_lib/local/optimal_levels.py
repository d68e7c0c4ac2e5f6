"""The optimum by linear programs over all columns: bisection of the level, and Dinkelbach's iteration."""

from __future__ import annotations

import time

import highspy
import numpy as np

from dpfair_lib.local.optimal_certificate import Multipliers, lower_bound
from dpfair_lib.local.optimal_lp import Solution, assemble, completed, everything, read, solver
from dpfair_lib.local.optimal_program import Program

# the best channel, the multipliers that prove the best lower bound (None where that is 0), how many programs
Found = tuple[np.ndarray, Multipliers | None, int]


def optimal(highs: highspy.Highs) -> bool:
    """Whether the solver's last run ended with an optimal basis."""
    return bool(highs.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def level(program: Program, t: float, scale: np.ndarray, time_limit: float) -> Solution | None:
    """Return the least θ at level t over all columns; None if time ran out."""
    layout = everything(program.k)
    highs = solver(time_limit)
    highs.setOptionValue("presolve", "choose")
    highs.passModel(assemble(program, t, scale, layout))
    highs.run()
    if not optimal(highs):
        return None
    return read(program, t, scale, layout, highs.getSolution())


def by_levels(
    program: Program, start: np.ndarray, *, newton: bool, tol: float, deadline: float, t: float = 0.0
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
    t : float
        The first level of Dinkelbach's iteration.

    Returns
    -------
    matrix : ndarray of shape (k, k)
        The best channel.
    multipliers : Multipliers or None
        They prove the best lower bound; None where that is 0.
    rounds : int
    """
    best, high = start, program.ratio(start)
    low, proof, rounds, stalled = 0.0, None, 0, 0
    scale = program.overall * (program.p @ start)
    # after a second round without progress rounding has the last word
    while high - low > tol and time.monotonic() < deadline and stalled < 2:
        if stalled or not newton:
            t = (low + high) / 2
        solution = level(program, t, scale, deadline - time.monotonic())
        if solution is None:
            break
        rounds += 1
        matrix = completed(program, solution.diagonal, solution.slacks)
        value, bound = program.ratio(matrix), lower_bound(program, solution.multipliers)
        progress = value < high or bound > low
        if value < high:
            best, high = matrix, value
            if newton:
                scale = program.overall * (program.p @ best)
        if bound > low:
            low, proof = bound, solution.multipliers
        stalled = 0 if progress else stalled + 1
        t = high
    return best, proof, rounds
