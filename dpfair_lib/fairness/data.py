"""Unfairness of data: how much the labels themselves differ between groups."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from dpfair_lib._validation import as_binary, as_numbers
from dpfair_lib.fairness.rates import selection_rates

Kind = Literal["ratio", "difference"]


def data_unfairness(y: Any, *, sensitive_features: Any, kind: Kind) -> Any:
    """Return how much the rate of positive labels differs between groups.

    Parameters
    ----------
    y : array of shape (n,)
        Labels 0 and 1.
    sensitive_features : array of shape (n,)
        Each row's group, of any sortable type.
    kind : {"ratio", "difference"}
        ``"ratio"``: Δ = max over a of |P(Y = 1 | A = a)/P(Y = 1) − 1|, at least 0, not bounded by 1.
        ``"difference"``: Δ′ = max over a, a′ of |P(Y = 1 | A = a) − P(Y = 1 | A = a′)|, in [0, 1].

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument has a missing value or the wrong shape, or a label is not 0 or 1; for ``"ratio"`` if no
        label is 1, because P(Y = 1) is then a zero denominator.

    References
    ----------
    Thesis, Definition 10 (Δ) and Definition 11 (Δ′), § 5.2.1.
    """
    _check(kind)
    y = as_binary(y, "y")
    rates = np.array(list(selection_rates(y, sensitive_features=sensitive_features).values()))
    if kind == "difference":
        return rates.max() - rates.min()
    if not y.any():
        raise ValueError(
            'y: found no label 1, expected at least one for kind="ratio", which divides by P(Y = 1)'
        )
    return abs(rates / y.mean() - 1).max()


def data_unfairness_from_rates(p: Any, p1: Any, kind: Kind) -> Any:
    """Return the unfairness of a distribution given by its groups' shares and rates of positive labels.

    A value of A that never occurs has no rate: it is left out of the maximum, whatever stands in its place.

    Parameters
    ----------
    p : array of shape (..., k)
        P(A = a), at least 0; sums to 1 along the last axis.
    p1 : array of shape (..., k)
        P(Y = 1 | A = a); where ``p`` is 0 it may be anything, NaN too. The shapes are broadcast; `Fraction`
        entries stay exact.
    kind : {"ratio", "difference"}
        As in `data_unfairness`.

    Returns
    -------
    float, Fraction or array
        One number for each distribution.

    Raises
    ------
    ValueError
        If ``p`` is no distribution or a rate is outside [0, 1]; for ``"ratio"`` if P(Y = 1) = 0.

    References
    ----------
    Thesis, Definitions 10 and 11, in the notation p_i, p_{1|i} of § 5.1.
    """
    _check(kind)
    p, p1 = _table(p, "p"), np.asarray(p1)
    try:
        p, p1 = np.broadcast_arrays(p, p1)
    except ValueError:
        raise ValueError(f"p1: found shape {p1.shape}, expected one that fits p's, {p.shape}") from None
    if p1.dtype.kind not in "biufO":
        raise ValueError(f"p1: found entries of type {p1.dtype}, expected numbers in [0, 1]")
    occurs = p > 0
    p1 = _table(np.where(occurs, p1, 0), "p1")
    bad = (p1 < 0) | (p1 > 1)
    if bad.any():
        raise ValueError(f"p1: found {p1[bad][0]}, expected numbers in [0, 1]")
    overall = (p * p1).sum(axis=-1, keepdims=True)
    p1 = np.where(occurs, p1, overall)  # lies between the other rates, so that it changes no maximum
    if kind == "difference":
        return p1.max(axis=-1) - p1.min(axis=-1)
    if (overall == 0).any():
        raise ValueError('p1: found P(Y = 1) = 0, expected more for kind="ratio", which divides by it')
    return abs(p1 / overall - 1).max(axis=-1)


def _table(values: Any, name: str) -> np.ndarray:
    """Return an array of numbers with a last axis for the groups; shares are also checked to be such."""
    array = np.asarray(values)
    if array.ndim == 0:
        raise ValueError(f"{name}: found a single number, expected one for each group")
    array = as_numbers(array.reshape(-1), name).reshape(array.shape)
    if array.dtype == object:
        array = array + Fraction(0)  # an int divided by an int would be a float
    if name == "p":
        total = array.sum(axis=-1)
        wrong = total != 1 if array.dtype == object else abs(total - 1) > 1e-9
        if (array < 0).any() or np.any(wrong):
            raise ValueError(
                "p: found shares below 0 or a sum other than 1, expected a distribution over groups"
            )
    return array


def _check(kind: str) -> None:
    if kind not in get_args(Kind):
        raise ValueError(f'kind: found {kind!r}, expected "ratio" or "difference"')
