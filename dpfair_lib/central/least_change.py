"""The least change for a given parity gap, by linear programming and by enumeration, to check the closed form.

The ledger compares these numbers with those of `bounds` and `flips`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.populations import Population
from dpfair_lib.populations.population import Classifier


@dataclass(frozen=True)
class LeastChange:
    """A solved program, with its certificate.

    Attributes
    ----------
    value : Fraction
        Sum of the two groups' changes of ``classifier``, computed exactly.
    lower_bound : Fraction
        What weak duality proves, computed exactly: no classifier of that gap changes less. Equal to ``value``.
    classifier : ndarray of shape (points, groups)
        P(Ŷ = 1 | x, a) as `Fraction`.
    """

    value: Fraction
    lower_bound: Fraction
    classifier: np.ndarray


def least_change_by_lp(
    population: Population, h: Classifier, gamma: Fraction, *, group_blind: bool = False
) -> LeastChange:
    """Minimise the sum of prediction changes over all randomised classifiers of parity gap at most γ.

    HiGHS solves the program in floating point. The vertex that it means is found in fractions, and so is the best
    multiplier of the dual; the two sides of weak duality are then compared exactly.

    Parameters
    ----------
    population : Population
        Exact, with two groups.
    h : callable or array of shape (points, 2)
        The classifier to change, P(Ŷ = 1 | x, a), exact.
    gamma : Fraction
        Parity gap allowed.
    group_blind : bool
        Require the classifier to treat both groups alike.

    Returns
    -------
    LeastChange
        The classifier found, its exact change and the exact lower bound.

    Raises
    ------
    ValueError
        If the population is not exact or has not two groups.
    RuntimeError
        If the two sides of weak duality differ, so that nothing is certified.
    """
    weights, start = _two_groups(population, h)
    sign = np.tile([1, -1], weights.size // 2)  # cells in the order (x, a): group 0 plus, group 1 minus
    blocks = [
        _Block(weights[cells], sign[cells], start[cells]) for cells in _blocks(weights.size, group_blind)
    ]
    values = _solve(weights, sign, start, gamma, group_blind)
    exact = _exact_values(blocks, values[:: len(blocks[0].old)], gamma)
    found = np.array([v for v in exact for _ in blocks[0].old], dtype=object)
    value = (weights * abs(found - start)).sum()
    # any multiplier proves a lower bound; the best one is at a kink of the dual
    kinks = {Fraction(0), *(kink for block in blocks for kink in block.multipliers())}
    lower = max(sum(block.least(kink) for block in blocks) - abs(kink) * gamma for kink in kinks)
    if value != lower or abs((weights * sign * found).sum()) > gamma or not all(0 <= v <= 1 for v in found):
        raise RuntimeError(f"nothing is certified: the program's value is {value}, its lower bound {lower}")
    return LeastChange(value=value, lower_bound=lower, classifier=found.reshape(-1, 2))


def _solve(
    weights: np.ndarray, sign: np.ndarray, start: np.ndarray, gamma: Fraction, group_blind: bool
) -> np.ndarray:
    """Solve the program in floats; return the new probabilities."""
    from scipy.optimize import linprog

    size = weights.size
    gap_row = (weights * sign).astype(float)
    eye = np.eye(size)
    # variables: the new probabilities v, then their distances t from the old ones
    rows = np.block([[eye, -eye], [-eye, -eye], [gap_row, np.zeros(size)], [-gap_row, np.zeros(size)]])
    limits = np.concatenate([start, -start, [gamma, gamma]]).astype(float)
    costs = np.concatenate([np.zeros(size), weights.astype(float)])
    blind = {}
    if group_blind:
        same = np.zeros((size // 2, 2 * size))
        at = np.arange(size // 2)
        same[at, 2 * at], same[at, 2 * at + 1] = 1, -1
        blind = {"A_eq": same, "b_eq": np.zeros(size // 2)}
    # the simplex method ends in a vertex, which is what can be made exact
    solved = linprog(costs, rows, limits, bounds=[(0, 1)] * (2 * size), method="highs-ds", **blind)
    return solved.x[:size]


@dataclass(frozen=True)
class _Block:
    """Cells that share one new probability: one cell, or both groups' cells of a point."""

    weights: np.ndarray
    sign: np.ndarray
    old: np.ndarray

    @property
    def slope(self) -> Fraction:
        """By how much the gap grows with the block's probability."""
        return (self.weights * self.sign).sum()

    @property
    def corners(self) -> list[Fraction]:
        """Where the change has a kink: 0, 1 and the old probabilities."""
        return sorted({Fraction(0), Fraction(1), *self.old})

    def change(self, value: Fraction) -> Fraction:
        return (self.weights * abs(value - self.old)).sum()

    def least(self, multiplier: Fraction) -> Fraction:
        """The least of change + multiplier·gap; convex and piecewise linear, so it is at a corner."""
        return min(self.change(v) + multiplier * self.slope * v for v in self.corners)

    def multipliers(self) -> Iterator[Fraction]:
        """Multipliers at which two neighbouring corners are equally good: where the dual has its kinks."""
        for left, right in itertools.pairwise(self.corners):
            if self.slope:
                yield -(self.change(right) - self.change(left)) / (right - left) / self.slope


