"""Fairness metrics of predictions: the largest difference of a rate between groups.

Every metric takes labels or the probabilities of a randomised classifier. For probabilities it is the difference of the
expected rates, as in the definitions. The expected difference of the rates of one draw is another number, never smaller
and usually larger (`dpfair_lib.fairness.expected_parity_difference`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpfair_lib.fairness.rates import accuracies, label_rates, selection_rates


def demographic_parity_difference(pred: Any, *, sensitive_features: Any) -> Any:
    """Return the largest difference between two groups' selection rates, also called the statistical parity gap.

    Parameters
    ----------
    pred : array of shape (n,)
        Predicted labels 0 and 1, or the probabilities with which a randomised classifier predicts 1.
    sensitive_features : array of shape (n,) or (n, c)
        Group of each row; of several columns, the tuple of its values.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 0 if there is one group only.

    Raises
    ------
    ValueError
        If an argument has a missing value or the wrong shape, or if a prediction is outside [0, 1].

    References
    ----------
    Ghoukasian and Asoodeh (ISIT 2024), Definition 2; Ghoukasian (thesis, 2024), Definition 4.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> print(dpf.demographic_parity_difference([1, 0, 1, 1], sensitive_features=["a", "a", "b", "b"]))
    0.5
    """
    return largest_difference(_array(selection_rates(pred, sensitive_features=sensitive_features)))


def equal_opportunity_difference(y_true: Any, pred: Any, *, sensitive_features: Any) -> Any:
    """Return the largest difference between two groups' true positive rates, P(Ŷ = 1 | Y = 1, A = a).

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels 0 and 1. Every group needs a row with label 1.
    pred : array of shape (n,)
        Predicted labels 0 and 1, or the probabilities with which a randomised classifier predicts 1.
    sensitive_features : array of shape (n,) or (n, c)
        Group of each row; of several columns, the tuple of its values.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 0 if there is one group only.

    Raises
    ------
    ValueError
        If an argument has a missing value, the wrong shape or a value out of its range, or if a group has no label 1.

    References
    ----------
    Ghoukasian (thesis, 2024), Definition 3; Cummings et al. (2019), Definition 4 (the difference is 0) and the second
    formula of Definition 5.

    Examples
    --------
    Of two people with label 1, the classifier finds one in group a and both in group b.

    >>> import dpfair_lib as dpf
    >>> y_true, y_pred, group = [1, 1, 1, 1], [1, 0, 1, 1], ["a", "a", "b", "b"]
    >>> print(dpf.equal_opportunity_difference(y_true, y_pred, sensitive_features=group))
    0.5
    """
    return largest_difference(
        _array(label_rates(y_true, pred, sensitive_features=sensitive_features, label=1))
    )


def mean_equalized_odds_difference(y_true: Any, pred: Any, *, sensitive_features: Any) -> Any:
    """Return the mean of two groups' differences in true and in false positive rates, for the pair where it is largest.

    In symbols it is max over a, a′ of (|TPR_a − TPR_a′| + |FPR_a − FPR_a′|)/2. Both terms use the same pair of groups.
    fairlearn's `equalized_odds_difference` chooses a pair for each term: it returns the larger of the two largest
    differences, or their mean with ``agg="mean"``. For two groups that mean equals this function; for more groups it
    may be up to twice as large.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels 0 and 1. Every group needs both.
    pred : array of shape (n,)
        Predicted labels 0 and 1, or the probabilities with which a randomised classifier predicts 1.
    sensitive_features : array of shape (n,)
        Group of each row.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 0 if there is one group only.

    Raises
    ------
    ValueError
        If an argument has a missing value, the wrong shape or a value out of its range, or if a group lacks a label.

    References
    ----------
    Ghoukasian (thesis, 2024), Definition 5.

    Examples
    --------
    The true positive rates are ½ and 1, the false positive rates 1 and 0.

    >>> import dpfair_lib as dpf
    >>> y_true, y_pred, group = [1, 1, 0, 1, 1, 0], [1, 0, 1, 1, 1, 0], ["a", "a", "a", "b", "b", "b"]
    >>> print(dpf.mean_equalized_odds_difference(y_true, y_pred, sensitive_features=group))
    0.75
    """
    true_positive, false_positive = (
        _array(label_rates(y_true, pred, sensitive_features=sensitive_features, label=label))
        for label in (1, 0)
    )
    return largest_mean_difference(true_positive, false_positive)


def accuracy_parity_difference(y_true: Any, pred: Any, *, sensitive_features: Any) -> Any:
    """Return the largest difference between two groups' rates of correct predictions.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels 0 and 1.
    pred : array of shape (n,)
        Predicted labels 0 and 1, or the probabilities with which a randomised classifier predicts 1.
    sensitive_features : array of shape (n,)
        Group of each row.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 0 if there is one group only.

    Raises
    ------
    ValueError
        If an argument has a missing value, the wrong shape or a value out of its range.

    References
    ----------
    Mangold et al. (2023), Example 3, compares each group with all rows instead. Both differences are 0 together.

    Examples
    --------
    All predictions are right in group a, half of them in group b.

    >>> import dpfair_lib as dpf
    >>> y_true, y_pred, group = [1, 0, 1, 0], [1, 0, 0, 0], ["a", "a", "b", "b"]
    >>> print(dpf.accuracy_parity_difference(y_true, y_pred, sensitive_features=group))
    0.5
    """
    return largest_difference(_array(accuracies(y_true, pred, sensitive_features=sensitive_features)))


def largest_difference(rates: np.ndarray) -> Any:
    """Return the largest difference between two groups' rates; the last axis is the group's."""
    return rates.max(axis=-1) - rates.min(axis=-1)


def largest_mean_difference(one: np.ndarray, other: np.ndarray) -> Any:
    """Return max over pairs of groups of the mean of their differences in two rates; last axis: the group's."""
    # |u| + |v| = max(|u + v|, |u − v|), so the pairs need not be listed
    return np.maximum(largest_difference(one + other), largest_difference(one - other)) / 2


def _array(rates: dict[Any, Any]) -> np.ndarray:
    return np.array(list(rates.values()))
