"""The recorded trials of Tables 5.1–5.4, read once, and their summaries taken a second time in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pandas as pd

from dpfair_lib.experiments.records import read_record

DATA = ("compas", "adult")
PUBLISHED = 10  # splits 0–9 are the published ones


@cache
def trials(data: str) -> pd.DataFrame:
    """Return all recorded trials of one data set."""
    return read_record(f"thesis-tables-{data}")[0]


@cache
def published(data: str) -> pd.DataFrame:
    """Return the trials on the published splits."""
    rows = trials(data)
    return rows[rows["split"] < PUBLISHED]


@cache
def times() -> pd.DataFrame:
    """Return what OPT and Fair Projection took in one run."""
    return read_record("thesis-projection-times")[0]


@cache
def exact(data: str, *key: Any, splits: int | None = None) -> tuple[tuple[Fraction, ...], ...]:
    """Return accuracy, parity gap and odds gap of every trial as exact decimals, by split.

    Parameters
    ----------
    data : str
        Data set.
    *key
        Method, variant, notion and level, None where there is none.
    splits : int, optional
        How many of the first splits; all by default.
    """
    rows = _lines(data)[key]
    return tuple(
        tuple(Fraction(str(row[name])) for name in ("accuracy", "parity", "odds")) for row in rows[:splits]
    )


@cache
def tolerances(data: str, notion: str) -> tuple[float, ...]:
    """Return the tolerances that were run, sorted."""
    return tuple(sorted({key[3] for key in _lines(data) if key[0] == "Fair Projection" and key[2] == notion}))


@cache
def _lines(data: str) -> dict[tuple[Any, ...], list[dict[Any, Any]]]:
    found: dict[tuple[Any, ...], list[dict[Any, Any]]] = {}
    for row in trials(data).to_dict("records"):
        key = tuple(
            None if row[name] != row[name] or row[name] is None else row[name]
            for name in ("method", "variant", "notion", "level")
        )
        found.setdefault(key, []).append(row)
    return {key: sorted(rows, key=lambda row: row["split"]) for key, rows in found.items()}


def mean(values: list[Fraction]) -> Fraction:
    """Return the mean."""
    return sum(values, Fraction(0)) / len(values)


def variance(values: list[Fraction]) -> Fraction:
    """Return the variance with divisor n − 1."""
    centre = mean(values)
    return sum(((value - centre) ** 2 for value in values), Fraction(0)) / (len(values) - 1)
