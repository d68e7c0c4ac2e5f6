"""The k-ary optimum: columns and cuts beside whole linear programs, skewed random instances, half of the budget spent.

Larger sizes: benchmarks/solver_growth.py.
"""

from __future__ import annotations

import math

import numpy as np

from benchmarks.timing import Contender
from dpfair_lib import optimal_randomizer, smallest_error
from dpfair_lib.local.optimal_easy import perfect_truth

TITLE = "one optimal channel for k groups, Δ, half-way between the least error and that of no unfairness"
UNIT = "one channel, tolerance 1e-8"
AXES = {"groups": (10, 20, 50)}
REHEARSAL = {"AXES": {"groups": (4,)}}


def instance(k: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Return shares, rates, ε = ln k + 1, and the error budget."""
    rng = np.random.default_rng(seed)
    p = np.maximum(rng.dirichlet(np.ones(k)), 1e-6)
    p, p1, epsilon = p / p.sum(), rng.uniform(size=k), math.log(k) + 1
    error = (smallest_error(p, epsilon) + 1 - perfect_truth(k, math.exp(-epsilon))) / 2
    return p, p1, epsilon, error


def contenders(groups: int) -> dict[str, Contender]:
    """Return the methods at one number of groups; bisection only where it takes seconds."""
    p, p1, epsilon, error = instance(groups)
    methods = ("columns", "dinkelbach", "bisection") if groups <= 20 else ("columns", "dinkelbach")
    return {
        method: Contender(
            lambda method=method: optimal_randomizer(p, p1, epsilon, error=error, method=method, tol=1e-8)
        )
        for method in methods
    }
