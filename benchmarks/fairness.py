"""The parity gap of labels: ours against fairlearn's."""

from __future__ import annotations

import fairlearn.metrics
import numpy as np

from benchmarks.timing import Check, Contender, check
from dpfair_lib import demographic_parity_difference

TITLE = "Parity gap of labels, groups as strings"
UNIT = "one call"
AXES = {"rows": (10_000, 100_000, 1_000_000)}
REHEARSAL = {"AXES": {"rows": (1_000,)}}


def _data(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    groups = np.array(["women", "men"], dtype=object)[rng.integers(0, 2, size=rows)]
    return rng.integers(0, 2, size=rows), groups


def contenders(rows: int) -> dict[str, Contender]:
    pred, groups = _data(rows)
    return {
        "dpfair_lib": Contender(lambda: demographic_parity_difference(pred, pred, sensitive_features=groups)),
        "fairlearn": Contender(
            lambda: fairlearn.metrics.demographic_parity_difference(pred, pred, sensitive_features=groups)
        ),
    }


def checks() -> list[Check]:
    ours, theirs = (contender.call() for contender in contenders(AXES["rows"][0]).values())
    return [check("difference of the two gaps, 10,000 rows", abs(ours - theirs), 1e-12)]
