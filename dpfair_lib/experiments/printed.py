"""Numbers and settings printed in the sources, each typed once."""

from __future__ import annotations

import functools
import math
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd

from dpfair_lib._arguments import positive_integer

# § IV and App. B: DP-SGD's batches, clipping norm and learning rate; δ′ of all runs; ε₀ = ε₁; numbers of passes
BATCH, CLIP, LEARNING_RATE, DELTA = 1024, 1.5, 0.01, 1e-5
GROUP_EPSILON = {"adult": 0.05, "credit": 0.1}
EPOCHS = {("adult", 3): 50, ("adult", 9): 50, ("credit", 3): 50, ("credit", 9): 100}


def printed_sampling(rows: int, epochs: int) -> tuple[float, int]:
    """Return DP-SGD's sampling rate and number of steps, as the library named in the source draws batches.

    Parameters
    ----------
    rows : int
        Training rows.
    epochs : int
        Number of passes.

    Returns
    -------
    rate, steps : float, int
        1/⌈rows/1024⌉, and ⌈rows/1024⌉ steps per pass.

    Raises
    ------
    ValueError
        If rows or epochs are not integers of at least 1.
    """
    rows, epochs = positive_integer(rows, "rows"), positive_integer(epochs, "epochs")
    batches = math.ceil(rows / BATCH)
    return 1 / batches, batches * epochs


@functools.cache
def _file() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("printed.toml").read_text(encoding="utf-8"))


def printed_tables() -> pd.DataFrame:
    """Return the rows of the printed Tables II–XIII, in their order.

    Returns
    -------
    DataFrame
        ``table, data, epsilon, accountant, sigma, method, strength, accuracy, gap``: the table's Roman number,
        the data set, ε′, the accountant and standard deviation of the noise, "Algorithm 2" or "DP-FERMI", the
        latter's λ (NaN for the former), and the printed means over ten trials.

    References
    ----------
    ISIT, § IV and App. B; Tables II–V are Tables 3.1–3.4 of the thesis.

    Examples
    --------
    >>> from dpfair_lib.experiments import printed_tables
    >>> printed_tables().columns.tolist()
    ['table', 'data', 'epsilon', 'accountant', 'sigma', 'method', 'strength', 'accuracy', 'gap']
    """
    tables = _file()["table"]
    head = ("data", "epsilon", "accountant", "sigma")
    return pd.DataFrame(
        [
            {
                "table": table["name"],
                **{name: table[name] for name in head},
                "method": row["method"],
                "strength": float(row.get("strength", "nan")),
                "accuracy": row["accuracy"],
                "gap": row["gap"],
            }
            for table in tables
            for row in table["rows"]
        ]
    )


def printed_projections() -> pd.DataFrame:
    """Return the rows of the printed Tables 5.1–5.4, in their order.

    Returns
    -------
    DataFrame
        ``table, data, notion, method, variant, level, beside, accuracy, gap``: "OPT" with its ε as level, "Non-Fair",
        or "Fair Projection" with its divergence as variant and the ε of OPT that it was matched with as ``beside``; NaN
        where a column does not apply. The gap is the one that the table's notion names.

    References
    ----------
    Thesis § 5.7.4.
    """
    tables = _file()["projection"]
    rows = [
        {"table": table["name"], "data": table["data"], "notion": table["notion"], **row}
        for table in tables
        for row in table["rows"]
    ]
    columns = ["table", "data", "notion", "method", "variant", "level", "beside", "accuracy", "gap"]
    return pd.DataFrame(rows)[columns].astype({"level": float, "beside": float})


def printed_bounds(data: str) -> tuple[int, dict[str, float]]:
    """Return a row of the printed Table 1 of MPBT: the number of training records, and the bounds by notion.

    Parameters
    ----------
    data : str
        "celeba", or "acs-income", which is called folktables there.

    Raises
    ------
    ValueError
        If there is no row for the data.

    References
    ----------
    MPBT, Table 1, § 5.1.
    """
    rows = {row["data"]: (row["n"], dict(row["bounds"])) for row in _file()["bounded_impact"]}
    if data not in rows:
        raise ValueError(f"data: found {data!r}, expected one of {', '.join(rows)}")
    return rows[data]