def _blocks(size: int, group_blind: bool) -> Iterator[slice]:
    width = 2 if group_blind else 1
    return (slice(at, at + width) for at in range(0, size, width))


def _exact_values(blocks: list[_Block], values: np.ndarray, gamma: Fraction) -> list[Fraction]:
    """Return the vertex in fractions: every block at a corner, but for one that makes up the gap.

    There is one constraint that couples the blocks, so a vertex has at most one block off its corners.
    """
    exact, free = [], []
    for at, (block, value) in enumerate(zip(blocks, values, strict=True)):
        corner = min(block.corners, key=lambda c: abs(float(c) - value))
        exact.append(corner)
        if abs(float(corner) - value) > 1e-7 and block.slope:
            free.append(at)
    if len(free) == 1:
        (at,) = free
        rest = sum(block.slope * v for i, (block, v) in enumerate(zip(blocks, exact, strict=True)) if i != at)
        gap = float(rest) + float(blocks[at].slope) * values[at]
        exact[at] = ((gamma if gap > 0 else -gamma) - rest) / blocks[at].slope
    return exact


def least_change_by_enumeration(population: Population, h: Classifier, gamma: Any) -> Any:
    """Minimise the sum of prediction changes over all *deterministic* classifiers of gap at most γ.

    Parameters
    ----------
    population : Population
        With two groups and at most ten points (4^points classifiers are tried).
    h : callable or array of shape (points, 2)
        The classifier to change.
    gamma : float or Fraction
        Parity gap allowed.

    Returns
    -------
    float or Fraction
        The least change.

    Raises
    ------
    ValueError
        If there are not two groups, or more than ten points.
    """
    values = population.classifier(h)
    points = len(population.points)
    if points > 10:
        raise ValueError(f"population: found {points} points, expected at most 10 for an enumeration")
    outcomes = []
    for column, group in enumerate(_pair(population)):
        weights = population.conditional(group)
        labels = np.array(list(itertools.product((0, 1), repeat=points)))
        rates = (weights * labels).sum(axis=1)
        changes = (weights * abs(labels - values[:, column])).sum(axis=1)
        outcomes.append((rates, changes))
    (rate_0, change_0), (rate_1, change_1) = outcomes
    allowed = abs(rate_0[:, None] - rate_1[None, :]) <= gamma
    return (change_0[:, None] + change_1[None, :])[allowed].min()


def is_least_change(weights: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return which classifiers are optimal in the sense of Theorem 2, by the structure of their flips.

    One is, exactly if both groups have the same rate, no one in the group of higher rate is promoted, and no
    one in the group of lower rate is demoted.

    Parameters
    ----------
    weights : ndarray of shape (..., points, 2)
        P(X = x | A = a), last axis the group; sums to 1 over the points. Rates are compared without any
        tolerance: give `Fraction`, or floats whose sums are exact.
    before, after : ndarray of shape (..., points, 2)
        P(Ŷ = 1 | x, a) of the classifier before, and of the one to judge.

    Returns
    -------
    ndarray of bool, of the leading shape
        Whether ``after`` has gap 0 and changes as little as any classifier of gap 0.

    References
    ----------
    Proved in the chapter on ISIT, Theorem 2.
    """
    rates = (weights * before).sum(axis=-2)
    upper = np.stack([rates[..., 0] >= rates[..., 1], rates[..., 0] < rates[..., 1]], axis=-1)
    fair = (weights * after).sum(axis=-2)
    moved = np.where(weights > 0, after - before, 0)
    wrong_way = np.where(upper[..., None, :], moved > 0, moved < 0)
    return (fair[..., 0] == fair[..., 1]) & ~wrong_way.any(axis=(-2, -1))


def _pair(population: Population) -> tuple[Any, Any]:
    if len(population.groups) != 2:
        raise ValueError(f"population: found {len(population.groups)} groups, expected 2")
    first, second = population.groups.tolist()
    return first, second


def _two_groups(population: Population, h: Classifier) -> tuple[np.ndarray, np.ndarray]:
    """Conditional weights and old probabilities of the cells in the order (x, a), exact."""
    if not population.exact:
        raise ValueError("population: found float probabilities, expected exact ones for a certificate")
    weights = np.stack([population.conditional(group) for group in _pair(population)], axis=1)
    values = population.classifier(h)
    exact = np.array([Fraction(value) for value in values.reshape(-1)], dtype=object)
    return weights.reshape(-1), exact
