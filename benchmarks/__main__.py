"""Time the library beside its peers, into results/bench.json: ``make bench``, or ``python -m benchmarks NAME``."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from benchmarks import (
    coverage,
    dp_sgd,
    dynamics,
    fairness,
    gpu,
    gpu_arrays,
    gpu_coverage,
    group_gap,
    growth,
    local,
    margins,
    postprocessing,
    privacy,
    randomize,
    sensitivity,
    solver,
    solver_grid,
    solver_large,
    solver_robust,
)  # fmt: skip
from benchmarks.recorded_timings import load_average, provenance, write_sections
from benchmarks.timing import interleave, rows
from dpfair_lib.timings import RECORD, read_timings

SUITES = {
    "fairness": fairness, "postprocessing": postprocessing, "privacy": privacy, "local": local,
    "randomize": randomize, "solver": solver, "dp_sgd": dp_sgd, "growth": growth,
    "sensitivity": sensitivity, "margins": margins, "coverage": coverage, "dynamics": dynamics,
    "group_gap": group_gap,
}  # fmt: skip
GPU_SUITES = {"gpu": gpu, "gpu_coverage": gpu_coverage, "gpu_arrays": gpu_arrays}
SOLVER_SUITES = {suite.SECTION: suite for suite in (solver_grid, solver_large, solver_robust)}
REPEATS = 5


def measure(suite: ModuleType, repeats: int) -> dict[str, Any]:
    """Run one benchmark: all its sizes, what it compares itself with, and whether both do the same."""
    tell(f"\n{suite.TITLE}; {suite.UNIT}")
    before, started = load_average(), time.perf_counter()
    found: list[dict[str, Any]] = []
    for axis, values in suite.AXES.items():
        for value in values:
            seconds = interleave(suite.contenders(**{axis: value}), repeats)
            found += rows(axis, value, seconds)
            say(found[-len(seconds) :])
    section: dict[str, Any] = {
        "title": suite.TITLE, "measured": True, "unit": suite.UNIT, **provenance(dp_sgd.THREADS),
        "repeats": repeats, "rows": found,
        "targets": suite.targets(found) if hasattr(suite, "targets") else [],
        "checks": suite.checks() if hasattr(suite, "checks") else [],
    }  # fmt: skip
    if hasattr(suite, "parts"):
        section["parts"] = suite.parts()
    for line in section["targets"]:
        tell(f"  target: {line['what']}: {line['ratio']:.1f} × ours, at least {line['least']:g}: {met(line)}")
    for line in section["checks"]:
        tell(f"  check: {line['what']}: {line['found']:.2g}, at most {line['limit']:g}: {met(line)}")
    return {**section, "load": [before, load_average()], "wall_seconds": round(time.perf_counter() - started)}


def met(line: dict[str, Any]) -> str:
    return "met" if line["met"] else "MISSED"


def say(found: list[dict[str, Any]]) -> None:
    for place, row in enumerate(found):
        ratio = f"   {row['ratio']:6.1f} × ours" if place else ""
        size = f"{row['axis']} = {row['value']:>9,}"
        tell(f"  {size}  {row['name']:58s} {row['median'] * 1e3:10.2f} ms{ratio}")


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def gpu_device() -> torch.device | None:
    """Return the GPU, if there is one that PyTorch can use."""
    return torch.device("cuda") if torch.cuda.is_available() else None


def measure_gpu(suite: ModuleType, device: torch.device, repeats: int) -> dict[str, Any]:
    """Run one benchmark of the GPU."""
    before = load_average()
    section = {
        "title": suite.TITLE, "measured": True, "unit": suite.UNIT, **provenance(torch.get_num_threads()),
        "repeats": repeats, **suite.measure(device, repeats),
    }  # fmt: skip
    return {**section, "load": [before, load_average()]}


def measure_solver(suite: ModuleType, record: Path) -> dict[str, Any]:
    """Run a benchmark of the solver, which takes an hour or more; it resumes an interrupted run of the same code."""
    tell(f"\n{suite.TITLE}; {suite.UNIT}")
    before = read_timings(record).get(suite.SECTION, {}) if record.exists() else {}
    extends = getattr(suite, "EXTENDS", False) or before.get("repeats") == suite.INSTANCES
    same = before.get("code") == suite.code() and extends
    load, started = load_average(), time.perf_counter()
    spent = before["wall_seconds"] if same else 0
    head = {
        "title": suite.TITLE, "measured": True, "unit": suite.UNIT, **provenance(1),
        "repeats": suite.INSTANCES,
    }  # fmt: skip

    def whole(found: dict[str, Any]) -> dict[str, Any]:
        seconds = spent + round(time.perf_counter() - started)
        return {**head, **found, "load": [load, load_average()], "wall_seconds": seconds}

    return whole(
        suite.measure(
            lambda found: write_sections({suite.SECTION: whole(found)}, record),
            kept=before["rows"] if same else (), groups=suite.GROUPS, instances=suite.INSTANCES, tell=tell,
        )
    )  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmarks named, by default all that take seconds and no GPU; each section is written when done."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    known = (*SUITES, *SOLVER_SUITES, *GPU_SUITES)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}; default: all but the last six"
    )
    parser.add_argument("--repeats", type=int, default=REPEATS, help="of every timing, after one to warm up")
    parser.add_argument("--record", type=Path, default=RECORD, help="file to write")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.names if name not in known]:
        parser.error(f"found {unknown[0]!r}, expected one of {', '.join(known)}")
    if given.repeats < 1:
        parser.error(f"--repeats: found {given.repeats}, expected at least 1")
    if given.repeats < REPEATS and given.record.resolve() == RECORD.resolve():
        parser.error(
            f"--repeats: found {given.repeats} for the record that the book shows, expected at least {REPEATS}; "
            "a rehearsal goes into a file of its own, --record FILE"
        )
    failed = [
        name
        for name in given.names or SUITES
        if not kept(section_of(name, given.repeats, given.record), name, place(name, given.record))
    ]
    for name, suite in GPU_SUITES.items():
        if not given.record.exists() or name not in read_timings(given.record):
            missing = {
                "title": suite.TITLE,
                "measured": False,
                "why": "no GPU on the machine of the benchmarks",
            }
            write_sections({name: missing}, given.record)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; what is recorded of them stays as it is")


def place(name: str, record: Path) -> Path:
    """Return the file of a benchmark's section: those of the solver have records of their own."""
    own = name in SOLVER_SUITES and record.resolve() == RECORD.resolve()
    return SOLVER_SUITES[name].RECORD if own else record


def section_of(name: str, repeats: int, record: Path) -> Callable[[], dict[str, Any] | None]:
    """Return what runs a benchmark and returns its section, or None where its machine is not there."""
    if name in SUITES:
        return lambda: measure(SUITES[name], repeats)
    if name in SOLVER_SUITES:
        return lambda: measure_solver(SOLVER_SUITES[name], place(name, record))
    if (device := gpu_device()) is not None:
        return lambda: measure_gpu(GPU_SUITES[name], device, repeats)
    tell(f"{name}: found no GPU that PyTorch can use, expected one; what is recorded of a GPU stays as it is")
    return lambda: None


def kept(run: Callable[[], dict[str, Any] | None], name: str, record: Path) -> bool:
    """Run a benchmark and write its section; say so if it fails, for those after it are run all the same."""
    try:
        if (section := run()) is not None:
            write_sections({name: section}, record)
    except Exception:
        traceback.print_exc()
        tell(f"{name}: FAILED")
        return False
    return True


if __name__ == "__main__":
    main()
