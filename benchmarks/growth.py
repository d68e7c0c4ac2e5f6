"""How the fused DP-SGD grows with replicates, rows, features and the size of the batch; 10 epochs of Adult's steps."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks import dp_sgd
from benchmarks.timing import Contender
from dpfair_lib.learners import fused_backend
from dpfair_lib.learners.settings import Precision

STEPS = 230
REHEARSAL = {"STEPS": 2, "AXES": {"replicates": (1, 3), "rows": (3_000,), "features": (5,)}}
TITLE = f"Growth of the fused DP-SGD: {STEPS} steps of batches of 1024 on average"
UNIT = "one call with all its replicates"
AXES = {
    "replicates": (1, 2, 4, 8, 16, 32),
    "rows": (6_000, 12_000, 24_000, 48_000, 96_000, 192_000),
    "features": (13, 26, 52, 103, 206, 412),
}


def contenders(
    replicates: int = dp_sgd.THREADS, rows: int = dp_sgd.ROWS, features: int = dp_sgd.FEATURES
) -> dict[str, Contender]:
    torch.set_num_threads(dp_sgd.THREADS)
    X, y = dp_sgd.data(rows, features)
    steps, seeds = dp_sgd.settings(rows, count=STEPS), np.random.SeedSequence(0).spawn(replicates)

    def ours(dtype: Precision, *, shared: bool = False) -> Contender:
        return Contender(
            lambda: fused_backend.train(
                X, y, steps, seeds, torch.device("cpu"), dtype=dtype, shared_batches=shared
            )
        )

    return {
        "fused, 64 bits": ours("float64"),
        "fused, 32 bits": ours("float32"),
        "fused, 64 bits, shared batches": ours("float64", shared=True),
    }
