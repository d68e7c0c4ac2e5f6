"""The publishers' own formats, on stand-in tables written as the publisher writes them."""

import zipfile

import pytest

from dpfair_lib.datasets import DataError
from dpfair_lib.datasets.canonical_table import read_csv


def test_archives_that_are_damaged_or_hold_several_files(tmp_path, put):
    root = put(tmp_path / "in", {"bad.zip": "PK and then nothing"})
    with pytest.raises(DataError, match="expected a zip archive, found a damaged one"):
        read_csv(root / "bad.zip")
    with zipfile.ZipFile(root / "two.zip", "w") as archive:
        archive.writestr("a.csv", "a\n1\n")
        archive.writestr("b.csv", "b\n1\n")
    with pytest.raises(DataError, match="expected an archive of one file, found 2 files"):
        read_csv(root / "two.zip")
