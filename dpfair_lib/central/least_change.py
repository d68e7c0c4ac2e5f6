"""The least change for a parity gap, found without the closed form: by linear programming, by enumeration.

These are the independent witnesses that the ledger sets against `bounds` and `flips`.
"""

from __future__ import annotations

import itertools
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
        What weak duality proves, computed exactly from the solver's multiplier: no classifier of that gap
        changes less. Equal to ``value`` when the solution is certified optimal.
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

    HiGHS solves the program in floating point; its solution and its multiplier are rounded to fractions, and
    the two sides of weak duality are then evaluated exactly.

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
        If the rounded solution is infeasible, so that nothing is certified.
    """
    from scipy.optimize import linprog

    weights, start = _two_groups(population, h)
    size = weights.size
    sign = np.tile([1, -1], size // 2)  # cells in the order (x, a): group 0 counts plus, group 1 minus
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
    solved = linprog(costs, rows, limits, bounds=[(0, 1)] * (2 * size), method="highs", **blind)
    found = np.array([_nearby(value) for value in solved.x[:size]], dtype=object)
    multiplier = _nearby(float(solved.ineqlin.marginals[-1] - solved.ineqlin.marginals[-2]))
    if abs((weights * sign * found).sum()) > gamma or (group_blind and (found[::2] != found[1::2]).any()):
        raise RuntimeError("the rounded solution of the linear program is infeasible; nothing is certified")
    return LeastChange(
        value=(weights * abs(found - start)).sum(),
        lower_bound=_dual_value(weights, start, sign, gamma, multiplier, group_blind),
        classifier=found.reshape(-1, 2),
    )


def _dual_value(
    weights: np.ndarray,
    start: np.ndarray,
    sign: np.ndarray,
    gamma: Fraction,
    multiplier: Fraction,
    group_blind: bool,
) -> Fraction:
    """Minimise change + multiplier·gap − |multiplier|·γ over all classifiers, cell by cell.

    In each cell the function is convex and piecewise linear, so its minimum is at 0, 1 or an old value.
    """
    block = 2 if group_blind else 1
    total = -abs(multiplier) * gamma
    for at in range(0, weights.size, block):
        cells = slice(at, at + block)
        w, old, s = weights[cells], start[cells], sign[cells]
        corners = (Fraction(0), Fraction(1), *old)
        total += min((w * (abs(v - old) + multiplier * s * v)).sum() for v in corners)
    return Fraction(total)


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
    """Tell which classifiers are optimal in the sense of Theorem 2, by the structure of their flips.

    One is, exactly if both groups have the same rate, no one in the group of higher rate is promoted, and no
    one in the group of lower rate is demoted.

    Parameters
    ----------
    weights : ndarray of shape (..., points, 2)
        P(X = x | A = a), last axis the group; sums to 1 over the points.
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


def _nearby(value: float) -> Fraction:
    """Return the fraction of small denominator that a solver's float stands for."""
    return Fraction(value).limit_denominator(100_000)
