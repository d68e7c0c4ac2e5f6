"""Private no-regret dynamics for subgroup fairness: 1,000 rounds, and how they grow."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.timing import Check, Contender, check
from dpfair_lib import PrivateNoRegretFair

ROWS, SUBGROUPS, ROUNDS = 30_000, 50, 1000
TITLE = f"Private no-regret dynamics: {ROWS:,} rows, {SUBGROUPS} subgroups, {ROUNDS:,} rounds, secure noise"
UNIT = "one fit"
AXES = {"rounds": (250, 500, 1000), "rows": (3_000, 30_000, 300_000), "subgroups": (10, 50, 250)}
LEVELS = {
    name: tuple(range(3 if name.startswith("x") else 4))
    for name in ("x0", "x1", "x2", "s0", "s1", "s2", "s3")
}
REHEARSAL = {
    "ROWS": 300, "SUBGROUPS": 5, "ROUNDS": 3, "AXES": {"rounds": (3,), "rows": (200,), "subgroups": (4,)}
}  # fmt: skip
STATUS = Path("/proc/self/status")


def data(rows: int) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Return features in 27 cells, labels that depend on them, and sensitive columns in 256 profiles."""
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, len(values), rows) for name, values in LEVELS.items()}
    table = pd.DataFrame(columns)
    chance = 0.1 + 0.2 * table["x0"] + 0.05 * table["x1"] + 0.05 * table["s0"]
    labels = (rng.random(rows) < chance).astype(int).to_numpy()
    return table.filter(like="x"), labels, table.filter(like="s")


def groups(count: int) -> list[dict[str, int]]:
    """Return so many conjunctions over the sensitive columns, those of one column first."""
    names = [name for name in LEVELS if name.startswith("s")]
    found = (
        dict(zip(columns, values, strict=True))
        for order in (1, 2, 3)
        for columns in itertools.combinations(names, order)
        for values in itertools.product(*(LEVELS[name] for name in columns))
    )
    return list(itertools.islice(found, count))


def contenders(
    rows: int | None = None, subgroups: int | None = None, rounds: int | None = None
) -> dict[str, Contender]:
    """Return both releases; what is not given has the size of the title."""
    rows, subgroups, rounds = rows or ROWS, subgroups or SUBGROUPS, rounds or ROUNDS
    X, y, sensitive = data(rows)

    def fit(release: Any) -> Contender:
        model = PrivateNoRegretFair(
            epsilon=1.0, delta=1e-6, subgroups=groups(subgroups), rounds=rounds, samples=100, levels=LEVELS,
            release=release,
        )  # fmt: skip
        return Contender(lambda: model.fit(X, y, sensitive_features=sensitive))

    return {"every round noised": fit("rounds"), "counts noised once": fit("counts")}


def checks() -> list[Check]:
    noised = contenders()["every round noised"].call
    noised()
    started = time.process_time()
    noised()
    seconds = time.process_time() - started
    # a process of its own: what this one has held for other benchmarks does not count
    sizes = map(str, (ROWS, SUBGROUPS, ROUNDS))
    held = subprocess.run(
        [sys.executable, "-m", "benchmarks.dynamics", *sizes], check=True, capture_output=True, text=True,
        cwd=Path(__file__).parents[1],
    ).stdout  # fmt: skip
    size = f"{ROUNDS:,} noised rounds, {ROWS:,} rows, {SUBGROUPS} subgroups"
    return [
        check(f"processor seconds, {size}", seconds, 30),
        check(f"gigabytes held at most by a process that does it, {size}", float(held), 1.0),
    ]


def most_memory() -> float:
    """Return the most memory that this process has held, in gigabytes."""
    for line in STATUS.read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e9
    raise RuntimeError(f"{STATUS}: found no VmHWM, expected the most memory held")


if __name__ == "__main__":
    contenders(*map(int, sys.argv[1:]))["every round noised"].call()
    sys.stdout.write(f"{most_memory():.3f}\n")
