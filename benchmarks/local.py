"""Reports under local privacy: ours against the compiled clients of multi-freq-ldpy 0.2.5.

The peer lives in an environment of its own (benchmarks/requirements-ldpy.txt says how to make it; LDPY_PYTHON names
another interpreter) and works in a process of its own, which takes its turn by a line through a pipe. Without it only
ours are timed. GRR's reports are numbers, subset selection's are bit vectors; the peer's sets are lists of
values, which a model cannot take, so that its clients are also timed with the step that makes bit vectors of them.
"""

from __future__ import annotations

import atexit
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import Contender, target
from dpfair_lib import generalized_randomized_response, subset_selection

TITLE = "Reports of an attribute with k = 10 values, ε = 1, from int8 labels"
UNIT = "all records of one call"
AXES = {"rows": (200_000, 1_000_000)}
REHEARSAL = {"AXES": {"rows": (1_000,)}}
RATES = {"GRR": 80e6, "SS, bit vectors": 10e6}  # reports a second on one core, at least
# how many times as long as ours the peer takes at least: in its compiled loop; called one by one, then one-hot
LEAST = {
    "grr loop": ("GRR", 10), "ss loop": ("SS, bit vectors", 8),
    "grr calls, one-hot": ("GRR, one-hot", 30), "ss calls, one-hot": ("SS, bit vectors", 30),
}  # fmt: skip
K, EPSILON = 10, 1.0
ROOT = Path(__file__).parents[1]
PEER = Path(os.environ.get("LDPY_PYTHON", ROOT / "_build" / "ldpy" / "bin" / "python"))
JOBS = tuple(
    f"{kind} {how}" for kind in ("grr", "ss") for how in ("calls", "loop", "calls, one-hot", "loop, one-hot")
)


def contenders(rows: int) -> dict[str, Contender]:
    """Return ours, one-hot too, and the peer's if it is there."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, K, size=rows).astype(np.int8)
    response, sets = generalized_randomized_response(K, EPSILON), subset_selection(K, EPSILON)
    single = subset_selection(K, EPSILON, size=1)  # randomised response whose reports are bit vectors
    ours: dict[str, Callable[[], object]] = {
        "GRR": lambda: response.apply(values, rng),
        "GRR, one-hot": lambda: single.apply(values, rng),
        "SS, bit vectors": lambda: sets.apply(values, rng),
    }
    both = ours | _peer(rows) if PEER.exists() else ours
    return {name: Contender(call) for name, call in both.items()}


def _peer(size: int) -> dict[str, Callable[[], object]]:
    worker = subprocess.Popen(
        [str(PEER), str(ROOT / "benchmarks" / "ldpy_worker.py"), str(size), str(K), str(EPSILON)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
    )  # fmt: skip
    atexit.register(worker.terminate)

    def job(name: str) -> Callable[[], object]:
        def run() -> None:
            assert worker.stdin is not None
            assert worker.stdout is not None
            worker.stdin.write(f"{name}\n")
            if worker.stdout.readline() != "done\n":
                raise RuntimeError(f"{PEER}: the peer's process ended at {name!r}")

        return run

    return {f"multi-freq-ldpy, {name}": job(name) for name in JOBS}


def targets(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Judge the most rows: reports a second, and times as long as ours the peer takes, if it is there."""
    largest = max(row["value"] for row in found)
    medians = {row["name"]: row["median"] for row in found if row["value"] == largest}
    lines = [
        target(
            f"{name}: {rate / 1e6:g} million a second: seconds allowed over seconds taken",
            medians[name],
            largest / rate,
            1,
        )
        for name, rate in RATES.items()
    ]
    for job, (ours, least) in LEAST.items():
        if (theirs := medians.get(f"multi-freq-ldpy, {job}")) is not None:
            lines.append(target(f"multi-freq-ldpy, {job}, over {ours}", medians[ours], theirs, least))
    return lines
