"""The fairest channel under the worst distribution of a set: processor seconds, the unfairness, and the proved gap.

Made by hand, ``python -m benchmarks solver_robust``. Each channel is stored in results/solver-robust.json as soon as it
is done, so that an interrupted command resumes while the solver's code is the same.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.solver_grid import budget_of_privacy, instance
from benchmarks.timing import check, target
from dpfair_lib._sources import digest, meaning
from dpfair_lib.local import CellBall, CellBounds, robust_randomizer, worst_unfairness
from dpfair_lib.local.optimal.program import privacy_ratio
from dpfair_lib.local.robust.program import least_truth, mended, most_truthful
from dpfair_lib.local.robust.proof import lower_bound
from dpfair_lib.timings import ROBUST_SOLVER_RECORD

TITLE = "The robust solver: the worst of all distributions in a box or a ball"
UNIT = "one channel; processor seconds of one thread"
RECORD = ROBUST_SOLVER_RECORD
SECTION = "solver_robust"
GROUPS = (5, 10, 20, 50)
EPSILONS = ("1", "ln k + 1")
SETS = ("box", "ball")
RADIUS = 0.05  # of a ball; of a box this over k, so that a cell of average size may change by a tenth
BUDGET = (
    0.5  # of the way from the least error under the worst distribution to that of reports that tell nothing
)
INSTANCES = 20  # for each number of groups, ε and kind of set
FEWER = {50: 5}
EXTENDS = True  # a record of fewer instances is gone on with
TOLERANCE = 1e-6
LIMIT = 3600.0  # seconds of the clock; processor seconds are what is asked for
ALLOWED = {20: 30.0, 50: 300.0}  # processor seconds that the worst channel may take
GAP = 1.1e-6  # the largest gap allowed; it is proved again, in fractions
REHEARSAL = {"GROUPS": (3, 4), "INSTANCES": 2}
CODE = ("dpfair_lib/local/robust/*.py", "dpfair_lib/local/randomizer.py", "benchmarks/solver_robust.py")


def law_set(kind: str, k: int, number: int) -> CellBounds | CellBall:
    """Return the distributions of one instance."""
    p, p1 = instance(k, number)
    return CellBounds.around(p, p1, RADIUS / k) if kind == "box" else CellBall.around(p, p1, RADIUS)


def solved(k: int, epsilon: str, kind: str, number: int) -> dict[str, Any]:
    """Solve one instance: processor seconds, the largest Δ, the gap that is proved again, and the rounds."""
    level, laws = budget_of_privacy(epsilon, k), law_set(kind, k, number)
    least = 1 - least_truth(mended(most_truthful(laws, privacy_ratio(level))), laws)
    error = least + BUDGET * (1 - 1 / k - least)
    cpu, wall = time.process_time(), time.perf_counter()
    found = robust_randomizer(laws, level, error=error, tol=TOLERANCE, time_limit=LIMIT)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    proved, matrix = found.certificate, np.asarray(found.matrix)
    if not (
        found.likelihood_ratio <= np.exp(level) * (1 + 1e-12)
        and (matrix <= np.minimum(np.diag(matrix)[:, None], np.diag(matrix)) + 1e-12).all()
        and 1 - least_truth(matrix, laws) <= error + 1e-12
    ):
        raise RuntimeError(
            f"k = {k}, {kind}, ε = {epsilon}, instance {number}: the channel breaks a constraint"
        )
    value = worst_unfairness(found, laws).unfairness  # not in the time
    gap = float(value - lower_bound(laws, level, error, proved.proof)) if proved.proof else value
    return {"seconds": cpu, "wall": wall, "value": value, "gap": gap, "rounds": proved.rounds}


def row(cell: tuple[int, str, str], found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one cell of the record."""
    (k, epsilon, kind), seconds = cell, [one["seconds"] for one in found]
    return {
        "axis": "groups", "value": k, "name": f"{kind}, ε = {epsilon}", "epsilon": epsilon, "set": kind,
        "seconds": seconds, "median": statistics.median(seconds), "ratio": 1.0, "worst": max(seconds),
        "walls": [one["wall"] for one in found], "deltas": [one["value"] for one in found],
        "gaps": [one["gap"] for one in found], "rounds": [one["rounds"] for one in found],
        "gap_worst": max(one["gap"] for one in found),
        "relative_worst": max(one["gap"] / one["value"] for one in found),
    }  # fmt: skip


def code() -> str:
    """Return a digest of the code that the times depend on, without its comments and docstrings."""
    root = Path(__file__).resolve().parents[1]
    files = (path for pattern in CODE for path in root.glob(pattern))
    return digest({path.relative_to(root).as_posix(): meaning(path) for path in files})[:16]


def measure(
    save: Callable[[dict[str, Any]], object],
    *,
    kept: Sequence[dict[str, Any]] = (),
    groups: Sequence[int] = GROUPS,
    instances: int = INSTANCES,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Solve what is not kept, for each number of groups one instance of every cell after another; save after each.

    Parameters
    ----------
    save : callable
        Receives the section so far.
    kept : sequence of rows
        From an earlier run of the same code.
    groups : sequence of int
    instances : int
        For each cell, or as many as `FEWER` allows.
    tell : callable
        Receives a line for each channel.

    Returns
    -------
    dict
        The section: ``rows``, ``targets`` (worst processor seconds) and ``checks`` (worst gaps).
    """
    done: dict[tuple[int, str, str], list[dict[str, Any]]] = {
        cell: [] for cell in itertools.product(groups, EPSILONS, SETS)
    }
    for cell in kept:
        lists = (cell[name] for name in ("seconds", "walls", "deltas", "gaps", "rounds"))
        done[cell["value"], cell["epsilon"], cell["set"]] = [
            dict(zip(("seconds", "wall", "value", "gap", "rounds"), one, strict=True))
            for one in zip(*lists, strict=True)
        ]
    for size, number in itertools.product(groups, range(instances)):
        for (k, epsilon, kind), found in done.items():
            if k != size or len(found) > number or number >= FEWER.get(k, instances):
                continue
            one = solved(k, epsilon, kind, number)
            found.append(one)
            save(section(done, instances))
            tell(
                f"  k = {k}  {kind}  ε = {epsilon}  {one['seconds']:.1f} s  {one['rounds']} rounds  "
                f"Δ = {one['value']:.3e}  gap {one['gap']:.0e}"
            )
    return section(done, instances)


def section(done: dict[tuple[int, str, str], list[dict[str, Any]]], instances: int) -> dict[str, Any]:
    """Return what is known, with what was asked of it."""
    rows = [row(cell, found) for cell, found in done.items() if found]
    first: dict[int, float] = {}
    for one in rows:
        one["ratio"] = one["median"] / first.setdefault(one["value"], one["median"])
    sizes = {k: [one for one in rows if one["value"] == k] for k in GROUPS}
    return {
        "rows": rows, "tolerance": TOLERANCE, "budget": BUDGET, "radius": RADIUS, "code": code(),
        "whole": all(len(found) == min(instances, FEWER.get(k, instances)) for (k, *_), found in done.items()),
        "targets": [
            target(
                f"k = {k}: processor seconds allowed ({ALLOWED[k]:g}) over those of the worst channel",
                max(one["worst"] for one in cells), ALLOWED[k], 1.0,
            )
            for k, cells in sizes.items() if k in ALLOWED and cells
        ],
        "checks": [
            check(f"worst gap, k = {k}", max(one["gap_worst"] for one in cells), GAP)
            for k, cells in sizes.items() if cells
        ],
    }  # fmt: skip
