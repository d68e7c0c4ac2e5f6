"""Which predictions to change at random, so that a group moves to a given selection rate with the fewest changes.

In a group above the given rate some selected people are rejected; in a group below it some rejected people are
selected. Every function accepts floats or `Fraction` and returns the same type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfair_lib._validation import as_single_rate


def flip_probabilities(selection_rate: Any, target: Any) -> tuple[Any, Any]:
    """Return the probabilities of demoting a positive and of promoting a negative prediction.

    Parameters
    ----------
    selection_rate : float or Fraction
        The group's rate of positive predictions, in [0, 1].
    target : float or Fraction
        The rate to reach, in [0, 1].

    Returns
    -------
    down, up : float or Fraction
        At most one is positive. No case divides by zero: a group that must go down selects someone, a group
        that must go up rejects someone.

    Raises
    ------
    ValueError
        If a rate is outside [0, 1] or not one number.

    References
    ----------
    ISIT, Algorithm 1 (for the midpoint of the two rates): 1 − (α+β)/2α and (α−β)/2(1−β).
    """
    rate, target = as_single_rate(selection_rate, "selection_rate"), as_single_rate(target, "target")
    down = (rate - target) / rate if target < rate else 0 * rate
    up = (target - rate) / (1 - rate) if target > rate else 0 * rate
    return down, up


@dataclass(frozen=True)
class FlipRule:
    """Which predictions of one group are flipped, and how likely.

    Attributes
    ----------
    label : int
        Predictions of this label may be flipped: 1 for a group that goes down, 0 for one that goes up.
    threshold : float or Fraction
        Candidates whose score lies on the wrong side of it are flipped: below it for label 1, above it for
        label 0.
    probability : float or Fraction
        The chance of a flip for candidates whose score is the threshold.
    """

    label: int
    threshold: Any
    probability: Any

    def flip_probability(self, y_pred: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Return each row's probability of being flipped."""
        direction = 1 if self.label == 1 else -1
        before = direction * scores < direction * self.threshold
        chance = np.where(before, 1 + 0 * self.probability, 0 * self.probability)
        chance = np.where(scores == self.threshold, self.probability, chance)
        return np.where(y_pred == self.label, chance, 0 * self.probability)

    def positive_probability(self, y_pred: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Return each row's probability of the label 1 after the flips."""
        flip = self.flip_probability(y_pred, scores)
        return np.where(y_pred == 1, 1 - flip, flip)


def fit_flip_rule(y_pred: np.ndarray, scores: np.ndarray, weights: np.ndarray, target: Any) -> FlipRule:
    """Find the rule that takes one group to the target rate, flipping the least certain first.

    Parameters
    ----------
    y_pred : ndarray of shape (n,)
        The group's labels, 0 and 1.
    scores : ndarray of shape (n,)
        What orders the candidates; all equal for flips at random.
    weights : ndarray of shape (n,)
        Weight of each row, at least 0, not all 0.
    target : float or Fraction
        The rate to reach, in [0, 1].

    Returns
    -------
    FlipRule
        Exact on these rows: after it, the weighted rate of positives is the target.
    """
    total = weights.sum()
    excess = (weights * y_pred).sum() - target * total
    label = 1 if excess > 0 else 0
    levels, masses = _candidates(y_pred == label, scores, weights, label)
    if excess == 0 or levels.size == 0:
        return FlipRule(0, np.inf, 0 * target)  # no score lies above: nobody is flipped
    reached = np.cumsum(masses)
    # rounding can leave the sum a hair short of the need, hence the minimum
    at = min(int(np.searchsorted(reached, abs(excess))), levels.size - 1)
    missing = abs(excess) - (reached[at] - masses[at])
    return FlipRule(label, levels[at], min(missing / masses[at], 1 + 0 * target))


def accuracy_by_rate(
    y_pred: np.ndarray, y_true: np.ndarray, scores: np.ndarray, weights: np.ndarray, groups: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the accuracy of every least-change classifier with these flips, as a function of its rate.

    Parameters
    ----------
    y_pred, y_true : ndarray of shape (n,)
        Labels 0 and 1: predicted and true.
    scores, weights : ndarray of shape (n,)
        As in `fit_flip_rule`, for all rows.
    groups : ndarray of shape (n,)
        0 or 1.

    Returns
    -------
    rates, accuracies : ndarray of shape (m,)
        Every rate in [β, α] at which the slope can change, ascending, the midpoint and both ends among them;
        between two of them the accuracy is linear.
    """
    total = weights.sum()
    start = (weights * (y_pred == y_true)).sum() / total
    rows = [groups == 0, groups == 1]
    rate = [(weights * y_pred)[row].sum() / weights[row].sum() for row in rows]
    high, low = (0, 1) if rate[0] >= rate[1] else (1, 0)
    paths = []
    for group, label in ((high, 1), (low, 0)):
        row = rows[group]
        gain = np.where(y_true[row] == label, -1, 1) * weights[row]
        _, masses = _candidates(y_pred[row] == label, scores[row], weights[row], label)
        _, gains = _candidates(y_pred[row] == label, scores[row], gain, label, present=weights[row])
        moved = np.concatenate([[0 * total], np.cumsum(masses)]) / weights[row].sum()
        paths.append((moved, np.concatenate([[0 * total], np.cumsum(gains)]) / total))
    (down, lost), (up, won) = paths
    ends = np.array([rate[low], (rate[low] + rate[high]) / 2, rate[high]])
    knots = np.concatenate([rate[high] - down, rate[low] + up, ends])
    rates = np.unique(knots[(knots >= rate[low]) & (knots <= rate[high])])
    gains = interpolate(rate[high] - rates, down, lost) + interpolate(rates - rate[low], up, won)
    return rates, start + gains


def interpolate(at: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Interpolate linearly between the points (x, y), x ascending; unlike `numpy.interp`, keep `Fraction`."""
    if len(x) == 1:
        return y[np.zeros(len(at), dtype=int)]
    left = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    return y[left] + (y[left + 1] - y[left]) * ((at - x[left]) / (x[left + 1] - x[left]))


def _candidates(
    chosen: np.ndarray,
    scores: np.ndarray,
    amounts: np.ndarray,
    label: int,
    present: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the candidates in the order of flipping, and the sum of the amounts at each.

    Rows without weight (``present`` where the amounts are not the weights) are left out.
    """
    chosen = chosen & ((amounts if present is None else present) > 0)
    levels, at = np.unique(scores[chosen], return_inverse=True)
    sums = np.zeros(levels.size, dtype=amounts.dtype)
    np.add.at(sums, at, amounts[chosen])
    return (levels, sums) if label == 1 else (levels[::-1], sums[::-1])
