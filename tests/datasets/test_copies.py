"""Copies of large tables save the parsing and nothing else: what is wrong with one is found, and it is made again."""

import json
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpfair_lib._files import whole_file
from dpfair_lib.datasets import copies, find, pins
from dpfair_lib.datasets.canonical_table import DataError
from dpfair_lib.datasets.loading import load_spec


@pytest.fixture(autouse=True)
def every_table_is_large(monkeypatch):
    monkeypatch.setattr(copies, "LARGE", 1)


@pytest.fixture
def parsed(monkeypatch):
    """Count how often files are parsed."""
    times, read = [], find.read_layout

    def counted(spec, *arguments):
        times.append(spec.name)
        return read(spec, *arguments)

    monkeypatch.setattr(find, "read_layout", counted)
    return times


@pytest.fixture
def data(tiny, tiny_pins, put, parts, tmp_path):
    root = put(tmp_path / "in", parts)
    return tiny(), tiny_pins, root


def obtain(data):
    spec, pinned, root = data
    return find.obtain(spec, pinned, root=root)[0]


def test_the_second_time_the_copy_is_read_and_is_the_same(data, parsed, cache, table):
    first, second = obtain(data), obtain(data)
    assert len(parsed) == 1
    pd.testing.assert_frame_equal(first, second)
    pd.testing.assert_frame_equal(second, table.astype({"sex": "str", "town": "str"}))
    path = cache / "copies" / "tiny.parquet"
    assert path.is_file()
    noted = json.loads(pq.read_schema(path).metadata[copies.KEY])
    assert noted == copies.checksums(data[0].layouts[0], data[2])
    assert sorted(path.name for path in data[2].iterdir()) == ["first.csv", "second.csv"], (
        "never beside the data"
    )
    spec, pinned, root = data
    assert load_spec(spec, pinned, root=root).card.verified
    assert len(parsed) == 1


def test_small_tables_have_no_copy(data, parsed, cache, monkeypatch):
    monkeypatch.setattr(copies, "LARGE", 7)
    obtain(data), obtain(data)
    assert len(parsed) == 2
    assert not (cache / "copies").exists()


def _cut_off(path, content):
    path.write_bytes(content[: len(content) // 2])


def _of_another_value(path, _):
    table = pq.read_table(path)
    ages = pa.array([30, *table["age"].to_pylist()[1:]])
    pq.write_table(table.set_column(table.schema.get_field_index("age"), "age", ages), path)


def _without_a_column(path, _):
    pq.write_table(pq.read_table(path).drop(["town"]), path)


def _of_other_files(path, _):
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({copies.KEY: b'{"first.csv": "0"}'}), path)


def _without_a_note(path, _):
    pq.write_table(pq.read_table(path).replace_schema_metadata({}), path)


def _with_a_note_that_is_none(path, _):
    pq.write_table(pq.read_table(path).replace_schema_metadata({copies.KEY: b"{"}), path)


HARMS = [
    _cut_off, _of_another_value, _without_a_column, _of_other_files, _without_a_note,
    _with_a_note_that_is_none, lambda path, _: path.write_bytes(b""), lambda path, _: path.write_text("<html>"),
]  # fmt: skip


@pytest.mark.parametrize("harm", HARMS)
def test_a_copy_that_does_not_verify_is_made_again_and_never_used(data, parsed, cache, harm):
    first, path = obtain(data), cache / "copies" / "tiny.parquet"
    harm(path, path.read_bytes())
    pd.testing.assert_frame_equal(obtain(data), first)
    assert len(parsed) == 2
    pd.testing.assert_frame_equal(obtain(data), first)
    assert len(parsed) == 2, "the new copy is used"


def test_whichever_byte_of_a_copy_is_changed_the_table_is_right(data, cache):
    first, path = obtain(data), cache / "copies" / "tiny.parquet"
    content = path.read_bytes()
    for at in np.linspace(0, len(content) - 1, 60).astype(int):
        path.write_bytes(content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :])
        pd.testing.assert_frame_equal(obtain(data), first)


def test_a_file_that_became_wrong_is_an_error_as_before(data, put, parts, parsed):
    first = obtain(data)
    put(data[2], {"first.csv": parts["first.csv"].replace("31", "32")})
    with pytest.raises(DataError, match="what differs: 'age'"):
        obtain(data)
    put(data[2], parts)
    pd.testing.assert_frame_equal(obtain(data), first)
    assert len(parsed) == 2, "the copy of the right file is still there"
    (data[2] / "first.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"has second\.csv but not first"):
        obtain(data)


def test_a_cache_that_cannot_be_written_does_no_harm(data, parsed, cache):
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text("a file where the folder should be")
    obtain(data), obtain(data)
    assert len(parsed) == 2


def test_another_process_that_writes_the_copy_is_not_waited_for(data, parsed, cache):
    path = cache / "copies" / "tiny.parquet"
    path.parent.mkdir(parents=True)
    with whole_file(path) as partial:
        obtain(data)
        partial.write_bytes(b"half")
    obtain(data), obtain(data)
    assert len(parsed) == 2


@pytest.mark.parametrize("absent", ["pyarrow", "platformdirs"])
def test_without_the_extra_it_works_as_before(data, tmp_path, absent, monkeypatch, parsed):
    monkeypatch.setitem(sys.modules, absent, None)
    obtain(data), obtain(data)
    assert len(parsed) == 2
    assert not list(tmp_path.rglob("*.parquet"))


def old_digest(values):
    """Return the checksum as it was first written: each value as text, whether it occurred before or not."""
    import hashlib

    plain = values.tolist()
    text = "\n".join(map(repr, plain) if values.dtype.kind == "f" else map(str, plain))
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([3, 1, 3, -(2**63), 2**63 - 1]), pd.Series([], dtype="int64"), pd.Series([], dtype="str"),
        pd.Series([0.0, -0.0, 0.1, 0.1, np.nan, np.inf, -np.inf, 5e-324]), pd.Series([1.5], dtype="float64"),
        pd.Series(["a", "", "é", "a\nb", "1"], dtype="str"), pd.Series(["a", None, "a"], dtype="str"),
        pd.Series(["a", 1, None, "a"], dtype=object), pd.Series([True, False, True]),
    ],
)  # fmt: skip
def test_the_faster_checksum_is_the_same(values):
    assert pins.column_digest(values) == old_digest(values)


def test_the_real_celeba_is_copied_once_and_verified(real_data, parsed):
    real_data("celeba")
    from dpfair_lib.datasets.loading import load

    first, second = load("celeba"), load("celeba")
    assert parsed == ["celeba"]
    pd.testing.assert_frame_equal(first.X, second.X)
    pd.testing.assert_series_equal(first.sensitive_features, second.sensitive_features)
    assert first.card == second.card
