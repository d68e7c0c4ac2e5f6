"""Interleaved timings: contenders take turns in one process, so that a busy machine is busy for all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

Check = dict[str, Any]


class Contender(NamedTuple):
    """One way to do the work.

    Parameters
    ----------
    call : callable
        Does the work.
    runs : int
        How many runs of it one call does.
    """

    call: Callable[[], object]
    runs: int = 1


def interleave(contenders: dict[str, Contender], repeats: int) -> dict[str, list[float]]:
    """Return the seconds per run of every repetition; contenders take turns, after one round of warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(repeats + 1):
        for name, contender in contenders.items():
            started = time.perf_counter()
            contender.call()
            if turn:
                seconds[name].append((time.perf_counter() - started) / contender.runs)
    return seconds


def rows(axis: str, value: int, seconds: dict[str, list[float]]) -> list[dict[str, Any]]:
    """Return a row for each contender; ratios are to the first, which is ours."""
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    ours = next(iter(medians.values()))
    return [
        {
            "axis": axis, "value": value, "name": name, "seconds": seconds[name], "median": medians[name],
            "ratio": medians[name] / ours,
        }
        for name in medians
    ]  # fmt: skip


def check(what: str, found: float, limit: float) -> Check:
    """Return a check of correctness beside the times: a difference, and what it may be at most."""
    return {"what": what, "found": found, "limit": limit, "met": bool(found <= limit)}


def target(what: str, ours: float, theirs: float, least: float) -> dict[str, Any]:
    """Return a target: how many times as long as ours theirs takes, at least."""
    return {"what": what, "ratio": theirs / ours, "least": least, "met": bool(theirs / ours >= least)}
