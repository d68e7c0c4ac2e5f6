"""Every defect of a file is named: which file, what was expected, what was found, what to do."""

import pytest

from dpfair_lib.datasets import DataError
from dpfair_lib.datasets.loading import load_spec


def _whole(table):
    return table.to_csv(index=False)


DEFECTS = {
    "empty file": ("", "expected a table, found an empty file"),
    "only blanks": (" \n\n", "found an empty file"),
    "web page": (
        "\n<!DOCTYPE html><html><body>404</body></html>",
        "found an HTML page; .*download",
    ),
    "old web page": ("<HTML><BODY>moved", "found an HTML page"),
    "xhtml page": ('<?xml version="1.0"?>\n<html xmlns="x">', "found an HTML page"),
    "not UTF-8": (lambda t: _whole(t).encode("utf-16"), "expected UTF-8 text, found other bytes at 0"),
    "binary": (lambda t: _whole(t).encode() + b"\0\1", "found a binary file"),
    "unclosed quote": (
        lambda t: _whole(t).replace("31", '"31'),
        "found 1 in line 7, the last|found 1 fields? in",
    ),
    "cut between rows": (lambda t: _whole(t[:3]), "expected 6 rows, found 3; it may have been cut off"),
    "cut within a row": (lambda t: _whole(t)[:-6], "expected 6 fields, found 4 in line 7, the last"),
    "rows added": (lambda t: _whole(t) + "1,1,m,Up,1,0\n", "expected 6 rows, found 7; rows were added"),
    "missing column": (
        lambda t: _whole(t.drop(columns="town")),
        "expected a column 'town', found only age, score",
    ),
    "column twice": (lambda t: _whole(t.assign(Age=1)), "expected a column 'age', found it twice"),
    "no header": (
        lambda t: t.to_csv(index=False, header=False),
        "expected a column 'age', found only 31, 0.5",
    ),
    "no number": (
        lambda t: _whole(t).replace("53", "5e"),
        "a whole number in column 'age', found '5e' in row 3",
    ),
    "no whole number": (
        lambda t: _whole(t).replace("53", "53.5"),
        "whole number in column 'age', found '53.5'",
    ),
    "missing number": (
        lambda t: _whole(t).replace("53,", ","),
        "whole number in column 'age', found '' in row 3",
    ),
    "not finite": (lambda t: _whole(t).replace("53", "inf"), "a whole number in column 'age', found 'inf'"),
    "no real number": (
        lambda t: _whole(t).replace("7.5", "?"),
        "a number in column 'score', found '\\?' in row 6",
    ),
    "changed number": (lambda t: _whole(t).replace("53", "54"), "what differs: 'age';"),
    "changed word": (lambda t: _whole(t).replace("Up", "up"), "what differs: 'town';"),
    "two columns": (lambda t: _whole(t.assign(age=1, code=1)), "what differs: 'age', 'code';"),
    "rows moved": (lambda t: _whole(t[::-1]), "every column: perhaps only the order of the rows"),
}


@pytest.mark.parametrize(("spoil", "message"), DEFECTS.values(), ids=DEFECTS)
def test_defect_is_named(spoil, message, tiny, tiny_pins, table, put, tmp_path):
    root = put(tmp_path / "in", {"whole.csv": spoil(table) if callable(spoil) else spoil})
    with pytest.raises(DataError, match=message) as caught:
        load_spec(tiny(), tiny_pins, root=root)
    assert str(root / "whole.csv") in str(caught.value)
    assert "replace the file by the publisher's" in str(caught.value) or "download the file" in str(
        caught.value
    )
    assert "first.csv from http://127.0.0.1:9/first.csv" in str(caught.value)


def test_wrong_file_is_not_passed_over(tiny, tiny_pins, parts, put, tmp_path, monkeypatch):
    put(tmp_path / "shared" / "tiny", parts)
    monkeypatch.setenv("DPFAIR_DATA", str(tmp_path / "shared"))
    root = put(tmp_path / "mine", {"whole.csv": ""})
    with pytest.raises(DataError, match="mine"):
        load_spec(tiny(), tiny_pins, root=root)
    (root / "whole.csv").unlink()
    assert load_spec(tiny(), tiny_pins, root=root).card.source == "$DPFAIR_DATA"


def test_defect_in_one_of_two_files_names_that_file(tiny, tiny_pins, parts, put, tmp_path):
    root = put(tmp_path / "in", parts | {"second.csv": parts["second.csv"].splitlines()[0]})
    with pytest.raises(DataError, match=r"second\.csv: expected 2 rows, found 0"):
        load_spec(tiny(), tiny_pins, root=root)


def test_files_exchanged_is_seen(tiny, tiny_pins, table, put, tmp_path):
    files = {"first.csv": table[2:].to_csv(index=False), "second.csv": table[:2].to_csv(index=False)}
    with pytest.raises(DataError, match="order of the rows"):
        load_spec(tiny(), tiny_pins, root=put(tmp_path / "in", files))


def test_half_of_the_files_is_an_error(tiny, tiny_pins, parts, put, tmp_path, publisher):
    root = put(tmp_path / "in", {"first.csv": parts["first.csv"]})
    with pytest.raises(FileNotFoundError, match=r"in has first\.csv but not second\.csv"):
        load_spec(tiny(publisher.base), tiny_pins, root=root)
    assert publisher.asked == []


def test_other_form_beside_half_of_the_files_is_used(tiny, tiny_pins, table, parts, put, tmp_path):
    files = {"first.csv": parts["first.csv"], "whole.csv": table.to_csv(index=False)}
    assert len(load_spec(tiny(), tiny_pins, root=put(tmp_path / "in", files)).y) == 6


@pytest.mark.parametrize("given", ["root", "$DPFAIR_DATA"])
def test_folder_that_is_none(given, tiny, tiny_pins, put, tmp_path, monkeypatch):
    put(tmp_path, {"file": "x"})
    for folder in (tmp_path / "typo", tmp_path / "file"):
        if given != "root":
            monkeypatch.setenv("DPFAIR_DATA", str(folder))
        with pytest.raises(
            FileNotFoundError, match="expected a folder with data sets, found no folder"
        ) as caught:
            load_spec(tiny(), tiny_pins, root=folder if given == "root" else None, download=False)
        assert str(caught.value).startswith(given)
        assert str(folder) in str(caught.value)


def test_absence_says_what_from_where_and_where_to(tiny, tiny_pins, tmp_path, cache):
    with pytest.raises(FileNotFoundError) as caught:
        load_spec(tiny(), tiny_pins, root=tmp_path, download=False)
    for part in (
        "first.csv + second.csv or whole.csv",
        f"{tmp_path / 'tiny'} (root), {tmp_path} (root), {cache / 'tiny'} (cache)",
        "first.csv from http://127.0.0.1:9/first.csv, second.csv from http://127.0.0.1:9/second.csv",
        f"into {cache / 'tiny'}",
        "folder tiny/ inside the folder that the environment variable DPFAIR_DATA names (not set)",
    ):
        assert part in str(caught.value)
    assert not cache.exists()
