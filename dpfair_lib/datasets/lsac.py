"""LSAC, the bar passage study: 22,407 law students who entered in 1991, 20,427 with complete rows."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dpfair_lib.datasets.canonical_table import read_csv
from dpfair_lib.datasets.spec import File, Kind, Spec

_URL = "https://storage.googleapis.com/lawschool_dataset/bar_pass_prediction.csv"

# empty cells are left as they are, so that some columns of numbers are text
COLUMNS: dict[str, Kind] = {
    "fam_inc": "str",
    "gender": "str",
    "fulltime": "str",
    "race1": "str",
    "lsat": "float",
    "ugpa": "float",
    "pass_bar": "int",
    "empty_cells": "int",
}
CLEANED: dict[str, Kind] = {
    "fam_inc": "int",
    "gender": "str",
    "fulltime": "int",
    "race1": "str",
    "lsat": "float",
    "ugpa": "float",
    "pass_bar": "int",
}


def read_study(path: Path) -> pd.DataFrame:
    """Read the study's file and count the empty cells of each row, over all of its columns.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    DataFrame
        One string per cell, and ``empty_cells``.

    Raises
    ------
    DataError
        If the file is not a table.
    """
    table = read_csv(path)
    if "empty_cells" in table:  # the canonical table, saved
        return table
    return table.assign(empty_cells=(table == "").sum(axis=1).astype("str"))


def complete_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows without an empty cell in any column of the published file, used here or not.

    Parameters
    ----------
    table : DataFrame
        As published.

    Returns
    -------
    DataFrame
        With codes as whole numbers.
    """
    kept = table.loc[table["empty_cells"] == 0, list(CLEANED)].reset_index(drop=True)
    # as floats first: the file has "5" and "5.0"
    return kept.assign(**{name: kept[name].astype(float).astype("int64") for name in ("fam_inc", "fulltime")})


SPEC = Spec(
    name="lsac",
    title="Law School Admission Council, National Longitudinal Bar Passage Study",
    publisher="Law School Admission Council; the file by way of a tutorial on fair classification",
    homepage="https://archive.lawschooltransparency.com/reform/projects/investigations/2015/documents/NLBPS.pdf",
    licence="no licence stated; used for research",
    citation="Wightman, L. F. (1998). LSAC National Longitudinal Bar Passage Study. LSAC Research Report Series.",
    people="one person who entered a law school in the United States in 1991 and took part in the study",
    period="entry in the autumn of 1991; the bar examination up to five years later",
    caveats=(
        "The label says that someone passed a bar examination within the study, at the first or a later attempt. "
        "Nineteen of twenty in the complete rows did, so that a constant is 95 % accurate.",
        "People who left law school, or did not take the examination, are not in the label's population as equals: "
        "who is in the file at all depends on it.",
        "Complete rows are those without an empty cell in any of the 39 columns, used here or not: 1,980 rows are "
        "left out, some for lack of a grade that no one here uses.",
        "Gender was recorded in two values and race in five. They are not how everyone would describe themselves.",
        "Family income is the student's own word, in five steps relative to other families.",
        "Differences between groups in these data describe the records; they say nothing of causes.",
    ),
    columns=COLUMNS,
    cleaned=CLEANED,
    label="pass_bar",
    positive=1,
    categorical=("fam_inc", "gender", "fulltime", "race1"),
    sensitive=("gender", "fam_inc", "race1"),
    layouts=((File("bar_pass_prediction.csv", 22_407, read_study, _URL),),),
    words={
        "fam_inc": {1: "1 (lowest)", 2: "2", 3: "3", 4: "4", 5: "5 (highest)"},
        "fulltime": {1: "full time", 2: "part time"},
    },
    clean=complete_rows,
    signal=0.8,
)
