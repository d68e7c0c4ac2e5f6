"""A mutant is one change of one place, under a name that other edits leave alone."""

import ast
import functools
import json
import multiprocessing
import subprocess
import sys
import time
from pathlib import Path

import mutant_runs
import mutants
import pytest
from mutant_sites import Mutant, mutated
from mutant_sites import mutants as listed

SOURCE = '''"""A module."""
import numpy as np

def scale(values, low=2, *, most=True):
    """Say `scale`."""
    if not values or low < 0:
        raise ValueError(f"found {low - 1}")
    kept = np.clip(-values[1:], low, 3)
    for value in kept:
        if value is None:
            break
        kept = kept + max(0, value)
    total = np.sum(kept, axis=0) if most else 4.5
    return total
'''


def changes():
    return {(mutant.operator, mutant.before, mutant.after) for mutant in listed("room/file.py", SOURCE)}


@pytest.mark.parametrize(
    "change",
    [
        ("not dropped", "not values", "values"),
        ("and/or", "not values or low < 0", "not values and low < 0"),
        ("boundary", "low < 0", "low <= 0"),
        ("comparison", "low < 0", "low >= 0"),
        ("raise dropped", "raise ValueError(f'found {low - 1}')", "pass"),
        ("clip dropped", "np.clip(-values[1:], low, 3)", "-values[1:]"),
        ("clip dropped", "max(0, value)", "value"),
        ("arguments swapped", "np.clip(-values[1:], low, 3)", "np.clip(low, -values[1:], 3)"),
        ("sign", "-values[1:]", "values[1:]"),
        ("slice", "1:", ":"),
        ("loop", "break", "pass"),
        ("comparison", "value is None", "value is not None"),
        ("statement dropped", "kept = kept + max(0, value)", "pass"),
        ("arithmetic", "kept + max(0, value)", "kept - max(0, value)"),
        ("function", "np.sum(kept, axis=0)", "np.max(kept, axis=0)"),
        ("keyword dropped", "np.sum(kept, axis=0)", "np.sum(kept)"),
        ("condition", "most", "not most"),
        ("default", "True", "False"),
    ],
)
def test_every_kind_of_change_is_made(change):
    assert change in changes()


def test_constants_change_once_each_and_texts_and_messages_never():
    constants = [m.before for m in listed("room/file.py", SOURCE) if m.operator in {"constant", "default"}]
    assert sorted(constants) == ["0", "0", "0", "1", "2", "3", "4.5", "True"]
    assert not any("found" in before and operator != "raise dropped" for operator, before, _ in changes())
    assert all(ast.parse(mutated(mutant, SOURCE)[0]) for mutant in listed("room/file.py", SOURCE))


def test_a_name_finds_its_place_again_after_other_edits_and_not_once_it_is_gone():
    (mutant,) = (m for m in listed("room/file.py", SOURCE) if m.operator == "boundary")
    moved = SOURCE.replace("import numpy as np", "import math\n\nimport numpy as np\n\nLIMIT = 3 < 4")
    text, lines = mutated(mutant, moved)
    assert "low <= 0" in text
    assert "3 < 4" in text
    assert lines == (10, 10)
    assert mutated(mutant, SOURCE.replace("low < 0", "low < 1")) is None


def test_equal_places_are_numbered():
    twice = "def f(a, b):\n    return (a < b, a < b)\n"
    first, second = (m for m in listed("room/file.py", twice) if m.operator == "boundary")
    assert (first.nth, second.nth) == (1, 2)
    assert "a <= b, a < b" in mutated(first, twice)[0]
    assert "a < b, a <= b" in mutated(second, twice)[0]


def test_a_name_holds_whichever_change_of_its_place_was_drawn_and_whatever_the_room_is_called():
    for mutant in listed("room/file.py", SOURCE):
        renamed = mutant._replace(file="hall/file.py")
        assert renamed in listed("hall/file.py", SOURCE)
        if mutant.operator == "constant" and mutant.before == "2":
            assert all(mutated(mutant._replace(after=other), SOURCE) for other in "1340")


