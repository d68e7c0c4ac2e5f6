"""Coverage studies: all notions of 100 models on the same rows, in blocks, against the whole table of scores."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.timing import Check, Contender, check, target
from dpfair_lib.fairness.linear_form import NOTIONS
from dpfair_lib.margins.certificate import FairnessCertificate, certify_all
from dpfair_lib.margins.coverage import coverage, fairness_of_models, levels_of_counts
from dpfair_lib.margins.margins import margin_lipschitz, margins
from dpfair_lib.margins.terms import relative_margins

TITLE = "Coverage study: group fairness of 100 noisy models, and their share within the certificates"
UNIT = "all models, all notions"
AXES = {"rows": (100_000, 400_000, 1_600_000)}
REHEARSAL = {"AXES": {"rows": (2_000,)}}
MODELS, FEATURES, RADIUS = 100, 9, 0.05
SECONDS, GIB = 2.0, 2.0
OURS, WHOLE = "in blocks, counts kept", "all scores kept (NumPy)"


@functools.lru_cache(maxsize=1)
def data(rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return features, labels, groups, a model, and models within `RADIUS` of it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, FEATURES))
    model = rng.normal(size=FEATURES)
    y = (X @ model + rng.normal(size=rows) > 0).astype(np.int64)
    steps = rng.normal(size=(MODELS, FEATURES))
    steps *= RADIUS / np.linalg.norm(steps, axis=1, keepdims=True)
    return X, y, rng.integers(0, 2, size=rows), model, model + steps


def study(rows: int) -> dict[str, float]:
    """Return, for each notion, the share of the models whose fairness lies in the certificate's intervals."""
    X, y, s, model, models = data(rows)
    relative = relative_margins(margins(X @ model, y), margin_lipschitz(X, binary=True))
    made: dict[str, FairnessCertificate] = certify_all(
        relative, 2 * y + s, labels=np.arange(2), levels=np.arange(2), radius=RADIUS, bound="signed",
        desirable=np.array([0, 1]),
    )  # fmt: skip
    levels = fairness_of_models(models, y, X=X, sensitive_features=s)
    return {notion: coverage(made[notion], levels[notion]) for notion in NOTIONS}


def whole(rows: int) -> dict[str, np.ndarray]:
    """Return the levels of all models from the table of rows times models."""
    X, y, s, _, models = data(rows)
    right = ((X @ models.T > 0) == (y[:, None] == 1)).T
    codes = 2 * y + s
    counts = np.stack([right[:, codes == cell].sum(axis=1) for cell in range(4)], axis=1)
    people = np.bincount(codes, minlength=4).reshape(2, 2)
    return {notion: levels_of_counts(counts, people, notion) for notion in NOTIONS}


def ours(rows: int) -> dict[str, np.ndarray]:
    X, y, s, _, models = data(rows)
    return fairness_of_models(models, y, X=X, sensitive_features=s)


def contenders(rows: int) -> dict[str, Contender]:
    data(rows)
    return {OURS: Contender(lambda: ours(rows)), WHOLE: Contender(lambda: whole(rows))}


def targets(found: list[dict]) -> list[dict]:
    rows = AXES["rows"][-1]
    median = next(row["median"] for row in found if row["name"] == OURS and row["value"] == rows)
    what = f"{rows:,} records × {MODELS} models in {SECONDS:g} s: seconds allowed over seconds taken"
    return [target(what, median, SECONDS, 1)]


def checks() -> list[Check]:
    rows = AXES["rows"][-1]
    apart = max(float(abs(ours(20_000)[notion] - whole(20_000)[notion]).max()) for notion in NOTIONS)
    data.cache_clear()
    script = f"import json; from benchmarks.coverage import alone; print(json.dumps(alone({rows})))"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    shares, seconds, peak = json.loads(done.stdout)
    what = f"{rows:,} records × {MODELS} models with certificates of all notions"
    return [
        check("levels of 20,000 records from blocks, and from all scores: largest difference", apart, 1e-12),
        check(f"processor seconds, {what}", seconds, SECONDS),
        check("peak memory in GiB of a process that does this alone, data included", peak, GIB),
        check("share of models outside their certificate, of those within its radius", 1 - min(shares.values()), 0.0),
    ]  # fmt: skip


def alone(rows: int) -> tuple[dict[str, float], float, float]:
    """Return the study's shares, its processor seconds (least of three turns), and the process' peak memory in GiB."""
    data(rows)
    found = []
    for _ in range(3):
        started = time.process_time()
        shares = study(rows)
        found.append(time.process_time() - started)
    return shares, min(found), peak_memory()


def peak_memory() -> float:
    """Return the largest resident memory of this process in GiB.

    From Linux's own account: `resource.getrusage` also counts what the parent had when it started the process.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 2**20
