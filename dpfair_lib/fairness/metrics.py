"""Group metrics of predictions: how far the groups' rates lie apart.

Every metric takes labels or the probabilities of a randomised classifier. Of probabilities it is the
difference of the expected rates. That is what the definitions speak of, and it is not the expected difference
of the rates of one draw, which is never smaller and as a rule larger (`expected_parity_difference`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpfair_lib.fairness.rates import accuracies, label_rates, selection_rates


def demographic_parity_difference(pred: Any, *, sensitive_features: Any) -> Any:
    """Return the largest difference between two groups' selection rates (the statistical parity gap).

    Parameters
    ----------
    pred, sensitive_features : array of shape (n,)
        As in `selection_rates`.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 0 for a single group.

    Raises
    ------
    ValueError
        As `selection_rates`.

    References
    ----------
    ISIT, Definition 2; thesis, Definition 4.
    """
    return largest_difference(_array(selection_rates(pred, sensitive_features=sensitive_features)))


def equal_opportunity_difference(y_true: Any, pred: Any, *, sensitive_features: Any) -> Any:
    """Return the largest difference between two groups' true positive rates.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels 0 and 1; every group needs a 1.
    pred, sensitive_features : array of shape (n,)
        As in `selection_rates`.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 0 for a single group.

    Raises
    ------
    ValueError
        As `label_rates`.

    References
    ----------
    Thesis, Definition 3; CGKM, Definition 4 (that it is 0) and Definition 5, second display.
    """
    return largest_difference(
        _array(label_rates(y_true, pred, sensitive_features=sensitive_features, label=1))
    )


def mean_equalized_odds_difference(y_true: Any, pred: Any, *, sensitive_features: Any) -> Any:
    """Return the largest mean, over two groups, of their differences in true and in false positive rates.

    It is max over a, a′ of (|TPR_a − TPR_a′| + |FPR_a − FPR_a′|)/2: one pair of groups for both terms.
    fairlearn's `equalized_odds_difference` takes the larger of the two largest differences, and with
    ``agg="mean"`` their mean, each with a pair of its own; the latter is the same for two groups and may be
    up to twice as large for more.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels 0 and 1; every group needs both.
    pred, sensitive_features : array of shape (n,)
        As in `selection_rates`.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 0 for a single group.

    Raises
    ------
    ValueError
        As `label_rates`.

    References
    ----------
    Thesis, Definition 5.
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
    pred, sensitive_features : array of shape (n,)
        As in `selection_rates`.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 0 for a single group.

    Raises
    ------
    ValueError
        As `accuracies`.

    References
    ----------
    MPBT, Example 3, has each group's difference from the whole; 0 for one is 0 for the other.
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
