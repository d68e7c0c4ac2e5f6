"""Thesis § 6.2.1: how often accurate private classifiers are unfair, by linear programs over all mechanisms."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search

HALF = Fraction(1, 2)
SOLVED = 1e-8  # what the linear programs may miss


@functools.cache
def _least_failures(n: int, shift: Fraction, epsilon: float, missed: float, delta: float = 0.0) -> float:
    """Return the least sum of failures on the three populations over mechanisms with answers in eighths, κ = ½.

    Rules with the same failures and the same accuracy count as one: mechanisms differ by these alone.
    """
    from scipy.optimize import linprog

    answers = np.array(
        list(itertools.product(range(9), repeat=4))
    )  # to x = 0 and 1 in group 0, then in group 1
    response = answers[:, [1, 3]] - answers[:, [0, 2]]
    accurate = response.sum(axis=1) >= 8  # accuracy (1 + κ)/2 where half of each group has x = 1
    tau = int(16 * shift)  # rates in 16ths, gaps in 128ths
    laws, failed = [], []
    for p, q in ((8, 8), (8 + tau, 8), (8, 8 + tau)):
        gap = 16 * (answers[:, 0] - answers[:, 2]) + response[:, 0] * p - response[:, 1] * q
        failed.append(abs(gap) >= 2 * tau)  # γ = κτ/2
        one, two = (
            [math.comb(n, k) * (r / 16) ** k * (1 - r / 16) ** (n - k) for k in range(n + 1)] for r in (p, q)
        )
        laws.append(np.outer(one, two).ravel())
    rules = np.unique(np.column_stack([accurate, *failed]).astype(int), axis=0)
    states = list(itertools.product(range(n + 1), repeat=2))
    shape = (len(states), len(rules))
    neighbours = [
        (at, other)
        for at, other in itertools.permutations(range(len(states)), 2)
        if sum(abs(a - b) for a, b in zip(states[at], states[other], strict=True)) == 1
    ]
    # δ > 0: for each pair the excesses over e^ε times the other, rule by rule, add up to at most δ
    free, width = math.prod(shape), len(rules) if delta else 0
    below, right = [], []
    for pair, (at, other) in enumerate(neighbours):
        excess = np.zeros((len(neighbours), width))
        for rule in range(len(rules)):
            row = np.zeros(shape)
            row[at, rule], row[other, rule] = 1, -math.exp(epsilon)
            excess[:] = 0
            if delta:
                excess[pair, rule] = -1
            below.append(np.concatenate([row.ravel(), excess.ravel()]))
            right.append(0.0)
        if delta:
            excess[:] = 0
            excess[pair] = 1
            below.append(np.concatenate([np.zeros(free), excess.ravel()]))
            right.append(delta)
    more = len(neighbours) * width
    below.append(np.concatenate([-np.outer(laws[0], rules[:, 0]).ravel(), np.zeros(more)]))
    right.append(missed - 1)
    cost = np.array(laws).T @ rules[:, 1:].T
    sums = np.hstack([np.kron(np.eye(len(states)), np.ones(len(rules))), np.zeros((len(states), more))])
    found = linprog(
        np.concatenate([cost.ravel(), np.zeros(more)]),
        np.array(below),
        right,
        sums,
        np.ones(len(states)),
        method="highs",
    )
    return float(found.fun)


@once
def any_accurate_classifier(accurate: Callable[..., float], search: Search) -> None:
    """All rules with answers in eighths, all mechanisms: the least sum of failures on three populations."""
    search.part("any accurate classifier, by linear programs")
    for n, shift, epsilon, missed in itertools.product((1, 2), (HALF, HALF / 2), (0.2, 1.0), (0.0, 0.3)):
        case = {"n": (n, n), "τ": shift, "epsilon": epsilon, "ρ": missed}
        least = _least_failures(n, shift, epsilon, missed)
        bound = accurate((n, n), float(shift), epsilon, missed=missed)
        search.observe(least - bound, case, tolerance=SOLVED)
    for shift, epsilon, delta in itertools.product((HALF, HALF / 2), (0.2, 1.0), (0.05, 0.3)):
        case = {"n": (1, 1), "τ": shift, "epsilon": epsilon, "δ": delta}
        bound = accurate((1, 1), float(shift), epsilon, delta, missed=0.0)
        search.observe(_least_failures(1, shift, epsilon, 0.0, delta) - bound, case, tolerance=SOLVED)
        # the step that the bound comes from, with how far the outputs on two neighbours can differ
        factor = (math.exp(epsilon) - 1 + 2 * delta) / (math.exp(epsilon) + 1)
        search.equal(bound, max(1 - 2 * float(shift) * factor, 0), case, tolerance=1e-12)
