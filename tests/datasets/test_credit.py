from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from workbooks import biff2, sheet

from dpfair_lib.datasets import DataError, credit, pins, standin
from dpfair_lib.datasets.loading import load_spec
from dpfair_lib.datasets.spec import File


def _drawn(spec, n):
    return standin.draw(spec, standin.recorded()[spec.name], n=n, rng=np.random.default_rng(1))


@pytest.fixture
def credit_table():
    table = _drawn(credit.SPEC, 60)
    table.loc[[0, 1, 2, 3], "EDUCATION"] = [0, 5, 6, 4]
    table.loc[[0, 1], "MARRIAGE"] = [0, 3]
    return table


@pytest.fixture
def small_credit():
    forms = ("credit.xls", credit.read_workbook), ("credit.csv", credit.read_csv)
    return replace(credit.SPEC, layouts=tuple((File(name, 60, read),) for name, read in forms))


def test_credit_workbook_and_csv_are_the_same(small_credit, credit_table, put, tmp_path, capsys):
    pinned = pins.measure(small_credit, credit_table)
    book = put(tmp_path / "book", {"credit.xls": biff2(sheet(credit_table))})
    text = put(tmp_path / "text", {"credit.csv": credit_table.to_csv(index=False)})
    from_book, from_text = (load_spec(small_credit, pinned, root=root) for root in (book, text))
    pd.testing.assert_frame_equal(from_book.X, from_text.X)
    assert "ID" not in from_book.X
    assert capsys.readouterr().out == ""


def test_credit_codes_are_folded(small_credit, credit_table, put, tmp_path):
    pinned = pins.measure(small_credit, credit_table)
    root = put(tmp_path / "in", {"credit.csv": credit_table.to_csv(index=False)})
    data = load_spec(small_credit, pinned, root=root)
    assert [name for name in data.X if name.startswith("EDU")] == [
        f"EDUCATION_{code}" for code in (1, 2, 3, 4)
    ]
    assert data.X.loc[[0, 1, 2, 3], "EDUCATION_4"].tolist() == [1, 1, 1, 1]
    assert data.X.loc[[0, 1], "MARRIAGE_3"].tolist() == [1, 1]
    both = load_spec(small_credit, pinned, sensitive=["MARRIAGE", "SEX"], root=root)
    assert both.sensitive_features[0].startswith("other & ")


def test_sheet_without_titles_above_the_header(credit_table):
    rows = pd.DataFrame(sheet(credit_table)[1:], dtype="object")
    assert credit.table_of_sheet(rows, "x")["LIMIT_BAL"].tolist() == credit_table["LIMIT_BAL"].tolist()


def test_sheet_without_header():
    with pytest.raises(DataError, match="book: expected a header row with 'LIMIT_BAL', found none"):
        credit.table_of_sheet(pd.DataFrame([[1, 2], [3, 4], [5, 6], ["LIMIT_BAL", "x"]]), "book")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "an empty file"),
        (b"<html></html>", "an HTML page"),
        (b"LIMIT_BAL,SEX\n1,2\n", r"expected an Excel workbook \(\.xls\), found something else"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "expected an Excel workbook"),
        (biff2([["LIMIT_BAL", "SEX"], [1, 2]])[:40], "expected an Excel workbook"),
    ],
    ids=["empty", "web page", "csv", "damaged workbook", "cut off"],
)
def test_file_that_is_no_workbook(content, message, small_credit, credit_table, put, tmp_path):
    root = put(tmp_path / "in", {"credit.xls": content})
    with pytest.raises(DataError, match=message):
        load_spec(small_credit, pins.measure(small_credit, credit_table), root=root)
