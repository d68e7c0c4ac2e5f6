"""Random threshold rules: with which chance a person of a group gets the label 1, given an old label and a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

NEGLIGIBLE = 1e-12  # a probability that only rounding makes positive


@dataclass(frozen=True)
class ThresholdMixture:
    """A random choice among threshold rules.

    People stand in the order of their old label, and among those of one label in the order of their score. A threshold
    rule gives the label 1 to everybody who stands at a place or above it. So nobody who stands higher has a lower
    chance of the label 1.

    Attributes
    ----------
    labels, scores : tuple
        The places: an old label and a score for each threshold rule.
    chances : tuple
        The probability of each threshold rule.
    everybody : float or Fraction
        The probability of the rule that gives everybody the label 1. What is left to 1 is that of giving it to nobody.
    above : tuple of bool
        Whether a threshold rule leaves out those who stand at its place. If empty, none does.
    """

    labels: tuple[int, ...]
    scores: tuple[Any, ...]
    chances: tuple[Any, ...]
    everybody: Any = 0
    above: tuple[bool, ...] = ()

    def positive_probability(self, y_pred: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Return each row's probability of the label 1.

        Parameters
        ----------
        y_pred, scores : ndarray of shape (n,)
            Old labels 0 and 1, and scores; all scores are 0 where none are used.

        Returns
        -------
        ndarray of shape (n,)
            Probabilities.
        """
        positive = np.full(len(y_pred), self.everybody)
        left_out = self.above or (False,) * len(self.labels)
        for label, score, chance, above in zip(self.labels, self.scores, self.chances, left_out, strict=True):
            reached = (y_pred > label) | ((y_pred == label) & (scores > score if above else scores >= score))
            positive = positive + np.where(reached, chance, 0 * chance)
        return np.minimum(positive, 1)  # three chances may add up to a hair more


class Levels:
    """The places at which people of one group stand, and how many stand at each.

    Attributes
    ----------
    labels, scores : ndarray of shape (levels,)
        Old label and score of each place, ascending.
    """

    def __init__(self, y_pred: np.ndarray, scores: np.ndarray) -> None:
        order = np.lexsort((scores, y_pred))
        label, score = y_pred[order], scores[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (label[1:] != label[:-1]) | (score[1:] != score[:-1])
        self.labels, self.scores = label[new], score[new]
        self._order, self._starts = order, np.flatnonzero(new)

    def __len__(self) -> int:
        return len(self.labels)

    def total(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum of the rows' weights at each place."""
        return np.add.reduceat(weights[self._order], self._starts)

    def rule(self, mixture: Sequence[tuple[int, Any]]) -> ThresholdMixture:
        """Return the rule that mixes thresholds.

        Between two levels a threshold may lie anywhere, as far as these people go. For others, it is set so that a
        chance strictly between 0 and 1 stays with the levels that have it, and so that no label changes without need.

        Parameters
        ----------
        mixture : sequence of (int, float or Fraction)
            How many levels, from the highest down, have the label 1, ascending; and the probability of this threshold.

        Returns
        -------
        ThresholdMixture
            Without thresholds of a probability below 1e-12, which is taken for rounding.
        """
        used = [(count, _plain(chance)) for count, chance in mixture if chance > NEGLIGIBLE]
        if len(used) == 1:
            used = [(used[0][0], used[0][1] * 0 + 1)]
        rejected = int(np.count_nonzero(self.labels == 0))
        thresholds, everybody = [], 0 * used[0][1]
        for i, (count, chance) in enumerate(used):
            at = len(self) - count
            if at == 0 and rejected:
                everybody = chance
            elif count > 0 or rejected == len(self):  # else nobody, though some were selected
                ends = (i == 0) - (i == len(used) - 1)
                thresholds.append((*self._place(at, rejected, ends), chance))
        labels, scores, above, chances = zip(*thresholds, strict=True) if thresholds else ((),) * 4
        return ThresholdMixture(labels, scores, chances, everybody, above)

    def _place(self, at: int, rejected: int, ends: int) -> tuple[int, Any, bool]:
        """Return the place of the rule whose lowest level of label 1 is ``at``, and whether it leaves it out.

        ``ends`` is 1 for the rule of a mixture that selects fewest, −1 for that which selects most, else 0.
        """
        if ends == 0 and at == rejected:
            return 1, -np.inf, False  # nobody's label changes
        below = ends > 0 or (ends == 0 and at > rejected)
        place = at - 1 if below else at
        return int(self.labels[place]), _plain(self.scores[place]), below


def _plain(number: Any) -> Any:
    """Return a number of NumPy as one of Python, and any other as it is."""
    return number.item() if isinstance(number, np.generic) else number
