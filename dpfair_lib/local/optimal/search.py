"""`optimal_randomizer`: the truthful locally private channel with the fairest reports."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from dpfair_lib._arguments import one_of, positive
from dpfair_lib._progress import shown
from dpfair_lib._validation import same_rows
from dpfair_lib.local.optimal.branching import by_branching
from dpfair_lib.local.optimal.certificate import Multipliers, certify, lower_bound
from dpfair_lib.local.optimal.closed_forms import first_channel, most_truthful_channel, north_west
from dpfair_lib.local.optimal.columns import by_columns
from dpfair_lib.local.optimal.exact import exact_channel, exact_program, searched
from dpfair_lib.local.optimal.interior_point import by_interior
from dpfair_lib.local.optimal.level_programs import Found, by_levels, by_shares
from dpfair_lib.local.optimal.program import Objective, Program, as_program
from dpfair_lib.local.randomizer import Randomizer

Method = Literal["interior", "columns", "dinkelbach", "bisection", "branch-and-bound"]
METHODS = ("interior", "columns", "dinkelbach", "bisection", "branch-and-bound")
TIME_LIMIT = 60.0
"""Default limit, in seconds, after which `optimal_randomizer` and `fair_error_bounds` return what they have."""


@same_rows
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
    certificate: Literal["float", "exact"] = "float",
    verbose: bool = False,
) -> Randomizer:
    """Return the channel with the fairest reports among truthful ε-locally private channels with a bounded error.

    It minimises the unfairness of the reports Z subject to: every row of the matrix q sums to 1; q_ij ≤ e^ε·q_i′j
    (privacy); q_ij ≤ q_ii and q_ij ≤ q_jj (truthfulness); and P(Z ≠ A) ≤ ζ (error). This problem is not convex, but for
    every t the channels with unfairness at most t are those of a linear program. All methods but one use this.

    Parameters
    ----------
    p : array of shape (k,)
        P(A = i), all above 0; k ≥ 2.
    p1 : array of shape (k,)
        P(Y = 1 | A = i), not all 0.
    epsilon : float
        ε ≥ 0, the bound on the privacy parameter. 0 leaves only the uniform channel; infinity asks for no privacy.
    error : float, optional
        ζ, the largest P(Z ≠ A) allowed. By default `smallest_error`, the smallest possible.
    objective : {"ratio", "difference"}
        "ratio" is Δ, the largest |P(Y=1 | Z=j)/P(Y=1) − 1|. "difference" is Δ′, the largest difference of P(Y=1 | Z=j)
        between two reports.
    method : {"interior", "columns", "dinkelbach", "bisection", "branch-and-bound"}
        Algorithm for Δ. ``"interior"`` is an interior-point method, for k up to hundreds; if rounding stops it early,
        ``"columns"`` continues. ``"columns"`` generates columns of a linear program; ``"dinkelbach"`` and
        ``"bisection"`` solve whole linear programs for a sequence of t; ``"branch-and-bound"`` is the thesis's method,
        for k up to about 4. For Δ′ this argument has no effect: there is one algorithm, which searches over intervals
        of rates.
    tol : float
        Stop when the unfairness is within this distance of the proved lower bound (relative if the unfairness exceeds
        1); by default 1e-9. For Δ′ at least 1e-5 is used, because the work can grow like 1/tol.
    time_limit : float, optional
        Seconds after which the best channel so far is returned, with its proved gap; by default 60, inf for no limit.
        The step under way is finished first, a small part of a second for 200 groups.
    certificate : {"float", "exact"}
        "exact" returns a channel of `Fraction` with an `ExactCertificate`: the channel keeps every constraint exactly,
        and the lower bound has no rounding in it. Only for the objective "ratio". It takes `Fraction` for ``p`` and
        ``p1``. Where ``error`` is nearer than 2⁻⁴⁴ to the smallest possible one, or is not given, the budget is up to
        1.5·2⁻⁴⁴ above it; ``certificate.error_budget`` has it.
    verbose : bool
        Whether to show on the standard error how far the search has come, after two seconds and then every ten.

    Returns
    -------
    Randomizer
        The channel. ``value`` is its unfairness. ``certificate`` is a `Certificate`, which `verify_certificate`
        recomputes: ``gap`` is the largest possible distance from the optimum, and ``ended`` says why the search
        stopped. The row sums, truthfulness and error hold up to rounding, 1e-14. The exact ε of the matrix, in rational
        arithmetic, is at most ``epsilon``.

    Raises
    ------
    ValueError
        If ``p`` is not a distribution or has an entry 0; if a rate is outside [0, 1], or if all are 0, so that Δ
        divides by 0; if ε < 0; if ``error`` is below the smallest possible one, which the message gives.

    Notes
    -----
    If all rates are equal, every channel has Δ = 0, and the most truthful one is returned.

    The lower bound is recomputed from multipliers, minus a bound on the rounding error, so it holds even if the solver
    is wrong. For ε above about 16 together with shares below 1e-6 it may be far from the value, or prove nothing. The
    channel still satisfies the constraints, and ``certificate.gap`` says how far it may be from the optimum.

    References
    ----------
    Ghoukasian (thesis, 2024), program (5.5.8)–(5.5.9), § 5.5, and § 6.2.2.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> channel = dpf.optimal_randomizer([0.5, 0.3, 0.2], [0.2, 0.5, 0.4], epsilon=1.0)
    >>> channel.matrix.round(2)
    array([[0.64, 0.24, 0.12],
           [0.24, 0.64, 0.12],
           [0.33, 0.33, 0.33]])
    >>> print(round(channel.value, 3))
    0.177
    """
    one_of(objective, "objective", ("ratio", "difference"))
    one_of(method, "method", METHODS)
    one_of(certificate, "certificate", ("float", "exact"))
    positive(tol, "tol")
    limit = TIME_LIMIT if time_limit is None else time_limit
    deadline = time.monotonic() + (math.inf if limit == math.inf else positive(limit, "time_limit"))
    if certificate == "exact":
        if objective != "ratio":
            raise ValueError(
                f'certificate: found "exact" with objective {objective!r}, expected objective "ratio"'
            )
        exact, x_low = exact_program(p, p1, epsilon, error)
        with shown(verbose):
            _, matrix, proofs, _ = _search(searched(exact), objective, method, tol / 4, deadline)
        return exact_channel(exact, x_low, matrix, proofs)
    program = as_program(p, p1, epsilon, error)
    if objective == "difference":
        tol = max(tol, 1e-5)
    with shown(verbose):
        name, matrix, proofs, rounds = _search(program, objective, method, tol, deadline)
    late = name != "closed form" and time.monotonic() >= deadline
    return certify(
        program, matrix, proofs, objective=objective, method=name, rounds=rounds, tol=tol, late=late
    )


def _search(
    program: Program, objective: Objective, method: Method, tol: float, deadline: float
) -> tuple[str, np.ndarray, tuple[Multipliers, ...], int]:
    """Return how the channel was found, the channel, what proves its bound, and how many rounds that took."""
    if np.ptp(program.p1) == 0:
        return "closed form", most_truthful_channel(program), (), 0
    start = first_channel(program)
    if program.ratio(start) <= tol:
        return "closed form", start, (), 0
    if objective == "difference":
        return "levels of shares", *by_shares(program, start, tol=tol, deadline=deadline)
    matrix, proof, rounds = _SEARCHES[method](program, start, tol=tol, deadline=deadline)
    return method, matrix, () if proof is None else (proof,), rounds


def _interior(program: Program, start: np.ndarray, *, tol: float, deadline: float) -> Found:
    """Run the interior-point method; if rounding stops it before the tolerance, continue with columns."""
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
    "interior": _interior,
    "columns": _columns,
    "dinkelbach": partial(by_levels, newton=True),
    "bisection": partial(by_levels, newton=False),
    "branch-and-bound": by_branching,
}
