"""The records behind Table 1 and Figures 1–3 of MPBT, read once."""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd

from dpfair_lib.experiments.mpbt.bounded_impact_summary import FigurePoint, figure_points
from dpfair_lib.experiments.recorded_results import RESULTS, read_record


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
    """Return the provenance that is recorded with them."""
    return read_record(f"mpbt-{what}-{data}")[1]


@cache
def points(data: str) -> dict[tuple[str, str, int, float], FigurePoint]:
    """Return the points of the figures, by problem, axis, n and ε."""
    return figure_points(recorded("figures", data))


def table_of(data: str, fit: str, n: int) -> pd.DataFrame:
    """Return the rows of one fit behind Table 1."""
    rows = recorded("table", data)
    return rows[(rows["fit"] == fit) & (rows["n"] == n)]


def cut_n(data: str) -> int:
    """Return the number of training rows of the fits as run."""
    return int(provenance("table", data)["parameters"]["n"])
