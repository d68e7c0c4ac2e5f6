import csv
import io
import json
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from dpfair_lib import Randomizer
from dpfair_lib.__main__ import main
from dpfair_lib.local import (
    SecondReportWarning,
    files,
    files_csv,
    files_parquet,
    generalized_randomized_response,
    randomize_file,
    randomize_frame,
    subset_selection,
)
from dpfair_lib.local.releases import KEY, record_path, releases_of, statement_path

LABELS = ["Black", "Other", "White, not Hispanic"]
GRR = generalized_randomized_response(3, 1.0)


def a_table(n=1000, seed=0):
    rng = np.random.default_rng(seed)
    race = rng.integers(0, 3, n)
    names = [["a", "", None, 'say "b"', "é, ü"][i] for i in rng.integers(0, 5, n)]
    schema = pa.schema(
        [
            pa.field("id", pa.int64(), metadata={"unit": "person"}), pa.field("race", pa.string(), nullable=False),
            pa.field("zip", pa.string()), pa.field("name", pa.large_string()),
            pa.field("income", pa.float64()), pa.field("born", pa.timestamp("us", "Europe/Vienna")),
            pa.field("sex", pa.dictionary(pa.int8(), pa.string())), pa.field("sure", pa.bool_()),
            pa.field("visits", pa.list_(pa.int32())), pa.field("price", pa.decimal128(9, 2)),
        ],
        metadata={"made": "for a test"},
    )  # fmt: skip
    columns = [
        pa.array(np.arange(n)), pa.array(np.array(LABELS)[race]), pa.array([f"{i % 100:05d}" for i in range(n)]),
        pa.array(names, pa.large_string()), pa.array(rng.normal(size=n), mask=rng.random(n) < 0.1),
        pa.array(rng.integers(0, 2**48, n)).cast(pa.timestamp("us", "Europe/Vienna")),
        pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 2, n).astype(np.int8)), pa.array(["F", "M"])),
        pa.array(rng.random(n) < 0.5, mask=rng.random(n) < 0.1), pa.array([[1, None]] * n, pa.list_(pa.int32())),
        pa.array([Decimal(int(cents)) / 4 for cents in rng.integers(0, 999, n)], pa.decimal128(9, 2)),
    ]  # fmt: skip
    return pa.table(columns, schema=schema)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def others(table):
    return table.drop(["race"])


def run(*arguments):
    return main(["randomize", *map(str, arguments)])


LISTED = 'Black,Other,"White, not Hispanic"'


@pytest.mark.parametrize("compression", ["snappy", "none", "zstd"])
@pytest.mark.parametrize("store_schema", [True, False])
def test_parquet_keeps_schema_order_and_values_of_all_other_columns(tmp_path, compression, store_schema):
    table, source, target = a_table(), tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(table, source, row_group_size=300, compression=compression, store_schema=store_schema)
    before, told = pq.read_table(source), []
    statement = randomize_file(
        source, target, "race", GRR, labels=LABELS, progress=lambda *now: told.append(now)
    )
    after, about = pq.read_table(target), pq.read_metadata(target)
    assert after.schema.equals(before.schema)
    assert [after.field(i).metadata for i in range(10)] == [before.field(i).metadata for i in range(10)]
    assert others(after).equals(others(before))
    assert set(after["race"].to_pylist()) == set(LABELS)
    assert after["race"] != before["race"]
    kept = {key: value for key, value in after.schema.metadata.items() if key != KEY}
    assert kept == (before.schema.metadata or {})
    assert about.num_row_groups == 4
    assert (
        about.row_group(1).column(0).compression
        == pq.read_metadata(source).row_group(1).column(0).compression
    )
    assert told == [(300, 1000), (600, 1000), (900, 1000), (1000, 1000)]
    assert str(statement) == json.loads(statement_path(target).read_text())["columns"]["race"][0]["text"]
    assert json.loads(about.metadata[KEY]) == json.loads(statement_path(target).read_text())
    assert names_in(tmp_path) == [
        "in.parquet", "in.parquet.reports.json", "out.parquet", "out.parquet.privacy.json"
    ]  # fmt: skip


