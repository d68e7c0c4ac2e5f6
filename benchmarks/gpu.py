"""A thousand DP-SGD runs on a GPU: how long, how far from the card's ceilings, and in which part of a step.

Operations are those of the two products of all rows and all models in every step. Bytes are what is read and written
if every kernel goes through memory; see `parts`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks import dp_sgd
from benchmarks.timing import Check, Contender, check, interleave, rows, target
from dpfair_lib._progress import Progress
from dpfair_lib.learners import fused_backend
from dpfair_lib.learners.settings import Precision, Sources, Steps, sources

TITLE = f"DP-SGD on a GPU: 1,000 independent runs of {dp_sgd.EPOCHS} epochs in one call"
UNIT = f"1,000 independent runs of {dp_sgd.EPOCHS} epochs"
REPLICATES, COUNT, SECONDS = 1000, dp_sgd.STEPS, 2.0
BLOCK = fused_backend.TOGETHER  # models of one step
REHEARSAL = {"REPLICATES": 2, "COUNT": 1, "BLOCK": 2, "CROSSING": (300,), "EXPECTED": 30}
WIDTHS: dict[Precision, int] = {"float32": 4, "float64": 8}
# the maker's: operations a second in 32 bits without tensor cores, in 64 bits with them; bytes a second
CEILINGS = {
    "H100": {"float32": 67e12, "float64": 67e12, "bytes": 3.35e12},
    "H200": {"float32": 67e12, "float64": 67e12, "bytes": 4.8e12},
}
CROSSING = (
    1 << 18,
    1 << 20,
    1 << 22,
)  # numbers of rows, about the one from which batches are gathered on a GPU
EXPECTED = 1024  # rows in a batch


def measure(
    device: torch.device, repeats: int, replicates: int | None = None, count: int | None = None
) -> dict[str, Any]:
    """Return times, what they achieve against the card's ceilings, the parts of a step, a target and a check."""
    replicates, count = replicates or REPLICATES, count or COUNT
    X, y = dp_sgd.data()
    steps, seeds = dp_sgd.settings(count=count), np.random.SeedSequence(0).spawn(replicates)

    def ours(dtype: Precision) -> Contender:  # weights come back to the host, so that all is done on return
        return Contender(lambda: fused_backend.train(X, y, steps, seeds, device, dtype=dtype))

    seconds = interleave(
        {f"fused, {8 * width} bits": ours(dtype) for dtype, width in WIDTHS.items()}, repeats
    )
    found = rows("replicates", replicates, seconds)
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)
    ceilings = next((limits for name, limits in CEILINGS.items() if name in card), None)
    achieved = []
    for (dtype, width), row in zip(WIDTHS.items(), found, strict=True):
        updates = (
            count * replicates * len(X) / row["median"]
        )  # of one model by one row, whether in the batch or not
        flops, moved = 4 * updates * (dp_sgd.FEATURES + 1), updates * (18 + 13 * width)
        pieces = parts(device, dtype)
        achieved.append({
            "name": row["name"], "flops": flops, "bytes": moved,
            "flops_share": flops / ceilings[dtype] if ceilings else None,
            "bytes_share": moved / ceilings["bytes"] if ceilings else None,
            "parts": pieces, "bound": bound(pieces),
        })  # fmt: skip
    what = f"{replicates:,} runs in at most {SECONDS:g} s, 32 bits: seconds allowed over seconds taken"
    return {
        "card": card, "ceilings": ceilings, "rows": found, "achieved": achieved,
        "targets": [target(what, found[0]["median"], SECONDS, 1.0)], "checks": [_same_sums(device)],
        "crossing": crossing(device),
    }  # fmt: skip


def bound(pieces: list[dict[str, Any]]) -> str:
    """Name the part of a step that takes longest."""
    longest = max(pieces, key=lambda piece: piece["time"])
    return f"{longest['part']}: {longest['time'] / sum(piece['time'] for piece in pieces):.0%} of a step"


