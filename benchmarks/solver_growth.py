"""Growth of the k-ary solver with the number of groups: columns, and whole linear programs as long as they last.

A run made by hand, about ten minutes on a quiet machine: ``python -m benchmarks solver_growth``. Every solution comes
with its gap, recomputed from its certificate; a run that meets its limit of time keeps the gap that it had reached.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.solver import instance
from benchmarks.timing import check, target
from dpfair_lib import optimal_randomizer
from dpfair_lib.local import verify_certificate

TITLE = "Growth of the solver with k: Δ, half-way between the least error and that of no unfairness"
UNIT = "one channel, tolerance 1e-8 (from k = 100 on 1e-6)"
LIMIT = 300.0  # seconds for one channel
MANY = 50  # above, one repetition and no warm-up
SEED = 4  # of the instance: one whose least Δ is above 0 for k up to 100 at least
ALLOWED = {10: 0.05, 20: 0.1, 50: 1.0, 100: 6.0, 200: 30.0}  # seconds for columns
METHODS = {
    "columns": (10, 20, 50, 100, 200, 500),
    "dinkelbach": (10, 20, 50),
    "bisection": (10, 20),
}
REHEARSAL = {"METHODS": {"columns": (6,), "bisection": (6,)}}


class Solved(NamedTuple):
    """One channel: seconds it took, its Δ, and how far it can be from the least."""

    seconds: float
    delta: float
    gap: float


def tolerance(k: int) -> float:
    """Return the gap at which to stop."""
    return 1e-8 if k < 100 else 1e-6


def solve(k: int, method: Any, limit: float) -> Solved:
    """Time one channel and verify its certificate, which is not in the time."""
    p, p1, epsilon, error = instance(k, SEED)
    started = time.perf_counter()
    channel = optimal_randomizer(
        p, p1, epsilon, error=error, method=method, tol=tolerance(k), time_limit=limit
    )
    seconds = time.perf_counter() - started
    gap = verify_certificate(channel, p, p1, epsilon, error=error)
    return Solved(seconds, float(channel.value), float(gap))


def measure(
    repeats: int,
    methods: dict[str, tuple[int, ...]] = METHODS,
    limit: float = LIMIT,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Return a row for each method and size, with Δ and gap; targets for columns, and a check of the gaps.

    Parameters
    ----------
    repeats : int
        Repetitions up to `MANY` groups, after one to warm up; above there is one.
    methods : dict
        Name of a method → numbers of groups.
    limit : float
        Seconds for one channel.
    tell : callable
        Receives a line for each row as it is done.

    Returns
    -------
    dict
        ``rows`` as those of the other benchmarks, each with ``delta`` and ``gap`` of its channel and ``closed``,
        whether the gap is within the tolerance; ``targets``, seconds allowed over seconds taken; and ``checks``
        of the gaps.
    """
    sizes = sorted({k for chosen in methods.values() for k in chosen})
    found: list[dict[str, Any]] = []
    for k in sizes:
        ours = None
        for method, chosen in methods.items():
            if k not in chosen:
                continue
            solved = [solve(k, method, limit) for _ in range(repeats + 1 if k <= MANY else 1)]
            seconds = [one.seconds for one in solved[-repeats:]]
            median = statistics.median(seconds)
            ours = median if ours is None else ours
            last = solved[-1]
            found.append({
                "axis": "groups", "value": k, "name": method, "seconds": seconds, "median": median,
                "ratio": median / ours, "delta": last.delta, "gap": last.gap, "closed": last.gap <= tolerance(k),
            })  # fmt: skip
            tell(f"  k = {k:4d}  {method:11s} {median:9.3f} s  Δ = {last.delta:.8f}  gap {last.gap:.1e}")
    return {
        "rows": found, "limit": limit,
        "targets": [
            target(
                f"columns, k = {row['value']}: seconds allowed ({ALLOWED[row['value']]:g}) over seconds taken",
                row["median"], ALLOWED[row["value"]], 1.0,
            )
            for row in found if row["name"] == "columns" and row["value"] in ALLOWED
        ],
        "checks": [
            check(f"gap of {row['name']}, k = {row['value']}", row["gap"], tolerance(row["value"]))
            for row in found if row["value"] <= 200
        ],
    }  # fmt: skip