def test_the_sample_has_every_operator_and_otherwise_their_shares():
    made = [
        Mutant("room/file.py", "f", operator, str(at), "", 1)
        for operator, n in (("a", 90), ("b", 9), ("c", 1))
        for at in range(n)
    ]
    drawn = mutants.drawn(made, seed=3)
    assert [sum(m.operator == name for m in drawn[:20]) for name in "abc"] == [17, 2, 1]
    assert sorted(drawn) == sorted(made)
    assert mutants.drawn(made[::-1], seed=3) == drawn
    assert mutants.drawn(made, seed=4)[:20] != drawn[:20]


def test_modules_of_which_too_few_are_recorded_get_as_many_as_are_lacking():
    wanted = "svm/line.py"
    members = [mutant for mutant in mutants.population("svm") if mutant.file == wanted]
    rows = {m.key: m._asdict() for m in mutants.population("svm") if m.file != wanted}
    assert mutants.lacking("svm", rows, 1, seed=2) == mutants.drawn(members, seed=2)[:1]
    first, second, third, fourth = mutants.drawn(members, seed=2)[:4]
    rows[second.key] = second._asdict()
    assert [m for m in mutants.lacking("svm", rows, 4, seed=2) if m.file == wanted] == [first, third, fourth]
    rows |= {mutant.key: mutant._asdict() for mutant in (first, third, fourth)}
    assert wanted not in {mutant.file for mutant in mutants.lacking("svm", rows, 4, seed=2)}


def test_one_test_alone_is_a_control_of_one_batch(monkeypatch):
    batches = []
    monkeypatch.setattr(mutant_runs, "kill", lambda *given: batches.extend(given[2]) or {"by": ""})
    monkeypatch.setattr(mutant_runs, "each", lambda tasks, _: ((name, 0, run()) for name, run in tasks))
    mutants.control([({}, {"tests/a.py::one": 0.5}, "")])
    assert batches == [{"tests/a.py::one": 10.0}]  # an empty one would be every test there is


def _leaves_a_worker():
    multiprocessing.get_context("fork").Process(target=time.sleep, args=(900,)).start()
    return {"by": ""}


def test_a_child_ends_when_it_has_its_result_whatever_its_tests_left_running():
    start = time.monotonic()
    ((_, code, found),) = mutant_runs.each(iter([("", _leaves_a_worker)]), 1)
    assert (code, found) == (0, {"by": ""})
    assert time.monotonic() - start < 600  # most of it are imports


def test_tests_that_cannot_be_collected_are_no_empty_trace(tmp_path):
    path = tmp_path / "test_broken.py"
    path.write_text("import no_such_module\n")
    ((_, code, found),) = mutant_runs.each(iter([("", functools.partial(mutant_runs.trace, str(path)))]), 1)
    assert (code, type(found)) == (1, str)  # what it printed


def test_a_trace_tells_which_lines_each_test_runs():
    path = "tests/privacy/test_finite_laws.py"
    ((_, code, found),) = mutant_runs.each(iter([("", functools.partial(mutant_runs.trace, path))]), 1)
    assert code == 0
    lines = {name: ("", by_line) for name, by_line in found["lines"].items()}
    trace = found | {
        "lines": {name: (mutants.digest(mutants.source(name)), by) for name, (_, by) in lines.items()}
    }
    source = mutants.source("privacy/finite_laws.py")
    refused = f"{path}::test_laws_of_different_outcomes_and_levels_out_of_range_are_refused"
    by_change = {}
    for mutant in listed("privacy/finite_laws.py", source):
        _, at = mutated(mutant, source)
        by_change[mutant.function, mutant.operator, mutant.before] = mutants.covering(mutant, at, [trace])
    refusals = [
        tests for (name, kind, _), tests in by_change.items() if kind == "raise dropped" and "_eps" in name
    ]
    assert [set(tests) for tests in refusals] == [{refused}]
    assert all(seconds >= 0 for tests in by_change.values() for seconds in tests.values())
    whole = by_change["hockey_stick", "arithmetic", "first - odds * second"]
    assert set(whole) == {f"{path}::test_it_is_the_first_epsilon_at_which_every_event_is_within_delta"}


