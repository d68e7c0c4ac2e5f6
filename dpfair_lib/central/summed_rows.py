"""Rows as the post-processor without privacy counts them: those that are alike in one, and weights without extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpfair_lib._arrays import Space
from dpfair_lib._validation import as_numbers, refuse

SMALLEST_WEIGHT = 1e-12


def summed_rows(
    y_pred: Any, truth: Any, codes: Any, weights: Any, groups: int, space: Space
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray, np.ndarray]:
    """Return one row on the host for each group, label and true label that occurs, with the weight of all such rows."""
    cells = 2 * codes + y_pred
    if truth is not None:
        cells = 2 * cells + truth
    kinds = 2 if truth is None else 4
    counts = space.counts(cells, kinds * groups)
    totals = counts.astype(float) if weights is None else space.totals(cells, weights, kinds * groups)
    found = np.flatnonzero(counts)
    place = found // (kinds // 2)
    return place % 2, None if truth is None else found % 2, place // 2, totals[found]


def scaled_weights(sample_weight: Any, space: Space) -> tuple[Any, float]:
    """Return the weights, divided by a power of two so that the largest is about 1, and that power."""
    weights = as_numbers(sample_weight, "sample_weight", space)
    weights = space.astype(weights, space.real)
    refuse(weights < 0, weights, "sample_weight", "numbers of at least 0", space)
    largest = float(space.xp.max(weights))
    if largest == 0:
        raise ValueError("sample_weight: found no positive weight, expected some in every group")
    if (smallest := float(space.xp.min(weights[weights > 0]))) < SMALLEST_WEIGHT * largest:
        raise ValueError(
            f"sample_weight: found {smallest:g} beside {largest:g}, expected 0 or at least {SMALLEST_WEIGHT:g} of the "
            "largest, as floats lose smaller ones"
        )
    unit = float(np.ldexp(1.0, min(int(np.frexp(largest)[1]), 1023)))
    return weights / unit, unit
