"""Fairness metrics of predictions: how far the rates of the groups differ.

The signatures are fairlearn's. Every metric takes labels or the probabilities of a randomised classifier. For
probabilities it is the difference of the expected rates, as in the definitions. The expected difference of the rates of
one draw is another number, never smaller and usually larger (`dpfair_lib.fairness.expected_parity_difference`).

A rate of a group without any row of the label is not defined. It is refused here; fairlearn counts it as 0.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from dpfair_lib._arguments import one_of
from dpfair_lib.fairness.rows import correct, rates_by_group, read_rows

Method = Literal["between_groups", "to_overall"]
Aggregate = Literal["worst_case", "mean"]
Rates = tuple[np.ndarray, Any]
"""Rates by group, and the rate of all."""


def demographic_parity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = None,
) -> Any:
    """Return the largest difference between two groups' selection rates, also called the statistical parity gap.

    Parameters
    ----------
    y_true : array of shape (n,) or None
        Not used, but for its length: selection rates do not depend on the labels. All metrics share one signature.
    y_pred : array of shape (n,)
        Predicted labels 0 and 1, or the probabilities with which a randomised classifier predicts 1.
    sensitive_features : array of shape (n,) or (n, c)
        Group of each row; of several columns, the tuple of its values.
    method : {"between_groups", "to_overall"}
        Compare the groups with each other, or each with all rows.
    sample_weight : array of shape (n,), optional
        Weight of each row, at least 0. By default all are equal.
    pos_label : label, optional
        The label that counts as positive, where the labels are two others than 0 and 1, such as words.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 0 if there is one group only.

    Raises
    ------
    ValueError
        If an argument has a missing value, the wrong shape, other row labels than the others, or a value out of its
        range; if a group's weights are all 0.

    References
    ----------
    Ghoukasian and Asoodeh (ISIT 2024), Definition 2; Ghoukasian (thesis, 2024), Definition 4.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> y_true, y_pred, group = [1, 0, 0, 1], [1, 0, 1, 1], ["a", "a", "b", "b"]
    >>> print(dpf.demographic_parity_difference(y_true, y_pred, sensitive_features=group))
    0.5

    Labels may be words.

    >>> y_true, y_pred = ["yes", "no", "no", "yes"], ["yes", "no", "yes", "yes"]
    >>> print(dpf.demographic_parity_difference(y_true, y_pred, sensitive_features=group, pos_label="yes"))
    0.5
    """
    rates = selection(y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return difference(rates, method)


def equal_opportunity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = None,
) -> Any:
    """Return the largest difference between two groups' true positive rates, P(Ŷ = 1 | Y = 1, A = a).

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels 0 and 1, or any two with ``pos_label``. Every group needs a row with the positive label.
    y_pred, sensitive_features, method, sample_weight, pos_label
        As in `demographic_parity_difference`.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 0 if there is one group only.

    Raises
    ------
    ValueError
        As `demographic_parity_difference`; if a group has no positive label, where fairlearn takes the rate 0.

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
    (rates,) = by_label(y_true, y_pred, sensitive_features, sample_weight, pos_label, labels=(1,))
    return difference(rates, method)


def equalized_odds_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = None,
    agg: Aggregate = "worst_case",
) -> Any:
    """Return the larger of the groups' largest differences in true and in false positive rates, or the mean of both.

    The two largest differences may be those of different pairs of groups. `mean_equalized_odds_difference` takes one
    pair for both.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels 0 and 1, or any two with ``pos_label``. Every group needs both.
    y_pred, sensitive_features, method, sample_weight, pos_label
        As in `demographic_parity_difference`.
    agg : {"worst_case", "mean"}
        The larger of both, or their mean.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 0 if there is one group only.

    Raises
    ------
    ValueError
        As `demographic_parity_difference`; if a group lacks a label, where fairlearn takes the rate 0.

    Examples
    --------
    The true positive rates are ½ and 1, the false positive rates 1 and 0.

    >>> import dpfair_lib as dpf
    >>> y_true, y_pred, group = [1, 1, 0, 1, 1, 0], [1, 0, 1, 1, 1, 0], ["a", "a", "a", "b", "b", "b"]
    >>> print(dpf.equalized_odds_difference(y_true, y_pred, sensitive_features=group))
    1.0
    """
    one_of(agg, "agg", get_args(Aggregate))
    both = by_label(y_true, y_pred, sensitive_features, sample_weight, pos_label, labels=(0, 1))
    found = [difference(rates, method) for rates in both]
    return max(found) if agg == "worst_case" else sum(found) / 2


