"""How few predictions must change for a given parity gap."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._validation import as_rate


def change_lower_bound(alpha: Any, beta: Any, gamma: Any) -> Any:
    """Return the printed lower bound |α − β| − γ on the sum of the two groups' prediction changes.

    Parameters
    ----------
    alpha, beta : float, Fraction or array
        Selection rates of the two groups before the change, in [0, 1].
    gamma : float, Fraction or array
        Parity gap allowed afterwards, in [0, 1].

    Returns
    -------
    float, Fraction or array
        The bound; negative, and then void, where γ > |α − β|.

    Raises
    ------
    ValueError
        If a rate or γ is outside [0, 1] or not a number, or shapes do not fit.

    References
    ----------
    ISIT, Proposition 1; thesis, Proposition 6.
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
    """Return the least sum of prediction changes that any randomised classifier of gap at most γ needs.

    It is max(|α − β| − γ, 0): the printed bound wherever that is not void.

    Parameters
    ----------
    alpha, beta, gamma : float, Fraction or array
        As in `change_lower_bound`.

    Returns
    -------
    float, Fraction or array
        The least change, in [0, 1].

    Raises
    ------
    ValueError
        As `change_lower_bound`.

    References
    ----------
    Proved in the chapter on ISIT, Proposition 1.
    """
    bound = change_lower_bound(alpha, beta, gamma)
    return np.maximum(bound, 0) if isinstance(bound, np.ndarray) else max(bound, abs(0 * bound))
