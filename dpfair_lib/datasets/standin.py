"""Synthetic substitutes ("stand-ins") for the data sets, with the same columns, group sizes and label rates.

A stand-in is drawn from ``standin.toml`` alone. That file records how many rows each group has with each label, and
the distribution of each column among these rows (rates rounded to four digits, quantiles without the extremes).
Columns are drawn independently of one another, given group and label. So no drawn row is a person's record, and the
dependence between columns is lost.

Independent columns that each know the label would together predict it far better than the real columns do. So a
value is drawn given the row's own label only with probability `Spec.signal`; otherwise it is drawn given a label
drawn at random with the group's rate. This keeps each column's distribution within a group. ``signal`` is chosen such
that logistic regression is about as accurate as on the real data.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import pandas as pd

from dpfair_lib._validation import as_count
from dpfair_lib.datasets.loading import categories_of, prepare, spec_of
from dpfair_lib.datasets.spec import DataCard, Dataset, Spec

Facts = Mapping[str, Any]
_HEADER = """\
# Facts that the stand-ins are drawn from: aggregates of data sets that their publisher, the UCI Machine Learning
# Repository, licenses as CC BY 4.0, of public records published by ProPublica (compas), and of tables that others
# made public (adult-26k, lsac, celeba, acs-income). Citations: the data sets' cards. Written by
# dpfair_lib.datasets.standin.render, never by hand."""
_LEVELS = (0.005, 0.025, *(twentieth / 20 for twentieth in range(1, 20)), 0.975, 0.995)


MOST_ROWS = 100_000_000


def synthetic(name: str, *, n: int | None = None, random_state: int | np.random.Generator) -> Dataset:
    """Draw synthetic rows with the columns, types, group sizes and label rates of a data set.

    No row is a person's record. The dependence between columns is lost, so use these rows to try code, not to
    learn about people or to compare methods.

    Parameters
    ----------
    name : str
        A name that `load` knows, such as ``"adult"``.
    n : int or None
        Number of rows, divided among groups and labels in proportion. By default the number of rows of the data set;
        groups and labels are then exactly as frequent as there.
    random_state : int or numpy.random.Generator
        Seed. The same seed gives the same rows.

    Returns
    -------
    Dataset
        The same columns as `load` returns with the default sensitive column. Its card says that it is synthetic.

    Raises
    ------
    ValueError
        If the name is unknown, or if ``n`` is so small that some group would lack one of the labels.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> compas = dpf.synthetic("compas", n=500, random_state=0)
    >>> compas.X.shape
    (500, 7)
    >>> print(compas.y.mean())
    0.502
    """
    spec, facts = spec_of(name), recorded()[name]
    if n is not None:
        n = as_count(n, "n", 1)
        if n > MOST_ROWS:
            raise ValueError(f"n: found {n:,}, expected at most {MOST_ROWS:,}")
    try:
        rng = np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state: found {random_state!r}, expected an integer of at least 0 or a Generator"
        ) from None
    table = draw(spec, facts, n=n, rng=rng)
    return prepare(table, spec, spec.sensitive[:1], facts["categories"], _card(spec))


