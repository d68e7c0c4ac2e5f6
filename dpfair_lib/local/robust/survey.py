"""What a private survey says of the law of group and label."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpfair_lib._arguments import inside_unit, positive
from dpfair_lib.fairness.intervals import rate_interval
from dpfair_lib.local.robust.laws import CellBounds


def survey_bounds(counts: Any, epsilon: float, failure: float = 0.05) -> CellBounds:
    """Return bounds on the law from people who gave their label, and their group by plain response.

    Parameters
    ----------
    counts : array of shape (k, 2)
        How many people reported group z and have label y. Each reported once, independently.
    epsilon : float
        ε > 0 of k-ary randomised response.
    failure : float
        Largest probability, in (0, 1), that the law is not within the bounds.

    Returns
    -------
    CellBounds
        Bounds on all cells and on P(Y = 1) that hold together.

    Raises
    ------
    ValueError
        If a count is negative or no whole number, or a label does not occur.

    Notes
    -----
    A report z with label y has probability L·P(Y = y) + (T − L)·P(A = z, Y = y), T and L being the chances of the
    truth and of each lie. Each of the 2k shares and P(Y = 1) get a Clopper–Pearson interval of 1 − failure/(2k + 1).

    Examples
    --------
    >>> from dpfair_lib.local import survey_bounds
    >>> laws = survey_bounds([[400, 200], [300, 100]], epsilon=1.0)
    >>> [round(float(end), 2) for end in laws.positives]
    [0.26, 0.34]
    """
    table = np.asarray(counts)
    if table.ndim != 2 or table.shape[1] != 2 or len(table) < 2:
        raise ValueError(f"counts: found shape {table.shape}, expected (k, 2), k ≥ 2")
    if table.dtype.kind not in "iu" or (table < 0).any():
        raise ValueError("counts: found entries that are no counts, expected whole numbers of at least 0")
    if not table.sum(axis=0).all():
        raise ValueError("counts: found nobody with one of the labels, expected both labels")
    epsilon, failure = positive(epsilon, "epsilon"), inside_unit(failure, "failure")
    k, n = len(table), int(table.sum())
    level = 1 - failure / (2 * k + 1)
    least, most = (float(end[0]) for end in rate_interval(table[:, 1].sum(), n, level=level))
    ends = rate_interval(table, n, level=level)
    lie = 1 / (math.exp(epsilon) + k - 1)
    truth = math.exp(epsilon) * lie
    labels = np.array([[1 - most, least], [1 - least, most]])
    low = (ends[0] - lie * labels[1]) / (truth - lie)
    high = (ends[1] - lie * labels[0]) / (truth - lie)
    return CellBounds(np.clip(low, 0, 1), np.clip(high, 0, 1), (least, most))
