"""One group's people: the weight at each level, what of it counts for the rate, and what each label costs there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpfair_lib._arguments import one_of
from dpfair_lib.postprocessing.curves import Curve, cheapest_rules
from dpfair_lib.postprocessing.rules import Levels
from dpfair_lib.postprocessing.thresholds import Thresholds

Notion = Literal["demographic_parity", "equal_opportunity", "equalized_odds"]
Objective = Literal["change_rates", "changes", "errors"]
FAIRLEARN = {
    "selection_rate_parity": "'demographic_parity', which is the same",
    "true_positive_rate_parity": "'equal_opportunity', which is the same",
    "false_negative_rate_parity": "'equal_opportunity', which is the same",
    "false_positive_rate_parity": "'equalized_odds', which asks for it and for equal true positive rates",
    "true_negative_rate_parity": "'equalized_odds', which asks for it and for equal true positive rates",
    "accuracy_score": "'errors', which is the same",
    "balanced_accuracy_score": "'errors', which counts every wrong label alike",
    **dict.fromkeys(
        ("selection_rate", "true_positive_rate", "true_negative_rate"),
        "'change_rates', 'changes' or 'errors': no rate is maximised here",
    ),
}
"""Names that fairlearn has for constraints and objectives, and what to say here."""


@dataclass(frozen=True)
class Group:
    """The rows of one group, summed at each level.

    Attributes
    ----------
    levels : Levels
        The places at which they stand.
    weight : ndarray of shape (levels,)
        Of all rows at each level.
    positive : ndarray of shape (levels,) or None
        Of the rows of true label 1; None if the true labels are not known.
    """

    levels: Levels
    weight: np.ndarray
    positive: np.ndarray | None

    @classmethod
    def of(
        cls, y_pred: np.ndarray, scores: np.ndarray, weights: np.ndarray, y_true: np.ndarray | None
    ) -> Group:
        """Sum the rows of a group, each of shape (n,); weights are positive."""
        levels = Levels(y_pred, scores)
        positive = None if y_true is None else levels.total(weights * y_true)
        return cls(levels, levels.total(weights), positive)

    def costs(self, objective: str) -> tuple[np.ndarray, np.ndarray]:
        """Return what it costs to give the label 1, and what to give 0, to everybody at each level."""
        if objective == "errors":
            assert self.positive is not None
            return self.weight - self.positive, self.positive
        cost = self.weight / self.weight.sum() if objective == "change_rates" else self.weight
        return np.where(self.levels.labels == 0, cost, 0 * cost), np.where(
            self.levels.labels == 1, cost, 0 * cost
        )

    def counted(self, notion: str) -> np.ndarray:
        """Return the weight at each level that counts for the rate: everybody, or those of true label 1."""
        if notion == "demographic_parity":
            return self.weight
        assert self.positive is not None
        return self.positive

    def curve(self, notion: str, objective: str) -> Curve:
        """Return the least cost of each rate."""
        return cheapest_rules(self.counted(notion), *self.costs(objective))

    def thresholds(self, objective: str) -> Thresholds:
        """Return the false and true positive rate of each threshold, and its cost."""
        assert self.positive is not None
        return Thresholds.of(self.weight - self.positive, self.positive, *self.costs(objective))

    def rate(self, label: int | None = None) -> Any:
        """Return the share of the old label 1 among all, or among those of a true label."""
        counted = self.weight
        if label is not None:
            assert self.positive is not None
            counted = self.positive if label == 1 else self.weight - self.positive
        return (counted * self.levels.labels).sum() / counted.sum()

    def errors(self) -> np.ndarray:
        """Return the errors of each threshold: an array of shape (levels + 1,), from nobody selected to everybody."""
        if_one, if_zero = self.costs("errors")
        return if_zero.sum() + np.concatenate([[0 * if_one[0]], np.cumsum((if_one - if_zero)[::-1])])


def check_known(value: str, name: str, known: Sequence[str]) -> str:
    """Return a notion or objective, or raise, saying what fairlearn's name for one is called here."""
    if isinstance(value, str) and value in FAIRLEARN:
        raise ValueError(f"{name}: found {value!r}, a name of fairlearn's, expected {FAIRLEARN[value]}")
    return str(one_of(value, name, known))
