"""The truthful ε-LDP channel of a sensitive attribute that leaves the least unfairness in the data."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from dpfair_lib._arguments import one_of, positive
from dpfair_lib.local.optimal.branching import by_branching
from dpfair_lib.local.optimal.certificate import Multipliers, certify, lower_bound
from dpfair_lib.local.optimal.closed_forms import first_channel, most_truthful_channel, north_west
from dpfair_lib.local.optimal.columns import by_columns
from dpfair_lib.local.optimal.interior_point import by_interior
from dpfair_lib.local.optimal.level_programs import Found, by_levels, by_shares
from dpfair_lib.local.optimal.program import Objective, Program, as_program
from dpfair_lib.local.randomizer import Randomizer

Method = Literal["interior", "columns", "dinkelbach", "bisection", "branch-and-bound"]
METHODS = ("interior", "columns", "dinkelbach", "bisection", "branch-and-bound")
TIME_LIMIT = 60.0
"""Default limit, in seconds, after which `optimal_randomizer` and `fair_error_bounds` return what they have."""


def optimal_randomizer(
    p: Any,
    p1: Any,
    epsilon: Any,
    *,
    error: Any = None,
    objective: Objective = "ratio",
    method: Method = "interior",
    tol: float = 1e-9,
    time_limit: float | None = None,
) -> Randomizer:
    """Return the channel of least unfairness among the truthful ε-LDP channels within an error budget.

    The program is the thesis's (5.5.8): rows sum to 1; q_ij ≤ e^ε·q_i′j; q_ij ≤ q_ii and q_ij ≤ q_jj; and
    P(Z ≠ A) ≤ ζ. It is no convex program as it is written, but the channels with Δ ≤ t are those of a linear
    program, for every t, and that is what all methods but one use.

    Parameters
    ----------
    p : array of shape (k,)
        P(A = i), all above 0; k ≥ 2.
    p1 : array of shape (k,)
        P(Y = 1 | A = i), not all 0.
    epsilon : float
        Budget of local privacy, at least 0. 0 leaves the uniform channel alone; inf asks for no privacy.
    error : float, optional
        ζ, the largest P(Z ≠ A) allowed; by default `smallest_error`, the least that is possible.
    objective : {"ratio", "difference"}
        Δ, the largest |P(Y=1 | Z=j)/P(Y=1) − 1|, or Δ′, the largest difference of P(Y=1 | Z=j) between two reports.
    method : {"interior", "columns", "dinkelbach", "bisection", "branch-and-bound"}
        For Δ. ``"interior"`` moves through the inside of the whole program and serves k up to hundreds; where
        rounding stops it before the gap is closed, ``"columns"`` goes on. ``"columns"`` grows a small linear
        program; ``"dinkelbach"`` and ``"bisection"`` solve whole ones at changing levels; ``"branch-and-bound"`` is
        the thesis's way, for k up to about 4. For Δ′ there is one method, whatever is said here: levels for a lower
        end of the rates, and bisection of that end.
    tol : float
        The gap between the channel's unfairness and the proved lower bound at which to stop, relative where the
        unfairness exceeds 1; 1e-9. For Δ′ at least 1e-5, as the work then grows like 1/tol where the best share is
        not a sharp one.
    time_limit : float, optional
        Seconds after which the best channel so far is returned: feasible, with the gap that is proved by then. One
        minute by default; inf for no limit. It holds inside the linear programs too; what is under way when it
        ends is one step of the method, a small part of a second for 200 groups.

    Returns
    -------
    Randomizer
        Its ``value`` is its unfairness; its ``certificate`` a `Certificate`, which `verify_certificate` recomputes:
        ``gap`` is how far the channel can be from the optimum, ``ended`` whether the time limit is the reason.
        Row sums, truthfulness and the budget are kept to rounding, 1e-14; the exact ε of the matrix, by rational
        arithmetic, is at most ``epsilon``.

    Raises
    ------
    ValueError
        If ``p`` is no distribution or a group has probability 0; if a rate is outside [0, 1], or all are 0, so that
        Δ divides by 0; if ε < 0; if the budget is below ζ_min, which the message then gives.

    Notes
    -----
    If all rates are equal every channel has Δ = 0; the most truthful one is returned.

    The lower bound is recomputed from multipliers, less what rounding may have added to it, so that it holds
    whatever a solver returned. Where e^(−ε) comes near 1e-10, for ε above about 16, and with shares below 1e-6, it may
    be far from the value, or prove nothing; the channel is feasible, and the gap is told.

    References
    ----------
    Thesis (5.5.8)–(5.5.9), § 5.5, and § 6.2.2.
    """
    one_of(objective, "objective", ("ratio", "difference"))
    one_of(method, "method", METHODS)
    positive(tol, "tol")
    program = as_program(p, p1, epsilon, error)
    limit = TIME_LIMIT if time_limit is None else time_limit
    deadline = time.monotonic() + (math.inf if limit == math.inf else positive(limit, "time_limit"))
    if np.ptp(program.p1) == 0:
        program = replace(program, p1=np.full(program.k, program.p1[0]))
        return certify(
            program,
            most_truthful_channel(program),
            (),
            objective=objective,
            method="closed form",
            rounds=0,
            tol=tol,
        )
    start = first_channel(program)
    if program.ratio(start) <= tol:
        return certify(program, start, (), objective=objective, method="closed form", rounds=0, tol=tol)
    proofs: tuple[Multipliers, ...]
    if objective == "difference":
        name, tol = "levels of shares", max(tol, 1e-5)
        matrix, proofs, rounds = by_shares(program, start, tol=tol, deadline=deadline)
    else:
        name = method
        matrix, proof, rounds = _SEARCHES[method](program, start, tol=tol, deadline=deadline)
        proofs = () if proof is None else (proof,)
    late = time.monotonic() >= deadline
    return certify(
        program, matrix, proofs, objective=objective, method=name, rounds=rounds, tol=tol, late=late
    )


def _inside(program: Program, start: np.ndarray, *, tol: float, deadline: float) -> Found:
    """Go through the inside, and where rounding ends that too early, on by columns."""
    matrix, proof, rounds = by_interior(program, start, tol=tol, deadline=deadline)
    high, low = program.ratio(matrix), 0.0 if proof is None else lower_bound(program, proof)
    if high - low <= tol * max(1, high) or time.monotonic() >= deadline:
        return matrix, proof, rounds
    matrix, proof, more = _columns(program, matrix, tol=tol, deadline=deadline, proof=proof)
    return matrix, proof, rounds + more


def _columns(
    program: Program, start: np.ndarray, *, tol: float, deadline: float, proof: Multipliers | None = None
) -> Found:
    """Begin with the slacks of a coupling of the groups above the mean with those below, in both directions."""
    flow = north_west(program.excess)
    return by_columns(program, start, (flow > 0) | (flow.T > 0), tol=tol, deadline=deadline, proof=proof)


_SEARCHES: dict[str, Callable[..., Found]] = {
    "interior": _inside,
    "columns": _columns,
    "dinkelbach": partial(by_levels, newton=True),
    "bisection": partial(by_levels, newton=False),
    "branch-and-bound": by_branching,
}
