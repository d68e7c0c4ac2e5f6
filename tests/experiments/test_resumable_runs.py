import json
import re
from dataclasses import replace

import numpy as np
import pytest

from dpfair_lib.experiments import __main__ as command
from dpfair_lib.experiments import read_record, recorded_results, resumable_runs
from dpfair_lib.experiments.experiment import Experiment
from dpfair_lib.experiments.provenance import LIBRARY
from dpfair_lib.experiments.resumable_runs import run_and_record


class Study:
    """An experiment of five tasks that counts them, and stops when told to."""

    def __init__(self, folder):
        self.folders = {"results": folder / "results", "parts": folder / "parts"}
        self.ran, self.stop_at = [], None
        self.experiment = Experiment(
            "squares", {"name": "none", "checksum": "x"}, {"seed": 0, "pair": (1, 2)}, self.run,
            [{"at": at} for at in range(5)],
        )  # fmt: skip

    def run(self, *, at):
        if at == self.stop_at:
            raise KeyboardInterrupt
        self.ran.append(at)
        draw = np.random.default_rng(at).normal()
        return [{"at": at, "draw": draw, "square": np.int64(at**2), "noise": None}]

    def record(self, **arguments):
        self.ran.clear()
        return run_and_record(self.experiment, **self.folders, **arguments)

    def interrupted(self, at=3):
        self.stop_at = at
        with pytest.raises(KeyboardInterrupt):
            self.record()
        self.stop_at = None
        return sorted(self.folders["parts"].rglob("*.json"))


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.delenv("DPFAIR_DASK", raising=False)
    monkeypatch.setenv("DPFAIR_WORKERS", "1")
    return Study(tmp_path)


def test_a_record_is_made_once(study, capsys):
    path = study.record()
    assert study.ran == [0, 1, 2, 3, 4]
    said = capsys.readouterr().out
    assert "squares: not recorded yet" in said
    assert re.search("squares: 5 of 5 tasks, [0-9]+ s, about 0 s to go", said)
    rows, provenance = read_record("squares", folder=path.parent)
    assert rows["square"].tolist() == [0, 1, 4, 9, 16]
    assert provenance["parameters"] == {"seed": 0, "pair": [1, 2], "tasks": 5}
    assert not list(study.folders["parts"].rglob("*.json"))
    first = path.read_bytes()
    study.record()
    assert study.ran == []
    assert "left as it is (FORCE=1 redoes it)" in capsys.readouterr().out
    study.record(force=True)
    assert study.ran == [0, 1, 2, 3, 4]
    assert path.read_bytes() == first


def test_an_interrupted_record_goes_on(study, capsys):
    whole = study.record().read_bytes()
    study.folders["results"].joinpath("squares.json").unlink()
    assert len(study.interrupted()) == 3
    assert not study.folders["results"].joinpath("squares.json").exists()
    path = study.record()
    assert study.ran == [3, 4]
    assert "3 of 5 tasks are there from before" in capsys.readouterr().out
    assert path.read_bytes() == whole


def test_a_forced_record_goes_on_too(study):
    study.record()
    study.stop_at = 2
    with pytest.raises(KeyboardInterrupt):
        study.record(force=True)
    study.stop_at = None
    study.record(force=True)
    assert study.ran == [2, 3, 4]


def truncate(text):
    return text[: len(text) // 2]


def alter(text):
    part = json.loads(text)
    part["rows"][0]["draw"] += 1e-12
    return json.dumps(part)


def of_other_code(text):
    part = json.loads(text)
    part["key"] = "another"
    del part["checksum"]
    return json.dumps({**part, "checksum": recorded_results.checksum(part)})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (truncate, "found a broken part"),
        (lambda _: "", "found a broken part"),
        (lambda _: "[1]", "found a broken part"),
        (alter, "found a part that does not fit its checksum"),
        (of_other_code, "found a part of another record or task"),
    ],
)
def test_a_damaged_part_is_reported_and_redone(study, capsys, damage, message):
    part = study.interrupted()[1]
    part.write_text(damage(part.read_text()))
    study.record()
    assert study.ran == [1, 3, 4]
    assert f"{part}: " in (said := capsys.readouterr().out)
    assert message in said
    assert "the task is done again" in said


