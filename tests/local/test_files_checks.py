"""What is refused by the names of the files, and what a second report is said to cost."""

import pytest
from pyarrow import ArrowInvalid

from dpfair_lib.local.files_checks import kind_of_both, reading, said_of_second
from dpfair_lib.local.frames import ColumnTypeError


def test_only_a_file_that_may_be_replaced_is_in_the_way(tmp_path):
    source, target = tmp_path / "in.csv.gz", tmp_path / "out.csv"
    source.write_bytes(b"")
    assert kind_of_both(source, target, False) == "csv"
    target.write_bytes(b"")
    with pytest.raises(FileExistsError, match=r"out\.csv: exists already, and overwrite is not set$"):
        kind_of_both(source, target, False)
    assert kind_of_both(source, target, True) == "csv"
    with pytest.raises(ValueError, match="expected two files of one kind"):
        kind_of_both(source, tmp_path / "out.parquet", True)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(IsADirectoryError, match=r"folder\.csv: found a folder, expected the name of a file"):
        kind_of_both(source, tmp_path / "folder.csv", True)


def test_errors_of_the_content_name_the_file_and_those_of_the_system_stay(tmp_path):
    source = tmp_path / "in.csv"
    for found, message in (
        (ValueError("row 3"), "in.csv: row 3"),
        (EOFError("end"), "damaged compressed file"),
    ):
        with pytest.raises(ValueError, match=message), reading(source, "csv"):
            raise found
    table = tmp_path / "in.parquet"
    for found, message in (
        (ColumnTypeError("f: found the type double"), r"in\.parquet: f: found the type double$"),
        (ValueError("Expecting value"), r"in\.parquet: found a damaged Parquet file \(Expecting value\)"),
        (ArrowInvalid("bad"), r"in\.parquet: found a damaged Parquet file \(bad\)"),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"), "found a damaged Parquet file"),
    ):
        with pytest.raises(ValueError, match=message), reading(table, "parquet"):
            raise found
    with pytest.raises(PermissionError), reading(source, "csv"):
        raise PermissionError(13, "no")


def test_a_second_report_is_said_once_for_each_reason(tmp_path):
    source, line = tmp_path / "in.csv", {"into": "a.csv", "epsilon": 1.0, "guarantee": True}
    assert said_of_second(source, "g", {}, {}) == ""
    assert "reported 2 time(s) before" in said_of_second(source, "g", {"g": [line, line]}, {})
    assert "their epsilons, 2 before this one" in said_of_second(source, "g", {"g": [line, line]}, {})
    assert said_of_second(source, "g", {}, {"g": []}).startswith("REPORTS OF REPORTS: g of in.csv")
    assert said_of_second(source, "g", {"other": [line]}, {"other": []}) == ""
