"""Time the library beside its peers, interleaved in one process, and show how it grows with size."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from benchmarks import dp_sgd, fairness, local, postprocessing, privacy, solver

SUITES = (fairness, postprocessing, privacy, local, solver, dp_sgd)
REPEATS = 7


def interleave(calls: dict[str, Callable[[], object]], repeats: int = REPEATS) -> dict[str, float]:
    """Return the median seconds of each call; the calls take turns, after one round of warm-up."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(repeats + 1):
        for name, call in calls.items():
            started = time.perf_counter()
            call()
            if turn:
                times[name].append(time.perf_counter() - started)
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    """Run every suite and print medians in milliseconds."""
    for suite in SUITES:
        sys.stdout.write(f"\n{suite.TITLE}\n")
        for size in suite.SIZES:
            units = getattr(suite, "UNITS", {})
            medians = {
                name: seconds / units.get(name, 1) for name, seconds in interleave(suite.calls(size)).items()
            }
            ours = next(iter(medians.values()))
            for name, seconds in medians.items():
                ratio = "" if seconds is ours else f"   {seconds / ours:6.1f} × ours"
                sys.stdout.write(f"  n = {size:>9,}  {name:42s} {seconds * 1e3:10.2f} ms{ratio}\n")


if __name__ == "__main__":
    main()
