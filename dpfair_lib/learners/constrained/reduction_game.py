"""The game of a learner with an auditor who both see the groups through noise: sums once, counts in every round."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dpfair_lib.learners.functional import EXACT, FINE, ROUNDED
from dpfair_lib.privacy import gaussian_sigma
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import above, quotient_above, raised


class Deviations(NamedTuple):
    """Deviations of the noise on the sums, in steps of the grid, and on the counts of every round."""

    sums: float
    counts: float


class Public(NamedTuple):
    """What the rows tell without their groups.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
        Rows of norm at most Λ, the last entry 1.
    y : ndarray of shape (n,)
        Labels 0 and 1.
    about : ndarray of shape (conditions, n)
        Whether a condition is about a row.
    bound : float
        Λ.
    """

    rows: np.ndarray
    y: np.ndarray
    about: np.ndarray
    bound: float


def sensitivity(p: int) -> float:
    """Return how far the group of one row moves the whole numbers of `group_sums`, in Euclidean norm."""
    return raised(FINE + ROUNDED * math.sqrt(p))


def deviations(epsilon: float, delta: float, p: int, rounds: int, share: float) -> Deviations:
    """Return the noise at which sums and all counts together are one Gaussian release of ε and δ.

    Parameters
    ----------
    epsilon, delta : float
        Of the whole release.
    p : int
        Entries of a row.
    rounds : int
        T.
    share : float
        In (0, 1): the part of μ² that the sums use.
    """
    sigma = gaussian_sigma(epsilon, delta, 1.0, "analytic")
    return Deviations(
        raised(sensitivity(p) * sigma / math.sqrt(share)), raised(sigma * math.sqrt(rounds / (1 - share)))
    )


def ratio(scales: Deviations, p: int, rounds: int) -> float:
    """Return μ of sums and counts together, rounded up: the root of the sum of squares."""
    sums, counts = quotient_above(sensitivity(p), scales.sums), quotient_above(1.0, scales.counts)
    square = Fraction(sums) ** 2 + rounds * Fraction(counts) ** 2
    return raised(math.sqrt(above(square)))


def group_sums(known: Public, second: np.ndarray) -> np.ndarray:
    """Return the exact sum of the second group's rows, for each condition, on a grid of Λ/2²².

    Parameters
    ----------
    known : Public
        The rows.
    second : ndarray of shape (n,)
        1 for the second group, 0 for the first.

    Returns
    -------
    ndarray of int64, of shape (conditions, p)
        Whole numbers, cut off at ±2⁵³, which moves no two of them further apart.
    """
    whole = np.rint(known.rows / known.bound * FINE).astype(np.int64)  # the last entry, 1/Λ, too
    found = np.array([whole[about & (second == 1)].sum(axis=0) for about in known.about])
    return np.clip(found, -EXACT, EXACT)


class Auditor:
    """The auditor's weights: two for each condition, which grow exponentially with the noisy gap.

    Parameters
    ----------
    conditions : int
        How many.
    gamma, bound, rate : float
        γ, B, and by which a gap beyond γ moves an exponent.
    """

    def __init__(self, conditions: int, gamma: float, bound: float, rate: float) -> None:
        self.gamma, self.bound, self.rate = gamma, bound, rate
        self.exponents = np.zeros((2, conditions))

    def multipliers(self) -> np.ndarray:
        """Return λ of each condition: at most B in size, positive where the second group is selected too often."""
        top = max(float(self.exponents.max()), 0.0)
        weights = np.exp(self.exponents - top)
        found = self.bound * weights / (math.exp(-top) + weights.sum())
        return np.asarray(found[0] - found[1])

    def see(self, gaps: np.ndarray) -> None:
        """Move the exponents by the noisy gaps of a round."""
        moved = self.exponents + self.rate * (np.stack([gaps, -gaps]) - self.gamma)
        self.exponents = np.clip(moved, -1e6, 1e6)


class Learner:
    """The learner's best response: least squares on the costs, from the noisy sums and what is public.

    Parameters
    ----------
    known : Public
        The rows.
    noisy : ndarray of shape (conditions, p)
        The noisy sums of the second group.
    regularization : float
        μ.
    """

    def __init__(self, known: Public, noisy: np.ndarray, regularization: float) -> None:
        rows, n = known.rows, len(known.rows)
        sums = noisy * (known.bound / FINE)
        self.sizes = np.maximum(known.about.sum(axis=1).astype(float), 1.0)
        # the entry 1 of every row adds up to the size of the group
        self.second = np.clip(sums[:, -1], 1.0, np.maximum(self.sizes - 1, 1.0))
        self.first = np.maximum(self.sizes - self.second, 1.0)
        every = np.array([rows[about].sum(axis=0) for about in known.about])
        self.pull = n * (sums / self.second[:, None] - (every - sums) / self.first[:, None])
        self.target = (2 * known.y - 1) @ rows
        self.matrix = rows.T @ rows + regularization * n * np.eye(rows.shape[1])

    def weights(self, multipliers: np.ndarray) -> np.ndarray:
        """Return w: a row is selected if w·x > 0."""
        return np.linalg.solve(self.matrix, self.target - multipliers @ self.pull)

    def gaps(self, selected: np.ndarray, of_second: np.ndarray) -> np.ndarray:
        """Return the noisy gap of each condition, from all that are selected and a noisy number of the second group."""
        first = np.clip((selected - of_second) / self.first, 0, 1)
        return np.asarray(np.clip(of_second / self.second, 0, 1) - first)


def play(
    known: Public, second: np.ndarray, learner: Learner, auditor: Auditor, rounds: int, sigma: float,
    source: NoiseSource,
) -> np.ndarray:  # fmt: skip
    """Play the game, and return the weights of every round, an array of shape (rounds, p)."""
    found = []
    for _ in range(rounds):
        found.append(learner.weights(auditor.multipliers()))
        chosen = known.about & (known.rows @ found[-1] > 0)
        counts = (chosen & (second == 1)).sum(axis=1)
        auditor.see(learner.gaps(chosen.sum(axis=1), source.add_gaussian(counts, sigma)))
    return np.array(found)
