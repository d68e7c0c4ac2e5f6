"""Information projection of probabilities onto linear fairness constraints, by Newton steps on the dual problem.

Rows i = 1 … n have probabilities y_i over C classes, all above 0. Wanted are probabilities h_i as near to them as
possible, in the mean of KL(h_i ‖ y_i) ("kl") or of KL(y_i ‖ h_i) ("ce": cross-entropy, up to a constant), under m
constraints mean over i of g_ik·h_i[c(k)] ≤ 0, each of which weighs one class c(k).

With multipliers λ ≥ 0 and the tilt t_i[c] = Σ g_ik λ_k over the constraints of class c, the Lagrangian splits into
rows:

* kl: h ∝ y·exp(−t), and the row's least value is −log Σ y·exp(−t);
* ce: h = y/(t + z), with the one z > −min t for which h sums to 1, and the least value is Σ y·log(t + z) + 1 − z.

Their mean D(λ) is concave and a lower bound of the primal value. Its gradient is the mean of g·h, what is left of the
constraints; its Hessian is −mean of gᵀ(diag(w) − wwᵀ/Σw)g with w = h (kl) or h²/y (ce). So the problem has m unknowns,
whatever n is, and Newton's method needs a few passes over the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

Divergence = Literal["kl", "ce"]
DIVERGENCES = ("kl", "ce")

GAP, VIOLATION = 1e-10, 1e-11  # when to stop; what is promised is 1e-8 and 1e-9
PROMISED_GAP, PROMISED_VIOLATION = 1e-8, 1e-9
STEPS = 100


class Tilted(NamedTuple):
    """The nearest probabilities to y for given tilts: themselves, the weights w, and the least value of each row."""

    probabilities: np.ndarray
    weights: np.ndarray
    value: np.ndarray


@dataclass(frozen=True)
class Constraints:
    """Linear constraints on probabilities: mean over i of ``weights[c][i, k]·h[i, c]`` ≤ 0 for every class c and k.

    Attributes
    ----------
    weights : list of arrays of shape (n, m_c)
        For every class its constraints, one column each.
    """

    weights: list[np.ndarray]

    def values(self, h: np.ndarray) -> np.ndarray:
        """Return the left sides, those of the first class first."""
        return np.concatenate([g.T @ h[:, c] for c, g in enumerate(self.weights)]) / len(h)

    def tilt(self, multipliers: np.ndarray) -> np.ndarray:
        """Return t, of shape (n, C)."""
        ends = np.cumsum([g.shape[1] for g in self.weights])[:-1]
        parts = np.split(multipliers, ends)
        return np.column_stack([g @ part for g, part in zip(self.weights, parts, strict=True)])

    def curvature(self, w: np.ndarray) -> np.ndarray:
        """Return the mean of gᵀ(diag(w) − wwᵀ/Σw)g, the negative of the dual's Hessian."""
        share = w / w.sum(axis=1, keepdims=True)
        classes, rows = range(w.shape[1]), []
        for c, g in enumerate(self.weights):
            # 1 − share[c] by adding up the others: for probabilities near 0 and 1 nothing may cancel
            rest = share[:, [other for other in classes if other != c]].sum(axis=1)
            row = [
                (g * (w[:, c] * (rest if c == other else -share[:, other]))[:, np.newaxis]).T
                @ self.weights[other]
                for other in classes
            ]
            rows.append(np.hstack(row))
        return np.vstack(rows) / len(w)


@dataclass(frozen=True)
class Projection:
    """The solution and how good it is.

    Attributes
    ----------
    probabilities : array of shape (n, C)
        h.
    multipliers : array of shape (m,)
        λ ≥ 0.
    value : float
        Mean divergence of h.
    bound : float
        D(λ): no probabilities that meet the constraints have a smaller divergence.
    violation : float
        The most by which a constraint is missed, 0 if none is.
    steps : int
        Newton steps.
    """

    probabilities: np.ndarray
    multipliers: np.ndarray
    value: float
    bound: float
    violation: float
    steps: int

    @property
    def gap(self) -> float:
        """|value − bound|: both are right to so much."""
        return abs(self.value - self.bound)


def tilted(y: np.ndarray, t: np.ndarray, divergence: Divergence) -> Tilted:
    """Minimise divergence + Σ t·h in every row.

    Parameters
    ----------
    y : array of shape (n, C)
        Positive probabilities.
    t : array of shape (n, C)
        Tilts.
    divergence : {"kl", "ce"}
        KL(h ‖ y) or KL(y ‖ h).

    Returns
    -------
    Tilted
        h, w and the row's least value.
    """
    if divergence == "kl":
        exponent = np.log(y) - t
        top = exponent.max(axis=1, keepdims=True)
        h = np.exp(exponent - top)
        total = h.sum(axis=1, keepdims=True)
        h /= total
        return Tilted(h, h, -(top + np.log(total))[:, 0])
    h, z = _reciprocal(y, t)
    return Tilted(h, h**2 / y, 1 - z - (y * np.log(h / y)).sum(axis=1))


