"""Proofs that a channel is nearly optimal: Lagrange multipliers, and a function that recomputes their bound.

Write q_ij = x·M_j + s_ij for i ≠ j, with M_j = q_jj, x = e^(−ε) and s_ij ≥ 0: a channel of the program is then a
diagonal M and slacks s with row sums 1, s_ij ≤ (1 − x)·M_j, s_ij ≤ M_i − x·M_j and Σ p_i·M_i ≥ 1 − ζ. For any
multipliers of these conditions the Lagrangian, minimised over M and s one by one, is a lower bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from dpfair_lib.local.optimal.exact_certificate import ExactCertificate
from dpfair_lib.local.optimal.program import Objective, Program, as_program, sum_by_halves
from dpfair_lib.local.randomizer import Randomizer

Ended = Literal["closed", "time", "rounding"]
_UNIT = 2.0**-53  # half of the distance from 1 to the next float
# below it, products that underflow may be more than what is taken off for rounding
_SMALLEST = Fraction(1, 2**900)


@dataclass(frozen=True)
class Multipliers:
    """Multipliers of the linear program at one level t of the unfairness; all but ``rows`` and ``t`` at least 0.

    Attributes
    ----------
    t : float or Fraction
        The level: the program asks for −b·t·D_j ≤ N_j ≤ a·t·D_j with N_j = P(Y=1, Z=j) − P(Y=1)·P(Z=j) and
        D_j = P(Y=1)·P(Z=j).
    above, below : ndarray of shape (k,)
        Of N_j ≤ a·t·D_j, and of −b·t·D_j ≤ N_j.
    truth : float or Fraction
        Of Σ p_i·q_ii ≥ 1 − ζ.
    rows : ndarray of shape (k,)
        Of the row sums.
    column_caps, row_caps : ndarray of shape (k, k)
        Of q_ij ≤ q_jj and of q_ij ≤ q_ii.
    sides : tuple of two numbers
        (a, b), both above 0; (1, 1) for Δ.

    Examples
    --------
    They are part of a channel's certificate.

    >>> import dpfair_lib as dpf
    >>> channel = dpf.optimal_randomizer([0.5, 0.3, 0.2], [0.2, 0.5, 0.7], epsilon=1.0)
    >>> [bool((one.above >= 0).all()) for one in channel.certificate.multipliers]
    [True]
    """

    t: Any
    above: np.ndarray
    below: np.ndarray
    truth: Any
    rows: np.ndarray
    column_caps: np.ndarray
    row_caps: np.ndarray
    sides: tuple[Any, Any] = (1, 1)

    @property
    def valid(self) -> bool:
        """Whether every multiplier of an inequality is at least 0, and none is NaN or infinite."""
        if not min(self.sides) > 0:
            return False
        signed = (self.above, self.below, np.array([self.truth]), self.column_caps, self.row_caps)
        return all((part >= 0).all() for part in signed) and all(
            np.isfinite(np.asarray(getattr(self, field.name), dtype=float)).all() for field in fields(self)
        )


@dataclass(frozen=True)
class Certificate:
    """What is proved of an optimal channel.

    Attributes
    ----------
    objective : str
        ``"ratio"`` or ``"difference"``.
    value : float
        The channel's unfairness.
    lower : float
        No channel of the program has less.
    epsilon : float
        The channel's exact ε.
    error : float
        Its P(Z ≠ A).
    violation : float
        By how much it misses the worst of its constraints, privacy, row sums, truthfulness, error budget; rounding.
    multipliers : tuple of Multipliers
        They prove ``lower``; empty where it is 0, which needs no proof.
    method : str
        How the channel was found.
    rounds : int
        How many linear programs, or steps, that took.
    ended : {"closed", "time", "rounding"}
        Why the search ended: the gap was at most ``tol``; the time limit came first; or rounding lets neither bound
        improve.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> channel = dpf.optimal_randomizer([0.5, 0.3, 0.2], [0.2, 0.5, 0.7], epsilon=1.0)
    >>> found = channel.certificate
    >>> found.method, found.value - found.lower <= 1e-9
    ('interior', True)
    """

    objective: Objective
    value: float
    lower: float
    epsilon: float
    error: float
    violation: float
    multipliers: tuple[Multipliers, ...]
    method: str
    rounds: int
    ended: Ended = "closed"

    @property
    def gap(self) -> float:
        """How far the channel can be from the optimum."""
        return max(self.value - self.lower, 0.0)


def _weights(m: Multipliers) -> np.ndarray:
    return m.sides[0] * m.above + m.sides[1] * m.below


def priced(program: Program, m: Multipliers) -> np.ndarray:
    """Return what a unit of q_ij costs by the multipliers of the fairness rows and of the row sums, shape (k, k)."""
    cost = np.multiply.outer(program.excess, m.above - m.below)
    cost = cost - m.t * program.overall * np.multiply.outer(program.p, _weights(m))
    return cost - m.rows[:, None]


def lagrangian_bound(program: Program, multipliers: Multipliers) -> Any:
    """Return a number that Σ_j above_j·(N_j − a·t·D_j) + below_j·(−N_j − b·t·D_j) meets or exceeds on every channel.

    In exact arithmetic if all numbers are `Fraction`; else what rounding may have added is taken off.
    """
    x, k, m = program.x, program.k, multipliers
    diagonal = np.eye(k, dtype=bool)
    column_caps, row_caps = (np.where(diagonal, 0, caps) for caps in (m.column_caps, m.row_caps))
    cost = priced(program, m)
    of_slack = np.where(diagonal, 0, cost + column_caps + row_caps)
    through_base = np.where(diagonal, cost, x * cost - (1 - x) * column_caps + x * row_caps)
    of_truth = sum_by_halves(through_base) - m.truth * program.p - sum_by_halves(row_caps, axis=1)
    bound = sum_by_halves(m.rows) + m.truth * (1 - program.error) + _least_over_diagonals(of_truth, x)
    # the slacks of a row add up to less than 1
    bound = bound + sum_by_halves(np.minimum(of_slack.min(axis=1), 0))
    slip = _rounding(program, m)
    return bound - slip * _size(program, m) if slip else bound


def _rounding(program: Program, m: Multipliers) -> float:
    """Return how much a sum of this program may be off, relative to the sum of its terms' sizes; 0 if it is exact.

    A term has a share, an overall rate and an excess in it, sums of k numbers, and is added up twice, over rows and
    over columns: at most 4·⌈log₂ k⌉ roundings by halves, and a few for the products.
    """
    exact = program.p.dtype == object and m.rows.dtype == object
    return 0.0 if exact else (4 * (program.k - 1).bit_length() + 64) * _UNIT


def _size(program: Program, m: Multipliers) -> float:
    """Return the sum of the sizes of all terms of `lagrangian_bound`, where every diagonal entry is 1, its largest."""
    cost = np.multiply.outer(program.p * (program.p1 + program.overall), m.above + m.below)
    cost = (
        cost + abs(m.t) * program.overall * np.multiply.outer(program.p, _weights(m)) + abs(m.rows)[:, None]
    )
    caps = m.column_caps + m.row_caps
    of_diagonal = np.diagonal(cost).sum() + (program.x * cost).sum() + m.row_caps.sum()
    of_caps = ((1 - program.x) * m.column_caps + program.x * m.row_caps).sum()
    of_slacks = (cost + caps).max(axis=1).sum()
    return float(of_diagonal + of_caps + of_slacks + abs(m.rows).sum() + 2 * m.truth)


def _least_over_diagonals(cost: np.ndarray, x: Any) -> Any:
    """Return the least cost·M over 1/k ≤ M_i ≤ U, M_i ≥ x·U, U ≤ 1: linear in U but for a kink at x·U = 1/k."""
    k = len(cost)
    least = 1 / (k * (1 + 0 * cost[0]))  # 1/k, as a Fraction where the costs are
    corners = [least, least / x, 1] if x * k > 1 else [least, 1]
    return min(
        sum_by_halves(np.maximum(cost, 0) * max(least, x * top) + np.minimum(cost, 0) * top)
        for top in corners
    )


def lower_bound(program: Program, multipliers: Multipliers) -> Any:
    """Return a number that `Program.level`, for sides (1, 1) that is Δ, meets or exceeds on every channel.

    At a channel of level u the bounded sum is at most (u − t)·Σ_j (a·above_j + b·below_j)·D_j, and D_j lies between
    P(Y = 1)·(x + (1 − x)·p_j)/k and P(Y = 1). Without a weight above 0 that says nothing of u, and the bound is 0.

    Raises
    ------
    ValueError
        If the multipliers have a wrong sign or are not finite.
    """
    if not multipliers.valid:
        raise ValueError(
            "multipliers: found one below 0 or not finite, expected finite numbers of at least 0"
        )
    weights = _weights(multipliers)
    most = program.overall * weights.max()
    if min(most, program.overall) * program.p.min() < _SMALLEST:
        return 0
    bound = lagrangian_bound(program, multipliers)
    if bound >= 0:
        further = bound / most
    else:
        shares = weights * (program.x + (1 - program.x) * program.p)
        least = program.overall * sum_by_halves(shares) / program.k
        further = bound / least
    found = multipliers.t + further
    if slip := _rounding(program, multipliers):
        found = found - slip * (abs(multipliers.t) + abs(further))
    return found if found > 0 else 0  # 0 where numbers too large for floats leave none


def proved(program: Program, objective: Objective, proofs: tuple[Multipliers, ...]) -> float:
    """Return the lower bound that a certificate's multipliers prove; 0 where they prove nothing.

    For Δ the best of them counts. For Δ′ each has sides (1 − s₀, s₁) and speaks of the channels for which the
    lowest rate takes a share s of Δ′ that lies in [s₀, s₁]; together they have to cover [0, 1].
    """
    if objective == "ratio":
        return max((float(lower_bound(program, m)) for m in proofs if m.sides == (1, 1)), default=0.0)
    cells = sorted((1 - m.sides[0], m.sides[1], float(lower_bound(program, m))) for m in proofs)
    covered, least = 0.0, math.inf
    for start, end, bound in cells:
        if start > covered:
            return 0.0
        covered, least = max(covered, end), min(least, bound)
    return float(program.overall) * least if covered >= 1 else 0.0


def certify(
    program: Program,
    matrix: np.ndarray,
    proofs: tuple[Multipliers, ...],
    *,
    objective: Objective,
    method: str,
    rounds: int,
    tol: float,
    late: bool = False,
) -> Randomizer:
    """Return the channel with everything about it recomputed from its matrix and the multipliers."""
    channel = Randomizer(np.clip(matrix, 0, 1))  # rounding may leave 1 + 2e-16
    found = _recomputed(program, channel, objective, proofs)
    closed = found["value"] - found["lower"] <= tol * max(1, found["value"])
    ended: Ended = "closed" if closed else "time" if late else "rounding"
    certificate = Certificate(
        objective=objective,
        **found,
        multipliers=proofs,
        method=method,
        rounds=rounds,
        ended=ended,
    )
    return Randomizer(channel.matrix, value=certificate.value, certificate=certificate)


def _recomputed(
    program: Program, channel: Randomizer, objective: Objective, proofs: tuple[Multipliers, ...]
) -> dict[str, float]:
    value = program.ratio if objective == "ratio" else program.difference
    return {
        "value": float(value(channel.matrix)),
        "lower": proved(program, objective, proofs),
        "epsilon": channel.epsilon,
        "error": float(program.mistakes(channel.matrix)),
        "violation": float(program.violation(channel.matrix)),
    }


def verify_certificate(
    channel: Randomizer, p: Any, p1: Any, epsilon: Any, *, error: Any = None, tol: float = 1e-8
) -> float:
    """Check a channel's certificate from numbers alone and return its gap.

    Nothing is taken from the solver: the unfairness, the error and ε are those of the matrix, all constraints are
    looked up, and the lower bound is the Lagrangian of the multipliers, minimised in closed form. An
    `ExactCertificate` is recomputed in whole numbers, and its numbers have to be exactly those.

    Parameters
    ----------
    channel : Randomizer
        With a certificate, as `optimal_randomizer` returns it.
    p, p1, epsilon, error
        The arguments that the channel is said to be optimal for.
    tol : float
        How far a number of the certificate may be from the recomputed one, and how far a constraint may be violated.

    Returns
    -------
    float
        Value minus lower bound, both recomputed.

    Raises
    ------
    ValueError
        If a number of the certificate is wrong, a constraint is violated, or a multiplier has a wrong sign.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.local import verify_certificate
    >>> p, p1 = [0.5, 0.3, 0.2], [0.2, 0.5, 0.7]
    >>> channel = dpf.optimal_randomizer(p, p1, epsilon=1.0)
    >>> verify_certificate(channel, p, p1, 1.0) <= 1e-9
    True
    """
    program, claimed = as_program(p, p1, epsilon, error), channel.certificate
    if isinstance(claimed, ExactCertificate):
        from dpfair_lib.local.optimal.exact import verify_exact  # it needs the multipliers of this module

        return float(verify_exact(channel, p, p1, epsilon, error))
    if not isinstance(claimed, Certificate) or channel.matrix.shape != (program.k, program.k):
        raise ValueError(f"channel: found {channel!r}, expected one on {program.k} groups with a certificate")
    recomputed = _recomputed(program, channel, claimed.objective, claimed.multipliers)
    for name, number in recomputed.items():
        said = getattr(claimed, name)
        if not (said == number or abs(said - number) <= tol):
            raise ValueError(f"certificate: found {name} {said}, recomputed {number}")
    if channel.value != claimed.value:
        raise ValueError(f"channel: found value {channel.value}, its certificate says {claimed.value}")
    if not recomputed["violation"] <= tol:
        raise ValueError(
            f"channel: found a constraint missed by {recomputed['violation']}, expected at most {tol}"
        )
    return max(recomputed["value"] - recomputed["lower"], 0.0)
