"""COMPAS (ProPublica, Broward County): 7,214 people scored in 2013 and 2014, 5,278 after the usual filter."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dpfair_lib.datasets.canonical_table import read_csv
from dpfair_lib.datasets.spec import File, Kind, Spec

_URL = "https://raw.githubusercontent.com/propublica/compas-analysis/master/compas-scores-two-years.csv"

# as published; empty cells are left as they are, so that these columns are text. Names and dates of birth are not read.
COLUMNS: dict[str, Kind] = {
    "age": "int",
    "c_charge_degree": "str",
    "race": "str",
    "sex": "str",
    "priors_count": "int",
    "days_b_screening_arrest": "str",
    "c_jail_in": "str",
    "c_jail_out": "str",
    "is_recid": "int",
}
CLEANED: dict[str, Kind] = {
    "age": "int",
    "c_charge_degree": "str",
    "race": "str",
    "sex": "str",
    "priors_count": "int",
    "length_of_stay": "int",
    "is_recid": "int",
}
RACES = ("African-American", "Caucasian")


def read_scores(path: Path) -> pd.DataFrame:
    """Read ProPublica's file, in which one column is there twice.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    DataFrame
        One string per cell, every column name once.

    Raises
    ------
    DataError
        If the file is not a table.
    """
    table = read_csv(path)
    return table.loc[:, ~table.columns.duplicated()]


def usual_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows that are commonly studied, and count the days in jail.

    A row is kept if the arrest was within 30 days of the screening, a case was found (``is_recid`` not −1), the charge
    is more than an ordinary traffic offence (degree not O), and race is recorded as African-American or Caucasian.

    Parameters
    ----------
    table : DataFrame
        As published.

    Returns
    -------
    DataFrame
        With ``length_of_stay``, whole days from ``c_jail_in`` to ``c_jail_out``.
    """
    days = pd.to_numeric(table["days_b_screening_arrest"], errors="coerce")
    kept = days.between(-30, 30) & (table["is_recid"] != -1) & (table["c_charge_degree"] != "O")
    found = table[kept & table["race"].isin(RACES)].reset_index(drop=True)
    stay = pd.to_datetime(found["c_jail_out"]) - pd.to_datetime(found["c_jail_in"])
    return found.assign(length_of_stay=stay.dt.days.astype("int64"))[list(CLEANED)]


SPEC = Spec(
    name="compas",
    title="COMPAS recidivism scores, Broward County",
    publisher="ProPublica",
    homepage="https://github.com/propublica/compas-analysis",
    licence="no licence stated; public records of Broward County, Florida",
    citation="Angwin, J., Larson, J., Mattu, S. and Kirchner, L. (2016). Machine Bias. ProPublica. "
    "https://www.propublica.org/article/machine-bias-risk-assessments-in-criminal-sentencing",
    people="one person who was arrested in Broward County, Florida, and given a risk score before trial",
    period="screenings of 2013 and 2014, followed for about two years",
    caveats=(
        "The label says that a new charge was recorded, not that someone did anything: it depends on whom the police "
        "arrest, and arrest rates differ between neighbourhoods and groups for other reasons than behaviour.",
        "Rows with an arrest further than 30 days from the screening, without a case found, with an ordinary traffic "
        "offence, or with another recorded race are left out, as the sources do: 1,936 of 7,214.",
        "Race was recorded by the county in its own terms, and sex in two values. They are not how everyone would "
        "describe themselves.",
        "is_recid has no fixed time of follow-up; the file also has two_year_recid, which is not used here.",
        "The published file names the people in it. Names and dates of birth are not read.",
        "Scores made from such records have been used to decide about people's liberty. Nothing here should be.",
        "Differences between groups in these data describe the records; they say nothing of causes.",
    ),
    columns=COLUMNS,
    cleaned=CLEANED,
    label="is_recid",
    positive=1,
    categorical=("c_charge_degree", "race", "sex"),
    sensitive=("race", "sex"),
    layouts=((File("compas-scores-two-years.csv", 7_214, read_scores, _URL),),),
    words={"c_charge_degree": {"F": "felony", "M": "misdemeanour"}},
    clean=usual_rows,
    signal=1.0,
)
