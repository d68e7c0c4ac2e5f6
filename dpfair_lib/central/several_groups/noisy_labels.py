"""The law of the noisy counts of one group and one true label: which share is predicted 1, and how many rows there are.

Of m rows t have the predicted label 1. Both counts, t and m − t, get noise of its own, and negative ones become 0. The
share is that of the first in both, ½ if both are 0. Pairs of noisy counts are listed for two-sided geometric noise. For
Laplace noise the distribution function of the share is known (`share_law`), and the list has its differences.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dpfair_lib.central.gap_law import Mechanism
from dpfair_lib.central.several_groups.share_law import _tabled

UNSEEN = 1e-13  # probability of a noise, or of a count, that is left out on either side
MOST_NOISE = 2_000  # largest noise that is listed
FINE, COARSE = 40_000, 4_000  # of more shares, those in one of so many cells are one
LOOKED_AT = 4_096  # cells of [0, 1] that say where the shares of Laplace noise are


class LabelLaw(NamedTuple):
    """Finitely many shares with their probabilities; what is left out has the probability ``missing``.

    Attributes
    ----------
    shares, masses : ndarray
        Ascending shares, and their probabilities.
    missing : float
        Probability of what is not listed.
    moved : float
        By how much a share of the list differs at most from one that it stands for.
    """

    shares: np.ndarray
    masses: np.ndarray
    missing: float
    moved: float

    def spread(self) -> float:
        """Return the standard deviation of the listed shares."""
        total = self.masses.sum()
        mean = self.masses @ self.shares / total
        return math.sqrt(max(float(self.masses @ (self.shares - mean) ** 2 / total), 0.0))

    def others(self) -> LabelLaw:
        """Return the law of 1 − share."""
        return self._replace(shares=1 - self.shares[::-1], masses=self.masses[::-1])

    def merged(self, cells: int) -> LabelLaw:
        """Return the law of the mean share of each of some cells of equal width, if there are more shares than that."""
        if len(self.shares) <= cells:
            return self
        lowest, width = self.shares[0], (self.shares[-1] - self.shares[0]) / cells
        place = np.minimum(((self.shares - lowest) / width).astype(np.int64), cells - 1)
        together = np.bincount(place, self.masses, cells)
        filled = together > 0
        means = np.bincount(place, self.masses * self.shares, cells) / np.where(filled, together, 1.0)
        moved = self.moved + float(abs(self.shares - means[place]).max())
        return self._replace(shares=means[filled], masses=together[filled], moved=moved)


class NoisyLabel:
    """All pairs of noisy counts that are likely, from which lists of any completeness are taken.

    Parameters
    ----------
    rate : float
        Share of the predicted label 1: in the population, or of the rows.
    rows : int
        m.
    epsilon : float
        ε of the noise on each count; infinity for none.
    population : bool
        Whether t is binomial, or m · rate, which has to be whole.
    mechanism : {"geometric", "laplace"}
        The noise.
    """

    def __init__(
        self, rate: float, rows: int, epsilon: float, *, population: bool, mechanism: Mechanism = "geometric"
    ) -> None:
        from scipy.stats import binom

        if population:
            t = np.arange(
                max(int(binom.ppf(UNSEEN, rows, rate)) - 1, 0),
                min(int(binom.isf(UNSEEN, rows, rate)) + 1, rows) + 1,
            )
            chances = binom.pmf(t, rows, rate)
        else:
            t, chances = np.array([round(rate * rows)]), np.ones(1)
        self._moved = 0.0
        if mechanism == "laplace" and not math.isinf(epsilon):
            self._cut(t, rows, chances, epsilon)
        else:
            self._list(t, rows, chances, epsilon)

    def _cut(self, t: np.ndarray, rows: int, chances: np.ndarray, epsilon: float) -> None:
        """Put what Laplace noise gives a cell of shares at its middle."""
        law = _tabled(
            0.5, t, rows, chances, epsilon
        )  # the rate only matters for its atoms at 0 and 1, not needed

        def above(shares: np.ndarray) -> np.ndarray:
            return np.where(shares < 0, 1.0, law.tail(shares, strict=True))

        rough = np.arange(-1, LOOKED_AT + 1) / LOOKED_AT
        found = above(rough)
        low = rough[np.flatnonzero(1 - found <= UNSEEN)[-1]]  # below 0 there is nothing
        high = rough[np.flatnonzero(found <= UNSEEN)[0]]
        ends = np.linspace(max(low, 0.0), high, FINE + 1)
        beyond = above(ends)
        beyond[0] = above(np.array([low]))[0]  # the first cell has its left end: 0 is likely for few rows
        self._shares, self._masses = (
            (ends[:-1] + ends[1:]) / 2,
            np.maximum(beyond[:-1] - beyond[1:], 0.0),
        )
        self._moved = float(ends[1] - ends[0]) / 2
        # both counts together differ from the rows by no more than the sizes of both noises, |u| + |v|
        self._rows, self._epsilon = rows, epsilon

    def _list(self, t: np.ndarray, rows: int, chances: np.ndarray, epsilon: float) -> None:
        """List all pairs of noisy counts of geometric noise."""
        from scipy.signal import fftconvolve

        reach = _reach(epsilon)
        noise = np.arange(-reach, reach + 1)
        one = np.exp(-epsilon * abs(noise)) * math.tanh(epsilon / 2) if reach else np.ones(1)
        # of all pairs of noises with one sum w, the first one has this law; it is added to t
        sums = np.arange(-2 * reach, 2 * reach + 1)
        other = sums[:, None] - noise
        inside = abs(other) <= reach
        joint = np.where(inside, one * one[np.clip(other, -reach, reach) + reach], 0.0)
        total = joint.sum(axis=1)
        likely = np.minimum(np.cumsum(total), np.cumsum(total[::-1])[::-1]) > UNSEEN
        sums, joint = sums[likely], joint[likely]
        masses = np.maximum(fftconvolve(joint, chances[None, :], axes=1), 0.0)
        found = t[0] - reach + np.arange(masses.shape[1])
        first = np.broadcast_to(np.maximum(found, 0), masses.shape)
        second = np.maximum(rows + sums[:, None] - found, 0)
        seen = masses > UNSEEN / masses.size  # what is left out has at most `UNSEEN` in all
        both = first + second
        shares = np.where(both > 0, first / np.maximum(both, 1), 0.5)[seen]
        self._shares, self._masses = _summed(shares, masses[seen])
        fewest, together = int(both.min()), np.bincount((both - both.min())[seen], masses[seen])
        occurring = np.flatnonzero(together)
        self._sizes, self._of_sizes = fewest + occurring, together[occurring]

    def listed(self, left_out: float) -> LabelLaw:
        """Return a list of shares that leaves out at most this probability: the smallest and the largest shares."""
        inside = self._inside(self._masses, left_out)
        shares, masses = self._shares[inside], self._masses[inside]
        return LabelLaw(shares, masses, max(1.0 - float(masses.sum()), 0.0), self._moved).merged(FINE)

    def rows(self, left_out: float) -> tuple[int, int]:
        """Return the fewest and the most noisy rows, but for this probability."""
        if self._moved > 0:
            reach = _both_sizes(left_out) / self._epsilon
            return max(math.floor(self._rows - reach), 0), math.ceil(self._rows + reach)
        inside = self._inside(self._of_sizes, left_out)
        return int(self._sizes[inside][0]), int(self._sizes[inside][-1])

    @staticmethod
    def _inside(masses: np.ndarray, left_out: float) -> np.ndarray:
        # what is unseen from the beginning may lie on either side
        limit = max(left_out / 2 - (1 - masses.sum()), 0.0)
        return np.minimum(np.cumsum(masses), np.cumsum(masses[::-1])[::-1]) > limit


def _summed(values: np.ndarray, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each value once, ascending, and its probability."""
    found, place = np.unique(values, return_inverse=True)
    return found, np.bincount(place.ravel(), masses)


def _both_sizes(chance: float) -> float:
    """Return what the sum of the sizes of two Laplace noises of scale 1 exceeds with at most this probability."""
    # P(sum > q) = (1 + q) e^(−q), so q = −ln(chance) + ln(1 + q), which iteration approaches from below
    q = -math.log(chance)
    for _ in range(60):
        q = math.log1p(q) - math.log(chance)
    return q * (1 + 1e-12)


def _reach(epsilon: float) -> int:
    """Return the noise that is exceeded with a probability below `UNSEEN`; 0 without noise."""
    if math.isinf(epsilon):
        return 0
    reach = math.ceil(-math.log(UNSEEN) / epsilon)
    if reach > MOST_NOISE:
        raise ValueError(
            f"epsilon: found {epsilon:g}, expected at least {-math.log(UNSEEN) / MOST_NOISE:.3g} for the exact law"
        )
    return reach