def crossing(device: torch.device, repeats: int = 5) -> list[dict[str, Any]]:
    """Time a step of one model by both ways to take a batch: a mask over all rows, for a block, and gathered rows."""
    found = []
    for n in CROSSING:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, dp_sgd.FEATURES)) / dp_sgd.FEATURES**0.5
        setting = replace(dp_sgd.settings(), sample_rate=EXPECTED / n)
        batch = fused_backend.records(X, rng.integers(0, 2, n), setting, device)
        line: dict[str, Any] = {"rows": n}
        for name, models, count in (("masked", BLOCK, 20), ("gathered", 1, 200)):
            steps = replace(setting, count=count)
            parts = sources(np.random.SeedSequence(0).spawn(models), shared_batches=False)
            seconds = interleave(
                {
                    name: Contender(
                        partial(_weights, batch, steps, parts, masked=name == "masked"), count * models
                    )
                },
                repeats,
            )
            line |= {
                name: statistics.median(seconds[name]),
                f"{name}_range": [min(seconds[name]), max(seconds[name])],
            }
        found.append(line)
    return found


def _weights(batch: fused_backend.Records, steps: Steps, parts: list[Sources], *, masked: bool) -> np.ndarray:
    """Train a block, without the preparation of its rows; weights come back to the host, so that all is done."""
    trained = fused_backend._descend(batch, steps, parts, Progress("steps"), masked=masked)
    return np.asarray(trained.cpu())


def _same_sums(device: torch.device) -> Check:
    X, y = dp_sgd.data()
    rng = np.random.default_rng(0)
    weights, masks = rng.normal(size=(8, dp_sgd.FEATURES + 1)) / 10, rng.random((8, len(X))) < 0.5
    here, there = (
        fused_backend.clipped_gradient_sums(
            fused_backend.records(X, y, dp_sgd.settings(), place),
            torch.tensor(weights, device=place),
            torch.tensor(masks, device=place),
        ).cpu()
        for place in (torch.device("cpu"), device)
    )
    difference = float((here - there).abs().max())
    return check(
        "largest difference of sums of 12,000 clipped gradients, processor and GPU", difference, 1e-9
    )


def parts(device: torch.device, dtype: Precision, steps: int = 50) -> list[dict[str, Any]]:
    """Time the parts of one step of one block of models, each alone."""
    kind, width, block = getattr(torch, dtype), WIDTHS[dtype], BLOCK
    X, y = dp_sgd.data()
    batch = fused_backend.records(X, y, dp_sgd.settings(), device, dtype)
    n, features = batch.rows.shape
    weights = torch.zeros((block, features), dtype=kind, device=device)
    uniform = torch.rand((block, n), dtype=torch.float64, device=device)
    factor, mask = uniform.to(kind), uniform < 0.5
    cells, products = block * n, 2 * block * n * features

    def clip() -> None:
        factor.sigmoid_()
        factor.div_(torch.addcmul(batch.slack, factor, batch.reach).clamp_(min=1))
        factor.mul_(mask)

    calls: dict[str, tuple[Callable[[], object], int, int]] = {  # the call, its operations, its bytes
        "uniform numbers": (
            lambda: torch.rand(uniform.shape, dtype=torch.float64, device=device),
            0,
            8 * cells,
        ),
        "mask": (lambda: uniform < 0.5, 0, 9 * cells),
        "product with the models": (lambda: torch.mm(weights, batch.rows.T), products, width * cells),
        "sigmoid, clipping, masking": (clip, 0, (11 * width + 1) * cells),
        "product with the rows": (lambda: torch.mm(factor, batch.rows), products, width * cells),
    }
    found = []
    for name, (call, operations, moved) in calls.items():
        call()
        _wait(device)
        started = time.perf_counter()
        for _ in range(steps):
            call()
        _wait(device)
        seconds = (time.perf_counter() - started) / steps
        found.append({"part": name, "time": seconds, "flops": operations / seconds, "bytes": moved / seconds})
    return found


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
