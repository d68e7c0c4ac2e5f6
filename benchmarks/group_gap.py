"""One exact probability that the parity gap of several groups exceeds a value, beside draws of the noise.

Every call takes another instance: rates, sizes around the asked number, ε, rule and mechanism are drawn, and the gap is
near what the noise usually leaves. So no call can use what an earlier one has computed.
"""

from __future__ import annotations

import functools
import itertools
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.timing import Check, Contender, check
from dpfair_lib.central import parity_violation_probability
from dpfair_lib.central.several_groups.targets import most_accurate

TITLE = "The law of the parity gap for several groups, Laplace and geometric noise, three rules"
UNIT = "one violation probability"
AXES = {"groups": (2, 3, 5, 10, 20, 30), "rows": (100, 1_000, 10_000, 100_000, 1_000_000)}
GROUPS, ROWS = 10, 10_000
INSTANCES, DRAWN = 100, 20
"""How many instances are timed for the limit, and how many are compared with draws."""
DRAWS = 200_000
SECONDS = 1.0
FAILURE = 1e-6
"""Probability that the draws miss the exact law in any of the instances, were it right."""
ACCURACY = 2e-3
"""Largest error that was seen of the laws, which take points where the groups are large."""
NOISY: dict[str, Any] = {"epsilon": 0.2, "gap": 0.3}
"""Of what is compared, with 100 rows in a group: noise decides there, and a law for ε off by a quarter is 0.09 away."""
REHEARSAL = {
    "AXES": {"groups": (3,), "rows": (500,)},
    "GROUPS": 3,
    "INSTANCES": 2,
    "DRAWN": 2,
    "DRAWS": 4_000,
}
RULES = "most-accurate", "median", "number"
MECHANISMS = "laplace", "geometric"


def instance(groups: int, rows: int, seed: int) -> dict[str, Any]:
    """Return a drawn instance: the arguments of the exact law."""
    rng = np.random.default_rng([groups, rows, seed])
    sizes = np.maximum(rows * rng.uniform(0.5, 1.5, groups), 20).round()
    epsilon = float(rng.choice([0.5, 1.0, 3.0]))
    rule = RULES[seed % len(RULES)]
    noise = np.sqrt(0.25 / sizes.min() + 2 / (epsilon * sizes.min()) ** 2)
    return {
        "gap": float(rng.uniform(1, 5) * noise), "rates": rng.uniform(0.05, 0.6, groups).tolist(),
        "n": [int(size) for size in sizes], "epsilon": epsilon,
        "mechanism": MECHANISMS[seed // len(RULES) % len(MECHANISMS)],
        "rate": round(float(rng.uniform(0.1, 0.5)), 3) if rule == "number" else rule,
    }  # fmt: skip


def by_draws(given: dict[str, Any], draws: int, seed: int) -> float:
    """Return the share of draws of rows and noise in which the gap exceeds the value."""
    rng = np.random.default_rng([seed, 1])
    alphas, sizes, epsilon = np.array(given["rates"]), np.array(given["n"]), given["epsilon"]
    shape = (draws, len(alphas))
    counts = rng.binomial(sizes, alphas, size=shape)
    if given["mechanism"] == "laplace":
        noise = rng.laplace(scale=1 / epsilon, size=shape)
    else:
        success = -math.expm1(-epsilon)
        noise = rng.geometric(success, size=shape) - rng.geometric(success, size=shape)
    believed = np.clip((counts + noise) / sizes, 0, 1)
    aim = given["rate"]
    if aim == "most-accurate":
        target = believed[:, [most_accurate(given["n"], [epsilon] * len(alphas), given["mechanism"])]]
    elif aim == "median":
        target = np.sort(believed, axis=1)[:, [(len(alphas) - 1) // 2]]
    else:
        target = np.full((draws, 1), aim)
    with np.errstate(divide="ignore", invalid="ignore"):
        down, up = target / believed, (1 - target) / (1 - believed)
        moved = np.where(
            believed > target, alphas * down, np.where(believed < target, 1 - (1 - alphas) * up, alphas)
        )
    return float((moved.max(axis=1) - moved.min(axis=1) > given["gap"]).mean())


def contenders(groups: int = GROUPS, rows: int = ROWS) -> dict[str, Contender]:
    def each(work: Callable[[int], float]) -> Contender:
        seeds = itertools.count()
        return Contender(lambda: work(next(seeds)))

    return {
        "dpfair_lib.parity_violation_probability": each(
            lambda seed: float(parity_violation_probability(**instance(groups, rows, seed)))
        ),
        f"{DRAWS:,} draws of rows and noise": each(
            lambda seed: by_draws(instance(groups, rows, seed), DRAWS, seed)
        ),
    }


@functools.cache
def seconds_of_all(instances: int) -> tuple[float, ...]:
    """Return the processor seconds of one probability on each of the instances at the usual size."""
    found = []
    for seed in range(1000, 1000 + instances):
        given, started = instance(GROUPS, ROWS, seed), time.process_time()
        parity_violation_probability(**given)
        found.append(time.process_time() - started)
    return tuple(found)


def checks() -> list[Check]:
    spent = seconds_of_all(INSTANCES)
    away = math.sqrt(math.log(2 * DRAWN / FAILURE) / (2 * DRAWS))  # Hoeffding
    apart = max(
        abs(by_draws(given, DRAWS, seed) - float(parity_violation_probability(**given)))
        for seed, given in ((seed, instance(GROUPS, 100, seed) | NOISY) for seed in range(2000, 2000 + DRAWN))
    )
    of = f"{GROUPS} groups of about {ROWS:,}"
    return [
        check(f"processor seconds for {of}, median of {INSTANCES}", float(np.median(spent)), SECONDS),
        check(f"processor seconds for {of}, worst of {INSTANCES}", max(spent), SECONDS),
        check(f"difference from {DRAWS:,} draws, worst of {DRAWN}", apart, away + ACCURACY),
    ]
