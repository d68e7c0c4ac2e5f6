"""Private mechanisms on finitely many distributions, by linear programming, for ε and δ."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def largest_mass(
    acceptable: np.ndarray,
    neighbors: np.ndarray,
    *,
    factor: float,
    delta: float,
    at: int,
    favoured: np.ndarray,
) -> float | None:
    """Return the largest probability that a private algorithm gives to some hypotheses on one distribution.

    Parameters
    ----------
    acceptable : ndarray of bool, shape (n, m)
        What may be output on which distribution.
    neighbors : ndarray of bool, shape (n, n)
        Which distributions are neighbours.
    factor, delta : float
        e^ε and δ.
    at : int
        The distribution.
    favoured : ndarray of bool, shape (m,)
        The hypotheses.

    Returns
    -------
    float or None
        None if no algorithm meets the constraints at all.

    Raises
    ------
    RuntimeError
        If the solver fails otherwise.
    """
    from scipy.optimize import linprog

    n, m = acceptable.shape
    pairs = np.argwhere(neighbors)
    excess = n * m if delta else 0  # p[i, h] − factor·p[j, h] ≤ s[i, j, h], and Σ_h s ≤ δ
    columns = n * m + (len(pairs) * m if delta else 0)
    rows: list[Any] = []
    limits: list[np.ndarray] = []
    each = np.arange(m)
    for number, (i, j) in enumerate(pairs):
        entries = [(each, i * m + each, np.ones(m)), (each, j * m + each, np.full(m, -float(factor)))]
        if delta:
            entries.append((each, excess + number * m + each, -np.ones(m)))
        rows.append(_block(m, columns, entries))
        limits.append(np.zeros(m))
        if delta:
            rows.append(_block(1, columns, [(0 * each, excess + number * m + each, np.ones(m))]))
            limits.append(np.array([float(delta)]))
    totals = _block(n, columns, [(np.repeat(np.arange(n), m), np.arange(n * m), np.ones(n * m))])
    upper = np.full(columns, np.inf)
    upper[: n * m] = acceptable.reshape(-1)
    cost = np.zeros(columns)
    cost[at * m + each] = -favoured.astype(float)
    solved = linprog(
        cost,
        A_ub=sparse.vstack(rows).tocsr() if rows else None,
        b_ub=np.concatenate(limits) if rows else None,
        A_eq=totals,
        b_eq=np.ones(n),
        bounds=np.stack([np.zeros(columns), upper], axis=1),
        method="highs",
    )
    if solved.status == 2:
        return None
    if not solved.success:
        raise RuntimeError(f"the linear program was not solved: {solved.message}")
    return float(-solved.fun)


def _block(rows: int, columns: int, entries: list[tuple[Any, Any, Any]]) -> Any:
    row, column, value = (np.concatenate([entry[part] for entry in entries]) for part in range(3))
    return sparse.csr_array((value, (row, column)), shape=(rows, columns))
