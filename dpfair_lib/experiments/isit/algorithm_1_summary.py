"""Summary of the trials of Algorithm 1: means with intervals, and the gap to expect from estimated rates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dpfair_lib.experiments.intervals import mean_interval
from dpfair_lib.experiments.isit.algorithm_1 import METHODS


def with_gap(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `algorithm_1.compare_on_splits` with the parity gap as a further column."""
    return rows.assign(gap=(rows["rate_0"] - rows["rate_1"]).abs())


def summarize(rows: pd.DataFrame, *, test_to_train: float = 0.0) -> pd.DataFrame:
    """Return mean and half-width of the 95 % interval of accuracy and gap, a row per method in fixed order.

    Parameters
    ----------
    rows : DataFrame
        From `algorithm_1.compare_on_splits`.
    test_to_train : float
        As in `mean_interval`; 1/3 for redrawn test rows, a quarter of all.
    """
    table = []
    for method in METHODS:
        chosen = with_gap(rows[rows["method"] == method])
        cells = (mean_interval(chosen[name], test_to_train=test_to_train) for name in ("accuracy", "gap"))
        table.append((method, *(number for cell in cells for number in cell)))
    columns = ["method", "accuracy", "± accuracy", "gap", "± gap"]
    return pd.DataFrame(table, columns=columns).set_index("method")


def sampling_gap(rates: Any, target: Any, n_fit: Any, n_test: Any, *, by_score: bool = False) -> float:
    """Return the parity gap to expect on new rows because rates were estimated, by normal approximation.

    Parameters
    ----------
    rates : (float, float)
        Selection rates of the two groups before the flips.
    target : float
        The common rate.
    n_fit, n_test : (int, int)
        Rows of the two groups from which the rates were estimated, and on which the gap is measured.
    by_score : bool
        Whether flips follow a score.

    Returns
    -------
    float
        √(2/π) times the standard deviation of the difference of the two new rates. Flips at random scale a
        group's sampling error by target/rate if it goes down and by (1 − target)/(1 − rate) if it goes up; a
        score threshold has the sampling error of the rate that it sets.
    """
    variance = 0.0
    for rate, fitted, tested in zip(rates, n_fit, n_test, strict=True):
        scale = target / rate if rate > target else (1 - target) / (1 - rate)
        unit = target * (1 - target) if by_score else scale**2 * rate * (1 - rate)
        variance += unit * (1 / fitted + 1 / tested)
    return float(np.sqrt(2 / np.pi * variance))