def test_a_part_of_another_task_is_redone(study, capsys):
    parts = study.interrupted()
    parts[0].write_text(parts[1].read_text())
    study.record()
    assert f"{parts[0]}: found a part of another record or task" in capsys.readouterr().out
    assert study.ran == [0, 3, 4]


@pytest.mark.parametrize("what", ["code", "versions", "parameters", "data"])
def test_parts_and_records_made_otherwise_are_not_used(study, capsys, monkeypatch, what):
    study.record()
    study.folders["results"].joinpath("squares.json").rename(study.folders["results"] / "kept")
    study.interrupted()
    study.folders["results"].joinpath("kept").rename(study.folders["results"] / "squares.json")
    if what in ("code", "versions"):
        monkeypatch.setattr(resumable_runs, "code_of", lambda _: "another") if what == "code" else None
        for module in (resumable_runs, recorded_results) if what == "versions" else ():
            monkeypatch.setattr(module, what, lambda: {"numpy": "0"})
    else:
        study.experiment = replace(study.experiment, **{what: {"name": "another", "checksum": "y"}})
    study.record()
    assert study.ran == [0, 1, 2, 3, 4]
    assert f"squares: recorded with other {what}; made anew" in capsys.readouterr().out
    study.record()
    assert study.ran == []


def test_a_record_of_fewer_tasks_is_made_anew(study, capsys):
    whole = study.experiment
    study.experiment = replace(whole, tasks=whole.tasks[:3])
    study.record()
    study.experiment = whole
    path = study.record()
    assert study.ran == [0, 1, 2, 3, 4]
    assert "squares: recorded with other parameters; made anew" in capsys.readouterr().out
    assert len(read_record("squares", folder=path.parent)[0]) == 5


def test_a_corrupt_record_is_made_anew(study, capsys):
    path = study.record()
    whole = path.read_bytes()
    for text in (path.read_text().replace("16", "17"), path.read_text()[:-50]):
        path.write_text(text)
        study.record()
        assert study.ran == [0, 1, 2, 3, 4]
        assert f"squares: the record is corrupt and is made anew: {path}" in capsys.readouterr().out
        assert path.read_bytes() == whole


def test_rows_that_are_no_rows_are_refused(study):
    study.experiment = replace(study.experiment, function=lambda **_: [{"at": object()}])
    with pytest.raises(TypeError, match=r"rows: found <object object .* expected numbers and strings"):
        study.record()


def test_nothing_outside_the_ledger_computes_with_it():
    def mentions(name):
        texts = {path.relative_to(LIBRARY).as_posix(): path.read_text() for path in LIBRARY.rglob("*.py")}
        return {path for path, text in texts.items() if name in text and not path.startswith("claims/")}

    # the command line shows the ledger, and figures know nothing of the library
    assert mentions("dpfair_lib.claims") == {"__main__.py"}
    assert mentions("dpfair_lib.plots") == set()


def test_the_command_records_what_is_named(study, monkeypatch, capsys):
    monkeypatch.setattr(command, "EXPERIMENTS", {"squares": lambda _: study.experiment})
    monkeypatch.setattr(command, "run_and_record", lambda _, **chosen: study.record(**chosen))
    command.main(["squares"])
    assert study.ran == [0, 1, 2, 3, 4]
    assert "5 of 5 tasks" in capsys.readouterr().out
    command.main([])
    assert study.ran == []
    capsys.readouterr()
    command.main(["--force", "--quiet"])
    assert study.ran == [0, 1, 2, 3, 4]
    assert "tasks" not in (said := capsys.readouterr().out)
    assert "wrote squares.json" in said
    with pytest.raises(SystemExit):
        command.main(["cubes"])
    assert "found 'cubes', expected one of squares" in capsys.readouterr().err
    study.stop_at = 1
    with pytest.raises(SystemExit, match="finished tasks are kept"):
        command.main(["--force"])
    monkeypatch.setenv("DPFAIR_WORKERS", "many")
    with pytest.raises(SystemExit, match="DPFAIR_WORKERS: found 'many'"):
        command.main(["--force"])


def test_every_listed_experiment_has_its_record():
    stored = {path.stem for path in recorded_results.RESULTS.glob("*.json")}
    assert set(command.EXPERIMENTS) <= stored
