"""The rates behind the fairness metrics (selection, accuracy, true and false positives), for rows and populations.

Predictions are labels or, for a randomised classifier, the probabilities of a positive prediction. In the second case a
rate is its expectation over the classifier's draws, computed exactly without drawing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpfair_lib.fairness.rows import correct, rates_by_group, read_rows

if TYPE_CHECKING:
    from dpfair_lib.populations.population import Classifier, Population


def selection_rates(
    y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, pos_label: Any = None
) -> dict[Any, Any]:
    """Return each group's rate of positive predictions, P(Ŷ = 1 | A = a).

    Parameters
    ----------
    y_pred : array of shape (n,)
        Predicted labels 0 and 1, or the probabilities with which a randomised classifier predicts 1. The rates of
        `Fraction` entries are exact.
    sensitive_features : array of shape (n,) or (n, c)
        Group of each row. Any type that can be sorted. Of several columns, a group is the tuple of a row's values.
    sample_weight : array of shape (n,), optional
        Weight of each row, at least 0. By default all are equal.
    pos_label : label, optional
        The label that counts as positive, where the labels are two others than 0 and 1, such as words.

    Returns
    -------
    dict
        Group → rate, sorted by group.

    Raises
    ------
    ValueError
        If an argument has a missing value, the wrong shape or other row labels than the others; if a prediction is
        outside [0, 1]; if a group's weights are all 0.

    Examples
    --------
    Group a selects one person of two; in group b a coin is tossed for each person.

    >>> from fractions import Fraction
    >>> import dpfair_lib as dpf
    >>> half = Fraction(1, 2)
    >>> dpf.selection_rates([1, 0, half, half], sensitive_features=["a", "a", "b", "b"])
    {'a': Fraction(1, 2), 'b': Fraction(1, 2)}
    """
    rows = read_rows(None, y_pred, sensitive_features, sample_weight, pos_label, labels_count=False)
    return dict(zip(rows.groups, rates_by_group(rows, rows.y_pred)[0].tolist(), strict=True))


def label_rates(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    label: int,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> dict[Any, Any]:
    """Return each group's rate of positive predictions among those of one label, P(Ŷ = 1 | A = a, Y = label).

    For the label 1 these are the true positive rates, for 0 the false positive rates.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels 0 and 1, or any two with ``pos_label``.
    y_pred, sensitive_features, sample_weight, pos_label
        As in `selection_rates`.
    label : int
        0 or 1; 1 is the positive one.

    Returns
    -------
    dict
        Group label → rate, in sorted order of the labels.

    Raises
    ------
    ValueError
        As `selection_rates`; if ``label`` or an entry of ``y_true`` is not 0 or 1; if a group, or the whole,
        has nobody of that label, because its rate is then not defined. (fairlearn counts it as 0.)

    Examples
    --------
    True positive rates:

    >>> from dpfair_lib.fairness import label_rates
    >>> y_true, y_pred, group = [1, 1, 0, 1, 1], [1, 0, 1, 1, 1], ["a", "a", "a", "b", "b"]
    >>> found = label_rates(y_true, y_pred, sensitive_features=group, label=1)
    >>> print({one: float(rate) for one, rate in found.items()})
    {'a': 0.5, 'b': 1.0}
    """
    if label not in (0, 1):
        raise ValueError(f"label: found {label!r}, expected 0 or 1")
    rows = read_rows(y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return dict(zip(rows.groups, rates_by_group(rows, rows.y_pred, label)[0].tolist(), strict=True))


def accuracies(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, pos_label: Any = None
) -> dict[Any, Any]:
    """Return each group's rate of correct predictions, P(Ŷ = Y | A = a).

    Parameters
    ----------
    y_true, y_pred, sensitive_features, sample_weight, pos_label
        As in `label_rates`.

    Returns
    -------
    dict
        Group label → rate, in sorted order of the labels.

    Raises
    ------
    ValueError
        As `selection_rates`; if an entry of ``y_true`` is not 0 or 1.

    Examples
    --------
    >>> from dpfair_lib.fairness import accuracies
    >>> found = accuracies([1, 0, 1, 1], [1, 1, 1, 1], sensitive_features=["a", "a", "b", "b"])
    >>> print({group: float(rate) for group, rate in found.items()})
    {'a': 0.5, 'b': 1.0}
    """
    rows = read_rows(y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return dict(zip(rows.groups, rates_by_group(rows, correct(rows))[0].tolist(), strict=True))


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

    Examples
    --------
    >>> from fractions import Fraction
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.fairness import population_rates
    >>> population = dpf.Population([Fraction(1, 4)] * 4, x=[0, 1, 0, 1], a=[0, 0, 1, 1], y=[0, 1, 0, 1])
    >>> population_rates(population, [[0, 0], [1, 0]]).true_positive
    array([Fraction(1, 1), Fraction(0, 1)], dtype=object)
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
