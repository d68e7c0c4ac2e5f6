"""Fairness as a ratio: the smallest ratio of two groups' rates, 1 where they are equal.

The signatures are fairlearn's. A ratio is the largest number c of at most 1 for which each rate is at least c times
each other. So two rates 0 have the ratio 1, as they are equal; fairlearn returns NaN there. Rates that are not defined
are refused, as in `dpfair_lib.fairness.metrics`.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from dpfair_lib._arguments import one_of
from dpfair_lib.fairness.metrics import Aggregate, Method, Rates, by_label, selection


def demographic_parity_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = None,
) -> Any:
    """Return the smallest ratio of two groups' selection rates.

    Parameters
    ----------
    y_true : array of shape (n,) or None
        Not used, but for its length.
    y_pred, sensitive_features, method, sample_weight, pos_label
        As in `demographic_parity_difference`. With ``method="to_overall"`` each group is compared with all rows, and
        the smaller of both rates is divided by the larger.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 1 if the rates are equal, also if all are 0.

    Raises
    ------
    ValueError
        As `demographic_parity_difference`.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> y_true, y_pred, group = [1, 0, 0, 1], [1, 0, 1, 1], ["a", "a", "b", "b"]
    >>> print(dpf.demographic_parity_ratio(y_true, y_pred, sensitive_features=group))
    0.5
    """
    return ratio(selection(y_true, y_pred, sensitive_features, sample_weight, pos_label), method)


def equal_opportunity_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = None,
) -> Any:
    """Return the smallest ratio of two groups' true positive rates.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels 0 and 1, or any two with ``pos_label``. Every group needs a row with the positive label.
    y_pred, sensitive_features, method, sample_weight, pos_label
        As in `demographic_parity_ratio`.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 1 if the rates are equal, also if all are 0.

    Raises
    ------
    ValueError
        As `equal_opportunity_difference`.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> y_true, y_pred, group = [1, 1, 1, 1], [1, 0, 1, 1], ["a", "a", "b", "b"]
    >>> print(dpf.equal_opportunity_ratio(y_true, y_pred, sensitive_features=group))
    0.5
    """
    (rates,) = by_label(y_true, y_pred, sensitive_features, sample_weight, pos_label, labels=(1,))
    return ratio(rates, method)


def equalized_odds_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    sample_weight: Any = None,
    pos_label: Any = None,
    agg: Aggregate = "worst_case",
) -> Any:
    """Return the smaller of the groups' smallest ratios of true and of false positive rates, or the mean of both.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels 0 and 1, or any two with ``pos_label``. Every group needs both.
    y_pred, sensitive_features, method, sample_weight, pos_label
        As in `demographic_parity_ratio`.
    agg : {"worst_case", "mean"}
        The smaller of both, or their mean.

    Returns
    -------
    float or Fraction
        A number in [0, 1]; 1 if both rates are equal, so for a classifier without errors.

    Raises
    ------
    ValueError
        As `equalized_odds_difference`.

    Examples
    --------
    The true positive rates are ½ and 1; nobody with label 0 is selected.

    >>> import dpfair_lib as dpf
    >>> y_true, y_pred, group = [1, 1, 0, 1, 1, 0], [1, 0, 0, 1, 1, 0], ["a", "a", "a", "b", "b", "b"]
    >>> print(dpf.equalized_odds_ratio(y_true, y_pred, sensitive_features=group))
    0.5
    """
    one_of(agg, "agg", get_args(Aggregate))
    both = by_label(y_true, y_pred, sensitive_features, sample_weight, pos_label, labels=(0, 1))
    found = [ratio(rates, method) for rates in both]
    return min(found) if agg == "worst_case" else sum(found) / 2


def ratio(rates: Rates, method: Method) -> Any:
    """Return the smallest ratio of rates: of two groups, or of a group and all rows."""
    groups, overall = rates
    if one_of(method, "method", get_args(Method)) == "between_groups":
        return _quotient(groups.min(), groups.max())
    pairs = zip(np.minimum(groups, overall), np.maximum(groups, overall), strict=True)
    return min(_quotient(low, high) for low, high in pairs)


def _quotient(low: Any, high: Any) -> Any:
    # 1 for two zeros, in the type that they have
    return low / high if high else high + 1
