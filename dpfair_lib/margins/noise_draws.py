"""Simulation of the group fairness of noisy models, when the model without noise is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpfair_lib._arguments import positive
from dpfair_lib._validation import as_count, as_generator, as_numbers
from dpfair_lib.fairness.linear_form import NOTIONS
from dpfair_lib.margins.coverage import fairness_of_models


def noisy_fairness(
    weights: Any, y: Any, *, X: Any, sensitive_features: Any, sigma: float, draws: int,
    rng: np.random.Generator, notions: tuple[str, ...] = NOTIONS,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Return the levels of all notions for a weight vector, and for it with independent Gaussian noise.

    The rows are processed in blocks; of the table of rows times draws only counts are stored.

    Parameters
    ----------
    weights : array of shape (d,)
        One weight vector.
    y : array of shape (n,)
        Labels 0 and 1.
    X : array of shape (n, d)
        Features.
    sensitive_features : array of shape (n,)
        Each row's group; every group needs both labels.
    sigma : float
        Standard deviation of the noise in each coordinate.
    draws : int
        R, noisy models.
    rng : numpy.random.Generator
        For the noise.
    notions : tuple of str
        Which notions.

    Returns
    -------
    dict
        Notion → array of shape (1 + R, K), the model without noise first. A score of 0 counts as a wrong prediction,
        but rows of zeros as predicted 0, as in `fairness_certificate`.

    Raises
    ------
    ValueError
        If an argument is malformed, or a group lacks a label.
    """
    vector = as_numbers(weights, "weights").astype(float)
    count, generator = as_count(draws, "draws", 1), as_generator(rng, "rng")
    steps = positive(sigma, "sigma") * generator.normal(size=(count, len(vector)))
    models = vector + np.vstack([np.zeros(len(vector)), steps])
    return fairness_of_models(models, y, X=X, sensitive_features=sensitive_features, notions=notions)
