"""The k-ary solver on random instances: processor seconds and proved gaps, over k, ε, the budget and kinds of shares.

Made by hand, ``make bench-solver``: 1200 channels, and the least fair error of each instance. Each cell of 20
instances is stored in results/solver.json as soon as it is done. An interrupted command resumes from there while the
solver's code is the same.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.timing import check, target
from dpfair_lib import optimal_randomizer
from dpfair_lib._sources import digest, meaning
from dpfair_lib.local import fair_error_bounds, smallest_error, verify_certificate
from dpfair_lib.timings import EPSILONS, SOLVER_RECORD

TITLE = "The k-ary solver on random instances of three kinds of shares"
UNIT = "one channel, or one least fair error; processor seconds of one thread"
RECORD = SOLVER_RECORD
SECTION = "solver_grid"
GROUPS = (10, 20, 50, 100, 200)
BUDGETS = (0.25, 0.5, 0.75)  # of the way from the least error to the least fair one
KINDS = ("even", "Dirichlet(2)", "power law")
INSTANCES = 20
TOLERANCE = 1e-8
LIMIT = 60.0  # seconds of the clock for each channel and each least fair error: the default of both
ALLOWED = {50: 2.0, 100: 10.0}  # processor seconds that the worst channel may take
REHEARSAL = {"GROUPS": (3, 8), "INSTANCES": 3}
CODE = ("dpfair_lib/local/optimal/*.py", "dpfair_lib/local/randomizer.py", "benchmarks/solver_grid.py")
# an optimum as the root of a polynomial: no channel's time depends on these
NOT_TIMED = {"algebraic.py", "intervals.py", "polynomials.py"}


class Solved(NamedTuple):
    """What one instance took and proved: processor seconds, seconds of the clock, gap, and why the search ended."""

    seconds: float
    wall: float
    gap: float
    ended: str


def budget_of_privacy(name: str, k: int) -> float:
    """Return the ε of that name."""
    return {"½": 0.5, "1": 1.0, "2": 2.0, "ln k + 1": math.log(k) + 1}[name]


def instance(k: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return shares and rates; the kinds of shares take turns, rates are uniform between 0.05 and 0.6."""
    rng = np.random.default_rng([k, number])
    kind = KINDS[number % len(KINDS)]
    p: np.ndarray = np.ones(k)
    if kind == "Dirichlet(2)":
        p = rng.dirichlet(np.full(k, 2.0))
    elif kind == "power law":
        p = np.arange(1, k + 1) ** -rng.uniform(0.5, 1.5)
    return p / p.sum(), rng.uniform(0.05, 0.6, k)


def fair_error(p: np.ndarray, p1: np.ndarray, epsilon: float, limit: float) -> tuple[float, Solved]:
    """Time the least fair error; its upper end and what that took."""
    cpu, wall = time.process_time(), time.perf_counter()
    found = fair_error_bounds(p, p1, epsilon, tol=TOLERANCE, time_limit=limit)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    ended = "closed" if found.gap <= TOLERANCE else "time" if wall >= limit else "rounding"
    return found.upper, Solved(cpu, wall, found.gap, ended)


def channel(p: np.ndarray, p1: np.ndarray, epsilon: float, error: float, limit: float) -> Solved:
    """Time one channel and verify its certificate, which is not in the time."""
    cpu, wall = time.process_time(), time.perf_counter()
    found = optimal_randomizer(p, p1, epsilon, error=error, tol=TOLERANCE, time_limit=limit)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return Solved(cpu, wall, verify_certificate(found, p, p1, epsilon, error=error), found.certificate.ended)


def cells(k: int, epsilon: str, instances: int, limit: float) -> list[dict[str, Any]]:
    """Return the rows of one k and ε: the least fair error, and a channel for each budget between the two errors."""
    level = budget_of_privacy(epsilon, k)
    fair: list[Solved] = []
    found: dict[float, list[Solved]] = {share: [] for share in BUDGETS}
    for number in range(instances):
        p, p1 = instance(k, number)
        least, (most, solved) = smallest_error(p, level), fair_error(p, p1, level, limit)
        fair.append(solved)
        for share in BUDGETS:
            found[share].append(channel(p, p1, level, least + share * (most - least), limit))
    rows = [row(k, epsilon, None, fair)]
    return rows + [row(k, epsilon, share, solved) for share, solved in found.items()]


