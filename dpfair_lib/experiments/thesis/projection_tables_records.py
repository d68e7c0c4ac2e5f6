"""The recorded trials of Tables 5.1–5.4, read once."""

from __future__ import annotations

from functools import cache

import pandas as pd

from dpfair_lib.experiments.recorded_results import read_record

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
