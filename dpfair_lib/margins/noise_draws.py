"""The law of the fairness of noisy models, by simulation: for whoever knows the model without noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpfair_lib._validation import as_count, as_generator, as_groups, as_numbers, check_lengths
from dpfair_lib.fairness.linear_form import NOTIONS, desirable_labels, form_coefficients
from dpfair_lib.margins.margins import margins
from dpfair_lib.margins.projections import blocks
from dpfair_lib.privacy._arguments import positive


def noisy_fairness(
    weights: Any, y: Any, *, X: Any, sensitive_features: Any, sigma: float, draws: int,
    rng: np.random.Generator, notions: tuple[str, ...] = NOTIONS,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Return the levels of all notions for a weight vector, and for it with independent Gaussian noise.

    The rows are gone through in blocks; of the table of rows times draws only counts are kept.

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
        Notion → array of shape (1 + R, K), the model without noise first. A score of 0 counts as a wrong prediction.

    Raises
    ------
    ValueError
        If an argument is malformed, or a group lacks a label.
    """
    table, vector = np.asarray(X, dtype=float), as_numbers(weights, "weights").astype(float)
    count, generator = as_count(draws, "draws", 1), as_generator(rng, "rng")
    if table.ndim != 2 or table.shape[1] != len(vector):
        raise ValueError(
            f"X: found shape {table.shape}, expected (n, {len(vector)}), a column for each weight"
        )
    margins(np.zeros(len(table)), y)  # labels 0 and 1, one for each row
    labels, label = as_groups(y, "y")
    levels, group = as_groups(sensitive_features)
    check_lengths(X=table, y=label, sensitive_features=group)
    models = vector + np.vstack(
        [np.zeros(len(vector)), positive(sigma, "sigma") * generator.normal(size=(count, len(vector)))]
    )
    codes = label * len(levels) + group
    cells = len(labels) * len(levels)
    rows = np.bincount(codes, minlength=cells)
    if len(labels) < 2 or not rows.all():
        raise ValueError(
            "sensitive_features: found a group without a label, expected both labels in every group"
        )
    right = np.zeros((1 + count, cells))
    for cell in range(cells):
        signed = table[codes == cell] * (1 if cell >= len(levels) else -1)
        for part in blocks(len(signed), len(models)):
            right[:, cell] += np.count_nonzero(signed[part] @ models.T > 0, axis=0)
    joint = (rows / rows.sum()).reshape(len(labels), len(levels))
    return {notion: _levels(right / rows, joint, notion, labels) for notion in notions}


def _levels(accuracies: np.ndarray, joint: np.ndarray, notion: str, labels: np.ndarray) -> np.ndarray:
    constant, matrix = form_coefficients(joint, notion, desirable_labels(labels, notion, None))
    if notion == "accuracy":
        accuracies = (accuracies * joint.ravel()).sum(axis=1, keepdims=True)
    elif notion == "accuracy_parity":
        of_group = (accuracies * joint.ravel()).reshape(len(accuracies), *joint.shape).sum(axis=1)
        accuracies = of_group / joint.sum(axis=0)
    return np.asarray(constant + accuracies @ matrix.T)