def test_a_dictionary_has_the_labels_in_their_public_order(tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    frame = pd.DataFrame({"race": pd.Categorical(["Other"] * 5), "x": range(5)})
    frame.to_parquet(source)
    randomize_file(source, target, "race", GRR, labels=LABELS)
    out = pq.read_table(target)
    assert pa.types.is_dictionary(out.schema.field("race").type)
    back = pd.read_parquet(target)
    assert isinstance(back["race"].dtype, pd.CategoricalDtype)
    assert set(back["race"]) <= set(LABELS)
    pd.testing.assert_series_equal(back["x"], frame["x"])


def test_columns_of_numbers_and_sets_of_labels(tmp_path):
    source = tmp_path / "in.pq"
    pq.write_table(pa.table({"a": pa.array([0, 1, 2] * 50, pa.int8()), "x": range(150)}), source)
    randomize_file(source, tmp_path / "grr.pq", "a", GRR, labels=["0", "1", "2"])
    assert pq.read_schema(tmp_path / "grr.pq").field("a").type == pa.int8()
    with pytest.warns(SecondReportWarning):
        randomize_file(
            source, tmp_path / "ss.pq", "a", subset_selection(3, 0.1, size=2), labels=["0", "1", "2"]
        )
    sets = pq.read_table(tmp_path / "ss.pq")
    assert sets.schema.field("a").type.value_type == pa.int8()
    assert all(len(set(one)) == 2 for one in sets["a"].to_pylist())
    assert sets["x"].to_pylist() == list(range(150))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_without_rows(tmp_path, suffix):
    source, target = tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix}"
    if suffix == "csv":
        source.write_text("x,race\n")
    else:
        pq.write_table(a_table(0), source)
    randomize_file(source, target, "race", GRR, labels=LABELS)
    if suffix == "csv":
        assert target.read_bytes() == source.read_bytes()
    else:
        assert pq.read_table(target).equals(pq.read_table(source))
    randomize_file(source, target, "x" if suffix == "csv" else "zip", GRR, labels=LABELS, overwrite=True)


def fields(data):
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("block", [7, 64, 1 << 20])
def test_csv_keeps_every_other_byte(tmp_path, monkeypatch, end, place, last, block):
    monkeypatch.setattr(files_csv, "BLOCK", block)
    rows = [["007", '"a ""b"", c"', "1.50"], ["", '"two\nlines"', "1e3"], ["  x ", "é", '"quoted"']] * 20
    values = ['"White, not Hispanic"', "Other", '"Black"'] * 20
    full = [["zip", "name", "n"], *map(list, rows)]
    for line, value in zip(full, ["race", *values], strict=True):
        line.insert(place, value)
    text = end.join(",".join(line) for line in full) + (end if last else "")
    text = text.replace(end + "  x ", end + end + "  x ", 1)  # an empty line
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_bytes(("\ufeff" + text).encode())
    randomize_file(source, target, "race", GRR, labels=LABELS)
    old, new = fields(source.read_bytes()), fields(target.read_bytes())
    old, new = [line for line in old if line], [line for line in new if line]
    assert len(new) == 61
    assert {line[place] for line in new[1:]} == set(LABELS)
    # with the reports put back there is no difference left, to the byte
    answers = iter(line[place] for line in new[1:])
    written = [f'"{a}"' if "," in a else a for a in answers]
    for line, answer in zip(full[1:], written, strict=True):
        line[place] = answer
    expected = end.join(",".join(line) for line in full) + (end if last else "")
    expected = expected.replace(end + "  x ", end + end + "  x ", 1) if place else expected
    if place:
        assert target.read_bytes() == ("\ufeff" + expected).encode()
    assert [line[:place] + line[place + 1 :] for line in new] == [
        line[:place] + line[place + 1 :] for line in old
    ]


