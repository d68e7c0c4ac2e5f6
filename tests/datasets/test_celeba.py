import zipfile
from dataclasses import replace

import pytest

from dpfair_lib.datasets import DataError, celeba, pins
from dpfair_lib.datasets.canonical_table import read_csv, read_layout
from dpfair_lib.datasets.loading import load_spec
from dpfair_lib.datasets.spec import File

NAMES = list(celeba.CLEANED)
PHOTOGRAPHS = [
    ["000001.jpg", *["-1", "1"] * 20],
    ["000002.jpg", *["1", "-1"] * 20],
    ["000003.jpg", *["1"] * 40],
]


def test_celeba_zipped_plain_and_as_its_authors_give_it_are_one_table(tmp_path, put):
    text = "\n".join(",".join(row) for row in [["filename", *NAMES], *PHOTOGRAPHS]) + "\n"
    kaggle = text.replace("filename", "image_id")
    listed = "3\n" + " ".join(NAMES) + "\n" + "\n".join("  ".join(row) for row in PHOTOGRAPHS) + "\n"
    root = put(tmp_path / "in", {"plain.csv": kaggle, "list.txt": listed})
    with zipfile.ZipFile(root / "zipped.csv.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("celeba.csv", text)
    readers = {"plain.csv": read_csv, "list.txt": celeba.read_list, "zipped.csv.zip": read_csv}
    spec = replace(celeba.SPEC, layouts=tuple((File(name, 3, read),) for name, read in readers.items()))
    tables = [read_layout(spec, layout, root) for layout in spec.layouts]
    assert all(table.equals(tables[0]) for table in tables)
    data = load_spec(spec, pins.measure(spec, tables[0]), root=root)
    assert data.X.shape == (3, 38)
    assert data.numeric_features == data.feature_names
    assert "Young" in data.feature_names
    assert data.y.tolist() == [1, 0, 1]
    young = load_spec(spec, pins.measure(spec, tables[0]), root=root, sensitive=["Male", "Young"])
    assert young.sensitive_features.tolist() == ["not Male & Young", "Male & not Young", "Male & Young"]
    assert "Young" not in young.feature_names


def test_celeba_list_cut_off_in_a_line(tmp_path, put):
    root = put(
        tmp_path / "in",
        {"list.txt": "2\n" + " ".join(NAMES) + "\n" + " ".join(PHOTOGRAPHS[0]) + "\n0002.jpg 1\n"},
    )
    with pytest.raises(DataError, match="expected 41 fields, found 2 in line 4"):
        celeba.read_list(root / "list.txt")
