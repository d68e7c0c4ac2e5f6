"""Random threshold rules: with which chance a person of a group gets the label 1, given an old label and a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


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
    """

    labels: tuple[int, ...]
    scores: tuple[Any, ...]
    chances: tuple[Any, ...]
    everybody: Any = 0

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
        for label, score, chance in zip(self.labels, self.scores, self.chances, strict=True):
            reached = (y_pred > label) | ((y_pred == label) & (scores >= score))
            positive = positive + np.where(reached, chance, 0 * chance)
        return positive


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
        new = np.concatenate([[True], (label[1:] != label[:-1]) | (score[1:] != score[:-1])])
        self.labels, self.scores = label[new], score[new]
        self._order, self._starts = order, np.flatnonzero(new)

    def __len__(self) -> int:
        return len(self.labels)

    def total(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum of the rows' weights at each place."""
        return np.add.reduceat(weights[self._order], self._starts)

    def rule(self, mixture: Sequence[tuple[int, Any]]) -> ThresholdMixture:
        """Return the rule that mixes thresholds.

        Parameters
        ----------
        mixture : sequence of (int, float or Fraction)
            How many places, from the highest down, have the label 1, and the probability of this threshold.

        Returns
        -------
        ThresholdMixture
            Without thresholds of probability 0, and without the one that selects nobody.
        """
        size = len(self)
        thresholds = [(size - count, chance) for count, chance in mixture if 0 < count < size and chance > 0]
        everybody = sum(chance for count, chance in mixture if count == size)
        return ThresholdMixture(
            tuple(int(self.labels[at]) for at, _ in thresholds),
            tuple(
                self.scores[at].item() if hasattr(self.scores[at], "item") else self.scores[at]
                for at, _ in thresholds
            ),
            tuple(chance for _, chance in thresholds),
            everybody,
        )
