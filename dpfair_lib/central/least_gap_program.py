"""The least parity gap of private classifiers as a linear program, exact for finitely many populations.

A group has n records with x ∈ {0, 1}, of which a share p has x = 1; the other group's rate is known. A classifier of
response κ whose signed gap is κ(p − c) is described by its *centre* c, the rate at which it is fair. The gap is κ|p −
c|, so the mechanism is a private estimate of p. Given populations p_1 < … < p_m, it is enough to consider centres among
them: between two of them the gaps on all populations are linear in c, so c can be drawn from these two. It is also
enough to use the count of x = 1, since the mean of a mechanism over all orders of the records is as private.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpfair_lib._arguments import below_one, nonnegative, positive_integer
from dpfair_lib._validation import as_single_rate


def private_minimax_gap(
    rates: Sequence[Any], n: Any, epsilon: Any, delta: Any = 0.0, *, response: float = 0.5
) -> tuple[float, np.ndarray]:
    """Return the smallest worst expected gap over given rates, and the mechanism that has it.

    Parameters
    ----------
    rates : sequence of float
        The populations' shares of x = 1, increasing.
    n : int
        Records of the group.
    epsilon, delta : float
        The mechanism's ε ≥ 0, below 30, and δ in [0, 1), for one record replaced.
    response : float, default=0.5
        κ of the classifier.

    Returns
    -------
    value : float
        min over mechanisms of the max over rates p of κ E|p − c|, to about 1e-9. A lower bound for every larger
        set of populations.
    mechanism : ndarray of shape (n + 1, len(rates))
        P(centre = rates[j] | count = k).

    Raises
    ------
    ValueError
        If an argument is out of its range, or rates do not increase.
    """
    points = np.array([float(as_single_rate(rate, "rates")) for rate in rates])
    if len(points) < 2 or (np.diff(points) <= 0).any():
        raise ValueError(f"rates: found {list(rates)}, expected at least two, increasing")
    count, delta = positive_integer(n, "n"), below_one(delta, "delta")
    level = nonnegative(epsilon, "epsilon")
    if level >= 30:
        raise ValueError(f"epsilon: found {epsilon}, expected a number below 30")
    value, mechanism = _solved(points, count, math.exp(level), delta)
    return response * value, mechanism


def _solved(points: np.ndarray, n: int, odds: float, delta: float) -> tuple[float, np.ndarray]:
    """Variables: the mechanism row by row, its excesses for δ > 0, the worst error."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array
    from scipy.stats import binom

    m = len(points)
    pairs = [(k, j) for k in range(n + 1) for j in (k - 1, k + 1) if 0 <= j <= n]
    own = (n + 1) * m
    excesses = len(pairs) * m if delta else 0
    entries: list[tuple[int, int, float]] = []
    right = np.zeros(len(pairs) * m + (len(pairs) if delta else 0) + m)
    for at, (k, j) in enumerate(pairs):
        for c in range(m):
            row = at * m + c
            entries += [(row, k * m + c, 1.0), (row, j * m + c, -odds)]
            if delta:
                entries += [(row, own + row, -1.0), (len(pairs) * m + at, own + row, 1.0)]
        if delta:
            right[len(pairs) * m + at] = delta
    first = len(right) - m
    for i, p in enumerate(points):
        law = binom.pmf(np.arange(n + 1), n, p)
        for k in range(n + 1):
            entries += [(first + i, k * m + c, law[k] * abs(p - points[c])) for c in range(m)]
        entries.append((first + i, own + excesses, -1.0))
    rows, columns, values = zip(*entries, strict=True)
    size = own + excesses + 1
    below = coo_array((values, (rows, columns)), shape=(len(right), size)).tocsr()
    sums = coo_array(
        (np.ones(own), (np.repeat(np.arange(n + 1), m), np.arange(own))), shape=(n + 1, size)
    ).tocsr()
    cost = np.zeros(size)
    cost[-1] = 1
    solved = linprog(cost, below, right, sums, np.ones(n + 1), bounds=(0, None), method="highs")
    if solved.status != 0:
        raise RuntimeError(f"the linear program was not solved: {solved.message}")
    return float(solved.fun), solved.x[:own].reshape(n + 1, m)
