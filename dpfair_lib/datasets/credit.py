"""Credit (UCI, "Default of Credit Card Clients"): 30,000 clients of a bank in Taiwan, 2005."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from dpfair_lib._extras import extra
from dpfair_lib.datasets.canonical_table import read_bytes, read_csv, wrong
from dpfair_lib.datasets.spec import File, Kind, Spec

_REPAYMENT = (
    "PAY_0",
    "PAY_2",
    "PAY_3",
    "PAY_4",
    "PAY_5",
    "PAY_6",
)  # the publisher's names: there is no PAY_1
_AMOUNTS = tuple(f"{kind}{month}" for kind in ("BILL_AMT", "PAY_AMT") for month in range(1, 7))

COLUMNS: dict[str, Kind] = dict.fromkeys(
    ("LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE", *_REPAYMENT, *_AMOUNTS, "default payment"), "int"
)


def read_workbook(path: Path) -> pd.DataFrame:
    """Read UCI's workbook.

    Parameters
    ----------
    path : Path
        The .xls file.

    Returns
    -------
    DataFrame
        The sheet's table under its own column names.

    Raises
    ------
    DataError
        If the file is not a workbook, or its sheet has no header row with ``LIMIT_BAL``.
    """
    with extra("files"):
        import xlrd  # directly: pandas is giving up its xlrd engine

    read_bytes(path)
    try:
        sheet = xlrd.open_workbook(str(path), logfile=io.StringIO()).sheet_by_index(0)
        cells = pd.DataFrame([sheet.row_values(row) for row in range(sheet.nrows)], dtype="object")
    except Exception as error:  # what xlrd raises on a damaged workbook has no common class
        found = f"something else ({type(error).__name__}: {error})"
        raise wrong(path, expected="an Excel workbook (.xls)", found=found) from error
    return table_of_sheet(cells, path)


def table_of_sheet(sheet: pd.DataFrame, path: Path | str) -> pd.DataFrame:
    """Find the header row of UCI's sheet, which has a row of other titles (X1, X2, …) above it.

    Parameters
    ----------
    sheet : DataFrame
        All cells of the sheet, nothing taken as a header.
    path : Path or str
        The file, for the error message.

    Returns
    -------
    DataFrame
        The rows below the header, under its names; the column ``ID`` is still there.

    Raises
    ------
    DataError
        If none of the first rows is a header.
    """
    for at in range(min(3, len(sheet))):
        header = sheet.iloc[at].astype("str").str.strip().tolist()
        if "LIMIT_BAL" in header:
            return sheet.iloc[at + 1 :].reset_index(drop=True).set_axis(header, axis=1)
    raise wrong(path, expected="a header row with 'LIMIT_BAL'", found="none in the first three rows")


def fold_codes(table: pd.DataFrame) -> pd.DataFrame:
    """Fold the undocumented codes into "other": EDUCATION 0, 5, 6 into 4 and MARRIAGE 0 into 3."""
    return table.assign(
        EDUCATION=table["EDUCATION"].replace({0: 4, 5: 4, 6: 4}), MARRIAGE=table["MARRIAGE"].replace({0: 3})
    )


SPEC = Spec(
    name="credit",
    title="Default of Credit Card Clients",
    publisher="UCI Machine Learning Repository",
    homepage="https://archive.ics.uci.edu/dataset/350/default+of+credit+card+clients",
    licence="CC BY 4.0",
    citation="Yeh, I-C. (2009). Default of Credit Card Clients. UCI Machine Learning Repository. "
    "doi:10.24432/C55S3H",
    people="one credit-card client of a bank in Taiwan",
    period="April to September 2005; the label is of the month after",
    caveats=(
        "The clients are those of one bank in one half-year; nothing says how they were chosen.",
        "The label is one missed payment, not a lasting inability to pay, and the records show only what "
        "happened to people who had been given a card.",
        "Sex was recorded in two values by the bank. They are not how everyone would describe themselves.",
        "Several codes are not documented: EDUCATION 0, 5, 6 and MARRIAGE 0, folded here into other, and "
        "-2 and 0 in the repayment columns, kept as they are.",
        "The repayment columns are PAY_0, then PAY_2 to PAY_6; there is no PAY_1.",
        "Amounts are New Taiwan dollars. 35 rows repeat another row once the ID is left out.",
        "Differences between groups in these data describe the records; they say nothing of causes.",
    ),
    columns=COLUMNS,
    label="default payment",
    positive=1,
    categorical=("SEX", "EDUCATION", "MARRIAGE", *_REPAYMENT),
    sensitive=("SEX", "EDUCATION", "MARRIAGE"),
    layouts=(
        (
            File(
                "default of credit card clients.xls",
                30_000,
                read_workbook,
                "https://archive.ics.uci.edu/ml/machine-learning-databases/00350/"
                "default%20of%20credit%20card%20clients.xls",
            ),
        ),
        (File("credit-card-clients.csv", 30_000, read_csv),),
    ),
    words={
        "SEX": {1: "male", 2: "female"},
        "EDUCATION": {1: "graduate school", 2: "university", 3: "high school", 4: "other"},
        "MARRIAGE": {1: "married", 2: "single", 3: "other"},
    },
    renamed={"default payment next month": "default payment"},
    clean=fold_codes,
    signal=0.7,
)
