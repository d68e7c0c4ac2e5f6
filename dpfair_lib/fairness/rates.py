"""The rates behind the fairness metrics (selection, accuracy, true and false positives), for rows and populations.

Predictions are labels or, for a randomised classifier, the probabilities of a positive prediction. In the second case a
rate is its expectation over the classifier's draws, computed exactly without drawing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpfair_lib._validation import as_binary, as_groups, as_probabilities, check_lengths

if TYPE_CHECKING:
    from dpfair_lib.populations.population import Classifier, Population


def selection_rates(pred: Any, *, sensitive_features: Any) -> dict[Any, Any]:
    """Return each group's rate of positive predictions, P(Ŷ = 1 | A = a).

    Parameters
    ----------
    pred : array of shape (n,)
        Predicted labels 0 and 1, or the probabilities with which a randomised classifier predicts 1. The rates of
        `Fraction` entries are exact.
    sensitive_features : array of shape (n,) or (n, c)
        Group of each row. Any type that can be sorted. Of several columns, a group is the tuple of a row's values.

    Returns
    -------
    dict
        Group → rate, sorted by group.

    Raises
    ------
    ValueError
        If an argument has a missing value or the wrong shape, or if a prediction is outside [0, 1].

    Examples
    --------
    Group a selects one person of two; in group b a coin is tossed for each person.

    >>> from fractions import Fraction
    >>> import dpfair_lib as dpf
    >>> half = Fraction(1, 2)
    >>> dpf.selection_rates([1, 0, half, half], sensitive_features=["a", "a", "b", "b"])
    {'a': Fraction(1, 2), 'b': Fraction(1, 2)}
    """
    pred = as_probabilities(pred, "pred")
    levels, codes = as_groups(sensitive_features)
    check_lengths(pred=pred, sensitive_features=codes)
    return {level: _mean(pred[codes == code]) for code, level in enumerate(levels.tolist())}


def label_rates(y_true: Any, pred: Any, *, sensitive_features: Any, label: int) -> dict[Any, Any]:
    """Return each group's rate of positive predictions among those of one label, P(Ŷ = 1 | A = a, Y = label).

    For the label 1 these are the true positive rates, for 0 the false positive rates.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels 0 and 1.
    pred, sensitive_features : array of shape (n,)
        As in `selection_rates`.
    label : int
        0 or 1.

    Returns
    -------
    dict
        Group label → rate, in sorted order of the labels.

    Raises
    ------
    ValueError
        As `selection_rates`; if ``label`` or an entry of ``y_true`` is not 0 or 1; if a group, or the whole,
        has nobody of that label, because its rate is then not defined. (fairlearn counts it as 0.)
    """
    if label not in (0, 1):
        raise ValueError(f"label: found {label!r}, expected 0 or 1")
    y_true, pred = as_binary(y_true, "y_true"), as_probabilities(pred, "pred")
    levels, codes = as_groups(sensitive_features)
    check_lengths(y_true=y_true, pred=pred, sensitive_features=codes)
    of_label = y_true == label
    if not of_label.any():
        raise ValueError(f"y_true: found no label {label}, expected at least one in every group")
    rates = {}
    for code, level in enumerate(levels.tolist()):
        cell = of_label & (codes == code)
        if not cell.any():
            raise ValueError(f"y_true: found no label {label} in group {level!r}, expected at least one")
        rates[level] = _mean(pred[cell])
    return rates


def accuracies(y_true: Any, pred: Any, *, sensitive_features: Any) -> dict[Any, Any]:
    """Return each group's rate of correct predictions, P(Ŷ = Y | A = a).

    Parameters
    ----------
    y_true, pred, sensitive_features : array of shape (n,)
        As in `label_rates`.

    Returns
    -------
    dict
        Group label → rate, in sorted order of the labels.

    Raises
    ------
    ValueError
        As `selection_rates`; if an entry of ``y_true`` is not 0 or 1.
    """
    y_true, pred = as_binary(y_true, "y_true"), as_probabilities(pred, "pred")
    check_lengths(y_true=y_true, pred=pred)
    return selection_rates(np.where(y_true == 1, pred, 1 - pred), sensitive_features=sensitive_features)


class GroupRates(NamedTuple):
    """What the group metrics need to know of a classifier on a distribution; the last axis is the group's."""

    share: np.ndarray
    """P(A = a)."""
    base: np.ndarray
    """P(Y = 1 | A = a)."""
    true_positive: np.ndarray
    """P(Ŷ = 1 | A = a, Y = 1)."""
    false_positive: np.ndarray
    """P(Ŷ = 1 | A = a, Y = 0)."""

    @property
    def selection(self) -> np.ndarray:
        """P(Ŷ = 1 | A = a)."""
        return self.base * self.true_positive + (1 - self.base) * self.false_positive

    @property
    def correct(self) -> np.ndarray:
        """P(Ŷ = Y | A = a)."""
        return self.base * self.true_positive + (1 - self.base) * (1 - self.false_positive)

    @property
    def accuracy(self) -> Any:
        """P(Ŷ = Y)."""
        return (self.share * self.correct).sum(axis=-1)


def population_rates(population: Population, h: Classifier) -> GroupRates:
    """Return the rates of a classifier on a population, exactly where both are exact.

    Parameters
    ----------
    population : Population
        With people of either label in every group.
    h : callable or array of shape (points, groups)
        P(Ŷ = 1 | x, a).

    Returns
    -------
    GroupRates
        Arrays over the population's groups, in their order.

    Raises
    ------
    ValueError
        If a group has no mass on one of the labels, or as `Population.classifier`.
    """
    mass = population.table.sum(axis=0)  # (groups, 2)
    for group, row in zip(population.groups.tolist(), mass, strict=True):
        for label in (0, 1):
            if not row[label] > 0:
                raise ValueError(
                    f"population: found no label {label} in group {group!r}, expected mass there"
                )
    rates = (population.table * population.classifier(h)[:, :, None]).sum(axis=0) / mass
    share = mass.sum(axis=1)
    return GroupRates(share, mass[:, 1] / share, rates[:, 1], rates[:, 0])


def _mean(values: np.ndarray) -> Any:
    """Return the mean; of `Fraction` and integers mixed it is a `Fraction`."""
    return values.sum() / (Fraction(values.size) if values.dtype == object else values.size)
