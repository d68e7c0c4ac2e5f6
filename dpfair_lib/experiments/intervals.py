"""Confidence intervals for the mean over trials."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpfair_lib._validation import as_numbers


def mean_interval(values: Any, *, level: float = 0.95, test_to_train: float = 0.0) -> tuple[float, float]:
    """Return the mean over trials and the half-width of its Student interval.

    Trials on one data set are not independent. There are two different questions. With ``test_to_train=0`` the
    interval is for the mean over all splits *of these rows*: it says nothing of other rows, and none of other
    test rows if the trials share theirs. With the ratio of test to training rows it is corrected for the overlap
    of the splits, and is approximately right for new data from the same source, if the test rows are redrawn.

    Parameters
    ----------
    values : array of shape (n,)
        One number per trial, two trials or more.
    level : float
        Confidence, in (0, 1).

    test_to_train : float
        Number of test rows over number of the other rows, at least 0.

    Returns
    -------
    mean, half_width : float
        The interval is mean ± half_width.

    Raises
    ------
    ValueError
        If there are fewer than two trials, a value is not finite, the level is not in (0, 1), or the ratio is
        negative.

    References
    ----------
    Nadeau and Bengio (2003), Inference for the Generalization Error: the corrected resampled t-test.

    Examples
    --------
    >>> from dpfair_lib.experiments import mean_interval
    >>> [round(number, 3) for number in mean_interval([0.2, 0.3, 0.4])]
    [0.3, 0.248]
    """
    from scipy.stats import t

    values = as_numbers(values, "values").astype(float)
    if len(values) < 2:
        raise ValueError(f"values: found {len(values)} trial, expected at least 2 for an interval")
    if not 0 < level < 1:
        raise ValueError(f"level: found {level}, expected a number in (0, 1)")
    if not 0 <= test_to_train < np.inf:
        raise ValueError(f"test_to_train: found {test_to_train}, expected a finite number of at least 0")
    error = values.std(ddof=1) * np.sqrt(1 / len(values) + test_to_train)
    return float(values.mean()), float(t.ppf((1 + level) / 2, len(values) - 1) * error)
