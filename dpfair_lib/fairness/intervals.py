"""Confidence intervals for rates and for their differences between groups, valid at every sample size.

They assume that the rows are independent draws from one distribution, and that the classifier was not fitted on them.
Given the rows' groups (and labels, if a rate is conditional on them), the rows of different cells are then
independent, and so are their intervals.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

Method = Literal["clopper-pearson", "chernoff"]


def rate_interval(
    positives: Any, counts: Any, *, level: float = 0.95, method: Method = "clopper-pearson"
) -> tuple[np.ndarray, np.ndarray]:
    """Return an interval for a rate that covers it with probability at least ``level``, whatever the rate.

    Parameters
    ----------
    positives : array
        Positive predictions in each cell, whole numbers; for ``"chernoff"`` also sums of probabilities.
    counts : array
        Rows in each cell, at least 1; the shapes are broadcast.
    level : float
        Confidence, in (0, 1); one half of the rest on either side.
    method : {"clopper-pearson", "chernoff"}
        ``"clopper-pearson"`` inverts the two binomial tails: it is for labels. ``"chernoff"`` inverts
        exp(−n·kl(x, p)), a bound on the tails of the mean of n independent numbers in [0, 1]: it is wider,
        and holds for the probabilities of a randomised classifier too.

    Returns
    -------
    low, high : ndarray
        Ends of each interval.

    Raises
    ------
    ValueError
        If a count is below 1, positives are not between 0 and the count or, for ``"clopper-pearson"``, not
        whole; if the level is not in (0, 1).
    """
    from scipy.stats import beta

    k, n = _counts(positives, counts)
    if not 0 < level < 1:
        raise ValueError(f"level: found {level}, expected a number in (0, 1)")
    if method not in get_args(Method):
        raise ValueError(f'method: found {method!r}, expected "clopper-pearson" or "chernoff"')
    tail = (1 - level) / 2
    if method == "chernoff":
        return _chernoff(k / n, np.log(1 / tail) / n)
    if (k != np.rint(k)).any():
        raise ValueError('positives: found sums that are not whole, expected counts, or method="chernoff"')
    with np.errstate(invalid="ignore"):  # beta with a parameter 0, which the conditions replace
        low = np.where(k == 0, 0.0, beta.ppf(tail, k, n - k + 1))
        high = np.where(k == n, 1.0, beta.ppf(1 - tail, k + 1, n - k))
    return low, high


def gap_interval(
    positives: Any, counts: Any, *, level: float = 0.95, method: Method = "clopper-pearson"
) -> tuple[np.ndarray, np.ndarray]:
    """Return an interval for the largest difference between two groups' rates.

    With probability at least ``level`` all k rates lie in their intervals of level ``level ** (1/k)``, and
    then the difference lies between its extremes over these. The coverage is guaranteed and usually larger.

    Parameters
    ----------
    positives, counts : array of shape (..., k)
        As in `rate_interval`; the last axis is the group's.
    level, method
        As in `rate_interval`, for the gap.

    Returns
    -------
    low, high : ndarray of shape (...)
        Ends of the interval, in [0, 1].

    Raises
    ------
    ValueError
        As `rate_interval`.
    """
    k, n = _counts(positives, counts)
    ends = rate_interval(k, n, level=level ** (1 / k.shape[-1]), method=method)
    low, high = _differences(*ends)
    return low.max(axis=(-1, -2)), high.max(axis=(-1, -2))


def mean_odds_interval(
    positives: Any, counts: Any, *, level: float = 0.95, method: Method = "clopper-pearson"
) -> tuple[np.ndarray, np.ndarray]:
    """Return an interval for the mean equalized odds difference.

    Parameters
    ----------
    positives, counts : array of shape (..., 2, k)
        Positive predictions and rows in each group, of label 0 and of label 1.
    level, method
        As in `gap_interval`; each of the 2k rates gets an interval of level ``level ** (1/(2k))``.

    Returns
    -------
    low, high : ndarray of shape (...)
        Ends of the interval, in [0, 1].

    Raises
    ------
    ValueError
        As `rate_interval`; if the last axis but one is not of length 2.
    """
    k, n = _counts(positives, counts)
    if k.ndim < 2 or k.shape[-2] != 2:
        raise ValueError(f"positives: found shape {k.shape}, expected (..., 2, groups), labels 0 and 1")
    ends = rate_interval(k, n, level=level ** (1 / (2 * k.shape[-1])), method=method)
    low, high = (side.mean(axis=-3) for side in _differences(*ends))
    return low.max(axis=(-1, -2)), high.max(axis=(-1, -2))


def _counts(positives: Any, counts: Any) -> tuple[np.ndarray, np.ndarray]:
    k, n = np.broadcast_arrays(
        np.atleast_1d(np.asarray(positives, dtype=float)), np.asarray(counts, dtype=float)
    )
    if not ((n >= 1) & (n == np.rint(n))).all():
        raise ValueError(
            "counts: found a cell without rows or a number that is not whole, expected at least 1"
        )
    if not ((k >= 0) & (k <= n)).all():
        raise ValueError("positives: found a number outside [0, count], expected at most every row")
    return k, n


def _differences(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the extremes of |r_a − r_b| for each pair of groups, 0 for a group with itself."""
    apart = low[..., :, None] - high[..., None, :]
    apart = np.maximum(apart, np.swapaxes(apart, -1, -2))  # how far the two intervals are apart
    reach = high[..., :, None] - low[..., None, :]
    reach = np.maximum(reach, np.swapaxes(reach, -1, -2))
    return np.maximum(apart, 0.0), np.where(np.eye(low.shape[-1], dtype=bool), 0.0, reach)


def _chernoff(mean: np.ndarray, budget: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of {p : kl(mean, p) ≤ budget}, widened by less than 2⁻⁵⁰."""
    from scipy.special import xlogy

    def divergence(p: np.ndarray) -> np.ndarray:
        return xlogy(mean, mean) - xlogy(mean, p) + xlogy(1 - mean, 1 - mean) - xlogy(1 - mean, 1 - p)

    ends = []
    for outside in (np.zeros_like(mean), np.ones_like(mean)):
        inside = mean.copy()
        for _ in range(52):
            middle = (outside + inside) / 2
            within = divergence(middle) <= budget
            inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
        ends.append(outside)
    return ends[0], ends[1]
