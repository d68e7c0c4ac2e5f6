"""Run an experiment task by task and write its record: an interrupted run does not repeat finished tasks."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpfair_lib._files import held, write_whole
from dpfair_lib.experiments.experiment import Experiment, Rows, Task
from dpfair_lib.experiments.provenance import LIBRARY, code_of, versions
from dpfair_lib.experiments.recorded_results import RESULTS, checksum, read_record, write_record
from dpfair_lib.experiments.sweeps import run_tasks

PARTS = LIBRARY.parent / "_build" / "record"


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run_and_record(
    experiment: Experiment, *, force: bool = False, quiet: bool = False, results: Path = RESULTS,
    parts: Path = PARTS,
) -> Path:  # fmt: skip
    """Run an experiment and write its record, unless a whole record is there that the same code made in the same way.

    The rows of each task are saved as soon as it has finished. After an interruption, the next run uses the
    saved rows of a task if parameters, data, versions, code and the task are the same and the checksum is right.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    force : bool
        Whether to replace a whole record too. Tasks that an interrupted run has saved are not repeated.
    quiet : bool
        Whether to leave out the line that each finished task gets.
    results : Path
        Folder of the records.
    parts : Path
        Folder of the saved tasks; they are deleted when the record is written.

    Returns
    -------
    Path
        The record's file.

    Raises
    ------
    BlockingIOError
        If another process is running the same experiment.
    OSError
        If a file cannot be written; finished tasks are not lost.
    """
    name = experiment.name
    made_of = {"parameters": experiment.parameters, "data": dict(experiment.data)} | {
        "versions": versions(), "code": code_of(experiment.function),
    }  # fmt: skip
    made_of = json.loads(json.dumps(made_of))
    # with equal parameters there may be fewer tasks, of a shorter list in the code that makes them
    parameters = {**experiment.parameters, "tasks": len(experiment.tasks)}
    wanted = {**made_of, "parameters": json.loads(json.dumps(parameters))}
    reason = "forced" if force else _outdated(name, wanted, results)
    if reason is None:
        say(f"{name}: recorded by this code from this data, and whole; left as it is (FORCE=1 redoes it)")
        return results / f"{name}.json"
    say(f"{name}: {reason}")
    key = checksum({"experiment": name, **made_of})
    with held(parts / f"{name}.lock", f"{name} is being recorded"):
        return _make(experiment, key, parameters, made_of["code"], results, parts / name, quiet)


def _make(
    experiment: Experiment, key: str, parameters: Mapping[str, Any], code: str, results: Path, parts: Path,
    quiet: bool,
) -> Path:  # fmt: skip
    """Do the tasks that are not done, saving each, and write the record."""
    name, folder = experiment.name, parts / key[:16]
    done = _finished_tasks(experiment.tasks, folder, key)
    waiting = [at for at in range(len(experiment.tasks)) if at not in done]
    started, already_done = time.monotonic(), len(done)

    def save(at: int, rows: Rows) -> None:
        task = experiment.tasks[waiting[at]]
        done[waiting[at]] = _write_part(_part(folder, waiting[at]), key, task, rows)
        spent = time.monotonic() - started
        rest = spent / (len(done) - already_done) * (len(experiment.tasks) - len(done))
        if not quiet:
            say(
                f"{name}: {len(done)} of {len(experiment.tasks)} tasks, {spent:.0f} s, about {rest:.0f} s to go"
            )

    for _ in run_tasks(experiment.function, [experiment.tasks[at] for at in waiting], finished=save):
        pass
    rows = pd.DataFrame([row for at in sorted(done) for row in done[at]])
    path = write_record(
        name, rows, parameters=parameters, data=dict(experiment.data), folder=results, code=code
    )
    shutil.rmtree(parts, ignore_errors=True)
    say(f"{name}: wrote {path.name} after {time.monotonic() - started:.0f} s")
    return path


def _outdated(name: str, made_of: Mapping[str, Any], results: Path) -> str | None:
    """Return why the record has to be made, or None."""
    try:
        _, found = read_record(name, folder=results)
    except FileNotFoundError:
        return "not recorded yet"
    except ValueError as error:
        return f"the record is corrupt and is made anew: {error}"
    other = [field for field, value in made_of.items() if found[field] != value]
    return f"recorded with other {', '.join(other)}; made anew" if other else None


def _part(folder: Path, at: int) -> Path:
    return folder / f"{at:05d}.json"


def _finished_tasks(tasks: Sequence[Task], folder: Path, key: str) -> dict[int, Rows]:
    """Return the saved rows by the task's position, and say which saved parts are worth nothing."""
    done = {}
    for at, task in enumerate(tasks):
        path = _part(folder, at)
        if path.exists():
            try:
                done[at] = _read_part(path, key, task)
            except ValueError as error:
                say(f"{error}; the task is done again")
    if done:
        say(f"{folder.parent.name}: {len(done)} of {len(tasks)} tasks are there from before")
    return done


def _write_part(path: Path, key: str, task: Task, rows: Rows) -> Rows:
    """Save the rows of a task and return them as they will be read."""
    part = {"key": key, "task": repr(task), "rows": rows}
    text = json.dumps(part, default=_plain)
    part = json.loads(text)
    write_whole(path, json.dumps({**part, "checksum": checksum(part)}))
    return part["rows"]


def _read_part(path: Path, key: str, task: Task) -> Rows:
    """Return the rows of a finished task.

    Raises
    ------
    ValueError
        If the part is broken, was altered, or is of another record or task.
    """
    try:
        part = json.loads(path.read_text(encoding="utf-8"))
        saved = part.pop("checksum")
        whole = saved == checksum(part)
        fits = (part["key"], part["task"]) == (key, repr(task))
    except (ValueError, KeyError, AttributeError, TypeError):
        raise ValueError(f"{path}: found a broken part") from None
    if not whole:
        raise ValueError(f"{path}: found a part that does not fit its checksum")
    if not fits:
        raise ValueError(f"{path}: found a part of another record or task")
    return part["rows"]


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as Python's own, for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"rows: found {value!r} of type {type(value).__name__}, expected numbers and strings")