@cache
def recorded() -> dict[str, Facts]:
    """Return the facts about every data set, as recorded in ``standin.toml``."""
    text = resources.files(__package__).joinpath("standin.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def describe(table: pd.DataFrame, spec: Spec) -> Facts:
    """Compute the facts that a stand-in is drawn from.

    Parameters
    ----------
    table : DataFrame
        The cleaned table.
    spec : Spec
        The data set.

    Returns
    -------
    mapping
        ``cells`` (group, label, rows), ``categories`` of each categorical column, their ``rates`` in each
        cell, ``quantiles`` of each numeric column in each cell, and the values of ``tied`` columns.
    """
    group = spec.sensitive[0]
    cells = [
        ({"group": values[0], "label": values[1], "rows": len(part)}, part)
        for values, part in table.groupby([group, spec.label], sort=True)
    ]
    categories = categories_of(table, spec)
    drawn = [column for column in spec.categorical if column != group]
    return {
        "cells": [cell for cell, _ in cells],
        "categories": categories,
        "rates": {
            column: [
                [round(float((part[column] == value).mean()), 4) for value in categories[column]]
                for _, part in cells
            ]
            for column in drawn
        },
        "quantiles": {
            column: [np.quantile(part[column], _LEVELS, method="nearest").tolist() for _, part in cells]
            for column in spec.numeric
            if column not in spec.tied and column not in spec.plain
        },
        "tied": {
            column: [table.loc[table[source] == value, column].iloc[0].item() for value in categories[source]]
            for column, source in spec.tied.items()
        },
    }


def allocate(rows: np.ndarray, n: int) -> np.ndarray:
    """Divide n over cells in proportion to their sizes, by largest remainders.

    Parameters
    ----------
    rows : array
        The cells' sizes.
    n : int
        How many to divide.

    Returns
    -------
    array of int
        Counts that add up to n, each within one of its share.
    """
    share = rows * n / rows.sum()
    counts = np.floor(share).astype(np.int64)
    largest = np.argsort(counts - share, kind="stable")[: n - counts.sum()]
    counts[largest] += 1
    return counts


def draw(spec: Spec, facts: Facts, *, n: int | None, rng: np.random.Generator) -> pd.DataFrame:
    """Draw a cleaned table.

    Parameters
    ----------
    spec : Spec
        The data set.
    facts : mapping
        As `describe` returns them.
    n : int or None
        Number of rows; None for the data set's own.
    rng : numpy.random.Generator
        Source of chance.

    Returns
    -------
    DataFrame
        A table with the cleaned columns, in random order of rows.

    Raises
    ------
    ValueError
        If ``n`` is not a whole number, or leaves a cell empty.
    """
    cells = pd.DataFrame(facts["cells"])
    rows = cells["rows"].to_numpy()
    counts = rows if n is None else _proportional(cells, n)
    cell = rng.permutation(np.repeat(np.arange(len(cells)), counts))
    group = cells["group"].to_numpy()
    table: dict[str, np.ndarray] = {
        spec.sensitive[0]: group[cell],
        spec.label: cells["label"].to_numpy()[cell],
    }
    same_group = (group[:, np.newaxis] == group) * rows
    for column in spec.used:
        if column in table or column in spec.tied:
            continue
        afresh = _draw_index(same_group, cell, rng)
        source = np.where(rng.random(len(cell)) < spec.signal, cell, afresh)
        if column in facts["rates"]:
            values = np.array(facts["categories"][column])
            table[column] = values[_draw_index(np.array(facts["rates"][column]), source, rng)]
        else:
            number = _draw_number(np.array(facts["quantiles"][column]), source, rng)
            table[column] = np.rint(number) if spec.used[column] == "int" else number
    for column, by in spec.tied.items():
        at = np.searchsorted(np.array(facts["categories"][by]), table[by])
        table[column] = np.array(facts["tied"][column])[at]
    return pd.DataFrame({column: table[column] for column in spec.used}).astype(dict(spec.used))


def render(facts: Mapping[str, Facts]) -> str:
    """Return the text of ``standin.toml``; what `describe` found is recorded by writing it there.

    Parameters
    ----------
    facts : mapping
        Data set names and their facts.

    Returns
    -------
    str
        TOML.
    """
    lines = [_HEADER]
    for name, entry in facts.items():
        for cell in entry["cells"]:
            lines += [
                "",
                f"[[{name}.cells]]",
                *(f"{key} = {json.dumps(value)}" for key, value in cell.items()),
            ]
        for section in ("categories", "rates", "quantiles", "tied"):
            lines += ["", f"[{name}.{section}]"]
            lines += [f'"{column}" = {json.dumps(value)}' for column, value in entry[section].items()]
    return "\n".join(lines) + "\n"


def _proportional(cells: pd.DataFrame, n: int) -> np.ndarray:
    rows = cells["rows"].to_numpy()
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n: found {n!r}, expected a positive whole number or None")
    counts = allocate(rows, int(n))
    if counts.min() == 0:
        enough = next(m for m in range(int(n), rows.sum() + 1) if allocate(rows, m).min() > 0)
        empty = cells[counts == 0].iloc[0]
        raise ValueError(
            f"n: found {n}, which leaves no row for group {empty['group']!r} with label {empty['label']!r}; "
            f"expected {enough} or more"
        )
    return counts


def _draw_index(weights: np.ndarray, cell: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one column index for each row, by the weights of the row's cell."""
    cumulative = np.cumsum(weights, axis=1)
    point = rng.random(len(cell)) * cumulative[cell, -1]
    index = np.empty(len(cell), dtype=np.int64)
    for at, bounds in enumerate(cumulative):
        index[cell == at] = np.searchsorted(bounds, point[cell == at], side="right")
    return index


def _draw_number(quantiles: np.ndarray, cell: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one number for each row, by the quantiles of the row's cell; beyond the outermost there is none."""
    point = rng.random(len(cell))
    number = np.empty(len(cell))
    for at, heights in enumerate(quantiles):
        number[cell == at] = np.interp(point[cell == at], _LEVELS, heights)
    return number


def _card(spec: Spec) -> DataCard:
    return DataCard(
        title=f"Synthetic stand-in for {spec.title}",
        publisher="drawn by dpfair_lib from aggregates",
        homepage=spec.homepage,
        licence=f"aggregates of data under {spec.licence}",
        citation=spec.citation,
        people="nobody: each row was drawn by a program and is no person's record",
        period="none",
        caveats=(
            "Columns, group sizes and label rates are those of the data set; how columns go together is not.",
            "Use it to see code run, never to learn about people or to compare methods.",
        ),
        checksum=None,
        source="synthetic",
        verified=False,
    )
