"""Repeating a task of a record: what is the same, what is not, and what cannot be compared."""

import json
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import repeats

from dpfair_lib.experiments.__main__ import EXPERIMENTS
from dpfair_lib.experiments.experiment import Experiment
from dpfair_lib.experiments.recorded_results import RESULTS, read_record
from dpfair_lib.experiments.resumable_runs import run_and_record


def study(at, kinds=("a", "b")):
    draw = np.random.default_rng(at).normal()
    return [
        {"at": at, "kind": kind, "draw": draw, "none": None, "fit_seconds": time.monotonic()}
        for kind in kinds
    ]


def uneven(at):
    return study(at, "abc"[: at % 3 + 1])


def experiment(function):
    tasks = [{"at": at} for at in range(6)]
    return Experiment("tried", {"name": "none"}, {"seeds": (0, 1)}, function, tasks)


@pytest.fixture(params=[study, uneven])
def recorded(request, tmp_path, monkeypatch):
    monkeypatch.setenv("DPFAIR_WORKERS", "1")
    run_and_record(experiment(request.param), quiet=True, results=tmp_path, parts=tmp_path / "parts")
    return request.param, tmp_path


def again(function, folder, **other):
    return repeats.repeated(replace(experiment(function), **other), 6, folder)


def test_rows_of_the_same_function_are_the_same_but_for_times(recorded):
    function, folder = recorded
    found = again(function, folder)
    assert found["rows"] == found["same"] == len(read_record("tried", folder=folder)[0])
    assert found["difference"] == 0
    assert found["tasks"] == list(range(6))
    assert found["outcome"] == f"{found['rows']} of {found['rows']} rows are the same"


def test_a_task_that_is_drawn_alone_is_found_at_its_place(recorded):
    function, folder = recorded
    found = repeats.repeated(experiment(function), 1, folder)
    assert found["same"] == found["rows"] in (1, 2, 3)
    assert len(found["tasks"]) == 1


@pytest.mark.parametrize(
    ("change", "difference", "texts"),
    [
        ({"draw": lambda value: value + 1e-6}, pytest.approx(1e-6, rel=1e-3), []),
        ({"kind": lambda value: value.upper()}, 0, ["kind"]),
        ({"none": lambda _: 0.0}, 0, ["none"]),
        ({"draw": lambda _: None}, 0, ["draw"]),
        ({"draw": lambda _: True}, 0, ["draw"]),
        ({"at": lambda value: value + 1}, 1, []),
    ],
)
def test_a_change_of_one_column_is_seen(recorded, change, difference, texts):
    function, folder = recorded
    ((column, by),) = change.items()
    found = again(lambda at: [{**row, column: by(row[column])} for row in function(at)], folder)
    assert found["same"] < found["rows"]
    if function is study:  # else the place with most equal rows may be another task's
        assert (found["difference"], found["texts"]) == (difference, texts)


def test_a_new_column_does_not_count_but_a_missing_one_and_too_many_rows_do(recorded):
    function, folder = recorded
    more = again(lambda at: [{**row, "more": 1} for row in function(at)], folder)
    assert more["same"] == more["rows"] > 0
    fewer = again(lambda at: [{"at": row["at"], "kind": row["kind"]} for row in function(at)], folder)
    assert fewer["same"] == 0
    assert "draw" in fewer["texts"]
    assert again(lambda at: function(at) * 60, folder)["same"] == 0


