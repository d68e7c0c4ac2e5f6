"""Run a task or two of each recorded experiment again, with the code of today, and compare the rows.

A record tells which code made it. When the code has changed since, its rows may still be what the code gives: most
changes concern other inputs, messages or speed. So tasks are drawn by a seed and run again. What was found is in
``results/repeats.json``; a record that has been made anew since counts as not repeated. Times and memory are not
compared. A run that fails says nothing of a record, only of the machine: it is printed, and what was found before
stays.
"""

import argparse
import json
import math
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpfair_lib._files import write_whole
from dpfair_lib.experiments.__main__ import EXPERIMENTS
from dpfair_lib.experiments.experiment import Experiment, Rows
from dpfair_lib.experiments.provenance import code_of, commit, versions
from dpfair_lib.experiments.recorded_results import RESULTS, read_record

REPEATS = RESULTS / "repeats.json"
MEASURED = "seconds", "mebibytes"  # in the names of columns that no run repeats
DIGITS = 10  # that a record keeps


def main() -> None:
    """Repeat tasks of the named records, or of all, each record in a process of its own with a limit of time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a record; all without a name")
    parser.add_argument("--tasks", type=int, default=1, metavar="N", help="of each record (%(default)s)")
    parser.add_argument(
        "--limit", type=int, default=600, metavar="SECONDS", help="of processor time, each record"
    )
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if unknown := [name for name in args.names if name not in EXPERIMENTS]:
        parser.error(f"found {unknown[0]!r}, expected one of {', '.join(EXPERIMENTS)}")
    if args.one:
        print(json.dumps(repeated(EXPERIMENTS[args.names[0]](args.names[0]), args.tasks)))
        return
    failed = []
    for name in args.names or EXPERIMENTS:
        try:
            found = in_a_process(name, args.tasks, args.limit)
        except RuntimeError as problem:
            failed.append(name)
            print(f"{name}: failed: {problem}", flush=True)
            continue
        print(f"{name}: {found['outcome']}", flush=True)
        write({**read(), name: found})
    if failed:
        sys.exit(f"failed, and not recorded: {', '.join(failed)}")


def in_a_process(name: str, tasks: int, limit: int) -> dict[str, Any]:
    """Return what `repeated` finds in a new process, or that it took too long.

    Raises
    ------
    RuntimeError
        If the process fails, with the last line that it printed.
    """
    command = [sys.executable, __file__, name, "--one", "--tasks", str(tasks)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
    )  # fmt: skip
    if done.returncode == -signal.SIGXCPU or done.returncode == -signal.SIGKILL:
        return {"outcome": f"a task takes more than {limit} s"}
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout.splitlines()[-1])


def repeated(experiment: Experiment, tasks: int, folder: Path = RESULTS) -> dict[str, Any]:
    """Run tasks of an experiment again and compare their rows with the record's.

    Parameters
    ----------
    experiment : Experiment
        As of today.
    tasks : int
        How many to run, drawn by a seed that the name gives.
    folder : Path
        Where the record is.

    Returns
    -------
    dict
        ``outcome`` in words, and of the tasks that were run: their positions, the number of their rows, of those that
        are the same, the largest difference of two numbers, and the columns of other cells that differ.
    """
    rows, record = read_record(experiment.name, folder=folder)
    found: dict[str, Any] = {"recorded at": record["commit"], "repeated at": commit()}
    found["same code"] = code_of(experiment.function) == record["code"]
    found["same packages"] = versions() == record["versions"]
    found["other parameters"] = others(experiment, record)
    tasks_then = record["parameters"].get("tasks", len(experiment.tasks))
    choice = np.random.default_rng(list(experiment.name.encode()))
    drawn = choice.permutation(min(tasks_then, len(experiment.tasks)))[:tasks]
    found |= {"tasks": sorted(drawn.tolist()), "of": len(experiment.tasks)}
    start = time.process_time()
    again = {at: plain(experiment.function(**experiment.tasks[at])) for at in found["tasks"]}
    found["seconds"] = round(time.process_time() - start, 1)
    apart = pd.concat([compared(part, rows, at) for at, part in again.items()])
    found |= {"rows": len(apart), "same": int((apart == 0).all(axis=1).sum())}
    found["difference"] = float(apart.where(np.isfinite(apart), 0).max(axis=None))
    found["texts"] = apart.columns[np.isinf(apart).any()].tolist()
    return {**found, "outcome": f"{found['same']} of {found['rows']} rows are the same"}


def others(experiment: Experiment, record: dict[str, Any]) -> list[str]:
    """Return which parameters, and whether the data, differ from those that the record holds."""
    today = json.loads(
        json.dumps({**experiment.parameters, "tasks": len(experiment.tasks), **experiment.data})
    )
    then = {**record["parameters"], **record["data"]}
    return sorted(key for key in then if not alike(today.get(key), then[key]))


def alike(one: Any, other: Any) -> bool:
    """Return whether two parameters are the same; numbers may differ in their ninth digit, as of a solved equation."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-8)
    return bool(one == other)


def compared(part: pd.DataFrame, rows: pd.DataFrame, at: int) -> pd.DataFrame:
    """Return how far each cell of a task's rows is from the record's.

    Parameters
    ----------
    part : DataFrame
        The rows of the task.
    rows : DataFrame
        All rows of the record, those of each task one after another. Columns that it does not have do not count.
    at : int
        Position of the task. Its rows are looked for where they are if all tasks give equally many, and then
        everywhere; the place with most equal rows counts.

    Returns
    -------
    DataFrame
        As `difference` says.
    """
    columns = [column for column in rows.columns if not any(name in column for name in MEASURED)]
    new, old = (frame.reindex(columns=columns).to_numpy(dtype=object).tolist() for frame in (part, rows))
    guess = at * len(part)  # right if all tasks give equally many rows
    best, most = pd.DataFrame(math.inf, part.index, columns), -1
    for start in [guess, *range(len(rows) - len(part) + 1)]:
        if start + len(part) <= len(rows) and most < len(part):
            cells = [list(map(difference, *pair)) for pair in zip(new, old[start:], strict=False)]
            found = pd.DataFrame(cells, columns=columns)
            if (same := int((found == 0).all(axis=1).sum())) > most:
                best, most = found, same
    return best


def difference(one: Any, other: Any) -> float:
    """Return how far two cells are apart: infinitely far if they are not equal and not both numbers."""
    if one == other or (pd.isna(one) and pd.isna(other)):
        return 0.0
    if isinstance(one, str | bool) or isinstance(other, str | bool) or pd.isna(one) or pd.isna(other):
        return math.inf
    return abs(round(one, DIGITS) - other)


def plain(rows: Rows) -> pd.DataFrame:
    """Return rows with Python's own numbers, as they come back from a record."""
    return pd.DataFrame(json.loads(json.dumps(rows, default=lambda scalar: scalar.item())))


def read() -> dict[str, Any]:
    """Return what was found before, by record."""
    return json.loads(REPEATS.read_text(encoding="utf-8")) if REPEATS.exists() else {}


def write(found: dict[str, Any]) -> None:
    """Save what was found, a line for each record."""
    lines = (f" {json.dumps(name)}: {json.dumps(found[name])}" for name in EXPERIMENTS if name in found)
    write_whole(REPEATS, "{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
