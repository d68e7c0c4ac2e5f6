"""Summary of the trials of Algorithm 2: means with intervals, and the gain over the constant classifier."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dpfair_lib.experiments.intervals import mean_interval
from dpfair_lib.experiments.isit.algorithm_2 import PLAIN, PRIVATE


def with_gaps(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `algorithm_2.compare_on_splits` with the parity gaps as further columns ``gap, drawn_gap``."""
    return rows.assign(
        gap=(rows["rate_0"] - rows["rate_1"]).abs(),
        drawn_gap=(rows["drawn_rate_0"] - rows["drawn_rate_1"]).abs(),
    )


def select(
    rows: pd.DataFrame, method: str, target: float | None = None, noise: str | None = None
) -> pd.DataFrame:
    """Return one method's rows, by split; target and noise count for private methods only."""
    chosen = rows[rows["method"] == method]
    if method in PRIVATE:
        chosen = chosen[(chosen["target"] == target) & (chosen["noise"] == noise)]
    return with_gaps(chosen).set_index("split")


def summarize(rows: pd.DataFrame, *, noise: str, test_to_train: float = 0.0) -> pd.DataFrame:
    """Return means and half-widths of 95 % intervals, with one row per target and method.

    Parameters
    ----------
    rows : DataFrame
        From `algorithm_2.compare_on_splits`.
    noise : {"printed", "stated"}
        Which runs.
    test_to_train : float
        As in `mean_interval`; 1/3 for redrawn test rows, a quarter of all.

    Returns
    -------
    DataFrame
        ``accuracy, ± accuracy, gap, ± gap, drawn gap, ± drawn gap``, and ``over constant, ± over constant``:
        the accuracy's difference from the constant classifier's, paired over the splits. Target "–" stands
        for methods without privacy.
    """
    columns = ("accuracy", "gap", "drawn_gap")
    base = select(rows, "constant")["accuracy"]
    table = []
    keys = [("–", None, method) for method in PLAIN]
    keys += [(f"{t:g}", t, method) for t in sorted(rows["target"].dropna().unique()) for method in PRIVATE]
    for shown, target, method in keys:
        chosen = select(rows, method, target, noise)
        line: dict[str, Any] = {"ε′": shown, "method": method}
        for name, values in (
            *((name, chosen[name]) for name in columns),
            ("over constant", chosen["accuracy"] - base),
        ):
            label = name.replace("_", " ")
            line[label], line[f"± {label}"] = mean_interval(values, test_to_train=test_to_train)
        table.append(line)
    return pd.DataFrame(table).set_index(["ε′", "method"])
