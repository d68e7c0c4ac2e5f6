import json

import numpy as np
import pandas as pd
import pytest

from dpfair_lib import synthetic
from dpfair_lib.experiments import mean_interval, read_record, write_record
from dpfair_lib.experiments.postprocessing import METHODS, compare_on_splits, summarize

ROWS = pd.DataFrame({"split": [0, 0], "method": ["a", "b"], "accuracy": [0.5, 1 / 3]})


def test_records_come_back_as_written(tmp_path):
    path = write_record(
        "some", ROWS, parameters={"seed": 1}, data={"name": "adult", "checksum": "x"}, folder=tmp_path
    )
    rows, provenance = read_record("some", folder=tmp_path)
    pd.testing.assert_frame_equal(rows, ROWS, atol=1e-10)
    assert provenance["parameters"] == {"seed": 1}
    assert set(provenance) == {"experiment", "parameters", "data", "versions", "commit"}
    assert [file.name for file in tmp_path.iterdir()] == [path.name]  # no partial file is left


def test_a_record_that_is_missing_or_broken_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"some\.json: no such record; `make record`"):
        read_record("some", folder=tmp_path)
    (tmp_path / "some.json").write_text('{"experiment": ')
    with pytest.raises(ValueError, match="broken JSON"):
        read_record("some", folder=tmp_path)
    (tmp_path / "some.json").write_text(json.dumps({"experiment": "some", "rows": []}))
    with pytest.raises(ValueError, match="found no parameters, data, versions, commit, columns"):
        read_record("some", folder=tmp_path)


def test_an_interrupted_write_leaves_the_old_record(tmp_path):
    write_record("some", ROWS, parameters={}, data={}, folder=tmp_path)
    with pytest.raises(TypeError):
        write_record("some", ROWS, parameters={"bad": object()}, data={}, folder=tmp_path)
    assert len(read_record("some", folder=tmp_path)[0]) == 2


def test_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(2000):
        mean, half = mean_interval(rng.normal(3, 2, size=5), level=0.9)
        covered += abs(mean - 3) <= half
    # exact binomial bounds at a failure probability of 1e-6
    assert 1730 <= covered <= 1863


@pytest.mark.parametrize(("values", "level"), [([1.0], 0.9), ([1.0, np.nan], 0.9), ([1.0, 2.0], 1.0)])
def test_bad_intervals_are_refused(values, level):
    with pytest.raises(ValueError, match=r"(values|level): found"):
        mean_interval(values, level=level)


def test_comparison_on_the_stand_in():
    dataset = synthetic("adult", n=4000, random_state=0)
    rows = pd.DataFrame(compare_on_splits(dataset, splits=3))
    assert len(rows) == 3 * len(METHODS)
    table = summarize(rows)
    assert table.loc["constant", "gap"] == 0
    # parity is known up to sampling; the gap before is far larger
    assert table.loc["Algorithm 1 (midpoint)", "gap"] < 0.5 * table.loc["group-aware", "gap"]
    assert table.loc["midpoint, flips by score", "accuracy"] > table.loc["Algorithm 1 (midpoint)", "accuracy"]
    again = pd.DataFrame(compare_on_splits(dataset, splits=1))
    pd.testing.assert_frame_equal(again, rows[rows["split"] == 0])


def test_stored_records_are_whole():
    for name in ("isit-alg-1-adult", "isit-alg-1-adult-fresh-test"):
        rows, provenance = read_record(name)
        assert rows.groupby("method").size().eq(provenance["parameters"]["splits"]).all()
        assert set(rows["method"]) == set(METHODS)
        assert provenance["data"]["checksum"]
