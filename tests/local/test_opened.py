"""Compressed files, and other delimiters."""

import bz2
import csv
import gzip
import io
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_files import GRR, LABELS, names_in, run

from dpfair_lib import Randomizer, subset_selection
from dpfair_lib.local import files_csv, randomize_file
from dpfair_lib.local.opened import kind_of
from dpfair_lib.local.releases import record_path

SWAP = Randomizer([[0.0, 1.0], [1.0, 0.0]])
PACKED = {"": lambda data: data, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
PLAIN = {"": lambda data: data, ".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
ROWS, SWAPPED = b"x,g\n" + b"007,a\n1.0,b\n" * 50, b"x,g\n" + b"007,b\n1.0,a\n" * 50


@pytest.mark.parametrize("first", PACKED)
@pytest.mark.parametrize("second", PACKED)
@pytest.mark.parametrize("block", [7, 1 << 20])
def test_files_are_compressed_as_their_names_say(tmp_path, monkeypatch, first, second, block):
    monkeypatch.setattr(files_csv, "BLOCK", block)
    source, target = tmp_path / f"in.csv{first}", tmp_path / f"out.csv{second}"
    source.write_bytes(PACKED[first](ROWS))
    told = []
    randomize_file(source, target, "g", SWAP, labels=["a", "b"], progress=lambda *now: told.append(now))
    assert PLAIN[second](target.read_bytes()) == SWAPPED
    assert names_in(tmp_path) == sorted(
        [source.name, f"{source.name}.reports.json", target.name, f"{target.name}.privacy.json"]
    )
    size = source.stat().st_size
    assert [total for _, total in told] == [size] * len(told)
    assert sorted(told) == told
    assert told[-1] == (size, size)


def test_several_members_one_after_the_other(tmp_path):
    source, target = tmp_path / "in.csv.gz", tmp_path / "out.csv"
    source.write_bytes(gzip.compress(ROWS) + gzip.compress(ROWS.removeprefix(b"x,g\n")))
    randomize_file(source, target, "g", SWAP, labels=["a", "b"])
    assert target.read_bytes() == SWAPPED + SWAPPED.removeprefix(b"x,g\n")


def test_a_compressed_file_carries_neither_a_time_nor_another_name(tmp_path):
    source = tmp_path / "in.csv"
    source.write_bytes(ROWS)
    packed = []
    for name in ("one", "two"):
        randomize_file(source, tmp_path / f"{name}.csv.gz", "g", SWAP, labels=["a", "b"])
        record_path(source).unlink()
        packed.append((tmp_path / f"{name}.csv.gz").read_bytes())
    assert packed[0] == packed[1]
    assert packed[0][3:8] == bytes(5), "no flags, and no time"


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("harm", ["cut off", "changed", "not compressed", "empty"])
def test_damaged_files_are_refused_and_leave_nothing(tmp_path, capsys, ending, harm):
    rows = b"x,g\n" + b"".join(b"%d,a\n" % i for i in np.random.default_rng(0).integers(0, 10**9, 3000))
    packed = PACKED[ending](rows)
    half = len(packed) // 2
    bad = {
        "cut off": packed[:half],
        "changed": packed[:half] + bytes(40) + packed[half + 40 :],
        "not compressed": rows,
        "empty": b"",
    }[harm]
    source = tmp_path / f"in.csv{ending}"
    source.write_bytes(bad)
    status = run(source, tmp_path / "out.csv", "--column", "g", "--labels", "a,b", "--epsilon", 1)
    message = capsys.readouterr().err
    assert status == 1
    assert str(source) in message or source.name in message
    assert "damaged compressed file" in message or (harm == "empty" and "found no first row" in message)
    assert "Traceback" not in message
    assert names_in(tmp_path) == [source.name]


def test_names_that_stand_for_nothing_are_refused(tmp_path):
    assert [kind_of(tmp_path / name) for name in ("A.CSV", "a.csv.GZ", "a.csv.xz", "a.pq", "a.parquet")] == [
        "csv", "csv", "csv", "parquet", "parquet",
    ]  # fmt: skip
    for name in ("a.gz", "a.parquet.gz", "a.csv.zip", "a.txt", "a"):
        assert kind_of(tmp_path / name) is None
        with pytest.raises(ValueError, match=r"expected two files of one kind, by their names: .*\.csv\.xz"):
            randomize_file(tmp_path / name, tmp_path / "b.csv", "g", SWAP, labels=["a", "b"])


@settings(max_examples=150)
@given(
    rows=st.lists(st.tuples(st.sampled_from("ab"), st.text('a",;\n|\t éx', max_size=8)), min_size=1, max_size=12),
    delimiter=st.sampled_from(";|\t :,"), quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    block=st.integers(1, 80),
)  # fmt: skip
def test_whatever_the_csv_module_writes_with_a_delimiter_is_randomised(
    tmp_path_factory, rows, delimiter, quoting, block
):
    folder, text = tmp_path_factory.getbasetemp(), io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, quoting=quoting).writerows([("g", "x"), *rows])
    source, target = folder / "in.csv", folder / "out.csv"
    source.write_bytes(text.getvalue().encode())
    record_path(source).unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files_csv, "BLOCK", block)
        randomize_file(source, target, "g", SWAP, labels=["a", "b"], delimiter=delimiter, overwrite=True)
    after = list(csv.reader(io.StringIO(target.read_bytes().decode(), newline=""), delimiter=delimiter))
    assert [tuple(row) for row in after if row] == [
        ("g", "x"), *(("b" if g == "a" else "a", x) for g, x in rows)
    ]  # fmt: skip


