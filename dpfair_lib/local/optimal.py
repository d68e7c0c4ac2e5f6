"""The truthful ε-LDP channel of a sensitive attribute that leaves the least unfairness in the data."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from dpfair_lib.local.optimal_branching import by_branching
from dpfair_lib.local.optimal_certificate import certify
from dpfair_lib.local.optimal_columns import by_columns
from dpfair_lib.local.optimal_easy import first_channel, most_truthful_channel, north_west
from dpfair_lib.local.optimal_levels import by_levels, by_shares
from dpfair_lib.local.optimal_program import Objective, as_program
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.privacy._arguments import one_of, positive

Method = Literal["bisection", "dinkelbach", "branch-and-bound", "columns"]
METHODS = ("bisection", "dinkelbach", "branch-and-bound", "columns")


def optimal_randomizer(
    p: Any,
    p1: Any,
    epsilon: Any,
    *,
    error: Any = None,
    objective: Objective = "ratio",
    method: Method = "columns",
    tol: float = 1e-9,
    time_limit: float | None = None,
) -> Randomizer:
    """Return the channel of least unfairness among the truthful ε-LDP channels within an error budget.

    The program is the thesis's (5.5.8): rows sum to 1; q_ij ≤ e^ε·q_i′j; q_ij ≤ q_ii and q_ij ≤ q_jj; and
    P(Z ≠ A) ≤ ζ. It is no convex program as it is written, but the channels with Δ ≤ t are those of a linear
    program, for every t, and that is what three of the four methods use.

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
    method : {"columns", "dinkelbach", "bisection", "branch-and-bound"}
        For Δ. ``"columns"`` grows a small linear program and serves k up to hundreds; ``"dinkelbach"`` and
        ``"bisection"`` solve whole ones at changing levels; ``"branch-and-bound"`` is the thesis's way, for k up
        to about 4. For Δ′ there is one method, whatever is said here: levels for a lower end of the rates, and
        bisection of that end.
    tol : float
        The gap between the channel's unfairness and the proved lower bound at which to stop, relative where the
        unfairness exceeds 1; 1e-9. For Δ′ at least 1e-5, as the work then grows like 1/tol where the best share is
        not a sharp one.
    time_limit : float, optional
        Seconds after which the best channel so far is returned; its certificate tells the gap. By default one
        minute for ``"branch-and-bound"``, and no limit for the others.

    Returns
    -------
    Randomizer
        Its ``value`` is its unfairness; its ``certificate`` a `Certificate`, which `verify_certificate` recomputes.
        Constraints are kept to rounding.

    Raises
    ------
    ValueError
        If ``p`` is no distribution or a group has probability 0; if a rate is outside [0, 1], or all are 0, so that
        Δ divides by 0; if ε < 0; if the budget is below ζ_min, which the message then gives.

    Notes
    -----
    If all rates are equal every channel has Δ = 0; the most truthful one is returned.

    The solver works with tolerances of 1e-10. Where e^(−ε) comes near that, for ε above about 16, and with shares
    below 1e-6, the bound may be far from the value, or prove nothing; the channel is feasible, and the gap is told.

    References
    ----------
    Thesis (5.5.8)–(5.5.9), § 5.5, and § 6.2.2.
    """
    one_of(objective, "objective", ("ratio", "difference"))
    one_of(method, "method", METHODS)
    positive(tol, "tol")
    program = as_program(p, p1, epsilon, error)
    usual = 60.0 if method == "branch-and-bound" else math.inf
    deadline = time.monotonic() + (usual if time_limit is None else positive(time_limit, "time_limit"))
    if np.ptp(program.p1) == 0:
        program = replace(program, p1=np.full(program.k, program.p1[0]))
        return certify(
            program, most_truthful_channel(program), (), objective=objective, method="closed form", rounds=0
        )
    start = first_channel(program)
    if program.ratio(start) <= tol:
        return certify(program, start, (), objective=objective, method="closed form", rounds=0)
    if objective == "difference":
        matrix, proofs, rounds = by_shares(program, start, tol=max(tol, 1e-5), deadline=deadline)
        return certify(program, matrix, proofs, objective=objective, method="levels of shares", rounds=rounds)
    if method == "columns":
        flow = north_west(program.excess)
        found = by_columns(program, start, (flow > 0) | (flow.T > 0), tol=tol, deadline=deadline)
    elif method == "branch-and-bound":
        found = by_branching(program, start, tol=tol, deadline=deadline)
    else:
        found = by_levels(program, start, newton=method == "dinkelbach", tol=tol, deadline=deadline)
    matrix, proof, rounds = found
    proofs = () if proof is None else (proof,)
    return certify(program, matrix, proofs, objective=objective, method=method, rounds=rounds)
