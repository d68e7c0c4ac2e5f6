"""DP-SGD at the size of Adult: whole runs of 50 epochs, ours beside Opacus, in seconds per independent run.

Both have two cores. Ours trains two runs in one call, one per thread, preparation included. Opacus takes its steps
with its own Poisson loader, or on one fixed batch without any loading. It is timed in two arrangements, and the
quicker counts for the target: one run that may use two threads, and two runs at once in processes of one thread each,
which have the data and have imported everything beforehand. All are in 64 bits unless they say otherwise.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from opacus import GradSampleModule
from opacus.data_loader import DPDataLoader
from opacus.optimizers import DPOptimizer

from benchmarks.timing import Check, Contender, check, target
from dpfair_lib.learners import fused_backend
from dpfair_lib.learners.batches import poisson_batches
from dpfair_lib.learners.settings import Precision, Steps

ROWS, FEATURES, BATCH, EPOCHS, THREADS = 24_000, 103, 1024, 50, 2
STEPS = EPOCHS * round(ROWS / BATCH)
AXES = {"rows": (ROWS,)}
TITLE = (
    f"DP-SGD of a logistic regression, {EPOCHS} epochs of batches of {BATCH} on average, {FEATURES} features"
)
UNIT = f"one independent run of {EPOCHS} epochs on {THREADS} cores"
OURS = "fused, 64 bits"
LOADED = "Opacus, its Poisson loader"
FIXED = "Opacus, one fixed batch"
ARRANGEMENTS = ("one run on two threads", "two runs in two processes")
LEAST = {LOADED: 20.0, FIXED: 2.0}
REHEARSAL = {"ROWS": 2_000, "AXES": {"rows": (2_000,)}, "EPOCHS": 1, "STEPS": 2}


def data(rows: int | None = None, features: int = FEATURES) -> tuple[np.ndarray, np.ndarray]:
    """Return normal features, and labels that follow the first of them."""
    rows, rng = rows or ROWS, np.random.default_rng(0)
    X = rng.normal(size=(rows, features))
    return X, (X[:, 0] + rng.normal(size=rows) > 0).astype(int)


def settings(rows: int | None = None, *, count: int | None = None, noise_multiplier: float = 2.0) -> Steps:
    """Return the numbers of a run: expected batches of 1024; by default `STEPS` of them."""
    return Steps(
        noise_multiplier=noise_multiplier,
        max_grad_norm=1.5,
        sample_rate=BATCH / (rows or ROWS),
        count=STEPS if count is None else count,
        learning_rate=0.01,
        fit_intercept=True,
    )


def opacus_run(batches: Iterable[Any], noise_multiplier: float = 2.0) -> np.ndarray:
    """Take one step per batch from a start at 0, as Opacus's users write it, and return the weights."""
    linear = torch.nn.Linear(FEATURES, 1, dtype=torch.float64)
    for parameter in linear.parameters():
        torch.nn.init.zeros_(parameter)
    model = GradSampleModule(linear, loss_reduction="sum")
    optimizer = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.01), noise_multiplier=noise_multiplier, max_grad_norm=1.5,
        expected_batch_size=BATCH,
    )  # fmt: skip
    for rows, labels in batches:
        optimizer.zero_grad()
        odds = model(rows.requires_grad_())[:, 0]
        torch.nn.functional.binary_cross_entropy_with_logits(odds, labels, reduction="sum").backward()
        optimizer.step()
    return torch.cat([linear.weight.detach()[0], linear.bias.detach()]).numpy()


