"""The linear program of post-processing for equalized odds, and proofs that a solution is optimal.

A table of counts has the shape (2, |A|, 2): predicted label, group, true label. A rule is an array p of shape
(2, |A|): the chance of the new label 1 for a row with the predicted label ŷ in group a. Everything is exact where
counts, limits and multipliers are `Fraction`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np


def positive_rates(counts: np.ndarray) -> np.ndarray:
    """Return each group's share of the predicted label 1 among its rows of each true label.

    Parameters
    ----------
    counts : ndarray of shape (2, |A|, 2)
        Numbers of at least 0.

    Returns
    -------
    ndarray of shape (2, |A|)
        False positive rates, then true positive rates; ½ where there are no such rows.
    """
    half: Any = Fraction(1, 2) if counts.dtype == object else 0.5
    rows = counts.sum(axis=0)
    empty = rows == 0
    return np.where(empty, half, counts[1] / np.where(empty, 1, rows)).T


def rates_after(rates: np.ndarray, rule: np.ndarray) -> np.ndarray:
    """Return the rates that a rule makes of the rates of the predicted labels, shape (2, |A|)."""
    return rates * rule[1] + (1 - rates) * rule[0]


def expected_errors(counts: np.ndarray, rule: np.ndarray) -> Any:
    """Return how many rows a rule is expected to get wrong."""
    return (counts[:, :, 0] * rule + counts[:, :, 1] * (1 - rule)).sum()


@dataclass(frozen=True)
class OddsProgram:
    """Fewest expected errors such that no two groups' rates differ by more than a limit.

    Attributes
    ----------
    counts : ndarray of shape (2, |A|, 2)
        Numbers of at least 0.
    pairs : tuple of (int, int)
        The groups compared.
    limits : ndarray of shape (2, number of pairs)
        Largest difference in the false, then in the true positive rate; at least 0, so that the rules which give
        everybody the same chance are always feasible.
    """

    counts: np.ndarray
    pairs: tuple[tuple[int, int], ...]
    limits: np.ndarray

    def differences(self, rule: np.ndarray) -> np.ndarray:
        """Return first group's rate minus second's, shape (2, number of pairs)."""
        rates = rates_after(positive_rates(self.counts), rule)
        first, second = (list(groups) for groups in zip(*self.pairs, strict=True))
        return rates[:, first] - rates[:, second]

    def rows(self) -> np.ndarray:
        """Return `differences` as a linear map, shape (2, number of pairs, 2, |A|)."""
        rates = positive_rates(self.counts)
        zero = 0 * rates[0, 0]
        matrix = np.full((2, len(self.pairs), *rates.shape), zero, dtype=rates.dtype)
        for at, (first, second) in enumerate(self.pairs):
            for group, sign in ((first, 1), (second, -1)):
                matrix[:, at, 1, group] = sign * rates[:, group]
                matrix[:, at, 0, group] = sign * (1 - rates[:, group])
        return matrix


@dataclass(frozen=True)
class OddsSolution:
    """A rule, and what is proved of it.

    Attributes
    ----------
    rule : ndarray of shape (2, |A|)
        P(new label 1 | predicted label, group).
    errors : float
        Its expected number of errors on the program's counts.
    lower : float
        No rule of the program has fewer: the Lagrangian at the multipliers, minimised in closed form.
    violation : float
        By how much a difference misses its limit; rounding.
    multipliers : ndarray of shape (2, 2, number of pairs)
        Of each difference's upper and lower limit, for false and true positives; at least 0.
    """

    rule: np.ndarray
    errors: Any
    lower: Any
    violation: Any
    multipliers: np.ndarray

    @property
    def gap(self) -> Any:
        """How many errors the rule can be from the optimum."""
        return max(self.errors - self.lower, 0)


def lower_bound(program: OddsProgram, multipliers: np.ndarray) -> Any:
    """Return a number of errors that no rule of the program stays below, for any multipliers of at least 0.

    Raises
    ------
    ValueError
        If a multiplier is negative or not a number.
    """
    if not (multipliers >= 0).all():
        raise ValueError("multipliers: found one below 0 or not a number, expected numbers of at least 0")
    above, below = multipliers
    price = program.counts[:, :, 0] - program.counts[:, :, 1]
    price = price + ((above - below)[:, :, None, None] * program.rows()).sum(axis=(0, 1))
    fixed = program.counts[:, :, 1].sum() - (program.limits * (above + below)).sum()
    return fixed + np.minimum(price, 0).sum()


def certify(program: OddsProgram, rule: np.ndarray, multipliers: np.ndarray) -> OddsSolution:
    """Return a rule with everything about it recomputed from the program, the rule and the multipliers.

    Raises
    ------
    ValueError
        If an entry of the rule is not a probability, or a multiplier is negative.
    """
    if not ((rule >= 0) & (rule <= 1)).all():
        raise ValueError(f"rule: found entries from {rule.min()} to {rule.max()}, expected probabilities")
    return OddsSolution(
        rule=rule,
        errors=expected_errors(program.counts, rule),
        lower=lower_bound(program, multipliers),
        violation=np.maximum(abs(program.differences(rule)) - program.limits, 0).max(),
        multipliers=multipliers,
    )


def verify(program: OddsProgram, solution: OddsSolution, tol: float = 1e-9) -> float:
    """Check a solution from its numbers alone and return by how large a share of the rows it may miss the optimum.

    Parameters
    ----------
    program : OddsProgram
        What the rule is said to solve.
    solution : OddsSolution
        As `solve` returns it.
    tol : float
        How far a number may be from the recomputed one, and by how much a limit may be exceeded, as shares of the rows.

    Returns
    -------
    float
        Errors minus lower bound, both recomputed, over the number of rows.

    Raises
    ------
    ValueError
        If a number is wrong, a limit is exceeded, or a multiplier has a wrong sign.
    """
    again = certify(program, solution.rule, solution.multipliers)
    rows = max(program.counts.sum(), 1)
    for name in ("errors", "lower"):
        said, found = getattr(solution, name), getattr(again, name)
        if not abs(said - found) <= tol * rows:
            raise ValueError(f"solution: found {name} {said}, recomputed {found}")
    if not again.violation <= tol:
        raise ValueError(f"solution: found a limit missed by {again.violation}, expected at most {tol}")
    return float(again.gap / rows)


def solve(program: OddsProgram) -> OddsSolution:
    """Return an optimal rule with its certificate.

    Where several rules are optimal, the one that HiGHS meets first; it is the same at every call.

    Parameters
    ----------
    program : OddsProgram
        Counts and limits in floats.

    Returns
    -------
    OddsSolution
        Its gap is rounding.

    Raises
    ------
    RuntimeError
        If the solver gives up; the program has a solution always.
    """
    from scipy.optimize import linprog

    counts = program.counts
    rows = max(counts.sum(), 1.0)
    matrix = program.rows().reshape(-1, counts[:, :, 0].size)
    limits = program.limits.reshape(-1)
    solved = linprog(
        ((counts[:, :, 0] - counts[:, :, 1]) / rows).reshape(-1),
        np.concatenate([matrix, -matrix]),
        np.concatenate([limits, limits]),
        bounds=(0, 1),
        method="highs",
    )
    if solved.status != 0:
        raise RuntimeError(f"the linear program was not solved: {solved.message}")
    multipliers = np.maximum(-solved.ineqlin.marginals, 0) * rows
    rule = np.clip(solved.x, 0, 1).reshape(counts.shape[:2])
    return certify(program, rule, multipliers.reshape(2, *program.limits.shape))
