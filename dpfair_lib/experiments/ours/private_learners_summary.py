"""Summary of the comparison of private learners: mean accuracies, paired differences and their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpfair_lib.experiments.intervals import mean_interval

OVERLAP = 1 / 4
"""Test rows over training rows, for intervals that speak of rows not yet seen from the same source."""
LEAST_SPLITS = 5
"""A peer that ran on fewer is not compared: its interval would be of no use."""
Cell = tuple[str, float | None]
"""A method and its ε, or None."""
PEERS = {"δ = 0": ("diffprivlib",), "δ = 1/n²": ("diffprivlib", "DP-SGD of Opacus")}


def by_split(rows: pd.DataFrame, cell: Cell) -> pd.Series:
    """Return the accuracies of one method at one ε, indexed by split.

    Parameters
    ----------
    rows : DataFrame
        From `private_learners.run_trial`, of one data set.
    cell : tuple of str and float or None
        Method and ε.

    Raises
    ------
    ValueError
        If there is no such trial, or a split has two.
    """
    method, level = cell
    kept = rows["level"].isna() if level is None else rows["level"] == level
    found = rows[kept & (rows["method"] == method)].set_index("split")["accuracy"].sort_index()
    if found.empty or found.index.has_duplicates:
        raise ValueError(f"cell: found {len(found)} trials of {cell}, expected one for every split")
    return found


def difference(rows: pd.DataFrame, one: Cell, other: Cell, *, level: float) -> tuple[float, float]:
    """Return mean and half-width of the paired difference of accuracies, the first minus the second.

    The interval is Student's, corrected for the overlap of the splits (Nadeau and Bengio).

    Parameters
    ----------
    rows : DataFrame
        Of one data set.
    one, other : tuple of str and float or None
        As for `by_split`.
    level : float
        Confidence.

    Raises
    ------
    ValueError
        As `by_split`; or if the second has a split that the first has not. It may have fewer.
    """
    first, second = by_split(rows, one), by_split(rows, other)
    if not second.index.isin(first.index).all():
        raise ValueError(f"other: found splits of {other} that {one} has not, expected the same or fewer")
    first = first[second.index]
    return mean_interval(first - second, level=level, test_to_train=OVERLAP)


def comparisons(
    rows: Mapping[str, pd.DataFrame],
    ours: Mapping[tuple[str, str, float], str],
    *,
    level: float = 0.95,
    again: Mapping[str, pd.DataFrame] | None = None,
) -> pd.DataFrame:
    """Return ours beside every peer: paired differences whose intervals all hold at once.

    Parameters
    ----------
    rows : mapping
        By data set.
    ours : mapping
        (data set, δ as in `PEERS`, ε) → which of our learners is compared, chosen on other data.
    level : float
        Confidence with which all intervals hold, by Bonferroni's inequality over all that differ. A peer's distance
        from no privacy is one interval, however often it stands in the table; so is one pair of learners.
    again : mapping, optional
        By data set, rows of pairs that ran again. A line whose two learners are both there is judged by them. As some
        pairs were chosen by what the first run showed, the intervals of both runs count.

    Returns
    -------
    DataFrame
        A line for each data set, δ, ε and peer that ran on enough splits: ``ours``; ``difference`` and ``half_width``
        of the accuracies; and ``verdict``: "above", "below" or "not apart". ``gap`` and ``gap_half_width`` are the
        peer's accuracy minus that without privacy, and ``peer_loses`` says whether that interval is below 0. ``again``
        says which rows judged, and ``intervals`` how many intervals hold at once.
    """
    lines = [
        (data, delta, epsilon, peer, method)
        for (data, delta, epsilon), method in ours.items()
        for peer in PEERS[delta]
        if len(by_split(rows[data], (peer, epsilon))) >= LEAST_SPLITS
    ]
    repeated = {
        line
        for line in lines
        if again and has_cells(again.get(line[0]), (line[4], line[2]), (line[3], line[2]))
    }
    intervals = {
        (data, epsilon, one, peer, run)
        for line in lines
        for data, _, epsilon, peer, method in [line]
        for one in (method, "no privacy")
        for run in range(1 + (line in repeated))
    }
    each = 1 - (1 - level) / max(1, len(intervals))
    found: list[dict[str, Any]] = []
    for line in lines:
        data, delta, epsilon, peer, method = line
        used = again[data] if again and line in repeated else rows[data]
        mean, half = difference(used, (method, epsilon), (peer, epsilon), level=each)
        gap, gap_half = difference(used, (peer, epsilon), ("no privacy", None), level=each)
        found.append({
            "data": data, "delta": delta, "epsilon": epsilon, "peer": peer, "ours": method,
            "difference": mean, "half_width": half, "verdict": verdict(mean, half),
            "gap": gap, "gap_half_width": gap_half, "peer_loses": gap + gap_half < 0, "again": line in repeated,
            "intervals": len(intervals),
        })  # fmt: skip
    return pd.DataFrame(found)


def variances(draws: pd.DataFrame, one: Cell, other: Cell) -> tuple[float, float]:
    """Return the variance over splits of a paired difference of means over draws, and how much of it is noise.

    The draws of noise are independent, so the second is estimated without bias: for each of the two learners the
    variance over draws, averaged over splits, divided by the number of draws.

    Parameters
    ----------
    draws : DataFrame
        With a row for each ``split, draw, method, level``; the same number of draws on every split, two or more.
    one, other : tuple of str and float
        As for `by_split`.
    """
    means, noise = [], 0.0
    for method, level in (one, other):
        found = draws[(draws["method"] == method) & (draws["level"] == level)].groupby("split")["accuracy"]
        means.append(found.mean())
        noise += float((found.var() / found.count()).mean())
    return float((means[0] - means[1]).var()), noise


def has_cells(rows: pd.DataFrame | None, *cells: Cell) -> bool:
    """Return whether there are rows of each of some methods at its ε."""
    there = set() if rows is None else set(zip(rows["method"], rows["level"], strict=True))
    return all(cell in there for cell in cells)


def verdict(mean: float, half_width: float) -> str:
    """Return on which side of 0 an interval lies."""
    if mean - half_width > 0:
        return "above"
    return "below" if mean + half_width < 0 else "not apart"


def accuracies(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean accuracy over splits: a line per method, a column per ε.

    Methods without ε have the same number in every column.
    """
    levels = sorted(rows["level"].dropna().unique())
    methods = rows["method"].drop_duplicates().tolist()
    table = {}
    for method in methods:
        free = rows.loc[rows["method"] == method, "level"].isna().all()
        table[method] = [float(by_split(rows, (method, None if free else at)).mean()) for at in levels]
    return pd.DataFrame(table, index=pd.Index(levels, name="ε")).T