def test_labels_and_sets_that_hold_the_delimiter_are_quoted(tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("g|x\n" + '"a|1"|1\nb|2\nc|3\n' * 20)
    for labels, channel in ((["a|1", "b", "c"], GRR), (["a1", "b", "c"], subset_selection(3, 1.0, size=2))):
        source.write_text(source.read_text().replace("a|1", labels[0]))
        record_path(source).unlink(missing_ok=True)
        randomize_file(source, target, "g", channel, labels=labels, delimiter="|", overwrite=True)
        with target.open(newline="") as file:
            after = list(csv.reader(file, delimiter="|"))
        assert {len(row) for row in after} == {2}
        parts = {part for row in after[1:] for part in ([row[0]] if channel is GRR else row[0].split("|"))}
        assert parts == set(labels)


@pytest.mark.parametrize(
    ("delimiter", "status", "message"),
    [
        (";;", 2, "delimiter: found ';;', expected one ASCII character"),
        ("", 2, "delimiter: found '', expected one ASCII character"),
        ("é", 2, "delimiter: found 'é', expected one ASCII character"),
        ('"', 2, "expected a character that is no quote, line end, letter or digit"),
        ("\n", 2, "expected a character that is no quote, line end, letter or digit"),
        ("a", 2, "expected a character that is no quote, line end, letter or digit"),
        (",", 1, r"found no single 'race' in in.csv, expected one of ['race\tx']"),
        ("\\t", 0, ""),
        ("\t", 0, ""),
    ],
)
def test_delimiters_of_the_command(tmp_path, capsys, delimiter, status, message):
    source = tmp_path / "in.csv"
    source.write_text("race\tx\nBlack\t1\n")
    options = ("--column", "race", "--labels", "Black,Other", "--epsilon", 1, "--delimiter", delimiter)
    assert run(source, tmp_path / "out.csv", *options) == status
    assert message in capsys.readouterr().err
    assert (tmp_path / "out.csv").exists() == (status == 0)


def test_a_parquet_file_has_no_delimiter(tmp_path):
    (tmp_path / "in.parquet").write_bytes(b"")
    with pytest.raises(ValueError, match="delimiter: found ';' beside a Parquet file"):
        randomize_file(
            tmp_path / "in.parquet", tmp_path / "o.parquet", "g", GRR, labels=LABELS, delimiter=";"
        )
