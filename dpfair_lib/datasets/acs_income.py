"""ACSIncome: answers of working people to the American Community Survey of 2018, label income above 50,000 dollars."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from dpfair_lib.datasets.canonical_table import read_bytes, wrong
from dpfair_lib.datasets.spec import File, Kind, Spec

_CODED = ("AGEP", "COW", "SCHL", "MAR", "OCCP", "POBP", "RELP", "WKHP", "SEX", "RAC1P", "PINCP")

COLUMNS: dict[str, Kind] = {"ST": "str", **dict.fromkeys(_CODED, "int")}
CLEANED: dict[str, Kind] = dict.fromkeys(_CODED, "int")

# The states and Puerto Rico by their codes in the Census Bureau's files; the task leaves out the District of Columbia.
_STATES = {
    1: "AL", 2: "AK", 4: "AZ", 5: "AR", 6: "CA", 8: "CO", 9: "CT", 10: "DE", 12: "FL", 13: "GA", 15: "HI", 16: "ID",
    17: "IL", 18: "IN", 19: "IA", 20: "KS", 21: "KY", 22: "LA", 23: "ME", 24: "MD", 25: "MA", 26: "MI", 27: "MN",
    28: "MS", 29: "MO", 30: "MT", 31: "NE", 32: "NV", 33: "NH", 34: "NJ", 35: "NM", 36: "NY", 37: "NC", 38: "ND",
    39: "OH", 40: "OK", 41: "OR", 42: "PA", 44: "RI", 45: "SC", 46: "SD", 47: "TN", 48: "TX", 49: "UT", 50: "VT",
    51: "VA", 53: "WA", 54: "WV", 55: "WI", 56: "WY", 72: "PR",
}  # fmt: skip


def read_columns(path: Path, names: tuple[str, ...]) -> pd.DataFrame:
    """Read some columns of a comma-separated file as numbers where they are numbers; the others are skipped.

    Parameters
    ----------
    path : Path
        The file, plain or compressed; of a zip archive its one ``.csv`` is read.
    names : tuple of str
        The columns.

    Returns
    -------
    DataFrame
        The columns in this order.

    Raises
    ------
    DataError
        If the file is not a table or lacks one of the columns.
    """
    content = io.BytesIO(read_bytes(path, member="*.csv"))
    try:
        table = pd.read_csv(
            content, usecols=lambda name: name in names, skipinitialspace=True, low_memory=False
        )
    except (ValueError, UnicodeDecodeError) as error:  # pandas' parser errors are ValueErrors
        raise wrong(path, expected="comma-separated values", found=str(error).strip()) from None
    if lacking := [name for name in names if name not in table]:
        raise wrong(path, expected=f"a column {lacking[0]!r}", found="only " + ", ".join(table.columns))
    return table[list(names)]


def read_state(path: Path, *, state: int) -> pd.DataFrame:
    """Read the Census Bureau's file of one state and keep what the task ACSIncome keeps of it.

    Those are people above 16 years, with an income above 100 dollars, who usually worked at least one hour a week,
    and whose weight is at least one (Ding et al. 2021, ``adult_filter``). The label is an income above 50,000
    dollars, as recorded, without adjustment; an empty code is 0, as there.

    Parameters
    ----------
    path : Path
        The person records of 2018, one year.
    state : int
        The state's code.

    Returns
    -------
    DataFrame
        The columns of `COLUMNS`.

    Raises
    ------
    DataError
        If the file is not a table, lacks a column, has a cell that is no number, is another state's, or if
        no row of it meets the conditions.
    """
    raw = read_columns(path, (*COLUMNS, "PWGTP"))
    text = [name for name in raw if raw[name].dtype.kind not in "if"]
    if len(raw) and text:
        raise wrong(path, expected=f"numbers in column {text[0]!r}", found="other text")
    if len(raw) and (raw["ST"] != state).any():
        found = ", ".join(map(str, sorted(set(raw["ST"]))[:5]))
        raise wrong(path, expected=f"ST = {state} ({_STATES[state]})", found=f"ST = {found}")
    kept = (raw["AGEP"] > 16) & (raw["PINCP"] > 100) & (raw["WKHP"] > 0) & (raw["PWGTP"] >= 1)
    if not kept.any():
        raise wrong(path, expected="person records of 2018", found=f"none of {len(raw):,} rows in the task")
    table = raw.loc[kept, list(COLUMNS)].fillna(0)
    return table.assign(ST=_STATES[state], PINCP=(table["PINCP"] > 50_000).astype(np.int64))


def _state_files(name: str) -> tuple[File, ...]:
    return tuple(
        File(name.format(code=code, letters=letters.lower()), None, partial(read_state, state=code))
        for code, letters in _STATES.items()
    )


SPEC = Spec(
    name="acs-income",
    title="American Community Survey 2018, the task ACSIncome",
    publisher="US Census Bureau; the task by Ding et al.",
    homepage="https://www2.census.gov/programs-surveys/acs/data/pums/2018/1-Year/",
    licence="public domain, a work of the government of the United States",
    citation="Ding, F., Hardt, M., Miller, J. and Schmidt, L. (2021). Retiring Adult: New Datasets for Fair Machine "
    "Learning. NeurIPS 2021. doi:10.48550/arXiv.2108.04884",
    people="one person above 16 years who worked and had an income, in the survey of 2018 in the United States",
    period="interviews of 2018; income and work in the twelve months before",
    caveats=(
        "The table whose checksum is recorded is a reduction: California and Florida are not in it, marital status "
        "has two codes instead of five and race five instead of nine, and a few rows of eight states lack. Its "
        "figures are not those of the whole country.",
        "The Census Bureau's own files of all the states are read where they are, but no checksum of theirs is "
        "recorded: the card then says that the table was not verified.",
        "Codes of occupation, place of birth, relationship and race are used as numbers, as the source did. Their "
        "order and distances mean nothing.",
        "Sex was recorded in two values, and race in those of the form. They are not how everyone would describe "
        "themselves.",
        "Income is what people said, and whether it is above 50,000 dollars says little across states and ages. The "
        "rows are not weighted, so that they are not a portrait of the country.",
        "Differences between groups in these data describe the records; they say nothing of causes.",
    ),
    columns=COLUMNS,
    cleaned=CLEANED,
    label="PINCP",
    positive=1,
    categorical=("COW", "SCHL", "MAR", "RELP", "SEX", "RAC1P"),
    plain=("COW", "SCHL", "MAR", "RELP", "RAC1P"),
    sensitive=("SEX",),
    layouts=tuple(
        (File(name, 1_369_838, partial(read_columns, names=tuple(COLUMNS))),)
        for name in ("acs_income_2018_49states.csv.gz", "acs_income_2018_49states.csv")
    ),
    unpinned=(_state_files("csv_p{letters}.zip"), _state_files("psam_p{code:02d}.csv")),
    words={"SEX": {1: "Male", 2: "Female"}},
    clean=lambda table: table[list(CLEANED)],
    folders=("acs-income", "acs", "acs/2018/1-Year"),
    signal=0.89,
)
