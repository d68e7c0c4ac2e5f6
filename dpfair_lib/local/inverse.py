"""Whether reports tell what they were made from: rank of a channel, its inverse, and shares that it confuses."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

CLEARLY = 1e-6
"""A condition number below 10⁶ means independent rows: rounding moves singular values by far less."""


def rank_and_condition(matrix: np.ndarray) -> tuple[int, float]:
    """Return the rank of a channel, and its condition number: infinite if the rows are dependent.

    Parameters
    ----------
    matrix : ndarray of shape (k, m)
        The channel. `Fraction` entries are decided exactly, floats up to the rounding of their singular values.

    Returns
    -------
    rank : int
        k if and only if different shares of the inputs always give different shares of the reports.
    condition : float
        The largest singular value over the smallest of the k.
    """
    singular = np.linalg.svd(matrix.astype(float), compute_uv=False)
    k, largest = len(matrix), singular[0]
    if len(singular) == k and singular[-1] > CLEARLY * largest:
        return k, float(largest / singular[-1])
    if matrix.dtype == object:
        rank = len(matrix) - len(_dependences(matrix))
    else:
        rank = int((singular > largest * max(matrix.shape) * np.finfo(float).eps).sum())
    if rank < k:
        return rank, np.inf
    return k, float(largest / singular[-1]) if singular[-1] else np.inf


def confused_shares(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return two distributions of the inputs that give the same distribution of reports, or None if no two do.

    Parameters
    ----------
    matrix : ndarray of shape (k, m)
        The channel.

    Returns
    -------
    (ndarray, ndarray) or None
        Shares of the k inputs, exact where the channel is. If two rows are equal, one input each. Any weights of
        dependent rows sum to 0, since each row sums to 1; so their positive and negative parts are two such
        distributions.
    """
    k = len(matrix)
    single = _identity(k) if matrix.dtype == object else np.eye(k)
    for i in range(k):
        same = np.flatnonzero((matrix[i + 1 :] == matrix[i]).all(axis=1))
        if len(same):
            return single[i], single[i + 1 + same[0]]
    if rank_and_condition(matrix)[0] == k:
        return None
    if matrix.dtype == object:
        weights = _dependences(matrix)[0]
    else:
        weights = np.linalg.svd(matrix, full_matrices=k > matrix.shape[1])[0][:, -1]
        weights = weights - weights.mean()  # they sum to 0 up to rounding
    positive = np.where(weights > 0, weights, 0 * weights)
    negative = np.where(weights < 0, -weights, 0 * weights)
    return positive / positive.sum(), negative / negative.sum()


def unbiased_weights(matrix: np.ndarray) -> np.ndarray:
    """Return G with Q G = 1, of shape (m, k): shares of reports times G estimate the shares of inputs without bias.

    Parameters
    ----------
    matrix : ndarray of shape (k, m)
        A channel Q of rank k.

    Returns
    -------
    ndarray of shape (m, k)
        The inverse of a square channel, and otherwise the pseudo-inverse. Each of its rows sums to 1 if Q is square.
    """
    return np.linalg.pinv(matrix.astype(float))


def _dependences(matrix: np.ndarray) -> list[np.ndarray]:
    """Return a basis of the weights c with c Q = 0, by elimination in fractions."""
    k, m = matrix.shape
    table = np.concatenate([matrix, _identity(k)], axis=1)
    done = 0
    for column in range(m):
        rest = [i for i in range(done, k) if table[i, column] != 0]
        if not rest:
            continue
        table[[done, rest[0]]] = table[[rest[0], done]]
        for i in range(done + 1, k):
            if table[i, column] != 0:
                table[i] = table[i] - table[done] * (table[i, column] / table[done, column])
        done += 1
        if done == k:
            break
    return [table[i, m:] for i in range(done, k)]


def _identity(k: int) -> np.ndarray:
    return np.array([[Fraction(int(i == j)) for j in range(k)] for i in range(k)], dtype=object)


def in_words(shares: Any) -> str:
    """Return shares of the inputs as text: `input 2`, or `1/2 input 0 + 1/2 input 3`."""
    present = [(share, i) for i, share in enumerate(shares) if share > 0]
    if len(present) == 1:
        return f"input {present[0][1]}"
    told = [str(share) if isinstance(share, Fraction) else f"{share:.3g}" for share, _ in present]
    return " + ".join(f"{text} input {i}" for text, (_, i) in zip(told, present, strict=True))
