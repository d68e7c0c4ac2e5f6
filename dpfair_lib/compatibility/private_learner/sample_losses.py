"""The loss that the exponential learner minimises: error plus discrimination, for every hypothesis on a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class SampleLosses:
    """Error and discrimination of each hypothesis on one sample.

    Attributes
    ----------
    error : ndarray of shape (k,)
        err^Z(h), the mean chance that h is wrong.
    discrimination : ndarray of shape (k,)
        Γ^Z(h) = |γ₁₀ − γ₁₁|, the difference of the two groups' mean h among records with label 1; 0 if there are none
        such in a group, a convention that a caller who cannot use it sees by ``counts``.
    counts : (int, int)
        |Z₁₀| and |Z₁₁|.
    """

    error: np.ndarray
    discrimination: np.ndarray
    counts: tuple[int, int]

    @property
    def total(self) -> np.ndarray:
        """The loss u = Γ + err of each hypothesis."""
        return self.discrimination + self.error


def sample_losses(predictions: Any, y: Any, group: Any) -> SampleLosses:
    """Return the losses of hypotheses on a sample.

    Parameters
    ----------
    predictions : array of shape (k, n)
        h(xᵢ, aᵢ) in [0, 1] of each hypothesis at each record; `Fraction` entries stay exact.
    y, group : array of shape (n,)
        Labels and groups, 0 or 1.

    Returns
    -------
    SampleLosses
        Error, discrimination, and the two positive counts.

    References
    ----------
    CGKM, Definition 5 restricted to true positives, and § 4.
    """
    predictions, y, group = np.asarray(predictions), np.asarray(y), np.asarray(group)
    wrong = np.where(y == 1, 1 - predictions, predictions)
    cells = [(y == 1) & (group == code) for code in (0, 1)]
    counts = (int(cells[0].sum()), int(cells[1].sum()))
    error = wrong.sum(axis=1) / len(y)
    if not min(counts):
        return SampleLosses(error, 0 * error, counts)
    rates = [predictions[:, cell].sum(axis=1) / m for cell, m in zip(cells, counts, strict=True)]
    return SampleLosses(error, abs(rates[0] - rates[1]), counts)
