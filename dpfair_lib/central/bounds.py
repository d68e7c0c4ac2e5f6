"""The least number of predictions that must change for a given parity gap."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._validation import as_rate


def change_lower_bound(alpha: Any, beta: Any, gamma: Any) -> Any:
    """Return the published lower bound |α − β| − γ on the prediction changes that a parity gap of γ requires.

    The bound is on the sum of the two groups' changes P(Ŷ ≠ Ŷ_new | A = a), where Ŷ and Ŷ_new are the predictions
    before and after. `optimal_change` is the exact minimum.

    Parameters
    ----------
    alpha, beta : float, Fraction or array
        Selection rates of the two groups before the change, in [0, 1].
    gamma : float, Fraction or array
        Largest parity gap allowed afterwards, in [0, 1].

    Returns
    -------
    float, Fraction or array
        The bound. It is negative, and says nothing, where γ > |α − β|.

    Raises
    ------
    ValueError
        If a rate or γ is not a number in [0, 1], or if the shapes cannot be broadcast.

    References
    ----------
    Ghoukasian and Asoodeh (ISIT 2024), Proposition 1; Ghoukasian (thesis, 2024), Proposition 6.

    Examples
    --------
    Selection rates 0.7 and 0.4, allowed gap 0.1: predictions must change for a fifth of the people, both groups
    added.

    >>> from fractions import Fraction
    >>> import dpfair_lib as dpf
    >>> dpf.change_lower_bound(Fraction(7, 10), Fraction(4, 10), Fraction(1, 10))
    Fraction(1, 5)
    """
    alpha, beta, gamma = as_rate(alpha, "alpha"), as_rate(beta, "beta"), as_rate(gamma, "gamma")
    try:
        np.broadcast_shapes(np.shape(alpha), np.shape(beta), np.shape(gamma))
    except ValueError:
        shapes = f"alpha {np.shape(alpha)}, beta {np.shape(beta)}, gamma {np.shape(gamma)}"
        raise ValueError(f"shapes differ: found {shapes}, expected shapes that broadcast together") from None
    inexact = any(isinstance(rate, float | np.floating) or np.ndim(rate) for rate in (alpha, beta, gamma))
    if inexact:  # one float, or array, makes the result one
        alpha, beta, gamma = (float(r) if isinstance(r, Fraction) else r for r in (alpha, beta, gamma))
    return abs(alpha - beta) - gamma


def optimal_change(alpha: Any, beta: Any, gamma: Any) -> Any:
    """Return the least sum of the two groups' prediction changes after which the parity gap is at most γ.

    The minimum is over all randomised classifiers. It equals max(|α − β| − γ, 0).

    Parameters
    ----------
    alpha, beta : float, Fraction or array
        Selection rates of the two groups before the change, in [0, 1].
    gamma : float, Fraction or array
        Largest parity gap allowed afterwards, in [0, 1].

    Returns
    -------
    float, Fraction or array
        The least change, in [0, 1].

    Raises
    ------
    ValueError
        If a rate or γ is not a number in [0, 1], or if the shapes cannot be broadcast.

    References
    ----------
    This book, chapter on Proposition 1 of Ghoukasian and Asoodeh (ISIT 2024).

    Examples
    --------
    With rates 0.3 and 0.3 nothing has to change; the published bound would be −0.1.

    >>> import dpfair_lib as dpf
    >>> print(dpf.optimal_change(0.3, 0.3, 0.1))
    0.0
    """
    bound = change_lower_bound(alpha, beta, gamma)
    return np.maximum(bound, 0) if isinstance(bound, np.ndarray) else max(bound, abs(0 * bound))