def row(k: int, epsilon: str, budget: float | None, solved: Sequence[Solved]) -> dict[str, Any]:
    """Return one cell of the record; ``budget`` is None for the least fair error."""
    seconds = [one.seconds for one in solved]
    what = "least fair error" if budget is None else f"budget {budget:g}"
    return {
        "axis": "groups", "value": k, "name": f"ε = {epsilon}, {what}", "epsilon": epsilon, "budget": budget,
        "seconds": seconds, "median": statistics.median(seconds), "ratio": 1.0, "worst": max(seconds),
        "wall_median": statistics.median(one.wall for one in solved), "wall_worst": max(one.wall for one in solved),
        "gap_worst": max(one.gap for one in solved),
        "open": sum(one.gap > TOLERANCE for one in solved),
        "ended": {why: sum(one.ended == why for one in solved) for why in ("closed", "time", "rounding")},
    }  # fmt: skip


def code() -> str:
    """Return a digest of the code that the times depend on, without its comments and docstrings."""
    root = Path(__file__).resolve().parents[1]
    files = (path for pattern in CODE for path in root.glob(pattern) if path.name not in NOT_TIMED)
    return digest({path.relative_to(root).as_posix(): meaning(path) for path in files})[:16]


def measure(
    save: Callable[[dict[str, Any]], object],
    *,
    kept: Sequence[dict[str, Any]] = (),
    groups: Sequence[int] = GROUPS,
    instances: int = INSTANCES,
    limit: float = LIMIT,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure every cell that is not kept, and save what there is after each.

    Parameters
    ----------
    save : callable
        Receives the section so far.
    kept : sequence of rows
        From an earlier run of the same code.
    groups : sequence of int
    instances : int
        For each cell.
    limit : float
        Seconds of the clock for one channel.
    tell : callable
        Receives a line for each cell that was measured.

    Returns
    -------
    dict
        The section: ``rows``, ``limit``, ``targets`` (worst processor seconds) and ``checks`` (worst gaps).
    """
    rows = list(kept)
    done = {(cell["value"], cell["epsilon"]) for cell in rows}
    for k in groups:
        for epsilon in EPSILONS:
            if (k, epsilon) in done:
                continue
            new = cells(k, epsilon, instances, limit)
            rows += new
            save(section(rows, groups, limit))
            for cell in new:
                tell(
                    f"  k = {k:3d}  {cell['name']:32s} median {cell['median']:8.3f} s  worst {cell['worst']:8.3f} s"
                    f"  worst gap {cell['gap_worst']:.0e}  open {cell['open']}"
                )
    return section(rows, groups, limit)


def section(rows: Sequence[dict[str, Any]], groups: Sequence[int], limit: float) -> dict[str, Any]:
    """Return what is known of the cells, with what was asked of them."""
    order = {
        (k, epsilon): place for place, (k, epsilon) in enumerate((k, e) for k in groups for e in EPSILONS)
    }
    rows = sorted(rows, key=lambda cell: order[cell["value"], cell["epsilon"]])
    first: dict[int, float] = {}
    for cell in rows:
        cell["ratio"] = cell["median"] / first.setdefault(cell["value"], cell["median"])
    channels = [cell for cell in rows if cell["budget"] is not None]
    sizes = [k for k in groups if any(cell["value"] == k for cell in channels)]

    def worst(k: int, what: str) -> float:
        return max(float(cell[what]) for cell in channels if cell["value"] == k)

    return {
        "rows": rows, "limit": limit, "tolerance": TOLERANCE, "kinds": list(KINDS), "code": code(),
        "whole": len(rows) == len(order) * (1 + len(BUDGETS)),
        "targets": [
            target(
                f"k = {k}: processor seconds allowed ({ALLOWED[k]:g}) over those of the worst channel",
                worst(k, "worst"), ALLOWED[k], 1.0,
            )
            for k in sizes if k in ALLOWED
        ],
        "checks": [check(f"worst gap of a channel, k = {k}", worst(k, "gap_worst"), TOLERANCE) for k in sizes],
    }  # fmt: skip
