"""The methods for the k-ary optimum side by side, on a few random instances; many: benchmarks/solver_grid.py."""

from __future__ import annotations

import math
from functools import partial

from benchmarks.solver_grid import instance
from benchmarks.timing import Contender
from dpfair_lib import optimal_randomizer, smallest_error
from dpfair_lib.local import smallest_fair_error
from dpfair_lib.local.optimal.search import Method

INSTANCES = 3  # of each size, one of each kind of shares
TITLE = "one optimal channel for k groups, ε = ln k + 1, half-way between the least error and that of no unfairness"
UNIT = f"one channel, tolerance 1e-8, mean over {INSTANCES} random instances"
AXES = {"groups": (10, 20, 50)}
REHEARSAL = {"AXES": {"groups": (4,)}}
LARGEST: dict[Method, float] = {
    "interior": math.inf,
    "columns": math.inf,
    "dinkelbach": 20,
    "bisection": 10,
}  # k that takes seconds


def contenders(groups: int) -> dict[str, Contender]:
    """Return the methods at one number of groups."""
    epsilon = math.log(groups) + 1
    arguments = []
    for number in range(INSTANCES):
        p, p1 = instance(groups, number)
        error = (smallest_error(p, epsilon) + smallest_fair_error(p, p1, epsilon)) / 2
        arguments.append((p, p1, error))

    def solve(method: Method) -> None:
        for p, p1, error in arguments:
            optimal_randomizer(p, p1, epsilon, error=error, method=method, tol=1e-8)

    return {
        method: Contender(partial(solve, method), runs=INSTANCES)
        for method, largest in LARGEST.items()
        if groups <= largest
    }
