"""The exact law of Algorithm 2's parity gap, beside a million draws; calibration of DP-SGD's noise."""

from __future__ import annotations

import numpy as np

from benchmarks.timing import Check, Contender, check
from dpfair_lib import dp_sgd_noise, parity_violation_probability
from dpfair_lib.central.gap_law import signed_gap
from dpfair_lib.privacy import accounting

TITLE = "One exact violation probability of Algorithm 2, and a PLD calibration of DP-SGD (batch 1024)"
UNIT = "one number"
AXES = {"rows": (1_000, 11_305, 100_000, 1_000_000)}
DRAWS = 1_000_000
REHEARSAL = {"AXES": {"rows": (1_000,)}, "DRAWS": 10_000}


def contenders(rows: int) -> dict[str, Contender]:
    n, rates, epsilon = (rows // 3, rows - rows // 3), (0.0826, 0.2575), 0.05
    rng = np.random.default_rng(0)

    def exact() -> float:
        return float(parity_violation_probability(0.02, rates=rates, n=n, epsilon=epsilon))

    def drawn() -> float:
        noisy = [
            np.clip((rng.binomial(k, p, DRAWS) + rng.laplace(0, 1 / epsilon, DRAWS)) / k, 0, 1)
            for k, p in zip(n, rates, strict=True)
        ]
        return float((abs(signed_gap(*rates, *noisy)) > 0.02).mean())

    def calibrated() -> float:
        accounting._pld.cache_clear()  # else every call but the first would be timed looking up its answer
        return dp_sgd_noise(2.9, 1e-5, min(1024 / (2 * rows), 1.0), 50 * max(2 * rows // 1024, 1), "pld")

    return {
        "exact law, one probability": Contender(exact),
        f"{DRAWS:,} draws (error about 1e-3)": Contender(drawn),
        "PLD calibration, ε = 3, 50 epochs": Contender(calibrated),
    }


def checks() -> list[Check]:
    # a share of N draws is within 6 standard deviations, 3/√N at most, of its probability but for a chance of 2e-9
    exact, drawn, _ = (contender.call for contender in contenders(11_305).values())
    return [check("difference of exact law and draws, 11,305 rows", abs(exact() - drawn()), 3 * DRAWS**-0.5)]
