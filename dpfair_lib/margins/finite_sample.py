"""Bounds on the difference between a sample and its distribution: the terms of Lemma 3.4 of Mangold et al. (2023)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpfair_lib._arguments import inside_unit, positive, positive_integer
from dpfair_lib._validation import as_count, as_numbers


class SamplingTerms(NamedTuple):
    """What Lemma 3.4's proof adds for the sample: |F_k − F̂_k| ≤ coefficients + Σ_k′ |Ĉ_k^k′| · accuracies_k′."""

    coefficients: float
    accuracies: np.ndarray


def smallest_sample(shares: Any, delta: float) -> float:
    """Return the n from which the lemma speaks: 8 ln((2K + 1)/δ) / min p_k.

    Parameters
    ----------
    shares : array of shape (K,)
        P(D_k), all positive.
    delta : float
        Chance of failure, in (0, 1).

    Raises
    ------
    ValueError
        If a share is not in (0, 1], or δ not in (0, 1).

    References
    ----------
    MPBT, Lemma 3.4.
    """
    shares, delta = _shares(shares), inside_unit(delta, "delta")
    return float(8 * np.log((2 * len(shares) + 1) / delta) / shares.min())


def sampling_terms(
    n: int,
    shares: Any,
    delta: float,
    *,
    b3: float,
    b4: float,
    dimension: float | None = None,
    labels: int = 2,
) -> SamplingTerms:
    """Return the two terms that bound |F_k(h) − F̂_k(h)| with probability 1 − δ over n rows.

    Parameters
    ----------
    n : int
        Rows. Below `smallest_sample` the terms are no bound: a group may then have too few of them.
    shares : array of shape (K,)
        P(D_k).
    delta : float
        Chance of failure, in (0, 1).
    b3, b4 : float
        The notion's coefficients are estimated so well: P(Σ_k′ |C − Ĉ| > α) ≤ b3 · exp(−b4 α² n).
    dimension : float, optional
        The Natarajan dimension, for all models at once; without it, for one model chosen before the rows are seen.
    labels : int
        Number of labels; only used with ``dimension``.

    Returns
    -------
    SamplingTerms
        α_C and the α_k′ of the proof.

    Raises
    ------
    ValueError
        If a share is not in (0, 1], δ not in (0, 1), or n, b3, b4 or the dimension not positive.

    References
    ----------
    MPBT, Appendix D; the printed lemma leaves α_C out.
    """
    shares, delta, n = _shares(shares), inside_unit(delta, "delta"), positive_integer(n, "n")
    b3, b4, labels = positive(b3, "b3"), positive(b4, "b4"), as_count(labels, "labels", 2)
    parts = 2 * len(shares) + 1
    coefficients = float(np.sqrt(np.log(b3 * parts / delta) / (b4 * n)))
    if dimension is None:
        return SamplingTerms(coefficients, np.sqrt(np.log(2 * parts / delta) / (n * shares)))
    growth = positive(dimension, "dimension") * (np.log(n * shares / 2) + 2 * np.log(labels))
    return SamplingTerms(coefficients, np.sqrt(64 * (growth + np.log(8 * parts / delta)) / (n * shares)))


def _shares(values: Any) -> np.ndarray:
    shares = as_numbers(values, "shares").astype(float)
    bad = (shares <= 0) | (shares > 1)
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(f"shares: found {shares[at]} at position {at}, expected numbers above 0, at most 1")
    return shares
