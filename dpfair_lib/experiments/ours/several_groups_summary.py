"""Summary of the comparison for several groups: means, paired differences with intervals, and ratios of times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from dpfair_lib.experiments.intervals import mean_interval
from dpfair_lib.experiments.ours.private_learners_summary import verdict
from dpfair_lib.experiments.ours.several_groups_data import SHARES
from dpfair_lib.experiments.ours.several_groups_methods import (
    ERRORS,
    GRADIENT,
    GRADIENT_BOUND,
    NOTIONS,
    OPTIMIZER,
)

OVERLAP = SHARES[2] / (1 - SHARES[2])
"""Test rows over the others, for intervals that speak of rows not yet seen from the same source."""
ROUNDING = 1e-9
"""Errors that differ by less are equal but for rounding."""


class Cell(NamedTuple):
    """A method with its settings, as in the rows of a record."""

    method: str
    notion: str
    gamma: float | None = None
    epsilon: float | None = None


def by_split(rows: pd.DataFrame, cell: Cell, column: str) -> pd.Series:
    """Return a column for one method, indexed by split.

    Parameters
    ----------
    rows : DataFrame
        From `several_groups.run_trial`, of one data set.
    cell : Cell
        Which method.
    column : str
        Which column.

    Raises
    ------
    ValueError
        If there is no such trial, or a split has two.
    """
    kept = (rows["method"] == cell.method) & (rows["notion"] == cell.notion)
    for name in ("gamma", "epsilon"):
        wanted = getattr(cell, name)
        kept &= rows[name].isna() if wanted is None else rows[name] == wanted
    found = rows[kept].set_index("split")[column].sort_index()
    if found.empty or found.index.has_duplicates:
        raise ValueError(f"cell: found {len(found)} trials of {cell}, expected one for every split")
    return found


def difference(
    rows: pd.DataFrame, one: Cell, other: Cell, column: str, *, level: float
) -> tuple[float, float]:
    """Return mean and half-width of a paired difference over the splits that both have, the first minus the second.

    The interval is Student's, corrected for the overlap of the splits (Nadeau and Bengio).

    Parameters
    ----------
    rows : DataFrame
        Of one data set.
    one, other : Cell
        Which methods.
    column : str
        Which column.
    level : float
        Confidence.
    """
    apart = (by_split(rows, one, column) - by_split(rows, other, column)).dropna()
    return mean_interval(apart, level=level, test_to_train=OVERLAP)


def pairs(rows: pd.DataFrame) -> list[tuple[Cell, Cell]]:
    """Return our least errors and fairlearn's `ThresholdOptimizer` under the same constraints."""
    there = rows[rows["method"] == OPTIMIZER][["notion", "gamma"]].drop_duplicates()
    return [
        (Cell(ERRORS, notion, gamma), Cell(OPTIMIZER, notion, gamma))
        for notion, gamma in there.itertuples(index=False)
    ]


def beside_optimizer(rows: Mapping[str, pd.DataFrame], *, level: float = 0.95) -> pd.DataFrame:
    """Return ours minus `ThresholdOptimizer` for every data set, notion and γ.

    Parameters
    ----------
    rows : mapping
        By data set.
    level : float
        Confidence with which all intervals of one column hold, by Bonferroni's inequality over the lines of the table.

    Returns
    -------
    DataFrame
        ``post_worst`` and ``post_median``: of the difference of errors over the splits, on the rows of
        post-processing; ``more``: splits in which ours has more errors there. For each of ``error``, ``gap`` and
        ``distance`` the mean difference on test rows, with ``_half`` its interval, and with ``_verdict`` where that
        lies. ``faster`` and ``slowest``: median and least over the splits of their time over ours, for fit and
        prediction.
    """
    lines = [(data, *pair) for data, found in rows.items() for pair in pairs(found)]
    each = 1 - (1 - level) / len(lines)
    table: list[dict[str, Any]] = []
    for data, one, other in lines:
        found = rows[data]
        post = by_split(found, one, "post_error") - by_split(found, other, "post_error")
        ratio = seconds(found, other) / seconds(found, one)
        line: dict[str, Any] = {
            "data": data, "notion": one.notion, "gamma": one.gamma,
            "post_median": float(post.median()), "post_worst": float(post.max()),
            "more": int((post > ROUNDING).sum()), "splits": len(post),
            "faster": float(ratio.median()), "slowest": float(ratio.min()),
        }  # fmt: skip
        table.append(line | on_test_rows(found, one, other, ("error", "gap", "distance"), level=each))
    return pd.DataFrame(table)


