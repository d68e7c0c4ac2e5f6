"""Intervals for the mean over trials."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpfair_lib._validation import as_numbers


def mean_interval(values: Any, *, level: float = 0.95) -> tuple[float, float]:
    """Return the mean over trials and the half-width of its Student interval.

    The interval speaks of what differs between the trials and of nothing else: trials that share their test
    rows say nothing about other test rows.

    Parameters
    ----------
    values : array of shape (n,)
        One number per trial, two trials or more.
    level : float
        Confidence, in (0, 1).

    Returns
    -------
    mean, half_width : float
        The interval is mean ± half_width.

    Raises
    ------
    ValueError
        If there are fewer than two trials, a value is not finite, or the level is not in (0, 1).
    """
    from scipy.stats import t

    values = as_numbers(values, "values").astype(float)
    if len(values) < 2:
        raise ValueError(f"values: found {len(values)} trial, expected at least 2 for an interval")
    if not 0 < level < 1:
        raise ValueError(f"level: found {level}, expected a number in (0, 1)")
    error = values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean()), float(t.ppf((1 + level) / 2, len(values) - 1) * error)
