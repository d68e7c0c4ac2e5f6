"""The records behind Table 1 and Figures 1–3 of MPBT, read once, and what is counted in them computed a second way."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from dpfair_lib.experiments.bounded_impact_summary import FigurePoint, figure_points
from dpfair_lib.experiments.records import RESULTS, read_record

Cells = dict[tuple[str, str], Fraction]  # label and group


@cache
def data_sets() -> tuple[str, ...]:
    """Return the data sets of which there are records."""
    return tuple(name for name in ("celeba", "acs-income") if (RESULTS / f"mpbt-table-{name}.json").exists())


@cache
def recorded(what: str, data: str) -> pd.DataFrame:
    """Return the rows of the record "table", "moves" or "figures"."""
    return read_record(f"mpbt-{what}-{data}")[0]


@cache
def provenance(what: str, data: str) -> dict[str, Any]:
    """Return what is recorded beside them."""
    return read_record(f"mpbt-{what}-{data}")[1]


@cache
def points(data: str) -> dict[tuple[str, str, int, float], FigurePoint]:
    """Return the points of the figures, by problem, axis, n and ε."""
    return figure_points(recorded("figures", data))


@cache
def exact_point(
    data: str, key: tuple[str, str, int, float], model: int, grouping: str
) -> dict[str, dict[str, Fraction]]:
    """Return, for a point of the figures, levels of h* and of one private model, and the bounds, in fractions."""
    point = points(data)[key]
    rows = _cells(point.rows)
    return {
        "right": exact_levels(rows, _cells(point.counts["right"]), grouping),
        "private": exact_levels(rows, _cells(point.private[model]), grouping),
        "within": exact_bounds(rows, _cells(point.counts["within"]), grouping),
    }


def _cells(table: np.ndarray) -> Cells:
    return {(str(y), str(s)): Fraction(int(table[y, s])) for y, s in np.ndindex(*table.shape)}


def table_of(data: str, fit: str, n: int) -> pd.DataFrame:
    """Return the rows of one fit behind Table 1."""
    rows = recorded("table", data)
    return rows[(rows["fit"] == fit) & (rows["n"] == n)]


@cache
def exact_table(data: str, fit: str, n: int, which: str, grouping: str) -> dict[str, Fraction]:
    """Return the bounds of a fit behind Table 1 in fractions, for one of the constants."""
    rows = table_of(data, fit, n)
    return exact_bounds(exact_cells(rows, "rows"), exact_cells(rows, f"within {which}"), grouping)


def cut_n(data: str) -> int:
    """Return the number of training rows of the fits as run."""
    return int(provenance("table", data)["parameters"]["n"])


def exact_cells(rows: pd.DataFrame, column: str) -> Cells:
    """Return a column of counts by label and group."""
    return {
        (row["label"], row["group"]): Fraction(int(row[column]))
        for row in rows.to_dict("records")
        if row["label"] and row["group"]
    }


def exact_bounds(rows: Cells, near: Cells, grouping: str) -> dict[str, Fraction]:
    """Return the bounds of Corollary 3.3 in fractions, each written out as the corollary words it.

    The share of near rows over everyone compared with and the share in the group, and the mean of that over the groups.
    """
    labels, groups = sorted({y for y, _ in rows}), sorted({s for _, s in rows})

    def share(chosen_labels: Iterable[str], chosen_groups: Iterable[str]) -> Fraction:
        cells = [(y, s) for y in chosen_labels for s in chosen_groups]
        return sum((near[cell] for cell in cells), Fraction(0)) / sum(rows[cell] for cell in cells)

    parity = _mean([share(labels, groups) + share(labels, [s]) for s in groups])
    odds = {(y, s): share([y], groups) + share([y], [s]) for y in labels for s in groups}
    desirable = [odds[labels[-1], s] for s in groups]
    others: list[Fraction] = [] if grouping == "as run" else [Fraction(0)] * len(groups)
    return {
        "equal_opportunity": _mean([*desirable, *others]),
        "equalized_odds": parity if grouping == "as run" else _mean(list(odds.values())),
        "demographic_parity": parity,
        "accuracy_parity": parity,
        "accuracy": share(labels, groups),
    }


def exact_levels(rows: Cells, right: Cells, grouping: str) -> dict[str, Fraction]:
    """Return the mean of |F_k| for each notion from the definitions, in fractions, and the accuracy."""
    labels, groups = sorted({y for y, _ in rows}), sorted({s for _, s in rows})
    everyone = sum(rows.values(), Fraction(0))

    def rate(counts: Cells, y: Iterable[str], s: Iterable[str]) -> Fraction:
        cells = [(label, group) for label in y for group in s]
        return sum((counts[cell] for cell in cells), Fraction(0)) / sum(rows[cell] for cell in cells)

    last = labels[-1]
    chosen = {cell: right[cell] if cell[0] == last else rows[cell] - right[cell] for cell in rows}
    accuracy = sum(right.values(), Fraction(0)) / everyone
    parity = [abs(rate(right, labels, [s]) - accuracy) for s in groups]
    odds = [abs(rate(right, [y], [s]) - rate(right, [y], groups)) for y in labels for s in groups]
    selected = [abs(rate(chosen, labels, [s]) - rate(chosen, labels, groups)) for s in groups]
    opportunity = _mean(odds[len(groups) :])
    return {
        "equal_opportunity": opportunity if grouping == "as run" else opportunity / 2,
        "equalized_odds": _mean(parity if grouping == "as run" else odds),
        "demographic_parity": _mean(selected),
        "accuracy_parity": _mean(parity),
        "accuracy": accuracy,
    }


def _mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)