def beside_gradient(
    rows: Mapping[str, pd.DataFrame], *, method: str = GRADIENT, level: float = 0.95
) -> pd.DataFrame:
    """Return ours at γ = 0 minus `ExponentiatedGradient` on test rows, for every data set and notion.

    Parameters
    ----------
    rows : mapping
        By data set.
    method : str
        Its name in the rows, of the variant that is meant.
    level : float
        As for `beside_optimizer`.

    Returns
    -------
    DataFrame
        ``splits``: how many both have. For each of ``error``, ``gap`` and ``distance`` as of `beside_optimizer`.
    """
    each = 1 - (1 - level) / (len(rows) * len(NOTIONS))
    table: list[dict[str, Any]] = []
    for data, found in rows.items():
        for notion in NOTIONS:
            one, other = Cell(ERRORS, notion, 0.0), Cell(method, notion, GRADIENT_BOUND)
            line = {"data": data, "notion": notion, "splits": len(by_split(found, other, "test_error"))}
            table.append(line | on_test_rows(found, one, other, ("error", "gap", "distance"), level=each))
    return pd.DataFrame(table)


def on_test_rows(
    rows: pd.DataFrame, one: Cell, other: Cell, names: tuple[str, ...], *, level: float
) -> dict[str, Any]:
    """Return paired differences on test rows: for each name the mean, with ``_half`` and ``_verdict``.

    Parameters
    ----------
    rows : DataFrame
        Of one data set.
    one, other : Cell
        Which methods.
    names : tuple of str
        What is measured, such as ``"error"``.
    level : float
        Confidence of each interval.
    """
    line: dict[str, Any] = {}
    for name in names:
        mean, half = difference(rows, one, other, f"test_{name}", level=level)
        line |= {name: mean, f"{name}_half": half, f"{name}_verdict": verdict(mean, half)}
    return line


def seconds(rows: pd.DataFrame, cell: Cell) -> pd.Series:
    """Return the time of fit and prediction together, indexed by split."""
    return by_split(rows, cell, "fit_seconds") + by_split(rows, cell, "predict_seconds")


def means(rows: pd.DataFrame, notion: str) -> pd.DataFrame:
    """Return the means over splits under one notion: a line for each method and setting.

    Parameters
    ----------
    rows : DataFrame
        Of one data set.
    notion : str
        Which notion.
    """
    kept = rows[rows["notion"] == notion]
    columns = [name for name in rows if str(name).startswith(("post_", "test_"))]
    grouped = kept.groupby(["method", "gamma", "epsilon"], dropna=False, sort=False)
    return grouped[columns].mean().assign(splits=grouped.size())


def costs(rows: pd.DataFrame, axis: str, usual: int) -> pd.DataFrame:
    """Return how time and memory grow.

    Parameters
    ----------
    rows : DataFrame
        From `several_groups_costs.measure`.
    axis : str
        ``"rows"`` or ``"groups"``, which grows.
    usual : int
        What the other one is.

    Returns
    -------
    DataFrame
        For each notion and place on the axis: ``ours`` and ``theirs``, median seconds of fit and prediction;
        ``ours_worst`` and ``theirs_worst``; ``faster`` and ``slowest``: median and least ratio over the draws;
        ``ours_memory`` and ``theirs_memory``: the largest peaks in mebibytes; ``more``: the worst difference of errors,
        ours minus theirs.
    """
    other = "groups" if axis == "rows" else "rows"
    kept = rows[rows[other] == usual].assign(seconds=rows["fit_seconds"] + rows["predict_seconds"])
    wide = kept.pivot(
        index=["notion", axis, "draw"], columns="method", values=["seconds", "mebibytes", "error"]
    )
    ours, theirs = (
        {name: wide[name, method] for name in ("seconds", "mebibytes", "error")}
        for method in (ERRORS, OPTIMIZER)
    )
    table = pd.DataFrame({
        "ours": ours["seconds"], "theirs": theirs["seconds"], "ratio": theirs["seconds"] / ours["seconds"],
        "ours_memory": ours["mebibytes"], "theirs_memory": theirs["mebibytes"],
        "more": ours["error"] - theirs["error"],
    }).groupby(level=["notion", axis], sort=False)  # fmt: skip
    median, worst, least = table.median(), table.max(), table.min()
    return pd.DataFrame({
        "ours": median["ours"], "ours_worst": worst["ours"], "theirs": median["theirs"],
        "theirs_worst": worst["theirs"], "faster": median["ratio"], "slowest": least["ratio"],
        "ours_memory": worst["ours_memory"], "theirs_memory": worst["theirs_memory"], "more": worst["more"],
    })  # fmt: skip


def memory(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the peaks of memory.

    Parameters
    ----------
    rows : DataFrame
        From `several_groups_memory.measure`.

    Returns
    -------
    DataFrame
        For each notion and method, the median and the largest peak over the splits, in mebibytes.
    """
    peaks = rows.groupby(["notion", "method"], sort=False)["mebibytes"].agg(["median", "max"])
    return peaks.apply(tuple, axis=1).unstack("method").reindex(rows["notion"].unique())
