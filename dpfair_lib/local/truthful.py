"""Truthful channels: the conditions of the thesis, and the optimum for two groups in closed form."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.local.optimal.program import most_truthful


def private_by_pairs(matrices: np.ndarray, x: Any) -> np.ndarray:
    """Whether x·q_ij ≤ q_i′j for all i, i′, j: ε-local privacy with x = e^(−ε), the thesis's (5.5.1).

    Parameters
    ----------
    matrices : array of shape (..., k, k)
        Row i is the input; whole multiples of any unit will do.
    x : float or Fraction
        In [0, 1].

    Returns
    -------
    array of bool, shape (...)
    """
    up, down = _fraction(x)
    return np.asarray((up * matrices.max(axis=-2) <= down * matrices.min(axis=-2)).all(axis=-1))


def private_by_truth(matrices: np.ndarray, x: Any) -> np.ndarray:
    """Whether x·q_jj ≤ q_ij for all i, j: the thesis's (5.5.7); arguments as of `private_by_pairs`."""
    up, down = _fraction(x)
    truth = np.diagonal(matrices, axis1=-2, axis2=-1)
    return np.asarray((up * truth[..., None, :] <= down * matrices).all(axis=(-2, -1)))


def truthful_columns(matrices: np.ndarray) -> np.ndarray:
    """Whether q_jj ≥ q_ij for all i, j: no report is likelier from another value, (5.5.5)."""
    truth = np.diagonal(matrices, axis1=-2, axis2=-1)
    return np.asarray((matrices.max(axis=-2) <= truth).all(axis=-1))


def truthful_rows(matrices: np.ndarray) -> np.ndarray:
    """Whether q_ii ≥ q_ij for all i, j: no other report is likelier than the truth, (5.5.4)."""
    truth = np.diagonal(matrices, axis1=-2, axis2=-1)
    return np.asarray((matrices.max(axis=-1) <= truth).all(axis=-1))


def _fraction(x: Any) -> tuple[Any, Any]:
    """Return x as up/down, so that whole numbers stay whole."""
    return (x.numerator, x.denominator) if isinstance(x, Fraction) else (x, 1)


def smallest_report_probability(p: np.ndarray, x: Any) -> np.ndarray:
    """Return (x + (1 − x)·p_j)/k, which P(Z = j) is at least under a truthful channel: no denominator is 0."""
    return (x + (1 - x) * p) / len(p)


def binary_front(p: np.ndarray, x: Any, error: Any) -> np.ndarray:
    """Return the truthful ε-LDP channel of least Δ for two groups and an error budget, in closed form.

    With τ = 1 − ζ, P the larger share and m the truth probability of the smaller group: m = ½ for ½ ≤ τ ≤ P, and
    above that m = min(½ + (2τ − 1)/(4(1 − P)), (P − xτ)/(P − x(1 − P))); the larger group's follows from
    P·M + (1 − P)·m = τ. The channel does not depend on the label.

    Parameters
    ----------
    p : array of shape (2,)
        P(A = i), above 0; `Fraction` entries stay exact.
    x : float or Fraction
        e^(−ε).
    error : float or Fraction
        ζ, at least ζ_min.

    Returns
    -------
    ndarray of shape (2, 2)

    Raises
    ------
    ValueError
        If the budget is below ζ_min.
    """
    least = 1 - most_truthful(p, x)[0]
    if error < least - (0 if p.dtype == object else 1e-12):
        raise ValueError(f"error: found {error}, expected at least {least}")
    half = Fraction(1, 2) if p.dtype == object else 0.5
    large = int(p[1] > p[0])
    share, rest = p[large], p[1 - large]
    truth = max(1 - error, half)
    small = half
    if truth > share:
        small = min(half + (2 * truth - 1) / (4 * rest), (share - x * truth) / (share - x * rest))
    diagonal = [small, small]
    diagonal[large] = (truth - rest * small) / share
    return np.array([[diagonal[0], 1 - diagonal[0]], [1 - diagonal[1], diagonal[1]]])
