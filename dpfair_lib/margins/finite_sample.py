"""From a sample to its distribution: the terms of Lemma 3.4, with their constants."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


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

    References
    ----------
    MPBT, Lemma 3.4.
    """
    shares = np.asarray(shares, dtype=float)
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
        Rows, at least `smallest_sample`.
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

    References
    ----------
    MPBT, Appendix D; the printed lemma leaves α_C out.
    """
    shares = np.asarray(shares, dtype=float)
    parts = 2 * len(shares) + 1
    coefficients = float(np.sqrt(np.log(b3 * parts / delta) / (b4 * n)))
    if dimension is None:
        return SamplingTerms(coefficients, np.sqrt(np.log(2 * parts / delta) / (n * shares)))
    growth = dimension * (np.log(n * shares / 2) + 2 * np.log(labels))
    return SamplingTerms(coefficients, np.sqrt(64 * (growth + np.log(8 * parts / delta)) / (n * shares)))
