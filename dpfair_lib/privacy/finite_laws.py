"""Exact privacy of releases with finitely many outcomes, alone or one after the other."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from dpfair_lib._arguments import below_one


def processed(laws: Any, channel: Any) -> np.ndarray:
    """Return the laws of a release after a randomised map that does not see the data.

    Parameters
    ----------
    laws : array of shape (..., k)
        Probabilities of the k outcomes; leading axes may count data sets.
    channel : array of shape (k, m)
        Row i is the law of what the map makes of outcome i.

    Returns
    -------
    ndarray of shape (..., m)
        The law of the result, for every data set.

    Raises
    ------
    ValueError
        If the shapes do not fit, or the rows of the map are not probabilities.

    References
    ----------
    CGKM, Proposition 1.
    """
    laws, channel = np.asarray(laws), np.asarray(channel)
    if channel.ndim != 2 or laws.ndim == 0 or laws.shape[-1] != len(channel):
        raise ValueError(
            f"channel: found shape {channel.shape}, expected one row for each of the outcomes of laws of shape "
            f"{laws.shape}"
        )
    if (channel < 0).any() or (abs(channel.sum(axis=1) - 1) > 1e-12).any():
        raise ValueError("channel: found rows that are not probabilities, expected rows that sum to 1")
    return laws @ channel


def composed(first: Any, second: Any) -> np.ndarray:
    """Return the joint laws of two releases, of which the second may be chosen after seeing the first.

    Parameters
    ----------
    first : array of shape (..., k)
        Law of the first release; leading axes may count data sets.
    second : array of shape (..., k, m)
        Row i is the law of the second release after outcome i of the first, with coins of its own.

    Returns
    -------
    ndarray of shape (..., k, m)
        Probabilities of every pair of outcomes.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    References
    ----------
    CGKM, Proposition 2.
    """
    first, second = np.asarray(first), np.asarray(second)
    if second.ndim < 2 or first.ndim == 0 or first.shape[-1] != second.shape[-2]:
        raise ValueError(
            f"second: found shape {second.shape}, expected one row for each outcome of a first release of shape "
            f"{first.shape}"
        )
    return first[..., None] * second


def hockey_stick(first: Any, second: Any, odds: Any) -> Any:
    """Return the smallest δ with P(S) ≤ odds · P′(S) + δ for all events S.

    Parameters
    ----------
    first, second : array of shape (..., k)
        Two laws on the same outcomes, or stacks of them.
    odds : float or Fraction
        e^ε ≥ 1.

    Returns
    -------
    ndarray of shape (...)
        The hockey-stick divergence of the first from the second; exact where the numbers are.

    Raises
    ------
    ValueError
        If the odds are below 1 or the shapes differ.

    References
    ----------
    CGKM, Definition 3, solved for δ.
    """
    first, second = np.asarray(first), np.asarray(second)
    if not odds >= 1:
        raise ValueError(f"odds: found {odds}, expected a number of at least 1")
    if first.shape != second.shape:
        raise ValueError(f"second: found shape {second.shape}, expected {first.shape}")
    excess = first - odds * second
    return np.where(excess > 0, excess, 0 * excess).sum(axis=-1)


def smallest_epsilon(first: Any, second: Any, delta: float) -> Any:
    """Return the smallest ε ≥ 0 with P(S) ≤ e^ε P′(S) + δ for all events S: the inverse of `hockey_stick`.

    Parameters
    ----------
    first, second : array of shape (..., k)
        As in `hockey_stick`.
    delta : float
        In [0, 1).

    Returns
    -------
    float or ndarray of shape (...)
        ε, to about 12 digits by bisection; 700 if that is not enough.

    Raises
    ------
    ValueError
        If the shapes differ, or δ is not in [0, 1).
    """
    first, second, level = np.asarray(first), np.asarray(second), below_one(delta, "delta")
    if first.shape != second.shape:
        raise ValueError(f"second: found shape {second.shape}, expected {first.shape}")
    low, high = np.zeros(first.shape[:-1]), np.full(first.shape[:-1], 700.0)
    for _ in range(60):
        middle = (low + high) / 2
        enough = np.maximum(first - np.exp(middle)[..., None] * second, 0).sum(axis=-1) <= level
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high[()]


def least_second_errors(matrix: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the least error of the second kind of a test that tells two inputs apart, over all pairs of inputs.

    By Neyman and Pearson the best tests reject for the reports with the largest ratios of probabilities, and a coin
    decides about one of them. So for a pair the least error is linear between sums of probabilities in that order.

    Parameters
    ----------
    matrix : ndarray of shape (k, m)
        The channel, one row for each input.
    first : ndarray
        Errors of the first kind, in [0, 1]: the probability that the test rejects an input that was given.

    Returns
    -------
    ndarray
        The least probability that a test with that error accepts the input when another was given; 1 − α if there is
        one input only.
    """
    rows = matrix.astype(float)
    least = 1 - first
    for null, other in permutations(rows, 2):
        least = np.minimum(least, 1 - np.interp(first, *_powers(null, other)))
    return np.maximum(least, 0.0)


def _powers(null: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return errors of the first kind and the largest powers at them, where the best tests need no coin."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = (
            other / null
        )  # not a number where neither input gives the report: it comes last, and adds nothing
    order = np.argsort(-ratios, kind="stable")
    errors, powers = (np.append(0.0, np.cumsum(row[order])) for row in (null, other))
    last = np.append(np.diff(errors) > 0, True)  # of several powers at one error the largest
    return np.minimum(errors[last], 1.0), np.minimum(powers[last], 1.0)
