"""What is counted in the records behind Table 1 and Figures 1–3 of MPBT, computed a second way, in fractions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from dpfair_lib.experiments.mpbt.bounded_impact import SLACK
from dpfair_lib.experiments.mpbt.bounded_impact_records import points, table_of

Cells = dict[tuple[str, str], Fraction]  # label and group


def key_of(*names: Any) -> str:
    """Return the key of a fact about something with such names: lower case, digits and underscores."""
    joined = " ".join(map(str, names)).lower().replace("ε", "epsilon")
    return re.sub("[^a-z0-9]+", "_", joined)


@cache
def exact_point(
    data: str, key: tuple[str, str, int, float], model: int, grouping: str
) -> dict[str, dict[str, Fraction]]:
    """Return, for a point of the figures, levels of h* and of one private model, and the bounds, in fractions."""
    point = points(data)[key]
    rows = cells_of(point.rows)
    return {
        "right": exact_levels(rows, cells_of(point.counts["right"]), grouping),
        "private": exact_levels(rows, cells_of(point.private[model]), grouping),
        "within": exact_bounds(rows, cells_of(point.counts["within"]), grouping),
    }


def cells_of(table: np.ndarray) -> Cells:
    """Return a table of counts by label and group, as fractions."""
    return {(str(y), str(s)): Fraction(int(table[y, s])) for y, s in np.ndindex(*table.shape)}


@cache
def exact_table(data: str, fit: str, n: int, which: str, grouping: str) -> dict[str, Fraction]:
    """Return the bounds of a fit behind Table 1 in fractions, for one of the constants."""
    rows = table_of(data, fit, n)
    return exact_bounds(cells_of_column(rows, "rows"), cells_of_column(rows, f"within {which}"), grouping)


def cells_of_column(rows: pd.DataFrame, column: str) -> Cells:
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


def exact_levels(rows: Cells, right: Cells, grouping: str) -> dict[str, Any]:
    """Return the mean of |F_k| for each notion from the definitions, in fractions, and the accuracy."""
    return {
        name: _mean([abs(value) for value in values])
        for name, values in exact_gaps(rows, right, grouping).items()
    }


def exact_gaps(rows: Cells, right: Cells, grouping: str) -> dict[str, list[Any]]:
    """Return every F_k with its sign for each notion from the definitions, and the accuracy.

    In fractions if the counts are; with arrays of counts, one for each model, arrays.
    """
    labels, groups = sorted({y for y, _ in rows}), sorted({s for _, s in rows})

    def rate(counts: Cells, y: Iterable[str], s: Iterable[str]) -> Any:
        cells = [(label, group) for label in y for group in s]
        return sum(counts[cell] for cell in cells) / sum(rows[cell] for cell in cells)

    last = labels[-1]
    chosen = {cell: right[cell] if cell[0] == last else rows[cell] - right[cell] for cell in rows}
    accuracy = rate(right, labels, groups)
    parity = [rate(right, labels, [s]) - accuracy for s in groups]
    odds = [rate(right, [y], [s]) - rate(right, [y], groups) for y in labels for s in groups]
    others = [] if grouping == "as run" else [0 * accuracy] * len(groups)
    return {
        "equal_opportunity": [*odds[len(groups) :], *others],
        "equalized_odds": parity if grouping == "as run" else odds,
        "demographic_parity": [rate(chosen, labels, [s]) - rate(chosen, labels, groups) for s in groups],
        "accuracy_parity": parity,
        "accuracy": [accuracy],
    }


def exact_projection(rows: Cells, near: Cells, grouping: str) -> dict[str, Any]:
    """Return by how much the F_k can move, on average, if of every cell at most a share of its rows changes.

    The share is that of the near rows and `SLACK`. Each F_k is linear in the four accuracies: it moves furthest where
    all of them move by their whole share, up or down.
    """
    most = {cell: min(near[cell] / rows[cell] + Fraction(str(SLACK)), Fraction(1)) for cell in rows}
    start = exact_gaps(rows, {cell: 0 * rows[cell] for cell in rows}, grouping)
    furthest = {name: [Fraction(0)] * len(values) for name, values in start.items()}
    for signs in itertools.product((-1, 1), repeat=len(rows)):
        moved = {cell: sign * most[cell] * rows[cell] for cell, sign in zip(rows, signs, strict=True)}
        for name, values in exact_gaps(rows, moved, grouping).items():
            changes = [abs(value - was) for value, was in zip(values, start[name], strict=True)]
            furthest[name] = list(map(max, furthest[name], changes))
    return {name: _mean(values) for name, values in furthest.items()}


@cache
def exact_widths(data: str, key: tuple[str, str, int, float], grouping: str) -> dict[str, dict[str, Any]]:
    """Return the bounds at a point of the figures in fractions: for each band, and by one projection."""
    point = points(data)[key]
    rows = cells_of(point.rows)
    bands = {
        name: exact_bounds(rows, cells_of(point.counts[name]), grouping)
        for name in ("within", "empirical", "first", "farthest")
    }
    return bands | {"projection": exact_projection(rows, cells_of(point.counts["near"]), grouping)}


@cache
def moved_levels(data: str, key: tuple[str, str, int, float], grouping: str) -> dict[str, np.ndarray]:
    """Return how far each private model's level is from that of the model without noise, by the definitions."""
    point = points(data)[key]
    rows = {cell: float(count) for cell, count in cells_of(point.rows).items()}
    models = {(str(y), str(s)): point.private[:, y, s] for y, s in np.ndindex(2, 2)}
    own = exact_levels(cells_of(point.rows), cells_of(point.counts["right"]), grouping)
    every = exact_levels(rows, models, grouping)  # type: ignore[arg-type]
    return {name: np.abs(values - float(own[name])) for name, values in every.items()}


def _mean(values: list[Any]) -> Any:
    return sum(values[1:], values[0]) / len(values)
