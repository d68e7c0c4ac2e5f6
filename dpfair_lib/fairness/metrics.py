"""Group metrics of predictions.

Every metric takes labels or, for a randomised classifier, the probabilities of a positive prediction; then
its value is exact: no draw is made.
"""

from __future__ import annotations

from typing import Any

from dpfair_lib._validation import as_groups, as_probabilities, check_lengths


def selection_rates(pred: Any, *, sensitive_features: Any) -> dict[Any, Any]:
    """Return each group's rate of positive predictions, P(Ŷ = 1 | A = a).

    Parameters
    ----------
    pred : array of shape (n,)
        Labels 0 and 1, or probabilities of a positive prediction; `Fraction` entries stay exact.
    sensitive_features : array of shape (n,)
        Each row's group, of any sortable type.

    Returns
    -------
    dict
        Group label → rate, in sorted order of the labels.

    Raises
    ------
    ValueError
        If an argument has a missing value or the wrong shape, or a prediction is outside [0, 1].
    """
    pred = as_probabilities(pred, "pred")
    levels, codes = as_groups(sensitive_features)
    check_lengths(pred=pred, sensitive_features=codes)
    return {
        level: pred[codes == code].sum() / int((codes == code).sum())
        for code, level in enumerate(levels.tolist())
    }


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
    rates = selection_rates(pred, sensitive_features=sensitive_features).values()
    return max(rates) - min(rates)
