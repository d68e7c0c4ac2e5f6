"""The parity gap of labels: ours against fairlearn's."""

from __future__ import annotations

from collections.abc import Callable

import fairlearn.metrics
import numpy as np

from dpfair_lib import demographic_parity_difference

TITLE = "Parity gap of labels, groups as strings"
SIZES = (10_000, 100_000, 1_000_000)


def calls(size: int) -> dict[str, Callable[[], object]]:
    rng = np.random.default_rng(0)
    pred = rng.integers(0, 2, size=size)
    groups = np.array(["women", "men"], dtype=object)[rng.integers(0, 2, size=size)]
    return {
        "dpfair_lib": lambda: demographic_parity_difference(pred, sensitive_features=groups),
        "fairlearn": lambda: fairlearn.metrics.demographic_parity_difference(
            pred, pred, sensitive_features=groups
        ),
    }