def test_every_excuse_names_a_mutant_that_is_recorded_or_can_be_drawn():
    excused, (rows, _) = mutants.excused(), mutants.read(mutants.ROOT / "results" / "mutants.json")
    assert mutants.unused(excused, rows) == [], "remove them from tools/mutants.toml"
    (recorded, *_), (made, *_) = rows.items(), mutants.population("svm")
    gone = ["svm/no_such_file.py:f: sign: -x -> x #1", f"{made.key}0"]
    assert mutants.unused([recorded[0], gone[0], made.key, gone[1]], rows) == gone


def quietly(monkeypatch, result):
    """Let every mutant end with a result, without running anything."""

    def each(due, jobs):
        assert jobs == 1
        return ((name, 0, result) for name, _ in due)

    monkeypatch.setattr(mutants.runs, "each", each)


def test_a_record_that_is_too_small_or_of_other_code_is_not_enough(monkeypatch, capsys):
    quietly(monkeypatch, {"by": "a::b"})
    made = {"function": "f", "operator": "sign", "before": "-x", "after": "x", "nth": 1}
    killed = {"outcome": "killed", "by": "a::b", "seconds": 0.1}
    gone = {str(at): {**made, **killed, "file": f"privacy/gone_{at}.py"} for at in range(4)}
    for recorded in ({}, gone):
        assert mutants.again(recorded, 4, seed=1, jobs=1) == 1
        assert "record a new sample" in capsys.readouterr().out


@pytest.mark.parametrize(("by", "status"), [("", 1), ("tests/privacy/test_a.py::test_b", 0)])
def test_a_mutant_that_lives_again_is_named(by, status, monkeypatch, capsys):
    quietly(monkeypatch, {"by": by})
    (first, *_) = mutants.population("privacy")
    row = {**first._asdict(), "outcome": "killed", "by": "tests/privacy/test_a.py::test_b", "seconds": 0.1}
    assert mutants.again({first.key: row}, 1, seed=1, jobs=1) == status
    assert (first.key in capsys.readouterr().out) == bool(status)


def test_one_test_kills_one_change_and_not_another(tmp_path):
    test = "tests/privacy/test_finite_laws.py::test_laws_of_different_outcomes_and_levels_out_of_range_are_refused"
    shape = "first.shape != second.shape -> first.shape == second.shape #1"
    known = [m for m in mutants.population("privacy") if m.function == "smallest_epsilon"]
    caught = next(m for m in known if shape in m.key)
    missed = next(m for m in known if "700.0 -> " in m.key)
    rows = []
    for mutant, outcome in ((caught, "killed"), (missed, "survived")):
        row = {**mutant._asdict(), "outcome": outcome, "by": test, "seconds": 0.1, "module": "", "tests": ""}
        rows.append(
            [
                {"class": outcome, "reason": "", "first": outcome}.get(field, row.get(field))
                for field in mutants.FIELDS
            ]
        )
    rows[1][mutants.FIELDS.index("outcome")] = "killed"  # as the record says, wrongly
    record = tmp_path / "record.json"
    record.write_text(json.dumps({"columns": mutants.FIELDS, "rows": rows}))
    tool = Path(mutants.__file__)
    command = [sys.executable, str(tool), "--again", "2", "--jobs", "1", "--record", str(record)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1
    assert "1 of 2 killed again" in run.stdout
    assert f"lives: {missed.key}" in run.stdout
    assert caught.key not in run.stdout


def test_the_runner_imports_nothing_that_it_changes():
    """A module that was there before its change would be tested unchanged, in every process that is forked."""
    asked = "import sys, mutants; print(*(name for name in sys.modules if name.startswith('dpfair_lib.')))"
    tools = str(Path(mutants.__file__).parent)
    there = subprocess.run(
        [sys.executable, "-c", asked], cwd=tools, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "dpfair_lib._files" in there
    assert not [name for name in there if name.split(".")[1] in mutants.ROOMS]
