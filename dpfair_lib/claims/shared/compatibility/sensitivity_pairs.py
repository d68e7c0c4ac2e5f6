"""Pairs of samples between which Γ, the difference of the true positive rates, moves most: CGKM, Lemma 2."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.compatibility.private_learner.sensitivity import Counts

SIZES = {2: 9, 3: 7}
"""Number of values that h may take → the most records of a sample that is enumerated."""


EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))


def printed_bound(counts: Counts, n: int, epsilon: Fraction) -> Fraction | None:
    """Return max_a 2/(|Z₁ₐ| − √n/ε − 1), for n a square; None where a denominator is 0.

    Z₁ₐ are the positives of group a, and ``counts`` are their numbers |Z₁₀| and |Z₁₁|.
    """
    rest = [count - math.isqrt(n) / epsilon - 1 for count in counts]
    return None if 0 in rest else max(2 / Fraction(value) for value in rest)


def worst_pair(counts: Counts, n: int, *, deterministic: bool = False) -> tuple[Any, Any]:
    """Return two neighbouring samples, as (predictions, y, group), between which Γ moves the most.

    Γ is the difference of the true positive rates of the two groups. Let m ≤ M be their numbers of positives. The group
    with m loses the one positive on which h is 0, and the other gains it. On the other positives of the group with m,
    h is 1. On those of the group with M, the mean of h is (m − 1)/m, for a deterministic h rounded down to a multiple
    of 1/M.
    """
    giver = 0 if counts[0] <= counts[1] else 1
    low, high = counts[giver], counts[1 - giver]
    level = Fraction(low - 1, low)
    ones = high * (low - 1) // low
    taken = [Fraction(1)] * ones + [Fraction(0)] * (high - ones) if deterministic else [level] * high
    h = [Fraction(0)] + [Fraction(1)] * (low - 1) + taken + [Fraction(0)] * (n - low - high)
    y = np.array([1] * (low + high) + [0] * (n - low - high))
    group = np.array([giver] * low + [1 - giver] * high + [0] * (n - low - high))
    moved = group.copy()
    moved[0] = 1 - giver
    predictions = np.array([h], dtype=object)
    return (predictions, y, group), (predictions, y, moved)