def test_reports_are_quoted_by_the_name_of_the_column_and_never_by_the_value(tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text('\ufeff"race",x\n' + 'Black,1\n"Other",2\n' * 50)
    randomize_file(source, target, "race", GRR, labels=LABELS)
    assert all(line.startswith('"') for line in target.read_text("utf-8-sig").splitlines())


def test_csv_of_one_column_and_sets_of_labels(tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("race\n" + "a\nb\nc\n" * 30)
    randomize_file(source, target, "race", subset_selection(3, 0.5, size=2), labels=list("abc"))
    lines = target.read_text().splitlines()
    assert lines[0] == "race"
    assert set(lines[1:]) == {"a|b", "a|c", "b|c"}
    with pytest.raises(ValueError, match=r"found 'a\|b', expected none with"):
        randomize_file(source, tmp_path / "o.csv", "race", subset_selection(2, 1), labels=["a|b", "c"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,race\n1,Black\n2,Blck\n", r"race: found 'Blck' in row 2, expected one of 'Black', 'Other'"),
        ("x,race\n1,Black\n2,\n", "race: found a missing value in row 2"),
        ("x,race\n1,Black\n2,Other,3\n", "row 2: found 3 fields, expected 2"),
        ("x,race\n1,Black\n2\n", "row 2: found 1 fields, expected 2"),
        ('x,race\n1,Black\n2" inch,Black\n3,Black\n4" inch,Other\n', "row 2: found a quote inside"),
        ('x,race\n1,Black\n"2"x,Black\n', "row 2: found a quote inside"),
        ('x,race\n1,Black\n"2,Black\n', "row 2: found an unterminated quoted field"),
        ("x,race\r1,Black\r2,Other\r", "found 4 fields, expected 2"),
        ("race\rBlack\rOther\r", "a line end without a newline"),
        ("race,x\n1,Black\r2,Other\n", "found"),
        ("x,race\n1,Black\r2,Other\n", "found 3 fields"),
        ("x,race,race\n1,Black,Other\n", "found no single 'race'"),
        ("y,x\n1,Black\n", r"found no single 'race' in in.csv, expected one of \['y', 'x'\]"),
        ("", "found no first row"),
        ("\n1,Black\n", "found no first row"),
    ],
)
@pytest.mark.parametrize("block", [9, 1 << 20])
def test_csv_that_is_refused_leaves_nothing(tmp_path, monkeypatch, text, message, block):
    monkeypatch.setattr(files_csv, "BLOCK", block)
    source = tmp_path / "in.csv"
    source.write_bytes(text.encode())
    with pytest.raises(ValueError, match=message):
        randomize_file(source, tmp_path / "out.csv", "race", GRR, labels=LABELS)
    assert names_in(tmp_path) == ["in.csv"]


def test_an_endless_row_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(files_csv, "BLOCK", 100)
    monkeypatch.setattr(files_csv, "LONGEST_ROW", 1000)
    (tmp_path / "in.csv").write_text('x,race\n"' + "a" * 5000 + '",Black\n')
    with pytest.raises(ValueError, match="row 1: found no end of the row within 1,000 bytes"):
        randomize_file(tmp_path / "in.csv", tmp_path / "out.csv", "race", GRR, labels=LABELS)


@pytest.mark.parametrize("bad", ["Blck", None])
def test_the_row_of_an_unknown_label_is_that_of_the_file(tmp_path, bad):
    values = ["Black"] * 1000
    values[777] = bad
    source = tmp_path / "in.parquet"
    pq.write_table(pa.table({"race": values}), source, row_group_size=100)
    with pytest.raises(ValueError, match=r"in row 778, expected one of"):
        randomize_file(source, tmp_path / "out.parquet", "race", GRR, labels=LABELS)
    assert names_in(tmp_path) == ["in.parquet"]


def test_nothing_is_overwritten_unless_told(tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("race\nBlack\n")
    target.write_text("mine")
    with pytest.raises(FileExistsError, match=r"out\.csv: exists already"):
        randomize_file(source, target, "race", GRR, labels=LABELS)
    assert target.read_text() == "mine"
    randomize_file(source, target, "race", GRR, labels=LABELS, overwrite=True)
    assert target.read_text().startswith("race\n")
    target.unlink()
    with pytest.raises(FileExistsError, match=r"privacy\.json"):
        randomize_file(source, target, "race", GRR, labels=LABELS)
    for wrong, message in ((source, "the source itself"), (tmp_path / "x.parquet", "two files of one kind")):
        with pytest.raises(ValueError, match=message):
            randomize_file(source, wrong, "race", GRR, labels=LABELS, overwrite=True)
    with pytest.raises(FileNotFoundError, match="no such file"):
        randomize_file(tmp_path / "no.csv", target, "race", GRR, labels=LABELS, overwrite=True)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        randomize_file(source, tmp_path / "no" / "o.csv", "race", GRR, labels=LABELS)


PEAK = """
import sys
from pathlib import Path
from dpfair_lib.__main__ import main
main(["randomize", *sys.argv[1:], "--column", "race", "--epsilon", "1", "--labels", "Black,Other"])
# not ru_maxrss, which a child inherits from the process that started it
print(int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024)
"""


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_file(tmp_path, suffix):
    peaks = {}
    for million in (1, 6):
        source = tmp_path / f"{million}.{suffix}"
        piece = pa.table({"race": ["Black", "Other"] * 500_000, "x": np.random.default_rng(0).random(10**6)})
        if suffix == "csv":
            text = b"0.123456789012345678901,Black\n" * 10**6
            with source.open("wb") as file:
                file.write(b"x,race\n")
                file.writelines([text] * million)
        else:
            pq.write_table(pa.concat_tables([piece] * million), source, row_group_size=10**7)
        done = subprocess.run(
            [sys.executable, "-c", PEAK, source, tmp_path / f"out{million}.{suffix}"],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        peaks[million] = int(done.stdout.split()[-1])
        assert source.stat().st_size > million * 8e6
    assert peaks[6] < peaks[1] + 40, peaks  # MiB; the larger file has 40 or 150 more


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_reports_have_the_law_of_the_channel(tmp_path, suffix):
    n, source, target = 60_000, tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix}"
    frame = pd.DataFrame({"race": np.repeat(["a", "b", "c"], n // 3)})
    frame.to_csv(source, index=False) if suffix == "csv" else frame.to_parquet(source)
    randomize_file(source, target, "race", GRR, labels=list("abc"))
    out = pd.read_csv(target) if suffix == "csv" else pd.read_parquet(target)
    counts = pd.crosstab(frame["race"], out["race"]).to_numpy()
    law = GRR.realized().matrix.astype(float)
    # Clopper and Pearson's intervals, all nine with probability 1 − 10⁻⁶
    for count, probability in zip(counts.ravel(), law.ravel(), strict=True):
        interval = binomtest(int(count), n // 3).proportion_ci(1 - 1e-6 / 9, "exact")
        assert interval.low <= probability <= interval.high


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_second_report_warns_and_is_marked(tmp_path, suffix, capsys):
    source = tmp_path / f"in.{suffix}"
    frame = pd.DataFrame({"race": ["a", "b"] * 20, "sex": ["f", "m"] * 20})
    frame.to_csv(source, index=False) if suffix == "csv" else frame.to_parquet(source)
    options = ("--column", "race", "--labels", "a,b")
    assert run(source, tmp_path / f"one.{suffix}", *options, "--epsilon", 1) == 0
    assert capsys.readouterr().err == ""
    assert run(source, tmp_path / f"two.{suffix}", *options, "--epsilon", 0.5) == 0
    printed = capsys.readouterr()
    assert "warning: SECOND REPORT: race of in." in printed.err
    assert "SECOND REPORT" in printed.out
    two = releases_of(tmp_path / f"two.{suffix}")["race"][0]
    assert two["epsilon_with_earlier_reports"] == pytest.approx(1.5, rel=1e-8)
    assert two["earlier_reports"][0]["into"] == f"one.{suffix}"
    assert "SECOND REPORT" in two["statement"]["note"]
    # a report without guarantee cannot be counted
    assert run(source, tmp_path / f"seeded.{suffix}", *options, "--epsilon", 1, "--seed", 0) == 0
    assert run(source, tmp_path / f"last.{suffix}", *options, "--epsilon", 1) == 0
    last = releases_of(tmp_path / f"last.{suffix}")["race"][0]
    assert last["epsilon_with_earlier_reports"] is None
    assert "without a guarantee" in capsys.readouterr().err
    # another column of the same file is no second report, and carries on what is known
    options = ("--column", "sex", "--labels", "f,m", "--epsilon", 1)
    assert run(tmp_path / f"one.{suffix}", tmp_path / f"both.{suffix}", *options) == 0
    assert capsys.readouterr().err == ""
    assert set(releases_of(tmp_path / f"both.{suffix}")) == {"race", "sex"}
    # reports of reports
    options = ("--column", "race", "--labels", "a,b", "--epsilon", 1)
    assert run(tmp_path / f"both.{suffix}", tmp_path / f"three.{suffix}", *options) == 0
    assert "REPORTS OF REPORTS: race of both" in capsys.readouterr().err
    assert len(releases_of(tmp_path / f"three.{suffix}")["race"]) == 2


def test_reports_in_a_parquet_file_are_known_without_the_file_beside_it(tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(a_table(), source)
    randomize_file(source, target, "race", GRR, labels=LABELS)
    statement_path(target).unlink()
    with pytest.warns(SecondReportWarning, match="REPORTS OF REPORTS"):
        randomize_file(target, tmp_path / "again.parquet", "race", GRR, labels=LABELS)


def test_records_that_cannot_be_used(tmp_path, monkeypatch):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("race\nBlack\n")
    record_path(source).write_text("[]")
    with pytest.raises(ValueError, match=r"in\.csv\.reports\.json: found no record"):
        randomize_file(source, target, "race", GRR, labels=LABELS)
    record_path(source).unlink()
    whole_file = files.whole_file

    def refuse(path, **options):
        if path == record_path(source):
            raise PermissionError("read-only folder")
        return whole_file(path, **options)

    monkeypatch.setattr(files, "whole_file", refuse)
    with pytest.warns(SecondReportWarning, match="could not be written"):
        randomize_file(source, target, "race", GRR, labels=LABELS)
    assert target.exists()


def test_a_seed_must_be_asked_for_and_takes_the_guarantee_away(tmp_path, capsys):
    source = tmp_path / "in.csv"
    source.write_text("race\n" + "a\nb\n" * 100)
    options = ("--column", "race", "--labels", "a,b", "--epsilon", "1")
    texts = []
    for name in ("one", "two"):
        assert run(source, tmp_path / f"{name}.csv", *options, "--seed", 7) == 0
        texts.append((tmp_path / f"{name}.csv").read_text())
    assert texts[0] == texts[1]
    assert "NO GUARANTEE" in capsys.readouterr().out
    made = releases_of(tmp_path / "one.csv")["race"][0]
    assert made["seeded"] is True
    assert made["statement"]["guarantee"] is False
    assert "7" not in json.dumps(made["statement"]["note"])
    secure = []
    for name in ("three", "four"):
        assert run(source, tmp_path / f"{name}.csv", *options) == 0
        secure.append((tmp_path / f"{name}.csv").read_text())
    assert secure[0] != secure[1]  # the same with probability 0.61^200
    assert releases_of(tmp_path / "three.csv")["race"][0]["statement"]["guarantee"] is True


def test_the_optimal_channel_needs_rates_and_says_so(tmp_path, capsys):
    source = tmp_path / "in.csv"
    source.write_text("race\n" + "a\nb\nc\n" * 10)
    common = (source, tmp_path / "out.csv", "--column", "race", "--epsilon", 1, "--mechanism", "optimal")
    assert run(*common, "--labels", "a,b,c") == 1
    assert "found no shares and rates" in capsys.readouterr().err
    population = tmp_path / "population.csv"
    population.write_text("label,share,rate\na,0.5,0.2\nb,0.3,0.4\nc,0.2,0.9\n")
    assert run(*common, "--population", population, "--error", 0.6) == 0
    by_file = releases_of(tmp_path / "out.csv")["race"][0]
    assert "assumed to be public" in by_file["statement"]["note"]
    assert by_file["population"][1] == {"label": "b", "share": 0.3, "rate": 0.4}
    assert by_file["statement"]["epsilon"] <= 1
    assert by_file["statement"]["epsilon"] == pytest.approx(1, rel=1e-9)
    options = ("--labels", "a,b,c", "--shares", "0.5,0.3,0.2", "--rates", "0.2,0.4,0.9", "--error", 0.6)
    assert run(*common, *options, "--overwrite") == 0
    assert releases_of(tmp_path / "out.csv")["race"][0]["channel"] == by_file["channel"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--epsilon", "1"), "--labels: found none, expected all possible values"),
        (("--epsilon", "0", "--labels", "a,b"), "--epsilon: found 0"),
        (("--epsilon", "inf", "--labels", "a,b"), "--epsilon: found inf"),
        (("--epsilon", "1", "--labels", "a"), "expected at least two"),
        (("--epsilon", "1", "--labels", "a,a"), "expected a list of distinct labels"),
        (("--epsilon", "1", "--labels", "a,"), "none of them empty"),
        (("--epsilon", "1", "--labels", "a,b", "--rates", "0.1,0.2"), "--rates: found beside --mechanism grr"),
        (("--epsilon", "1", "--labels", "a,b", "--mechanism", "ss", "--size", "2"), "a full set says nothing"),
        (
            ("--epsilon", "1", "--labels", "a,b", "--mechanism", "optimal", "--shares", "1", "--rates", "0,1"),
            "--shares: found '1', expected 2 numbers",
        ),
        (
            ("--epsilon", "1", "--labels", "a,b", "--mechanism", "optimal", "--shares", "x,1", "--rates", "0,1"),
            "--shares: found 'x,1', expected numbers",
        ),
        (
            ("--epsilon", "1", "--labels", "a,b", "--mechanism", "optimal", "--population", "no.csv"),
            "--labels: found beside --population",
        ),
    ],
)  # fmt: skip
def test_bad_options_are_refused(tmp_path, capsys, options, message):
    source = tmp_path / "in.csv"
    source.write_text("race\na\nb\n")
    assert run(source, tmp_path / "out.csv", "--column", "race", *options) == 1
    assert message in capsys.readouterr().err
    assert names_in(tmp_path) == ["in.csv"]


def test_tables_of_a_population_are_checked(tmp_path, capsys):
    source, population = tmp_path / "in.csv", tmp_path / "population.csv"
    source.write_text("race\na\nb\n")
    common = (source, tmp_path / "out.csv", "--column", "race", "--epsilon", 1, "--mechanism", "optimal")
    for text, message in (
        ("label,share\na,1\n", "expected label, share, rate"),
        ("label,share,rate\na,x,1\n", "no number"),
        ("label,share,rate\na,0.5,1\nb,0.4,0\n", "a sum of 0.9"),
    ):
        population.write_text(text)
        assert run(*common, "--population", population) == 1
        assert message in capsys.readouterr().err


def test_progress_is_told_on_a_terminal_only(tmp_path, monkeypatch, capsys):
    source = tmp_path / "in.csv"
    source.write_text("race\na\nb\n")
    options = ("--column", "race", "--labels", "a,b", "--epsilon", 1)
    assert run(source, tmp_path / "one.csv", *options) == 0
    assert "\r" not in capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert run(source, tmp_path / "two.csv", *options) == 0
    assert "100.0%  9 of 9\n" in capsys.readouterr().err


SWAP = Randomizer([[0.0, 1.0], [1.0, 0.0]])  # whoever is left out keeps the value, and is seen


def swapped(text, block, folder):
    """Return what becomes of a CSV file when a and b are exchanged, or None where it is refused."""
    source, target = folder / "in.csv", folder / "out.csv"
    source.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files_csv, "BLOCK", block)
        try:
            files_csv.rewrite(
                source, target, "race",
                lambda piece: randomize_frame(piece, "race", SWAP, labels=["a", "b"]), progress=lambda *_: None,
            )  # fmt: skip
        except ValueError:
            return None
    return target.read_bytes().decode()


def parsed(text):
    return [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]


@settings(max_examples=400)
@given(
    data=st.text(alphabet='ab",\n\r x', max_size=60), place=st.sampled_from([0, 1]), block=st.integers(1, 80)
)
def test_whatever_csv_is_accepted_everybody_in_it_is_randomised(tmp_path_factory, data, place, block):
    header = ["race,x\n", "x,race\n"][place]
    out = swapped(header + data, block, tmp_path_factory.getbasetemp())
    if out is None:
        return
    before, after = parsed(header + data)[1:], parsed(out)[1:]
    assert [row[1 - place] for row in after] == [row[1 - place] for row in before]
    assert [row[place] for row in after] == [{"a": "b", "b": "a"}[row[place]] for row in before]


@settings(max_examples=200)
@given(
    # this version of the module does not quote a return alone
    rows=st.lists(st.tuples(st.sampled_from("ab"), st.text('a",\n éx', max_size=8)), min_size=1, max_size=12),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    end=st.sampled_from(["\n", "\r\n"]), block=st.integers(1, 80),
)  # fmt: skip
def test_whatever_the_csv_module_writes_is_accepted(tmp_path_factory, rows, quoting, end, block):
    text = io.StringIO(newline="")
    csv.writer(text, quoting=quoting, lineterminator=end).writerows([("race", "x"), *rows])
    out = swapped(text.getvalue(), block, tmp_path_factory.getbasetemp())
    assert out is not None
    assert [tuple(row) for row in parsed(out)[1:]] == [({"a": "b", "b": "a"}[a], x) for a, x in rows]


def test_the_row_groups_of_a_report_do_not_tell_the_values(tmp_path, monkeypatch):
    # without a dictionary the longer label takes more bytes, and pieces are cut by bytes
    monkeypatch.setattr(files_parquet, "BYTES", 1 << 15)
    long = "a label of sixty characters or so, so that one of it is told"
    groups = []
    for value in ("a", long):
        source, target = tmp_path / f"{len(value)}.parquet", tmp_path / f"{len(value)}-reports.parquet"
        table = pa.table({"race": [value] + ["a"] * 2999, "name": [f"{i:016d}" for i in range(3000)]})
        pq.write_table(table, source, use_dictionary=False)
        randomize_file(source, target, "race", generalized_randomized_response(2, 1.0), labels=["a", long])
        about = pq.read_metadata(target)
        groups.append([about.row_group(i).num_rows for i in range(about.num_row_groups)])
    assert len(groups[0]) > 1
    assert groups[0] == groups[1]


def test_how_many_categories_pandas_found_is_not_passed_on(tmp_path):
    kept = []
    for values in (["Black", "Other"], ["Black", "Black"]):
        frame = pd.DataFrame({"race": pd.Categorical(values), "sex": pd.Categorical(["F", "M"])})
        frame.to_parquet(tmp_path / "a.parquet")
        randomize_file(
            tmp_path / "a.parquet", tmp_path / "b.parquet", "race", GRR, labels=LABELS, overwrite=True
        )
        record_path(tmp_path / "a.parquet").unlink()
        after = pq.read_schema(tmp_path / "b.parquet")
        kept.append((after.metadata[b"pandas"], pq.read_metadata(tmp_path / "b.parquet").metadata[b"pandas"]))
        assert list(pd.read_parquet(tmp_path / "b.parquet").race.cat.categories) == LABELS
    assert kept[0] == kept[1]
    of_column = {one["name"]: one["metadata"] for one in json.loads(kept[0][0])["columns"]}
    assert of_column == {"race": {"ordered": False}, "sex": {"num_categories": 2, "ordered": False}}


@pytest.mark.parametrize("place", [1, 2, 30])
def test_an_empty_line_is_a_row_of_a_file_of_one_column(tmp_path, place):
    lines = ["race", *["a", "b", "c"] * 10]
    lines.insert(place, "")
    source = tmp_path / "in.csv"
    source.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=rf"race: found a missing value in row {place}, expected"):
        randomize_file(source, tmp_path / "out.csv", "race", GRR, labels=list("abc"))


@pytest.mark.parametrize("left_out", ["--column", "--epsilon"])
def test_the_command_asks_for_what_it_needs(tmp_path, capsys, left_out):
    given = {"--column": "race", "--epsilon": "1", "--labels": "a,b"}
    del given[left_out]
    with pytest.raises(SystemExit, match="2"):
        run(tmp_path / "in.csv", tmp_path / "out.csv", *(part for pair in given.items() for part in pair))
    assert f"the following arguments are required: {left_out}" in capsys.readouterr().err


def test_a_file_that_comes_in_the_meantime_is_not_replaced(tmp_path, monkeypatch):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("race,x\n" + "Black,1\nOther,2\n" * 5)
    remember = files._remember

    def slow(*arguments):
        remember(*arguments)
        target.write_text("of somebody else")

    monkeypatch.setattr(files, "_remember", slow)
    with pytest.raises(OSError, match="was created in the meantime"):
        randomize_file(source, target, "race", GRR, labels=LABELS)
    assert target.read_text() == "of somebody else"
    assert not statement_path(target).exists()
