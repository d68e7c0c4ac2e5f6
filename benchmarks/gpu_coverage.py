"""Coverage studies on a GPU: record–model pairs a second, with the library's own counting on torch tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from benchmarks import coverage
from benchmarks.timing import Contender, check, interleave, rows, target
from dpfair_lib.margins.coverage import right_counts, signed_cells

RECORDS, MODELS, BLOCK, RATE = 1_600_000, 10_000, 1 << 28, 5e10
TITLE = f"Coverage on a GPU: predictions of {MODELS:,} models counted by cell, in 64 bits"
REHEARSAL = {"RECORDS": 3_000, "MODELS": 120, "BLOCK": 5_000}
UNIT = f"{MODELS:,} models"


def measure(
    device: torch.device,
    repeats: int,
    records: int | None = None,
    models: int | None = None,
    block: int | None = None,
) -> dict[str, Any]:
    """Return times, a target and a check; rows and models lie on the device, counts come back to the host."""
    records, models, block = records or RECORDS, models or MODELS, block or BLOCK
    X, y, s, model, _ = coverage.data(records)
    weights = model + coverage.RADIUS * np.random.default_rng(1).normal(size=(models, coverage.FEATURES))
    parts = signed_cells(*(torch.as_tensor(values, device=device) for values in (X, y, s)), 2)
    on_device = torch.as_tensor(weights, device=device)

    def count() -> np.ndarray:
        return torch.stack(right_counts(parts, on_device, block=block)).cpu().numpy()

    found = rows("records", records, interleave({"counts in 64 bits": Contender(count)}, repeats))
    few = min(models, 100)  # of which the processor counts the same
    apart = abs(np.stack(right_counts(signed_cells(X, y, s, 2), weights[:few])) - count()[:, :few]).max()
    pairs = records * models
    what = f"{RATE:.0e} record–model pairs a second: seconds allowed over seconds taken"
    return {
        "card": torch.cuda.get_device_name(device) if device.type == "cuda" else str(device),
        "rows": found, "pairs_per_second": pairs / found[0]["median"],
        "targets": [target(what, found[0]["median"], pairs / RATE, 1.0)],
        # a score within rounding of 0 may have another sign where sums are taken in another order
        "checks": [check(f"largest difference of counts, processor and GPU, of {pairs:,} pairs", float(apart), 2.0)],
    }  # fmt: skip
