"""The rows of a set of laws with the channel held fixed, beside the program over the laws themselves."""

import numpy as np
from scipy.optimize import linprog

from dpfair_lib.local.robust.builder import Builder


def tight(kind, laws, share, factors, column):
    """Return the least θ that a condition allows for a column, and the law that its multipliers mean."""
    rows = Builder()
    places, (level,) = rows.unknowns(laws.k), rows.unknowns(1, free=True)
    at, law = kind.condition_rows(rows, laws, share, factors, places, (np.array([[level]]), [[-1.0]]))
    value, multipliers = solved(rows, {level: 1.0}, column)
    return value, law(multipliers, multipliers[at])


def least_truth(kind, laws, diagonal):
    """Return the largest level of truth that the rows allow for a diagonal, and the shares that they mean."""
    rows = Builder()
    places, (level,) = rows.unknowns(laws.k), rows.unknowns(1, free=True)
    shares = kind.truth_rows(rows, laws, places, ((np.array([[level]]), [[1.0]]), 0.0))
    value, multipliers = solved(rows, {level: -1.0}, diagonal)
    return -value, shares(multipliers, multipliers[-1])


def solved(rows, costs, fixed):
    matrix, right = rows.matrix()
    cost, bounds = np.zeros(rows.width), [(0, None)] * rows.width
    for place, one in costs.items():
        cost[place] = one
    for place in rows.free:
        bounds[place] = (None, None)
    bounds[: len(fixed)] = [(one, one) for one in fixed]
    found = linprog(cost, A_ub=matrix, b_ub=right, bounds=bounds, method="highs")
    return found.fun, -found.ineqlin.marginals


def largest(laws, share, factors, column):
    """Return the largest Σ factor_y c_iy q_i over the laws with this P(Y = 1), cell by cell."""
    k = laws.k
    worth = np.outer(column, factors).ravel()
    equal, totals = np.zeros((2, 2 * k)), [1 - share, share]
    equal[0, ::2] = equal[1, 1::2] = 1
    if not hasattr(laws, "cells"):
        bounds = list(zip(laws.low.ravel(), laws.high.ravel(), strict=True))
        return -linprog(-worth, A_eq=equal, b_eq=totals, bounds=bounds).fun
    centre, eye = laws.cells.ravel(), np.eye(2 * k)
    # |c − centre| ≤ away, Σ away ≤ radius
    limits = np.block([[eye, -eye], [-eye, -eye], [np.zeros((1, 2 * k)), np.ones((1, 2 * k))]])
    most = np.concatenate([centre, -centre, [laws.radius]])
    wide = np.hstack([equal, np.zeros((2, 2 * k))])
    return -linprog(np.r_[-worth, 0 * worth], A_ub=limits, b_ub=most, A_eq=wide, b_eq=totals).fun


def random_cases(seed, trials=20):
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        k = int(rng.integers(2, 5))
        yield rng.dirichlet(np.ones(2 * k)).reshape(k, 2), rng.uniform(0.1, 1, k), rng.uniform(-1, 1, 2), rng