def mean_equalized_odds_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = None,
) -> Any:
    """Return the mean of two groups' differences in true and in false positive rates, for the pair where it is largest.

    In symbols it is max over a, a′ of (|TPR_a − TPR_a′| + |FPR_a − FPR_a′|)/2. Both terms use the same pair of groups.
    `equalized_odds_difference` chooses a pair for each term: it returns the larger of the two largest differences, or
    their mean with ``agg="mean"``. For two groups that mean equals this function; for more groups it may be up to
    twice as large. With ``method="to_overall"`` the rates of all rows stand in the place of those of a′.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels 0 and 1, or any two with ``pos_label``. Every group needs both.
    y_pred, sensitive_features, method, sample_weight, pos_label
        As in `demographic_parity_difference`.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 0 if there is one group only.

    Raises
    ------
    ValueError
        As `equalized_odds_difference`.

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
    one_of(method, "method", get_args(Method))
    both = by_label(y_true, y_pred, sensitive_features, sample_weight, pos_label, labels=(1, 0))
    if method == "to_overall":
        return sum(abs(rates - overall) for rates, overall in both).max() / 2
    (true_positive, _), (false_positive, _) = both
    return largest_mean_difference(true_positive, false_positive)


def accuracy_parity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = None,
) -> Any:
    """Return the largest difference between two groups' rates of correct predictions.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels 0 and 1, or any two with ``pos_label``.
    y_pred, sensitive_features, method, sample_weight, pos_label
        As in `demographic_parity_difference`.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 0 if there is one group only.

    Raises
    ------
    ValueError
        As `demographic_parity_difference`.

    References
    ----------
    Mangold et al. (2023), Example 3, compares each group with all rows, as ``method="to_overall"`` does. Both
    differences are 0 together.

    Examples
    --------
    All predictions are right in group a, half of them in group b.

    >>> import dpfair_lib as dpf
    >>> y_true, y_pred, group = [1, 0, 1, 0], [1, 0, 0, 0], ["a", "a", "b", "b"]
    >>> print(dpf.accuracy_parity_difference(y_true, y_pred, sensitive_features=group))
    0.5
    """
    rows = read_rows(y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return difference(rates_by_group(rows, correct(rows)), method)


def selection(y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any, pos_label: Any) -> Rates:
    """Return the groups' selection rates, and that of all rows."""
    rows = read_rows(y_true, y_pred, sensitive_features, sample_weight, pos_label, labels_count=False)
    return rates_by_group(rows, rows.y_pred)


def by_label(
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any,
    pos_label: Any,
    labels: tuple[int, ...],
) -> list[Rates]:
    """Return the groups' rates of positive predictions among those of each label, and those of all rows."""
    rows = read_rows(y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return [rates_by_group(rows, rows.y_pred, label) for label in labels]


def difference(rates: Rates, method: Method) -> Any:
    """Return the largest difference of rates: of two groups, or of a group and all rows."""
    groups, overall = rates
    if one_of(method, "method", get_args(Method)) == "to_overall":
        return abs(groups - overall).max()
    return largest_difference(groups)


def largest_difference(rates: np.ndarray) -> Any:
    """Return the largest difference between two groups' rates; the last axis is the group's."""
    return rates.max(axis=-1) - rates.min(axis=-1)


def largest_mean_difference(one: np.ndarray, other: np.ndarray) -> Any:
    """Return max over pairs of groups of the mean of their differences in two rates; last axis: the group's."""
    # |u| + |v| = max(|u + v|, |u − v|), so the pairs need not be listed
    return np.maximum(largest_difference(one + other), largest_difference(one - other)) / 2