def test_what_is_made_in_another_way_is_compared_and_said(recorded):
    function, folder = recorded
    everything = again(function, folder)
    assert everything["other parameters"] == []
    assert again(function, folder, parameters={"seeds": (0, 1), "more": 1})["other parameters"] == []
    for change, name in (
        ({"parameters": {"seeds": (0, 2)}}, "seeds"),
        ({"parameters": {}}, "seeds"),
        ({"data": {"name": "more"}}, "name"),
    ):
        found = again(function, folder, **change)
        assert found["other parameters"] == [name]
        assert found["same"] == found["rows"] == everything["rows"]
    fewer = again(function, folder, tasks=[{"at": 0}])
    assert (fewer["other parameters"], fewer["tasks"], fewer["same"]) == (["tasks"], [0], fewer["rows"])
    more = again(function, folder, tasks=[{"at": at} for at in range(60)])
    assert (more["tasks"], more["same"]) == (list(range(6)), more["rows"])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": [1.0, {"b": 2.0}]}, {"a": [1.0 + 1e-9, {"b": 2.0}]}, True),
        ({"a": [1.0, {"b": 2.0}]}, {"a": [1.0, {"b": 2.0001}]}, False),
        ([1.0, 2.0], [1.0], False),
        ({"a": 1.0}, {"b": 1.0}, False),
        ("1.0", 1.0, False),
        (None, 0.0, False),
    ],
)
def test_parameters_are_the_same_to_eight_digits(one, other, same):
    assert repeats.alike(one, other) is same


def test_numbers_are_compared_with_the_digits_of_a_record():
    pairs = [(0.12345678901, 0.123456789), (1, 1), (3.0, 3), (None, np.nan)]
    assert [repeats.difference(*pair) for pair in pairs] == [0] * 4
    assert repeats.difference(0.1, 0.3) == pytest.approx(0.2)
    assert repeats.difference("a", "b") == np.inf


def test_a_task_that_takes_too_long_or_fails_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(repeats, "__file__", str(tmp_path / "endless.py"))
    (tmp_path / "endless.py").write_text("while True: pass", encoding="utf-8")
    assert repeats.in_a_process("any", 1, 1) == {"outcome": "a task takes more than 1 s"}
    (tmp_path / "endless.py").write_text("raise ValueError('of a test')", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"^ValueError: of a test$"):
        repeats.in_a_process("any", 1, 9)


def test_what_is_recorded_is_of_records_that_are_there():
    found = json.loads(repeats.REPEATS.read_text(encoding="utf-8"))
    assert found.keys() <= EXPERIMENTS.keys()
    for name, row in found.items():
        commit = read_record(name, folder=RESULTS)[1]["commit"]
        assert row.get("recorded at", commit) == commit, (
            f"{name}: made anew since; run `make repeats ONLY={name}`"
        )


def test_the_command_refuses_a_name_without_record(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["repeats.py", "none-such"])
    with pytest.raises(SystemExit):
        repeats.main()
    assert "found 'none-such', expected one of" in capsys.readouterr().err


def test_found_is_saved_after_each_record(monkeypatch, tmp_path):
    monkeypatch.setattr(repeats, "REPEATS", tmp_path / "repeats.json")
    monkeypatch.setattr(repeats, "in_a_process", lambda name, *_: {"outcome": name})
    first, second = list(EXPERIMENTS)[:2]
    for name in (second, first):
        monkeypatch.setattr("sys.argv", ["repeats.py", name])
        repeats.main()
    assert repeats.read() == {first: {"outcome": first}, second: {"outcome": second}}
    assert list(repeats.read()) == [first, second]
    assert len(pd.Series(repeats.read())) == 2


def test_a_failure_is_not_recorded(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(repeats, "REPEATS", tmp_path / "repeats.json")
    first, second = list(EXPERIMENTS)[:2]
    repeats.write({first: {"outcome": "as before"}})

    def one_fails(name, *_):
        if name == first:
            raise RuntimeError("no interpreter here")
        return {"outcome": name}

    monkeypatch.setattr(repeats, "in_a_process", one_fails)
    monkeypatch.setattr("sys.argv", ["repeats.py", first, second])
    with pytest.raises(SystemExit, match=first):
        repeats.main()
    assert repeats.read() == {first: {"outcome": "as before"}, second: {"outcome": second}}
    assert f"{first}: failed: no interpreter here" in capsys.readouterr().out
