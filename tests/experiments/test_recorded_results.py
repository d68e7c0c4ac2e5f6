import json

import pandas as pd
import pytest

from dpfair_lib.experiments import read_record, write_record
from dpfair_lib.experiments.recorded_results import FIELDS, RESULTS

ROWS = pd.DataFrame({"split": [0, 0], "method": ["a", "b"], "accuracy": [0.5, 1 / 3], "target": [None, 3.0]})


def test_records_come_back_as_written(tmp_path):
    path = write_record(
        "some", ROWS, parameters={"seed": 1}, data={"name": "adult", "checksum": "x"}, folder=tmp_path
    )
    rows, provenance = read_record("some", folder=tmp_path)
    pd.testing.assert_frame_equal(rows, ROWS, atol=1e-10)
    assert provenance["parameters"] == {"seed": 1}
    assert set(provenance) == {"experiment", "parameters", "data", "versions", "code", "commit"}
    assert [file.name for file in tmp_path.iterdir()] == [path.name]  # no partial file is left


def test_parameters_that_json_changes_keep_the_checksum(tmp_path):
    write_record("some", ROWS, parameters={"pair": (1, 2), "by": {10: 1, 9: 2}}, data={}, folder=tmp_path)
    assert read_record("some", folder=tmp_path)[1]["parameters"] == {"pair": [1, 2], "by": {"10": 1, "9": 2}}


def test_a_record_that_is_missing_or_broken_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r'some\.json: no such record; `make record ONLY="some"`'):
        read_record("some", folder=tmp_path)
    (tmp_path / "some.json").write_text('{"experiment": ')
    with pytest.raises(ValueError, match="broken JSON"):
        read_record("some", folder=tmp_path)
    (tmp_path / "some.json").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="broken JSON"):
        read_record("some", folder=tmp_path)
    (tmp_path / "some.json").write_text(json.dumps({"experiment": "some", "rows": []}))
    with pytest.raises(
        ValueError, match="found no parameters, data, versions, code, commit, columns, checksum"
    ):
        read_record("some", folder=tmp_path)
    (tmp_path / "some.json").write_text("[]")
    with pytest.raises(ValueError, match="found no experiment, "):
        read_record("some", folder=tmp_path)


@pytest.mark.parametrize("field", [field for field in FIELDS if field != "columns"])
def test_an_altered_record_is_refused(tmp_path, field):
    path = write_record("some", ROWS, parameters={"seed": 1}, data={"name": "adult"}, folder=tmp_path)
    record = json.loads(path.read_text())
    if field == "rows":
        record["rows"][1][2] = 0.3333333334  # the last digit of one number
    else:
        record[field] = "another"
    path.write_text(json.dumps(record))
    with pytest.raises(
        ValueError,
        match=r'some\.json: found content that does not fit its checksum.*`make record ONLY="some"`',
    ):
        read_record("some", folder=tmp_path)


def test_the_record_of_another_experiment_is_refused(tmp_path):
    path = write_record("some", pd.DataFrame({"a": [1]}), parameters={}, data={}, folder=tmp_path)
    path.rename(tmp_path / "other.json")
    with pytest.raises(ValueError, match="found the record of 'some', expected that of 'other'"):
        read_record("other", folder=tmp_path)


def test_an_interrupted_write_leaves_the_old_record(tmp_path):
    write_record("some", ROWS, parameters={}, data={}, folder=tmp_path)
    with pytest.raises(TypeError):
        write_record("some", ROWS, parameters={"bad": object()}, data={}, folder=tmp_path)
    assert len(read_record("some", folder=tmp_path)[0]) == 2


def test_every_stored_record_is_whole():
    stored = sorted(path.stem for path in RESULTS.glob("isit-*.json"))
    assert stored
    for name in stored:
        rows, provenance = read_record(name)
        assert len(rows)
        assert provenance["experiment"] == name
        assert len(provenance["code"]) == 64
