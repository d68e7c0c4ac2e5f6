import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import binomtest
from small_files import GRR, LABELS, a_table, names_in, run

from dpfair_lib.local import (
    SecondReportWarning,
    files,
    randomize_file,
    subset_selection,
)
from dpfair_lib.local.releases import record_path, releases_of, reports_from, statement_path

LISTED = 'Black,Other,"White, not Hispanic"'


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


@pytest.mark.parametrize("seed", [7, 0])
def test_a_seed_must_be_asked_for_and_takes_the_guarantee_away(tmp_path, capsys, seed):
    source = tmp_path / "in.csv"
    source.write_text("race\n" + "a\nb\n" * 100)
    options = ("--column", "race", "--labels", "a,b", "--epsilon", "1")
    texts = []
    for name in ("one", "two"):
        assert run(source, tmp_path / f"{name}.csv", *options, "--seed", seed) == 0
        texts.append((tmp_path / f"{name}.csv").read_text())
    assert texts[0] == texts[1]
    assert "NO GUARANTEE" in capsys.readouterr().out
    made = releases_of(tmp_path / "one.csv")["race"][0]
    assert made["seeded"] is True
    assert made["statement"]["guarantee"] is False
    assert str(seed) not in json.dumps(made["statement"]["note"])
    secure = []
    for name in ("three", "four"):
        assert run(source, tmp_path / f"{name}.csv", *options) == 0
        secure.append((tmp_path / f"{name}.csv").read_text())
    assert secure[0] != secure[1]  # the same with probability 0.61^200
    made = releases_of(tmp_path / "three.csv")["race"][0]
    assert (made["seeded"], made["statement"]["guarantee"]) == (False, True)


def test_no_report_is_out_before_the_record_knows_it(tmp_path, monkeypatch):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("race,x\n" + "Black,1\nOther,2\n" * 5)
    put, order, known = Path.replace, [], []

    def noted(partial, path):
        order.append(Path(path))
        known.append(len(reports_from(source).get("race", [])))
        return put(partial, path)

    monkeypatch.setattr(Path, "replace", noted)
    randomize_file(source, target, "race", GRR, labels=LABELS)
    assert order == [record_path(source), statement_path(target), target]
    assert known == [0, 1, 1]


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
