"""The game of subgroup fairness on a finite grid: a learner's error against an auditor's subgroup.

Each person belongs to a cell of public features, which is all that a classifier sees, and to a profile of sensitive
columns, which decides the subgroups. The error and the weighted differences of false positive rates are linear in the
classifier. So they depend on the data only through the counts of (cell, profile, label).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class SubgroupGame:
    """Error and violations of every classifier on a grid of cells, in linear form.

    Attributes
    ----------
    base : number
        The error of the classifier that selects no one: the share of positives.
    error : array of shape (cells,)
        What selecting a cell adds to the error: (negatives − positives)/n.
    violation : array of shape (subgroups, cells)
        What selecting a cell adds to A(g)·(FP(h) − FP(h, g)), where A(g) is the share of the negatives of g
        among all people; 0 for a subgroup without negatives.
    """

    base: Any
    error: np.ndarray
    violation: np.ndarray

    def errors(self, selected: np.ndarray) -> Any:
        """Return the share of wrong decisions for P(Ŷ = 1) by cell, of shape (…, cells)."""
        return self.base + selected @ self.error

    def violations(self, selected: np.ndarray) -> np.ndarray:
        """Return A(g)·(FP(h) − FP(h, g)) of every subgroup, of shape (…, subgroups)."""
        return selected @ self.violation.T

    def costs(self, weights: np.ndarray) -> np.ndarray:
        """Return what selecting each cell costs the learner; ``weights`` are the auditor's λ⁺ − λ⁻."""
        return self.error + weights @ self.violation


def game_from_counts(counts: np.ndarray, members: np.ndarray, n: Any = None) -> SubgroupGame:
    """Return the game that counts define; exact for whole numbers held as `Fraction` objects.

    Parameters
    ----------
    counts : array of shape (cells, profiles, 2)
        How many people of each cell, profile and label; noisy counts may be any numbers.
    members : array of shape (profiles, subgroups)
        1 where people of the profile belong to the subgroup, else 0.
    n : number, optional
        What to divide by; by default the sum of the counts.

    Returns
    -------
    SubgroupGame
        A subgroup's share of the negatives is taken as 0 if there are no negatives, and is clipped to [0, 1], which
        noise may leave.

    References
    ----------
    CGKM, Definition 8 and Appendix C.2; the linear form is ours.
    """
    n = counts.sum() if n is None else n
    negatives, positives = counts[:, :, 0], counts[:, :, 1].sum(axis=1)
    by_cell, in_group = negatives.sum(axis=1), members.T @ negatives.T
    total = by_cell.sum()
    shares = in_group.sum(axis=1) * 0
    if total > 0:
        shares = np.minimum(np.maximum(in_group.sum(axis=1) / total, shares), shares + 1)
    violation = (shares[:, np.newaxis] * by_cell - in_group) / n
    return SubgroupGame(positives.sum() / n, (by_cell - positives) / n, violation)


def optimum(game: SubgroupGame, tolerance: float) -> np.ndarray:
    """Return P(Ŷ = 1) by cell of the randomised classifier of least error whose violations are at most a tolerance.

    Parameters
    ----------
    game : SubgroupGame
        The game.
    tolerance : float
        At least 0; selecting no one always meets it.

    Returns
    -------
    ndarray of shape (cells,)
        A solution of the linear program, by HiGHS.

    References
    ----------
    CGKM, § 5, the Fair ERM linear program.
    """
    from scipy.optimize import linprog

    rows = np.concatenate([game.violation, -game.violation])
    found = linprog(game.error, A_ub=rows, b_ub=np.full(len(rows), tolerance), bounds=(0, 1), method="highs")
    assert found.status == 0, found.message  # selecting no one is feasible, and the program is bounded
    return np.clip(found.x, 0, 1)
