"""Grids of categorical columns: the cell of each row, and the subgroups that it belongs to."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from dpfair_lib._arrays import host_array
from dpfair_lib._labels import declared_labels, places
from dpfair_lib._validation import even

MOST_CELLS = 1_000_000

Levels = Mapping[Hashable, Sequence[Any]]


def as_frame(values: Any, name: str) -> Any:
    """Return a table of columns: a DataFrame as it is, a Series as its one column, an array with numbered columns."""
    import pandas as pd

    values = host_array(values, name)
    if isinstance(values, pd.DataFrame):
        frame = values
    elif isinstance(values, pd.Series):
        frame = values.to_frame()
    else:
        array = even(values, name)
        if array.ndim not in (1, 2):
            raise ValueError(f"{name}: found shape {array.shape}, expected rows and columns")
        frame = pd.DataFrame(array.reshape(len(array), -1) if array.size else array)
    if not len(frame) or not len(frame.columns):
        raise ValueError(f"{name}: found shape {frame.shape}, expected at least one row and one column")
    if frame.columns.has_duplicates:
        raise ValueError(f"{name}: found columns {list(frame.columns)}, expected distinct names")
    return frame


def check_levels(levels: Any) -> Levels:
    """Return public levels: column → its values; raise unless each column has distinct values."""
    if not isinstance(levels, Mapping):
        raise ValueError(f"levels: found {levels!r}, expected a mapping of columns to their public values")
    for column, values in levels.items():
        declared_labels(values, "levels", where=f" for column {column!r}")
    return levels


def cell_of(frame: Any, levels: Levels, name: str) -> tuple[np.ndarray, int]:
    """Return each row's cell of the grid that its columns span, and how many cells there are.

    Parameters
    ----------
    frame : DataFrame
        Categorical columns.
    levels : mapping
        Column → its public values; columns without an entry take the values 0 and 1.
    name : str
        Of the argument, for messages.

    Raises
    ------
    ValueError
        If a value is not among the public ones, or there are more than a million cells.
    """
    cell, count = np.zeros(len(frame), dtype=np.int64), 1
    for column in frame.columns:
        values = list(levels.get(column, (0, 1)))
        codes = places(frame[column], values, name, of="", where=f" in column {column!r}")
        cell, count = cell * len(values) + codes, count * len(values)
        if count > MOST_CELLS:
            raise ValueError(f"{name}: found more than {MOST_CELLS} cells, expected fewer columns or levels")
    return cell, count


def membership(columns: Sequence[Hashable], levels: Levels, subgroups: Any) -> np.ndarray:
    """Return which subgroups each profile of the sensitive columns belongs to.

    Parameters
    ----------
    columns : sequence
        The sensitive columns, in order.
    levels : mapping
        As for `cell_of`.
    subgroups : sequence of mapping
        Each a conjunction: column → the value that its members have.

    Returns
    -------
    ndarray of shape (profiles, subgroups)
        1 for members, else 0; profiles in the order of `cell_of`.

    Raises
    ------
    ValueError
        If there is no subgroup, or one is empty or names an unknown column or value.
    """
    named = subgroups.tolist() if isinstance(subgroups, np.ndarray) else subgroups
    if not isinstance(named, Sequence) or isinstance(named, str) or not len(named):
        raise ValueError(
            f"subgroups: found {subgroups!r}, expected at least one mapping of columns to values"
        )
    subgroups = named
    spans = {column: list(levels.get(column, (0, 1))) for column in columns}
    for subgroup in subgroups:
        if not isinstance(subgroup, Mapping) or not subgroup:
            raise ValueError(f"subgroups: found {subgroup!r}, expected a mapping of columns to values")
        for column, value in subgroup.items():
            if column not in spans:
                raise ValueError(f"subgroups: found column {column!r}, expected one of {list(columns)}")
            if value not in spans[column]:
                raise ValueError(
                    f"subgroups: found {value!r} for column {column!r}, expected one of {spans[column]}"
                )
    profiles = [dict(zip(columns, values, strict=True)) for values in itertools.product(*spans.values())]
    return np.array(
        [[float(all(p[c] == v for c, v in g.items())) for g in subgroups] for p in profiles], dtype=float
    )


def conjunctions(levels: Levels, order: int) -> list[dict[Hashable, Any]]:
    """Return all conjunctions of values of exactly ``order`` of the columns, as subgroups."""
    found: list[dict[Hashable, Any]] = []
    for columns in itertools.combinations(levels, order):
        for values in itertools.product(*(levels[column] for column in columns)):
            found.append(dict(zip(columns, values, strict=True)))
    return found


def count_table(
    cell: np.ndarray, profile: np.ndarray, y: np.ndarray, cells: int, profiles: int
) -> np.ndarray:
    """Return how many rows have each cell, profile and label, of shape (cells, profiles, 2)."""
    at = (cell * profiles + profile) * 2 + y
    return np.bincount(at, minlength=cells * profiles * 2).reshape(cells, profiles, 2).astype(float)
