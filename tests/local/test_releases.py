import json

import pandas as pd
import pyarrow.parquet as pq
import pytest
from small_files import GRR, LABELS, a_table, run

from dpfair_lib import PrivacyStatement
from dpfair_lib.local import (
    SecondReportWarning,
    files,
    generalized_randomized_response,
    randomize_file,
)
from dpfair_lib.local.releases import record_path, releases_of, reports_from, statement_path


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
    statement = PrivacyStatement.from_json(json.dumps(two["statement"]))
    assert (statement.epsilon, str(statement)) == (two["statement"]["epsilon"], two["text"])
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


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_report_that_is_overwritten_still_counts(tmp_path, suffix):
    # somebody may have had the file before, and can average both reports
    source, target = tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix}"
    frame = pd.DataFrame({"race": ["a", "b"] * 20})
    frame.to_csv(source, index=False) if suffix == "csv" else frame.to_parquet(source)
    channel = generalized_randomized_response(2, 1.0)
    each = randomize_file(source, target, "race", channel, labels=["a", "b"]).epsilon
    for earlier in (1, 2):
        with pytest.warns(SecondReportWarning, match=rf"reported {earlier} time\(s\) before"):
            randomize_file(source, target, "race", channel, labels=["a", "b"], overwrite=True)
        made = releases_of(target)["race"][0]
        assert made["epsilon_with_earlier_reports"] == pytest.approx((earlier + 1) * each, rel=1e-12)
        assert [one["into"] for one in made["earlier_reports"]] == [target.name] * earlier
    assert len(reports_from(source)["race"]) == 3
