"""Summary of the experiments with support vector machines: means over splits, and paired differences."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dpfair_lib.experiments.intervals import mean_interval

OVERLAP = 1 / 4  # test rows over other rows, for intervals that speak of rows not yet seen
Cell = tuple[str, float | None]
"""A method and its ε, or None."""


def with_gap(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `private_svms.run_trial` with ``gap``, the larger of the two rates' differences."""
    return rows.assign(gap=rows[["false_positive", "true_positive"]].max(axis=1))


def by_split(rows: pd.DataFrame, cell: Cell) -> pd.DataFrame:
    """Return the trials of one method at one ε, a line per split.

    Parameters
    ----------
    rows : DataFrame
        From `with_gap`, of one data set.
    cell : tuple of str and float or None
        Method and ε.

    Returns
    -------
    DataFrame
        Indexed by split, sorted.

    Raises
    ------
    ValueError
        If there is no such trial, or a split has two.
    """
    method, level = cell
    chosen = rows["level"].isna() if level is None else rows["level"] == level
    found = rows[chosen & (rows["method"] == method)].set_index("split").sort_index()
    if found.empty or found.index.has_duplicates:
        raise ValueError(f"cell: found {len(found)} trials of {cell}, expected one for every split")
    return found


def interval(rows: pd.DataFrame, measure: str, cell: Cell, **options: Any) -> tuple[float, float]:
    """Return mean and half-width of a measure over the splits, see `mean_interval`."""
    return mean_interval(by_split(rows, cell)[measure], **options)


def difference(
    rows: pd.DataFrame, measure: str, one: Cell, other: Cell, **options: Any
) -> tuple[float, float]:
    """Return mean and half-width of the paired difference of a measure, the first minus the second.

    Parameters
    ----------
    rows : DataFrame
        From `with_gap`, of one data set.
    measure : str
        ``"error"`` or ``"gap"``.
    one, other : tuple of str and float or None
        As for `by_split`.
    **options
        For `mean_interval`.

    Returns
    -------
    tuple of float
        Mean over the splits, half-width of its interval.

    Raises
    ------
    ValueError
        As `by_split`; or if the two have other splits.
    """
    first, second = by_split(rows, one)[measure], by_split(rows, other)[measure]
    if not first.index.equals(second.index):
        raise ValueError(f"other: found other splits of {other} than of {one}, expected the same")
    return mean_interval(first - second, **options)
