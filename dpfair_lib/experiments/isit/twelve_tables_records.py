"""The recorded trials behind Tables II–XIII, each record read once."""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd

from dpfair_lib.experiments.isit.twelve_tables_summary import with_measures
from dpfair_lib.experiments.recorded_results import read_record

DATA = ("adult", "credit")


@cache
def provenance(data: str, *, fresh: bool = False) -> dict[str, Any]:
    """Return the provenance that is recorded with the trials of one data set."""
    return recorded(data, fresh)[1]


@cache
def recorded(data: str, fresh: bool) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the record of one data set: its trials, and its provenance."""
    return read_record(record_name(data, fresh))


@cache
def trials(*, fresh: bool = False) -> pd.DataFrame:
    """Return all recorded trials, with the column ``data``; test rows as published, or redrawn."""
    return with_measures(
        pd.concat([recorded(data, fresh)[0].assign(data=data) for data in DATA], ignore_index=True)
    )


def record_name(data: str, fresh: bool) -> str:
    """Return the name of the record of one data set."""
    return f"isit-tables-{data}" + ("-fresh-test" if fresh else "")


def test_sizes(data: str) -> tuple[int, int]:
    """Return the test rows of the two groups, sorted, on the published test rows."""
    first, second = provenance(data)["parameters"]["test_groups"]
    return first, second
