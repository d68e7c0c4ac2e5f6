"""Adult (UCI, "Census Income"): 48,842 records, 45,222 without missing values."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dpfair_lib.datasets.canonical_table import read_csv
from dpfair_lib.datasets.spec import File, Kind, Spec

_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/"

COLUMNS: dict[str, Kind] = {
    "age": "int",
    "workclass": "str",
    "fnlwgt": "int",
    "education": "str",
    "education-num": "int",
    "marital-status": "str",
    "occupation": "str",
    "relationship": "str",
    "race": "str",
    "sex": "str",
    "capital-gain": "int",
    "capital-loss": "int",
    "hours-per-week": "int",
    "native-country": "str",
    "income": "str",
}


def read_part(path: Path) -> pd.DataFrame:
    """Read ``adult.data`` or ``adult.test`` as UCI publishes them.

    Neither has a header. The second opens with a comment line and ends its labels with a dot.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    DataFrame
        One string per cell.

    Raises
    ------
    DataError
        If the file is not a table of 15 columns.
    """
    return _without_dot(read_csv(path, columns=tuple(COLUMNS), comment="|"))


def read_whole(path: Path) -> pd.DataFrame:
    """Read both parts from one CSV with a header row.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    DataFrame
        One string per cell.

    Raises
    ------
    DataError
        If the file is not a table.
    """
    return _without_dot(read_csv(path))


def complete_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Drop the rows in which a value is missing (``?``)."""
    return table[~(table == "?").any(axis=1)].reset_index(drop=True)


def _without_dot(table: pd.DataFrame) -> pd.DataFrame:
    if "income" in table:
        table["income"] = table["income"].str.removesuffix(".")
    return table


SPEC = Spec(
    name="adult",
    title='Adult (also "Census Income")',
    publisher="UCI Machine Learning Repository",
    homepage="https://archive.ics.uci.edu/dataset/2/adult",
    licence="CC BY 4.0",
    citation="Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. doi:10.24432/C5XW20",
    people="one adult of 17 or more in the United States who answered the Current Population Survey",
    period="1994",
    caveats=(
        "The label says whether yearly income was above 50,000 dollars of 1994, true of about one row in four; "
        "findings may change with the threshold.",
        "Rows with a missing value are left out (3,620 of 48,842). They are not a random part: 13.2 % of them "
        "have the label 1, against 24.8 % of the others.",
        "Sex was recorded in two values and race in five, in the survey's terms of the time. They are not how "
        "everyone would describe themselves.",
        "fnlwgt is a sampling weight of the survey, not a property of a person; the sources use it as a feature.",
        "The rows are not weighted, so rates here are rates in the file, not in the population.",
        "capital-gain is cut off at 99,999; education-num repeats education as a number.",
        "Differences between groups in these data describe the records; they say nothing of causes.",
    ),
    columns=COLUMNS,
    label="income",
    positive=">50K",
    categorical=(
        "workclass",
        "education",
        "marital-status",
        "occupation",
        "relationship",
        "race",
        "sex",
        "native-country",
    ),
    sensitive=("sex", "race", "marital-status", "native-country"),
    layouts=(
        (
            File("adult.data", 32_561, read_part, _URL + "adult.data"),
            File("adult.test", 16_281, read_part, _URL + "adult.test"),
        ),
        (File("adult.csv", 48_842, read_whole),),
    ),
    clean=complete_rows,
    signal=0.8,
    tied={"education-num": "education"},
)
