"""The least error at which reports have no unfairness at all: one linear program."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpfair_lib.local.optimal_easy import smallest_error
from dpfair_lib.local.optimal_program import Program, as_program


def smallest_fair_error(p: Any, p1: Any, epsilon: Any) -> float:
    """Return the least P(Z ≠ A) of a truthful ε-LDP channel with Δ = 0.

    From this error budget on the least unfairness is 0. With two groups and different rates it is ½, a guess; with
    more it is at most 1 − 1/(2 + (k − 2)·e^(−ε)), below the 1 − 1/k of a guess if ε > 0.

    Parameters
    ----------
    p : array of shape (k,)
        P(A = i), all above 0; k ≥ 2, up to about 30 in a second.
    p1 : array of shape (k,)
        P(Y = 1 | A = i), not all 0.
    epsilon : float
        At least 0; inf is allowed.

    Returns
    -------
    float
        No channel has less by more than 1e-9: proved by the program's dual.

    Raises
    ------
    ValueError
        As `optimal_randomizer`.
    ArithmeticError
        If the solver's answer is not proved to 1e-9.

    References
    ----------
    Thesis § 5.5, the remark after (5.5.6).
    """
    from scipy.optimize import linprog

    program = as_program(p, p1, epsilon, 1.0)
    least = smallest_error(p, epsilon)
    if np.ptp(program.p1) == 0:
        return least  # every channel is without unfairness; in floats the equations might have no solution
    cost, equal, right, below = _linear_program(program)
    found = linprog(cost, A_ub=below, b_ub=np.zeros(below.shape[0]), A_eq=equal, b_eq=right, bounds=(0, 1))
    if found.status != 0:
        raise ArithmeticError(f"found no channel without unfairness ({found.message})")
    at_rows, at_caps = found.eqlin.marginals, np.minimum(found.ineqlin.marginals, 0)
    # any multipliers of these signs bound the cost from below, as every probability is in [0, 1]
    reduced = cost - equal.T @ at_rows - below.T @ at_caps
    lower = right @ at_rows + np.minimum(reduced, 0).sum()
    if not found.fun - lower <= 1e-9:
        raise ArithmeticError(
            f"found an error of {1 + found.fun}, proved only that it is at least {1 + lower}"
        )
    return float(max(1 + found.fun, least))


def _linear_program(program: Program) -> tuple[np.ndarray, Any, np.ndarray, Any]:
    """Return cost, equations and their right sides, and what is at most 0, in the entries q_ij, row by row."""
    from scipy import sparse

    k, x = program.k, program.x
    own = np.arange(k) * (k + 1)
    i, j = np.argwhere(~np.eye(k, dtype=bool)).T
    places, count = i * k + j, np.arange(len(i))

    def rows(*entries: tuple[np.ndarray, float]) -> Any:
        at = np.concatenate([column for column, _ in entries])
        values = np.concatenate([np.full(len(i), value) for _, value in entries])
        return sparse.csr_array((values, (np.tile(count, len(entries)), at)), shape=(len(i), k * k))

    cost = np.zeros(k * k)
    cost[own] = -program.p
    one = np.eye(k)
    scaled = program.excess / np.abs(program.excess).max() if program.excess.any() else program.excess
    equal = sparse.csr_array(np.vstack([np.kron(one, np.ones(k)), np.kron(scaled, one)]))
    # truthful columns and rows, and for these (5.5.7): no report is rarer than e^(−ε) times its truest one
    below = sparse.vstack([
        rows((own[j], x), (places, -1.0)), rows((places, 1.0), (own[j], -1.0)), rows((places, 1.0), (own[i], -1.0)),
    ]).tocsr()  # fmt: skip
    return cost, equal, np.concatenate([np.ones(k), np.zeros(k)]), below
