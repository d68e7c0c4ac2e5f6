"""Losses of hypotheses on two neighbouring samples, as far apart as they can be."""

from __future__ import annotations

import numpy as np

from dpfair_lib._arguments import positive_integer
from dpfair_lib.compatibility.private_learner.sensitivity import Counts, utility_sensitivity

SHARES = (-1.0, 0.0, 1.0)
"""By how much of the most the first kind of hypotheses moves."""


def largest_moves(n: int, counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Return losses of two kinds of hypotheses on two neighbouring samples: each moves as far as u can, either way.

    The first kind moves by ±Δu times a share of −1, 0 or 1, the second by ∓Δu; they start equal, or as far apart as
    they move.

    Parameters
    ----------
    n : int
        Records in a sample.
    counts : (int, int)
        Positives of either group in the first sample.

    Returns
    -------
    tuple of ndarray
        For either sample the losses, one row for each of twelve pairs of moves, one column for each kind.

    Raises
    ------
    ValueError
        If the counts do not fit the sample.
    """
    most = float(utility_sensitivity(counts, n))
    first, second = [], []
    for share in SHARES:
        for sign in (1.0, -1.0):
            for start in (0.0, -sign * most):
                first.append((start, 0.0))
                second.append((start + sign * share * most, -sign * most))
    return np.array(first), np.array(second)


def changing_places(n: int) -> tuple[list[float], list[float]]:
    """Return losses of two hypotheses that change places when one person's group changes.

    Both samples have four records with label 1: first two in either group, then one and three. The first hypothesis
    has no discrimination before and 2/3 after, the second ½ before and none after.

    Parameters
    ----------
    n : int
        Records in a sample, at least 4.

    Returns
    -------
    tuple of list of float
        The losses Γ + err of both hypotheses on either sample.

    Raises
    ------
    ValueError
        If n is not a whole number of at least 4.
    """
    if positive_integer(n, "n") < 4:
        raise ValueError(f"n: found {n}, expected at least 4 records")
    return [2 / n, 1 / 2 + 1 / n], [2 / 3 + 2 / n, 0.0]


def scaled_far_apart(m: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return losses of two hypotheses on two neighbouring samples between which m·u moves nearly 5 apart.

    Each group has m positives at first, and one of group 0 becomes one of group 1. The first loss falls as far as it
    can from the largest there is, the second rises as far as it can from nearly the smallest.

    Parameters
    ----------
    m : int
        Positives of either group at first.
    n : int
        Records, at least 2m.

    Returns
    -------
    tuple of ndarray
        The losses of both hypotheses on either sample.

    Raises
    ------
    ValueError
        If there are fewer than 2m records.
    """
    if positive_integer(n, "n") < 2 * positive_integer(m, "m"):
        raise ValueError(f"n: found {n}, expected at least 2m = {2 * m} records")
    return np.array([1 + (n - m) / n, 2 / n]), np.array([m / (m + 1) + (n - m) / n, 2 / (m + 1) + 2 / n])
