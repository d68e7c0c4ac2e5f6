"""The fairest channel by column generation and cutting planes, with warm starts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dpfair_lib._extras import extra
from dpfair_lib._progress import Progress
from dpfair_lib.local.optimal.certificate import Multipliers, lower_bound, priced
from dpfair_lib.local.optimal.level_programs import Found, optimal
from dpfair_lib.local.optimal.linear_program import Layout, Solution, assemble, feasible_channel, read, solver
from dpfair_lib.local.optimal.program import Program

if TYPE_CHECKING:
    import highspy

_NOTHING = 1e-11  # reduced costs above minus this, and violations of a cap below it, are rounding
_LAX = 1e-8  # tolerance of the solver where its usual one is too strict
_BATCH = 24  # slacks added for each row and for each column in a round
_FEW = 2 / 3  # new violations for each group: with fewer, the caps of whole rows are added


def by_columns(
    program: Program,
    start: np.ndarray,
    couples: np.ndarray,
    *,
    tol: float,
    deadline: float,
    proof: Multipliers | None = None,
) -> Found:
    """Close in on the least Δ with a linear program that grows.

    A round solves the restricted program at level t, prices every absent slack by the multipliers, looks up every
    absent cap, and adds what is worth adding. As soon as θ has nearly settled, even while caps are violated, the
    level moves to t + θ, and ω to D of the channel: were D to stay as it is, θ would be 0 there. (Its Δ
    is no good level: values that are hardly ever reported make it too large at first.) Each round's multipliers
    bound Δ from below, and its diagonal is completed to a channel that bounds it from above, so that the method can
    stop at any time.

    Parameters
    ----------
    program : Program
    start : ndarray of shape (k, k)
        A feasible channel.
    couples : ndarray of bool, shape (k, k)
        The slacks to begin with.
    tol : float
        The gap at which to stop.
    deadline : float
        On the clock of `time.monotonic`.
    proof : Multipliers, optional
        Proof of a lower bound that is known already.

    Returns
    -------
    matrix, multipliers, rounds
        As of `dpfair_lib.local.optimal.level_programs.by_levels`.
    """
    grown = _Restricted(program, couples)
    best, high = start, program.ratio(start)
    low, rounds = 0.0 if proof is None else lower_bound(program, proof), 0
    t, scale, last = 0.0, program.overall * (program.p @ start), np.inf
    watched = Progress("linear programs")
    while high - low > tol * max(1, high):
        solution = grown.solve(t, scale, deadline)
        if solution is None:
            break
        rounds += 1
        bound = lower_bound(program, solution.multipliers)
        if bound > low:
            low, proof = bound, solution.multipliers
        matrix = feasible_channel(program, solution.diagonal, solution.slacks)
        if (value := program.ratio(matrix)) < high:
            best, high = matrix, value
        watched.add(note=f"best between {low:.6g} and {high:.6g}")
        added = grown.add(solution)
        moved, at = t, best
        if not added and solution.shortfall > _NOTHING:
            grown.raise_price()
        elif not added:
            if high == t:
                break  # rounding has the last word
            moved = high
        elif solution.shortfall <= _NOTHING and _settled(solution.theta, last):
            moved, at = max(t + solution.theta, 0.0), matrix
        last = solution.theta
        if moved != t:
            t, scale, last = moved, program.overall * (program.p @ at), np.inf
    return best, proof, rounds


def _settled(theta: float, last: float) -> bool:
    """Whether θ hardly moved; a θ of 0 is the goal and not a reason to leave the level."""
    return abs(theta) > 1e-9 and abs(theta - last) <= 0.05 * abs(theta)


class _Restricted:
    """A program with some slacks and some caps, and the basis of its last solution."""

    def __init__(self, program: Program, couples: np.ndarray) -> None:
        self.program = program
        self.present = couples.copy()
        self.capped = np.zeros((2, *couples.shape), dtype=bool)
        pairs, none = np.argwhere(couples), np.zeros(0, dtype=np.int64)
        self.layout = Layout(pairs, none, none, spread=True, elastic=10.0)
        self.place = np.full(couples.shape, -1)
        self.place[tuple(pairs.T)] = np.arange(len(pairs))
        self.highs = solver()
        # the basis changes its shape in every round: weights of the steepest edge would be computed anew each time
        self.highs.setOptionValue("simplex_dual_edge_weight_strategy", 1)
        self.highs.setOptionValue("dual_simplex_cost_perturbation_multiplier", 0.0)
        self.basis: tuple[list, list, Layout] | None = None

    def raise_price(self) -> None:
        """Make a row sum that falls short ten times as dear."""
        layout = self.layout
        self.layout = Layout(
            layout.pairs, layout.column_caps, layout.row_caps, spread=True, elastic=10 * layout.elastic
        )

    def solve(self, t: float, scale: np.ndarray, deadline: float) -> Solution | None:
        """Return the solution at level t, from the last basis; None if time ran out or the solver failed thrice.

        Near ζ_min with tiny shares rounding can make a program look infeasible: the last try is a laxer one. What
        it returns is no less a proof, as bounds are recomputed from the multipliers, and channels repaired.
        """
        attempts = ((self.highs, self._extended()), (self.highs, None), (solver(tolerance=_LAX), None))
        for highs, basis in attempts:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            highs.setOptionValue("time_limit", highs.getRunTime() + left)
            highs.passModel(assemble(self.program, t, scale, self.layout))
            if basis is not None:
                highs.setBasis(basis)
            highs.run()
            if optimal(highs):
                found = highs.getBasis()
                self.basis = list(found.col_status), list(found.row_status), self.layout
                return read(self.program, t, scale, self.layout, highs.getSolution())
        return None

    def _extended(self) -> highspy.HighsBasis | None:
        """Return the last basis with new slacks at 0 and new caps basic."""
        if self.basis is None:
            return None
        with extra("solver"):
            import highspy

        columns, rows, before = self.basis
        at_zero, free = highspy.HighsBasisStatus.kLower, highspy.HighsBasisStatus.kBasic
        end = before.rows(self.program.k).column_caps.stop
        basis = highspy.HighsBasis()
        basis.col_status = columns + [at_zero] * (len(self.layout.pairs) - len(before.pairs))
        basis.row_status = (
            rows[:end]
            + [free] * (len(self.layout.column_caps) - len(before.column_caps))
            + rows[end:]
            + [free] * (len(self.layout.row_caps) - len(before.row_caps))
        )
        basis.valid = True
        return basis

    def add(self, solution: Solution) -> int:
        """Add the slacks that price out and the caps that are violated; return how many.

        A slack that its cap cuts goes to its neighbours in the row, which then exceed theirs. Once few caps are
        violated it takes fewer rounds to add all those of the row.
        """
        program = self.program
        cost = priced(program, solution.multipliers)
        wanted = _most(np.where(self.present | np.eye(program.k, dtype=bool), 0.0, -cost))
        fresh = np.argwhere(wanted)
        self.place[tuple(fresh.T)] = len(self.layout.pairs) + np.arange(len(fresh))
        self.present |= wanted
        above = solution.slacks > solution.caps(program.x) + _NOTHING
        new = above & self.present & ~self.capped
        if new.sum() <= _FEW * program.k:
            new[1] = self.present & new.any(axis=(0, 2))[:, None] & ~self.capped[1]
        self.capped |= new
        self.layout = Layout(
            np.concatenate([self.layout.pairs, fresh]),
            np.concatenate([self.layout.column_caps, self.place[new[0]]]),
            np.concatenate([self.layout.row_caps, self.place[new[1]]]),
            spread=True,
            elastic=self.layout.elastic,
        )
        return int(len(fresh) + new.sum())


def _most(gain: np.ndarray) -> np.ndarray:
    """Mark the largest entries of each row and of each column, if they are worth anything."""
    k = len(gain)
    if k <= _BATCH:
        return gain > _NOTHING
    by_row = np.partition(gain, k - _BATCH, axis=1)[:, k - _BATCH, None]
    by_column = np.partition(gain, k - _BATCH, axis=0)[k - _BATCH]
    return (gain > _NOTHING) & ((gain >= by_row) | (gain >= by_column))
