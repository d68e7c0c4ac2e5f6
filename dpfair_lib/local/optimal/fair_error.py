"""The least error at which the reports have no unfairness, with upper and lower bounds."""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib._arguments import positive
from dpfair_lib._validation import same_rows
from dpfair_lib.local.optimal.certificate import Multipliers, lagrangian_bound
from dpfair_lib.local.optimal.closed_forms import most_truthful_channel, perfect_channel, smallest_error
from dpfair_lib.local.optimal.interior_point import Progress, fair_inside
from dpfair_lib.local.optimal.linear_program import feasible_channel
from dpfair_lib.local.optimal.program import Program, as_program
from dpfair_lib.local.randomizer import Randomizer

_FAIR = 1e-10  # unfairness up to this is rounding, or up to that of a channel in closed form if that has more


class FairError(NamedTuple):
    """The least error of a channel without unfairness, as far as it is proved.

    Attributes
    ----------
    lower : float
        No truthful ε-LDP channel with Δ = 0 has less: the Lagrangian of ``multipliers``.
    upper : float
        The error of ``channel``, and what the rest of its unfairness is worth by the multipliers.
    unfairness : float
        The Δ of ``channel``: rounding, at most 1e-10 unless shares or e^(−ε) are near rounding themselves.
    channel : Randomizer
    multipliers : Multipliers or None
        At level 0; None where the most truthful channel is a fair one, so that nothing is to be proved.

    Examples
    --------
    >>> from dpfair_lib.local import fair_error_bounds
    >>> found = fair_error_bounds([0.5, 0.3, 0.2], [0.2, 0.5, 0.7], epsilon=1.0)
    >>> found.upper - found.lower <= 1e-9, round(found.unfairness, 9)
    (True, 0.0)
    """

    lower: float
    upper: float
    unfairness: float
    channel: Randomizer
    multipliers: Multipliers | None

    @property
    def gap(self) -> float:
        """How far ``upper`` can be above the least error."""
        return max(self.upper - self.lower, 0.0)


@same_rows
def smallest_fair_error(p: Any, p1: Any, epsilon: Any) -> float:
    """Return the least P(Z ≠ A) of a truthful ε-LDP channel with Δ = 0.

    From this error budget on the least unfairness is 0. With two groups and different rates it is ½, a guess; with
    more it is at most 1 − 1/(2 + (k − 2)·e^(−ε)), below the 1 − 1/k of a guess if ε > 0.

    Parameters
    ----------
    p : array of shape (k,)
        P(A = i), all above 0; k ≥ 2, up to about 200 in a second or two.
    p1 : array of shape (k,)
        P(Y = 1 | A = i), not all 0.
    epsilon : float
        At least 0; inf is allowed.

    Returns
    -------
    float
        The error of a channel that was found, with Δ = 0 to rounding. How far the least can be below it, usually by
        less than 1e-9, is what `fair_error_bounds` proves.

    Raises
    ------
    ValueError
        As `optimal_randomizer`.

    References
    ----------
    Thesis § 5.5, the remark after (5.5.6).

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.local import smallest_fair_error
    >>> p, p1 = [0.5, 0.3, 0.2], [0.2, 0.5, 0.7]
    >>> round(smallest_fair_error(p, p1, 1.0), 4), round(dpf.smallest_error(p, 1.0), 4)
    (0.5777, 0.4202)
    """
    return fair_error_bounds(p, p1, epsilon).upper


@same_rows
def fair_error_bounds(
    p: Any, p1: Any, epsilon: Any, *, tol: float = 1e-9, time_limit: float = 60.0
) -> FairError:
    """Return the least P(Z ≠ A) of a truthful ε-LDP channel with Δ = 0 from both sides, with a channel and a proof.

    Parameters
    ----------
    p, p1, epsilon
        As of `smallest_fair_error`.
    tol : float
        The gap at which to stop.
    time_limit : float
        Seconds after which the bounds found so far are returned; inf for no limit.

    Returns
    -------
    FairError

    Raises
    ------
    ValueError
        As `optimal_randomizer`.

    Notes
    -----
    The bounds come from an interior-point method; where rounding ends it before they meet, as it may with shares or
    differences of rates near rounding, one linear program over all entries follows.

    Examples
    --------
    >>> from dpfair_lib.local import fair_error_bounds
    >>> found = fair_error_bounds([0.5, 0.3, 0.2], [0.2, 0.5, 0.7], epsilon=1.0)
    >>> round(found.lower, 4), round(found.upper, 4)
    (0.5777, 0.5777)
    """
    program = as_program(p, p1, epsilon, 1.0)
    positive(tol, "tol")
    deadline = time.monotonic() + (math.inf if time_limit == math.inf else positive(time_limit, "time_limit"))
    least = smallest_error(p, epsilon)
    truthful = most_truthful_channel(program)
    if np.ptp(program.p1) == 0 or not program.excess.any():
        # every channel is without unfairness; in floats the equations might have no solution
        return FairError(least, least, 0.0, Randomizer(truthful), None)
    if program.ratio(truthful) <= _FAIR:
        return FairError(least, least, float(program.ratio(truthful)), Randomizer(truthful), None)
    search = _Search(program, least)
    progress = Progress()
    for point in fair_inside(program):
        search.take(point.diagonal, point.slacks, point.multipliers)
        if search.gap <= tol or time.monotonic() >= deadline or not progress.made(search.gap, point.products):
            break
    left = deadline - time.monotonic()
    if search.gap > tol and left > 0 and (found := _by_linear_program(program, left)) is not None:
        search.take(*found)
    return search.found()


