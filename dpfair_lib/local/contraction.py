"""How much a locally private channel reduces the unfairness of data, for a distribution and for a data set."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np

from dpfair_lib._validation import as_count
from dpfair_lib.local.randomizer import as_channel, as_shares

Kind = Literal["ratio", "difference"]


def contraction(x: Any) -> Any:
    """Return tanh(ε/2) = (1 − x)/(1 + x): the most that an ε-LDP channel leaves of Δ or of Δ′, as a factor.

    Parameters
    ----------
    x : number or array
        e^(−ε) in [0, 1]; a `Fraction` stays exact.

    References
    ----------
    Ours; sharpens the thesis's Lemma 13, which is the case ε = ∞.
    """
    return (1 - x) / (1 + x)


def keeps_unfairness(matrix: Any, p: Any, p1: Any, kind: Kind) -> bool:
    """Return whether a channel leaves Δ or Δ′ exactly as it was.

    For Δ′ some report must come only from values of the highest rate and another only from values of the lowest; for Δ
    some report only from values of one and the same rate, one of those farthest from P(Y = 1).

    Parameters
    ----------
    matrix : array of shape (k, m)
        The channel: row input, column report.
    p, p1 : array of shape (k,)
        P(A = i) and P(Y = 1 | A = i).
    kind : {"ratio", "difference"}
        Δ or Δ′.

    References
    ----------
    Ours: when the inequality of Lemma 13 is strict.
    """
    matrix = as_channel(matrix)
    p, p1 = as_shares(p, p1, len(matrix))
    rates, sends = p1[p > 0], matrix[p > 0] > 0
    reports = sends[:, sends.any(axis=0)].T
    pure = {rates[column][0] for column in reports if len(set(rates[column].tolist())) == 1}
    if kind == "difference":
        return rates.max() in pure and rates.min() in pure
    distance = abs(rates - (p * p1).sum())
    # in floats two equal distances may differ in the last digit
    tie = 1e-14 if rates.dtype.kind == "f" else 0
    return any(rate in pure for rate in rates[distance >= distance.max() - tie])


def realized_difference_law(counts: Any, matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact law of Δ′ among the reports of a given data set with a binary attribute.

    Parameters
    ----------
    counts : array of shape (2, 2)
        How many people have A = i and Y = y.
    matrix : array of shape (2, 2)
        The channel: row input, column report; `Fraction` entries stay exact.

    Returns
    -------
    differences, probabilities : ndarray
        Values of Δ′ (0 where only one report occurs; `Fraction`) and their probabilities, one pair for each
        possible table of reports.

    Raises
    ------
    ValueError
        If a count is not a whole number of at least 0, or the channel is not a binary one.

    References
    ----------
    Ours: Lemma 13 speaks of laws; this is what happens to the n people in a data set.
    """
    matrix = as_channel(matrix)
    if matrix.shape != (2, 2) or np.shape(counts) != (2, 2):
        raise ValueError(
            f"counts, matrix: found shapes {np.shape(counts)} and {matrix.shape}, expected (2, 2) twice"
        )
    people = [[as_count(count, "counts", 0) for count in row] for row in np.asarray(counts).tolist()]
    # how many of the people with label y report 0, people with A = 0 and A = 1 together
    laws = [
        np.convolve(_binomial(people[0][y], matrix[0, 0]), _binomial(people[1][y], matrix[1, 0]))
        for y in (0, 1)
    ]
    zeros = [people[0][y] + people[1][y] for y in (0, 1)]
    differences, probabilities = [], []
    for none, one in np.ndindex(len(laws[0]), len(laws[1])):
        left, right = none + one, zeros[0] + zeros[1] - none - one
        gap = abs(Fraction(one, left) - Fraction(zeros[1] - one, right)) if left and right else Fraction(0)
        differences.append(gap)
        probabilities.append(laws[0][none] * laws[1][one])
    return np.array(differences, dtype=object), np.array(probabilities)


def _binomial(n: int, chance: Any) -> np.ndarray:
    """P(j of n), by one person after another: exact for fractions, stable for floats."""
    law = np.array([chance * 0 + 1])
    for _ in range(n):
        law = np.convolve(law, np.array([1 - chance, chance]))
    return law
