"""CGKM, Theorem 3 with noisy counts in place of its learner: how far the released game is from the true one."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from scipy.stats import chi

from dpfair_lib.claims.search import Search
from dpfair_lib.compatibility.subgroup_fairness.fair_dynamics import rho_for
from dpfair_lib.compatibility.subgroup_fairness.subgroup_game import SubgroupGame, game_from_counts

BETA, DELTA = 0.05, 1e-6
NAMED = np.array([[1, 1, 0, 0], [0, 1, 0, 1], [1, 0, 0, 0]], dtype=float).T
"""Which of four profiles belong to which of three subgroups."""


GRID: dict[str, float] = {
    "sigma": 5.0,
    "cells": 6,
    "profiles": 4,
    "subgroups": 3,
    "n": 4800.0,
    "failure": BETA,
}


def noisy_counts(bound: Callable[..., float], solve: Callable[..., np.ndarray], search: Search) -> None:
    """Counts noised once: what moves is bounded, and the widened program is near the true optimum."""
    search.part("noisy counts")
    shape = (6, 4, 2)
    sigma = 1 / math.sqrt(rho_for(1.0, DELTA))
    worst = 0.0
    for _ in range(40 * search.effort):
        counts = search.rng.integers(0, 400, size=shape).astype(float)
        noise = search.rng.normal(scale=sigma, size=shape)
        moved, over = _widened(solve, counts.tobytes(), noise.tobytes())
        grid = GRID | {"sigma": sigma, "subgroups": NAMED.shape[1], "n": counts.sum()}
        allowed = bound(**grid)
        case = {"counts": counts.tolist(), "moved": moved}
        search.observe(allowed - max(moved), case)
        worst = max(worst, max(moved) / allowed)
        search.observe(-over[0], case, tolerance=1e-8)
        search.observe(-over[1], case, tolerance=1e-8)
    # the bound is a chance of failure: of its two parts, the tail and the sums, neither may be cut to a third
    search.observe(
        worst - 0.1, {"claim": "the bound is within a factor of ten of what happened", "worst": worst}
    )
    search.fact("largest_share", round(worst, 2), "largest share of the bound that was used")


@functools.cache
def _widened(
    solve: Callable[..., np.ndarray], counts: bytes, noise: bytes
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return what the noise moves, and how far the widened program is beyond twice that, in error and fairness."""
    exact, added = (np.frombuffer(array).reshape(6, 4, 2) for array in (counts, noise))
    true = game_from_counts(exact, NAMED)
    noisy = game_from_counts(exact + added, NAMED, exact.sum())
    moved, tolerance = deviations(true, noisy), 0.01
    best, found = solve(true, tolerance), solve(noisy, tolerance + moved[1])
    error = float(true.errors(found) - true.errors(best)) - 2 * moved[0]
    return moved, (error, float(abs(true.violations(found)).max()) - tolerance - 2 * moved[1])


def other_grids(bound: Callable[..., float], search: Search) -> None:
    """On grids of all sizes: the sums' norms by their exact law, and draws."""
    search.part("noisy counts of other grids")
    for changed in ({}, {"sigma": 0.2}, {"cells": 1}, {"cells": 300}, {"profiles": 50}, {"subgroups": 10**6},
                    {"n": 100.0}, {"failure": 1e-30}, {"cells": 40, "profiles": 1, "failure": 1e-3}):  # fmt: skip
        grid = GRID | changed
        # for each of the sums, of the subgroups, the negatives and the positives: σ√profiles times a chi variable
        norm = float(chi(grid["cells"]).isf(grid["failure"] / (grid["subgroups"] + 2)))
        allowed = 4 * math.sqrt(grid["cells"] * grid["profiles"]) * grid["sigma"] * norm / grid["n"]
        found = bound(**grid)
        search.observe(found / allowed - 1, grid, tolerance=1e-12)
        search.observe(2 - found / allowed, grid | {"claim": "at most twice what the argument needs"})
    for cells, profiles, subgroups in ((1, 1, 1), (2, 8, 5), (30, 2, 3)):
        members = search.rng.integers(0, 2, size=(profiles, subgroups)).astype(float)
        for sigma in (0.2, 20.0):
            counts = search.rng.integers(0, 400, size=(cells, profiles, 2)).astype(float)
            n = float(counts.sum())
            noisy = counts + search.rng.normal(scale=sigma, size=counts.shape)
            grid = GRID | {
                "sigma": sigma,
                "cells": cells,
                "profiles": profiles,
                "subgroups": subgroups,
                "n": n,
            }
            moved = deviations(game_from_counts(counts, members), game_from_counts(noisy, members, n))
            search.observe(bound(**grid) - max(moved), grid | {"counts": counts.tolist()})


def deviations(true: SubgroupGame, noisy: SubgroupGame) -> tuple[float, float]:
    """Return by how much the noise moves the error, and a violation, at the classifier where it moves most."""
    constant, slope = float(noisy.base - true.base), noisy.error - true.error
    error = max(constant + slope.clip(min=0).sum(), -constant - slope.clip(max=0).sum())
    turned = noisy.violation - true.violation
    violation = max(turned.clip(min=0).sum(axis=1).max(), -turned.clip(max=0).sum(axis=1).min())
    return float(error), float(violation)
