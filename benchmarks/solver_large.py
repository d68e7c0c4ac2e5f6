"""The k-ary solver at 500 and 1,000 groups: processor seconds, Δ, and the gap that the certificate proves.

Made by hand, ``python -m benchmarks solver_large``. Each channel is stored in results/solver-large.json as soon as it
is done, so that an interrupted command resumes while the solver's code is the same.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.solver_grid import budget_of_privacy, code, fair_error, instance
from benchmarks.timing import check, target
from dpfair_lib import optimal_randomizer
from dpfair_lib.local import smallest_error, verify_certificate
from dpfair_lib.timings import LARGE_SOLVER_RECORD

TITLE = "The k-ary solver at 500 and 1,000 groups"
UNIT = "one channel; processor seconds of one thread"
RECORD = LARGE_SOLVER_RECORD
SECTION = "solver_large"
GROUPS = (500, 1000)
EPSILONS = ("1", "ln k + 1")
BUDGET = 0.5  # of the way from the least error to the least fair one
INSTANCES = 20  # for each number of groups and ε
FEWER = {1000: 3}  # one of each kind of shares
EXTENDS = True  # a record of fewer instances is gone on with
TOLERANCE = 1e-8
LIMIT = 7200.0  # seconds of the clock; processor seconds are what is asked for
# seconds of the clock for the least fair error, not in the time; where it is not found, the best so far counts
PREPARING = {500: 30.0, 1000: 120.0}
ALLOWED = {500: 300.0, 1000: 1800.0}  # processor seconds that the worst channel may take
RELATIVE = 1e-4  # the largest gap allowed, over Δ
REHEARSAL = {"GROUPS": (8, 9), "INSTANCES": 2}


def solved(k: int, epsilon: str, number: int) -> dict[str, Any]:
    """Solve one instance: processor seconds, those of the clock, Δ, and the recomputed gap."""
    p, p1 = instance(k, number)
    level = budget_of_privacy(epsilon, k)
    least = smallest_error(p, level)
    most, fair = fair_error(p, p1, level, PREPARING.get(k, LIMIT))
    error = least + BUDGET * (most - least)
    cpu, wall = time.process_time(), time.perf_counter()
    found = optimal_randomizer(p, p1, level, error=error, tol=TOLERANCE, time_limit=LIMIT)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    gap = verify_certificate(found, p, p1, level, error=error)  # not in the time
    return {"seconds": cpu, "wall": wall, "value": found.certificate.value, "gap": gap, "fair": fair.gap}


def row(k: int, epsilon: str, found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one cell of the record."""
    seconds = [one["seconds"] for one in found]
    return {
        "axis": "groups", "value": k, "name": f"ε = {epsilon}", "epsilon": epsilon, "seconds": seconds,
        "median": statistics.median(seconds), "ratio": 1.0, "worst": max(seconds),
        "walls": [one["wall"] for one in found], "deltas": [one["value"] for one in found],
        "gaps": [one["gap"] for one in found], "fair_gaps": [one["fair"] for one in found],
        "relative_worst": max(one["gap"] / one["value"] for one in found),
    }  # fmt: skip


def measure(
    save: Callable[[dict[str, Any]], object],
    *,
    kept: Sequence[dict[str, Any]] = (),
    groups: Sequence[int] = GROUPS,
    instances: int = INSTANCES,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Solve what is not kept, for each number of groups one instance of every ε after another, and save after each.

    Parameters
    ----------
    save : callable
        Receives the section so far.
    kept : sequence of rows
        From an earlier run of the same code.
    groups : sequence of int
    instances : int
        For each number of groups and ε, or as many as `FEWER` allows.
    tell : callable
        Receives a line for each channel.

    Returns
    -------
    dict
        The section: ``rows``, ``targets`` (worst processor seconds) and ``checks`` (worst relative gaps).
    """
    done: dict[tuple[int, str], list[dict[str, Any]]] = {
        cell: [] for cell in itertools.product(groups, EPSILONS)
    }
    for cell in kept:
        fair = cell.get("fair_gaps", [None] * len(cell["seconds"]))  # earlier records do not say
        lists = (cell["seconds"], cell["walls"], cell["deltas"], cell["gaps"], fair)
        done[cell["value"], cell["epsilon"]] = [
            dict(zip(("seconds", "wall", "value", "gap", "fair"), one, strict=True))
            for one in zip(*lists, strict=True)
        ]
    for size, number in itertools.product(groups, range(instances)):
        for (k, epsilon), found in done.items():
            if k != size:
                continue
            if len(found) > number or number >= FEWER.get(k, instances):
                continue
            found.append(solved(k, epsilon, number))
            save(section(done, instances))
            one = found[-1]
            tell(
                f"  k = {k}  ε = {epsilon}  {one['seconds']:.1f} s  Δ = {one['value']:.3e}  gap {one['gap']:.0e}"
            )
    return section(done, instances)


def section(done: dict[tuple[int, str], list[dict[str, Any]]], instances: int) -> dict[str, Any]:
    """Return what is known, with what was asked of it."""
    rows = [row(*cell, found) for cell, found in done.items() if found]
    first: dict[int, float] = {}
    for one in rows:
        one["ratio"] = one["median"] / first.setdefault(one["value"], one["median"])
    worst = {k: [one for one in rows if one["value"] == k] for k in ALLOWED}
    return {
        "rows": rows, "tolerance": TOLERANCE, "budget": BUDGET, "code": code(),
        "whole": all(len(found) == min(instances, FEWER.get(k, instances)) for (k, _), found in done.items()),
        "targets": [
            target(
                f"k = {k}: processor seconds allowed ({ALLOWED[k]:g}) over those of the worst channel",
                max(one["worst"] for one in cells), ALLOWED[k], 1.0,
            )
            for k, cells in worst.items() if cells
        ],
        "checks": [
            check(f"worst gap over Δ, k = {k}", max(one["relative_worst"] for one in cells), RELATIVE)
            for k, cells in worst.items() if cells
        ],
    }  # fmt: skip
