"""The recorded trials behind Tables II–XIII, read once, and their means taken a second time from scratch."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pandas as pd

from dpfair_lib.experiments.records import read_record
from dpfair_lib.experiments.table_summary import with_measures

DATA = ("adult", "credit")
TRIALS = 100


@cache
def provenance(data: str, *, fresh: bool = False) -> dict[str, Any]:
    """Return what is recorded beside the trials of one data set."""
    return read_record(_name(data, fresh))[1]


@cache
def trials(*, fresh: bool = False) -> pd.DataFrame:
    """Return all recorded trials, with the column ``data``; test rows as published, or redrawn."""
    return with_measures(
        pd.concat([read_record(_name(data, fresh))[0].assign(data=data) for data in DATA], ignore_index=True)
    )


def _name(data: str, fresh: bool) -> str:
    return f"isit-tables-{data}" + ("-fresh-test" if fresh else "")


def test_sizes(data: str) -> tuple[int, int]:
    """Return the test rows of the two groups, sorted, on the published test rows."""
    first, second = provenance(data)["parameters"]["test_groups"]
    return first, second


@cache
def _lines(fresh: bool) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for data in DATA:
        for row in read_record(_name(data, fresh))[0].to_dict("records"):
            named = (row["target"], row["strength"])
            key = (
                data,
                row["setting"],
                row["accountant"],
                row["method"],
                *(None if x != x else x for x in named),
            )
            found.setdefault(key, []).append(row)
    return {key: sorted(rows, key=lambda row: row["split"]) for key, rows in found.items()}


def exact_trials(*key: Any, fresh: bool = False) -> list[tuple[Fraction, Fraction]]:
    """Return accuracy and gap of every trial as exact decimals, of the draw where one was made.

    Parameters
    ----------
    *key
        Data set, setting, accountant, method, ε′ and λ, the last two None where there are none.
    fresh : bool
        Whether test rows were redrawn.
    """
    done = []
    for row in _lines(fresh)[key]:
        prefix = "drawn_" if row["drawn_accuracy"] == row["drawn_accuracy"] else ""
        accuracy, first, second = (
            Fraction(str(row[f"{prefix}{name}"])) for name in ("accuracy", "rate_0", "rate_1")
        )
        done.append((accuracy, abs(first - second)))
    return done


def exact_moments(values: list[Fraction]) -> tuple[Fraction, Fraction]:
    """Return mean and variance (ddof 1)."""
    mean = sum(values, Fraction(0)) / len(values)
    return mean, sum(((value - mean) ** 2 for value in values), Fraction(0)) / (len(values) - 1)