def _reciprocal(y: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return y/(t + z), rows summing to 1, and z.

    Σ y/(t + z) − 1 falls in z and is convex; at z = max(y − t) it is not negative, so Newton's steps only go up to the
    root. What is sought is t + z for the least t, which is as small as y may be and must not come out of a difference.
    """
    least = t.min(axis=1, keepdims=True)
    above = t - least
    lift = (y - above).max(axis=1, keepdims=True)
    for _ in range(200):
        h = y / (above + lift)
        step = (h.sum(axis=1, keepdims=True) - 1) / (h**2 / y).sum(axis=1, keepdims=True)
        lift = lift + step
        if (step <= 4e-16 * lift).all():
            break
    h = y / (above + lift)
    return h / h.sum(axis=1, keepdims=True), (lift - least)[:, 0]


def divergence_of(h: np.ndarray, y: np.ndarray, divergence: Divergence) -> float:
    """Return the mean over rows of KL(h ‖ y) or KL(y ‖ h)."""
    first, second = (h, y) if divergence == "kl" else (y, h)
    ratio = np.where(first > 0, first, 1) / np.where(first > 0, second, 1)
    return float((first * np.log(ratio)).sum(axis=1).mean())


def project(y: np.ndarray, constraints: Constraints, divergence: Divergence) -> Projection:
    """Project probabilities onto linear constraints.

    Each step maximises the quadratic model of the dual over λ ≥ 0, a small problem of non-negative least squares, and
    goes as far along it as the dual rises enough.

    Parameters
    ----------
    y : array of shape (n, C)
        Positive probabilities.
    constraints : Constraints
        At least one classifier with positive probabilities must meet them.
    divergence : {"kl", "ce"}
        KL(h ‖ y) or KL(y ‖ h).

    Returns
    -------
    Projection
        With a duality gap of at most 1e-8 and constraints met to 1e-9.

    Raises
    ------
    ValueError
        If the constraints cannot be met, or only so closely that double precision does not suffice.
    """
    multipliers = np.zeros(sum(g.shape[1] for g in constraints.weights))
    found = tilted(y, np.zeros_like(y), divergence)
    left, bound, steps = constraints.values(found.probabilities), float(found.value.mean()), 0
    while steps < STEPS:
        if max(left.max(), 0) <= VIOLATION and abs(multipliers @ left) <= GAP:
            break
        goal = _model_optimum(multipliers, left, constraints.curvature(found.weights))
        direction, length = goal - multipliers, 1.0
        rise = float(left @ direction)
        while True:
            trial = multipliers + length * direction
            nearer = tilted(y, constraints.tilt(trial), divergence)
            value = float(nearer.value.mean())
            # near the optimum a rise is below rounding, and the full step is taken
            if value >= bound + 1e-4 * length * rise - 1e-14 * (1 + abs(bound)) or length < 1e-10:
                break
            length /= 2
        multipliers, found, bound, steps = trial, nearer, value, steps + 1
        left = constraints.values(found.probabilities)
    h = found.probabilities
    result = Projection(
        h, multipliers, divergence_of(h, y, divergence), bound, max(float(left.max()), 0.0), steps
    )
    if result.violation > PROMISED_VIOLATION or result.gap > PROMISED_GAP:
        raise ValueError(
            f"tolerance: found constraints that no classifier with these probabilities meets, or none that can be "
            f"computed (after {steps} steps missed by {result.violation:.1e}, gap {result.gap:.1e}); expected a "
            f"larger tolerance, or probabilities further from 0"
        )
    return result


def _model_optimum(multipliers: np.ndarray, left: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """Maximise left·(λ − λ₀) − ½(λ − λ₀)ᵀ(curvature + a little)(λ − λ₀) over λ ≥ 0."""
    from scipy.linalg import LinAlgError, cholesky, solve_triangular
    from scipy.optimize import nnls

    # every price in its own unit; then a little, which decides where constraints say the same
    unit = 1 / np.sqrt(np.maximum(curvature.diagonal(), 1e-12))
    scaled, little = curvature * unit[:, np.newaxis] * unit, 1e-10
    while True:
        try:
            factor = cholesky(scaled + little * np.eye(len(left)))
            break
        except LinAlgError:  # rounding outweighs it
            little *= 10
    shift = solve_triangular(factor, unit * left, trans="T")
    return unit * nnls(factor, factor @ (multipliers / unit) + shift)[0]
