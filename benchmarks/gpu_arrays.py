"""Metrics and certificates of rows on a GPU, beside NumPy on the processor: the same calls, on torch tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks.timing import Contender, check, interleave, rows
from dpfair_lib.fairness.metrics import demographic_parity_difference, equalized_odds_difference
from dpfair_lib.margins.certificate import fairness_certificate

SIZES, FEATURES, GROUPS = (10_000, 1_000_000, 10_000_000), 9, 4
TITLE = "Metrics and certificates where the rows are: torch tensors on a GPU, and NumPy"
REHEARSAL = {"SIZES": (2_000, 5_000)}
UNIT = "one call, its sums on the host included"


def measure(device: torch.device, repeats: int) -> dict[str, Any]:
    """Return times and a check of each call and size; the rows are on the device before the first."""
    found, apart = [], 0.0
    for size in SIZES:
        here = data(size)
        there = {name: torch.as_tensor(values, device=device) for name, values in here.items()}
        for name, call in CALLS.items():
            # what a call returns lies on the host, so that all is done on return
            found += rows(f"records ({name})", size, interleave({
                f"torch on {device.type}": Contender(functools.partial(call, there)),
                "NumPy": Contender(functools.partial(call, here)),
            }, repeats))  # fmt: skip
            apart = max(apart, size * float(np.max(np.abs(np.asarray(call(there)) - np.asarray(call(here))))))
    return {
        "card": torch.cuda.get_device_name(device) if device.type == "cuda" else str(device),
        "rows": sorted(found, key=lambda row: list(CALLS).index(row["axis"][len("records (") : -1])), "targets": [],
        # rows within rounding of the radius may count on one side alone
        "checks": [check("largest difference of a result, NumPy and torch, times the number of rows", apart, 2.0)],
    }  # fmt: skip


def data(count: int) -> dict[str, np.ndarray]:
    """Return rows with scores of a linear model, labels, predictions, groups and weights."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(count, FEATURES)), np.ones(count)])
    scores = X @ rng.normal(size=FEATURES + 1)
    return {
        "X": X, "scores": scores, "y": (scores + rng.normal(size=count) > 0).astype(np.int64),
        "pred": (scores > 0).astype(np.int64), "group": rng.integers(0, GROUPS, count), "weight": rng.random(count),
    }  # fmt: skip


Rows = dict[str, Any]


def _parity(given: Rows) -> Any:
    return demographic_parity_difference(given["y"], given["pred"], sensitive_features=given["group"])


def _odds(given: Rows) -> Any:
    return equalized_odds_difference(
        given["y"], given["pred"], sensitive_features=given["group"], sample_weight=given["weight"]
    )


def _certificate(given: Rows) -> Any:
    return fairness_certificate(
        given["scores"], given["y"], X=given["X"], sensitive_features=given["group"],
        notion="equalized_odds", radius=0.05,
    ).upper  # fmt: skip


CALLS: dict[str, Callable[[Rows], Any]] = {
    "parity of labels": _parity, "equalized odds, weighted": _odds, "certificate of equalized odds": _certificate,
}  # fmt: skip
