"""Data sets on which logistic regression moves nearly as far as it can if one record is replaced."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit

from dpfair_lib._arguments import positive


def worst_replacement(lipschitz: float, mu: float, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return n − 1 equal rows in the plane and two further ones whose exchange moves logistic regression far.

    All labels are 1. The equal rows make the minimiser as long as any; the two others are opposite across it and each
    lean against it. Lengths and leaning are searched for on grids, without the formula of `minimisers`.

    Parameters
    ----------
    lipschitz : float
        Λ, the largest norm of a row.
    mu : float
        μ: the mean loss + μ‖w‖²/2 is minimised.
    n : int
        Number of rows, with one of the two.

    Returns
    -------
    base : array of shape (n − 1, 2)
        The equal rows.
    one, other : array of shape (2,)
        The rows to exchange.

    Raises
    ------
    ValueError
        If the constants are not positive, or there are fewer than two rows.
    """
    positive(lipschitz, "lipschitz")
    positive(mu, "mu")
    if n < 2:
        raise ValueError(f"n: found {n}, expected at least 2 rows")
    lengths = lipschitz * np.linspace(0.01, 1, 1000)
    low, high = np.zeros(1000), np.full(1000, lipschitz / mu)
    for _ in range(100):
        h = (low + high) / 2
        below = mu * h < lengths * expit(-lengths * h)
        low, high = np.where(below, h, low), np.where(below, high, h)
    longest = low.argmax()
    leaning = np.linspace(0, 1, 1001)
    pulls = expit(lipschitz * low[longest] * leaning) * np.sqrt(1 - leaning**2)
    s = leaning[pulls.argmax()]
    base = np.tile([lengths[longest], 0.0], (n - 1, 1))
    across = np.array([0.0, lipschitz * math.sqrt(1 - s**2)])
    against = np.array([-lipschitz * s, 0.0])
    return base, against + across, against - across