class _Search:
    """The best channel without unfairness and the best lower bound so far."""

    def __init__(self, program: Program, least: float) -> None:
        self.program, self.lower = program, least
        self.best = perfect_channel(program)
        self.upper = float(program.mistakes(self.best))
        self.fair = max(_FAIR, float(program.ratio(self.best)))
        self.proof: Multipliers | None = None

    @property
    def gap(self) -> float:
        return self.upper - self.lower

    def take(self, diagonal: np.ndarray, slacks: np.ndarray, multipliers: Multipliers) -> None:
        """Keep what is better than before."""
        with np.errstate(all="ignore"):
            matrix = feasible_channel(self.program, diagonal, slacks)
            lower = 1 + lagrangian_bound(self.program, multipliers) if multipliers.valid else 0.0
            fair = self.program.ratio(matrix) <= self.fair
            worth = abs(multipliers.above - multipliers.below) @ abs(self.program.excess @ matrix)
            upper = float(self.program.mistakes(matrix) + worth)
        if fair and upper < self.upper:
            self.best, self.upper = matrix, upper
        if self.lower < lower:
            self.lower, self.proof = float(lower), multipliers

    def found(self) -> FairError:
        channel = Randomizer(np.clip(self.best, 0, 1))
        unfairness = float(self.program.ratio(channel.matrix))
        return FairError(min(self.lower, self.upper), self.upper, unfairness, channel, self.proof)


def _by_linear_program(
    program: Program, time_limit: float
) -> tuple[np.ndarray, np.ndarray, Multipliers] | None:
    """Return diagonal, slacks and multipliers of the linear program over all k² entries; None if it was not solved."""
    from scipy.optimize import linprog

    k, x = program.k, program.x
    cost, equal, right, below, pairs, unit = _linear_program(program)
    found = linprog(
        cost, A_ub=below, b_ub=np.zeros(below.shape[0]), A_eq=equal, b_eq=right, bounds=(0, 1),
        options={"time_limit": time_limit, "primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )  # fmt: skip
    if found.status != 0:
        return None
    entries = found.x.reshape(k, k)
    signed = unit * found.eqlin.marginals[k:]
    caps = np.zeros((2, k, k))
    caps[:, pairs[0], pairs[1]] = np.maximum(-found.ineqlin.marginals.reshape(3, -1)[1:], 0)
    multipliers = Multipliers(
        t=0.0, above=np.maximum(-signed, 0), below=np.maximum(signed, 0), truth=1.0, rows=found.eqlin.marginals[:k],
        column_caps=caps[0], row_caps=caps[1],
    )  # fmt: skip
    diagonal = np.diagonal(entries)
    return diagonal, (entries - x * diagonal) * (1 - np.eye(k)), multipliers


def _linear_program(program: Program) -> tuple[np.ndarray, Any, np.ndarray, Any, np.ndarray, float]:
    """Return cost, equations and right sides, what is at most 0, its pairs, and the factor of the excesses."""
    from scipy import sparse

    k, x = program.k, program.x
    own = np.arange(k) * (k + 1)
    i, j = np.argwhere(~np.eye(k, dtype=bool)).T
    places, count = i * k + j, np.arange(len(i))

    def rows(*entries: tuple[np.ndarray, float]) -> Any:
        at = np.concatenate([column for column, _ in entries])
        values = np.concatenate([np.full(len(i), value) for _, value in entries])
        return sparse.csr_array((values, (np.tile(count, len(entries)), at)), shape=(len(i), k * k))

    cost = np.zeros(k * k)
    cost[own] = -program.p
    one = sparse.eye_array(k)
    unit = 1 / float(np.abs(program.excess).max())
    equal = sparse.vstack([
        sparse.kron(one, np.ones((1, k))), sparse.kron((unit * program.excess)[None, :], one)
    ]).tocsr()  # fmt: skip
    # truthful columns and rows, and for these (5.5.7): no report is rarer than e^(−ε) times its truest one
    below = sparse.vstack([
        rows((own[j], x), (places, -1.0)), rows((places, 1.0), (own[j], -1.0)), rows((places, 1.0), (own[i], -1.0)),
    ]).tocsr()  # fmt: skip
    return cost, equal, np.concatenate([np.ones(k), np.zeros(k)]), below, np.array([i, j]), unit
