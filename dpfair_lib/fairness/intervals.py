"""Confidence intervals for rates and for their differences between groups, valid at every sample size.

They assume that the rows are independent draws from one distribution, and that the classifier was not fitted on them.
Given the rows' groups (and labels, if a rate is conditional on them), the rows of different cells are then
independent, and so are their intervals.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from dpfair_lib._arguments import inside_unit, one_of
from dpfair_lib._validation import same_rows
from dpfair_lib.fairness.rows import correct, rates_by_group, read_rows, sums_by_group

Method = Literal["clopper-pearson", "chernoff"]
Notion = Literal[
    "demographic_parity", "equal_opportunity", "equalized_odds", "mean_equalized_odds", "accuracy_parity"
]


@same_rows
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

    Examples
    --------
    >>> from dpfair_lib.fairness import rate_interval
    >>> low, high = rate_interval([30, 10], [50, 50])
    >>> print(low.round(3), high.round(3))
    [0.452 0.1  ] [0.736 0.337]
    """
    from scipy.stats import beta

    k, n = _counts(positives, counts)
    level = inside_unit(level, "level")
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


@same_rows
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

    Examples
    --------
    >>> from dpfair_lib.fairness import gap_interval
    >>> low, high = gap_interval([30, 10], [50, 50])
    >>> print(round(float(low), 2), round(float(high), 2))
    0.08 0.66
    """
    k, n = _counts(positives, counts)
    level = inside_unit(level, "level")
    ends = rate_interval(k, n, level=level ** (1 / k.shape[-1]), method=method)
    low, high = _differences(*ends)
    return low.max(axis=(-1, -2)), high.max(axis=(-1, -2))


@same_rows
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

    Examples
    --------
    Two groups: positives among 100 people of label 0 each, then among 100 of label 1.

    >>> from dpfair_lib.fairness import mean_odds_interval
    >>> low, high = mean_odds_interval([[20, 10], [80, 60]], [[100, 100], [100, 100]])
    >>> print(round(float(low), 2), round(float(high), 2))
    0.0 0.35
    """
    k, n = _counts(positives, counts)
    if k.ndim < 2 or k.shape[-2] != 2:
        raise ValueError(f"positives: found shape {k.shape}, expected (..., 2, groups), labels 0 and 1")
    level = inside_unit(level, "level")
    ends = rate_interval(k, n, level=level ** (1 / (2 * k.shape[-1])), method=method)
    low, high = (side.mean(axis=-3) for side in _differences(*ends))
    return low.max(axis=(-1, -2)), high.max(axis=(-1, -2))


def gap_interval_from_rows(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    notion: Notion = "demographic_parity",
    level: float = 0.95,
    method: Method = "clopper-pearson",
    pos_label: Any = None,
) -> tuple[float, float]:
    """Return an interval for a fairness metric of the population from which the rows were drawn.

    It counts the rows of each group, and then is `dpfair_lib.fairness.gap_interval` or its kin. It covers the metric of
    the population with probability at least ``level``, at every number of rows, if these are independent draws and the
    classifier was not fitted on them.

    Parameters
    ----------
    y_true : array of shape (n,) or None
        Labels 0 and 1, or any two with ``pos_label``. Demographic parity does not use them.
    y_pred : array of shape (n,)
        Predicted labels, or with ``method="chernoff"`` also the probabilities of a randomised classifier.
    sensitive_features : array of shape (n,) or (n, c)
        Group of each row; of several columns, the tuple of its values.
    notion : str
        Which metric: ``"demographic_parity"``, ``"equal_opportunity"``, ``"equalized_odds"``,
        ``"mean_equalized_odds"`` or ``"accuracy_parity"``, the difference between groups of that name.
    level : float
        Confidence, in (0, 1).
    method : {"clopper-pearson", "chernoff"}
        As in `dpfair_lib.fairness.rate_interval`.
    pos_label : label, optional
        The label that counts as positive, where the labels are two others than 0 and 1, such as words.

    Returns
    -------
    low, high : float
        Ends of the interval, in [0, 1].

    Raises
    ------
    ValueError
        As the metric; if the notion, the level or the method is none of these; if ``"clopper-pearson"`` is asked for
        probabilities.

    Examples
    --------
    Of 50 people in each group, 30 and 10 are selected. The gap is 0.4 in these rows; with 95% confidence the
    population's is between 0.08 and 0.66.

    >>> import dpfair_lib as dpf
    >>> y_pred, group = [1] * 30 + [0] * 20 + [1] * 10 + [0] * 40, ["a"] * 50 + ["b"] * 50
    >>> low, high = dpf.gap_interval_from_rows(None, y_pred, sensitive_features=group)
    >>> print(round(low, 2), round(high, 2))
    0.08 0.66
    """
    one_of(notion, "notion", get_args(Notion))
    rows = read_rows(
        y_true, y_pred, sensitive_features, None, pos_label, labels_count=notion != "demographic_parity"
    )
    counted = rows.y_pred
    cells: list[int | None] = [None]
    if notion == "accuracy_parity":
        counted = correct(rows)
    elif notion != "demographic_parity":
        cells = [1] if notion == "equal_opportunity" else [0, 1]
    for label in cells:
        rates_by_group(rows, counted, label)  # refuses an empty cell
    sums = [sums_by_group(rows, counted, label) for label in cells]
    positives, sizes = [total for total, _ in sums], [size for _, size in sums]
    found: tuple[Any, Any]
    if notion == "mean_equalized_odds":
        found = mean_odds_interval(positives, sizes, level=level, method=method)
    elif notion == "equalized_odds":
        found = _worst_odds_interval(positives, sizes, level, method)
    else:
        found = gap_interval(positives[0], sizes[0], level=level, method=method)
    return float(found[0]), float(found[1])


def _worst_odds_interval(positives: Any, sizes: Any, level: float, method: Method) -> tuple[float, float]:
    """Return an interval for the larger of both labels' gaps: each label's of the square root of the level."""
    level = inside_unit(level, "level")
    # rows of different labels are independent, so the levels of the two intervals multiply
    low, high = gap_interval(positives, sizes, level=level**0.5, method=method)
    return low.max(), high.max()


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
