"""The optimisation problem of the fairest channel: its data, its objective, and violations of its constraints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from dpfair_lib._validation import as_probabilities, check_lengths
from dpfair_lib.local.levels import as_epsilon

Objective = Literal["ratio", "difference"]


@dataclass(frozen=True)
class Program:
    """One instance of the thesis's program (5.5.8).

    Attributes
    ----------
    p : ndarray of shape (k,)
        P(A = i), all above 0.
    p1 : ndarray of shape (k,)
        P(Y = 1 | A = i).
    x : float or Fraction
        e^(−ε), in [0, 1].
    error : float or Fraction
        ζ: the largest P(Z ≠ A) allowed.
    """

    p: np.ndarray
    p1: np.ndarray
    x: Any
    error: Any

    @property
    def k(self) -> int:
        """How many values the attribute has."""
        return len(self.p)

    @cached_property
    def overall(self) -> Any:
        """P(Y = 1)."""
        return sum_by_halves(self.p * self.p1)

    @cached_property
    def excess(self) -> np.ndarray:
        """p_i·(P(Y = 1 | A = i) − P(Y = 1)), which sums to 0: what makes the data unfair."""
        masses: np.ndarray = self.p * (self.p1 - self.overall)
        return masses - self.p * sum_by_halves(masses)  # in floats the sum is only nearly 0

    @cached_property
    def truthful_diagonal(self) -> np.ndarray:
        """Diagonal of the most truthful channel."""
        return most_truthful(self.p, self.x)[1]

    def level(self, matrix: np.ndarray, sides: tuple[Any, Any]) -> Any:
        """Return the least t for which −b·t ≤ P(Y = 1 | Z = j)/P(Y = 1) − 1 ≤ a·t for all j, with sides (a, b)."""
        away = (self.excess @ matrix) / (self.overall * (self.p @ matrix))
        return max(away.max() / sides[0], -away.min() / sides[1])

    def ratio(self, matrix: np.ndarray) -> Any:
        """Δ after the channel: the largest |P(Y = 1 | Z = j)/P(Y = 1) − 1|."""
        return self.level(matrix, (1, 1))

    def difference(self, matrix: np.ndarray) -> Any:
        """Δ′ after the channel: the largest difference of P(Y = 1 | Z = j) between two reports."""
        rates = (self.excess @ matrix) / (self.p @ matrix)
        return rates.max() - rates.min()

    def mistakes(self, matrix: np.ndarray) -> Any:
        """P(Z ≠ A) under the channel."""
        return 1 - self.p @ np.diagonal(matrix)

    def violation(self, matrix: np.ndarray) -> Any:
        """By how much the channel misses the worst of its constraints; 0 or less if it is feasible.

        Privacy (5.5.1) is judged on all pairs, not on the shorter list (5.5.7).
        """
        truth = np.diagonal(matrix)
        return max(
            (self.x * matrix.max(axis=0) - matrix.min(axis=0)).max(),
            abs(matrix.sum(axis=1) - 1).max(),
            (-matrix).max(),
            (matrix.max(axis=1) - truth).max(),
            (matrix.max(axis=0) - truth).max(),
            self.mistakes(matrix) - self.error,
        )


def sum_by_halves(terms: np.ndarray, axis: int = 0) -> Any:
    """Return the sum along an axis; no term goes through more than ⌈log₂ n⌉ roundings.

    The sums of NumPy may take n: along the first axis, and in products of matrices.
    """
    terms = np.moveaxis(terms, axis, 0)
    while len(terms) > 1:
        half = len(terms) // 2
        terms = np.concatenate([terms[:half] + terms[half : 2 * half], terms[2 * half :]])
    return terms[0]


def as_program(p: Any, p1: Any, epsilon: Any, error: Any = None) -> Program:
    """Check the arguments of an optimum and return its program; no error budget means the least one.

    Raises
    ------
    ValueError
        As `dpfair_lib.local.optimal_randomizer` says.
    """
    p = as_group_shares(p)
    p1 = as_probabilities(p1, "p1").astype(float)
    check_lengths(p=p, p1=p1)
    x = privacy_ratio(as_epsilon(epsilon))
    if not p @ p1 > 0:
        raise ValueError("p1: found P(Y = 1) = 0, expected more: Δ divides by it")
    least = 1 - most_truthful(p, x)[0]
    if error is None:
        return Program(p, p1, x, least)
    budget = float(as_probabilities([error], "error")[0])
    if budget < least - 1e-12:
        raise ValueError(
            f"error: found {budget}, expected at least {least:.12g}, the smallest error probability "
            f"of a truthful channel at epsilon={float(epsilon):.6g}"
        )
    return Program(p, p1, x, max(budget, least))


def privacy_ratio(epsilon: float) -> float:
    """Return e^(−ε): how likely, at least, a report is from any value, relative to the likeliest one.

    Rounded up, by more than what the entries of a channel are rounded by: its exact ε is at most the one asked for.
    """
    return min(math.exp(-epsilon) * (1 + 2.0**-49), 1.0)


def as_group_shares(p: Any) -> np.ndarray:
    """Return P(A = i) as floats that sum to 1; at least two groups, none of probability 0."""
    p = as_probabilities(p, "p").astype(float)
    if len(p) < 2:
        raise ValueError("p: found 1 group, expected at least 2")
    if not (p > 0).all():
        at = int(np.argmin(p))
        raise ValueError(
            f"p: found probability 0 at position {at}, expected every group to occur; leave out the others"
        )
    if abs(p.sum() - 1) > 1e-9:
        raise ValueError(f"p: found a sum of {p.sum()}, expected 1")
    return p / p.sum()


def most_truthful(p: np.ndarray, x: Any) -> tuple[Any, np.ndarray]:
    """Return the largest truth probability of a truthful ε-LDP channel, and a diagonal that attains it.

    A diagonal M belongs to such a channel if and only if 1/k ≤ M_i, x·M_j ≤ M_i and (1 − x)·M_i + x·ΣM ≤ 1 for
    all i and j. So at a given maximum U of M each M_i lies in [max(1/k, x·U), U] under one bound on the sum:
    a fractional knapsack, full for the largest groups and empty for the others, with one group between. Its value
    is concave and piecewise linear in U, with kinks where that group is full or empty and at x·U = 1/k.

    Parameters
    ----------
    p : ndarray of shape (k,)
        P(A = i); `Fraction` entries stay exact.
    x : float or Fraction
        e^(−ε).

    Returns
    -------
    truth : float or Fraction
        1 − ζ_min.
    diagonal : ndarray of shape (k,)
    """
    k = len(p)
    one = Fraction(1) if p.dtype == object else 1.0
    # d = (1 − U)/x of each candidate: with small x the difference 1 − U itself would lose its digits
    below = [(m - 1 + (one * k - m) / k) / (1 - x + x * m) for m in range(1, k + 1)]
    below += [(m - 1 + x * (k - m)) / (1 - x + x * m + x * x * (k - m)) for m in range(1, k + 1)]
    if x > 0 and x * k >= 1:
        below.append((1 - one / (k * x)) / x)
    best: tuple[Any, np.ndarray] | None = None
    order, places = np.argsort(-p, kind="stable"), np.arange(k)
    for d in below:
        top = 1 - x * d
        low = max(one / k, x * top)
        room = d + top - k * low  # for what is above `low`
        if low > top or room < (0 if p.dtype == object else -1e-14):
            continue
        heights = np.empty(k, dtype=p.dtype)
        heights[order] = low + np.minimum(np.maximum(room - places * (top - low), 0), top - low)
        truth = p @ heights
        if best is None or truth > best[0]:
            best = truth, heights
    assert best is not None  # m = k, randomised response, is always among the candidates
    return best