@lru_cache(1)
def _tensors(rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    X, y = data(rows)
    return torch.tensor(X), torch.tensor(y, dtype=torch.float64)


def _loaded(n: int, epochs: int, _: int) -> Iterator[Any]:
    loader = DPDataLoader(torch.utils.data.TensorDataset(*_tensors(n)), sample_rate=BATCH / n)
    for _ in range(epochs):
        yield from loader  # round(n / BATCH) batches


def _fixed(n: int, _: int, steps: int) -> Iterator[Any]:
    rows, labels = _tensors(n)
    batch = rows[:BATCH].clone(), labels[:BATCH]
    return (batch for _ in range(steps))


BATCHES = {LOADED: _loaded, FIXED: _fixed}


def _alone(kind: str, n: int, epochs: int, steps: int) -> np.ndarray:
    """Take one run in a process of one thread; the sizes are passed to it, since a rehearsal has its own."""
    torch.set_num_threads(1)
    return opacus_run(BATCHES[kind](n, epochs, steps))


@lru_cache(1)
def _processes() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(THREADS, mp_context=multiprocessing.get_context("spawn"))


def contenders(rows: int) -> dict[str, Contender]:
    """Return ours in two precisions, and Opacus with two kinds of batches in two arrangements."""
    torch.set_num_threads(THREADS)
    X, y = data(rows)

    def ours(dtype: Precision) -> Contender:
        seeds = np.random.SeedSequence(0).spawn(THREADS)
        run = lambda: fused_backend.train(X, y, settings(rows), seeds, torch.device("cpu"), dtype=dtype)  # noqa: E731
        return Contender(run, runs=THREADS)

    sizes = rows, EPOCHS, STEPS
    found = {OURS: ours("float64"), "fused, 32 bits": ours("float32")}
    for kind, batches in BATCHES.items():
        on_threads, in_processes = (f"{kind}, {arrangement}" for arrangement in ARRANGEMENTS)
        found[on_threads] = Contender(lambda batches=batches: opacus_run(batches(*sizes)))
        found[in_processes] = Contender(
            lambda kind=kind: list(_processes().map(_alone, *([each] * THREADS for each in (kind, *sizes)))),
            runs=THREADS,
        )
    return found


def parts() -> list[dict[str, Any]]:
    """Time the parts of one fused run in 64 bits, each alone, on one thread; the quickest of three."""
    torch.set_num_threads(1)
    X, y = data()
    steps, device, (seed,) = settings(), torch.device("cpu"), np.random.SeedSequence(0).spawn(1)
    batch = fused_backend.records(X, y, steps, device)
    rate = BATCH / ROWS
    drawn = [torch.from_numpy(rows) for rows in poisson_batches(ROWS, rate, STEPS, seed)]
    room, weights = batch.rows.new_empty((2 * BATCH, FEATURES + 1)), batch.rows.new_zeros((1, FEATURES + 1))
    fixed = batch._replace(rows=batch.rows[:BATCH].clone(), reach=batch.reach[:BATCH].clone())

    def gather() -> None:
        for rows in drawn:
            torch.index_select(batch.rows, 0, rows, out=room[: len(rows)])

    def sums() -> None:
        for _ in drawn:
            fused_backend.clipped_gradient_sums(fixed, weights)

    calls: dict[str, Callable[[], object]] = {
        "the whole run": lambda: fused_backend.train(X, y, steps, [seed], device),
        "preparing the rows": lambda: fused_backend.records(X, y, steps, device),
        "drawing the batches": lambda: list(poisson_batches(ROWS, rate, STEPS, seed)),
        "copying the rows drawn": gather,
        "clipped sums of rows that lie ready": sums,
        "drawing the noise": lambda: np.random.default_rng(0).standard_normal((STEPS, FEATURES + 1)),
    }
    found = {name: [] for name in calls}
    for _ in range(3):
        for name, call in calls.items():
            started = time.perf_counter()
            call()
            found[name].append(time.perf_counter() - started)
    return [{"part": name, "time": min(times)} for name, times in found.items()]


def targets(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Compare ours with the quicker arrangement of Opacus, for each kind of batches."""
    medians = {row["name"]: row["median"] for row in rows}
    return [
        target(
            f"{kind}, the quicker arrangement",
            medians[OURS],
            min(medians[f"{kind}, {arrangement}"] for arrangement in ARRANGEMENTS),
            least,
        )
        for kind, least in LEAST.items()
    ]


def checks() -> list[Check]:
    """Compare a whole run without noise, on the same Poisson batches: the same steps, or the times mean nothing."""
    X, y = data()
    (seed,) = np.random.SeedSequence(1).spawn(1)
    ours = fused_backend.train(X, y, settings(noise_multiplier=0.0), [seed], torch.device("cpu"))[0]
    (again,) = np.random.SeedSequence(1).spawn(1)
    rows, labels = _tensors(ROWS)
    drawn = poisson_batches(ROWS, BATCH / ROWS, STEPS, again.spawn(2)[0])
    theirs = opacus_run(((rows[chosen], labels[chosen]) for chosen in drawn), noise_multiplier=0.0)
    return [
        check(
            f"largest difference of a weight from Opacus's after {STEPS:,} steps on the same batches, without noise",
            float(abs(ours - theirs).max()),
            1e-12,
        )
    ]
