"""Unfairness of data: how much the rate of positive labels differs between groups."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from dpfair_lib._validation import as_binary, as_groups, as_numbers, check_lengths, even, same_rows
from dpfair_lib.fairness.rates import selection_rates

Kind = Literal["ratio", "difference"]


@same_rows
def data_unfairness(y: Any, *, sensitive_features: Any, kind: Kind) -> Any:
    """Return how much the rate of positive labels differs between groups.

    Parameters
    ----------
    y : array of shape (n,)
        Labels 0 and 1.
    sensitive_features : array of shape (n,)
        Group of each row. Any type that can be sorted.
    kind : {"ratio", "difference"}
        ``"ratio"``: Δ = max over a of |P(Y = 1 | A = a)/P(Y = 1) − 1|, at least 0, without upper bound.
        ``"difference"``: Δ′ = max over a, a′ of |P(Y = 1 | A = a) − P(Y = 1 | A = a′)|, in [0, 1].

    Returns
    -------
    float
        Δ or Δ′.

    Raises
    ------
    ValueError
        If an argument has a missing value or the wrong shape, or if a label is not 0 or 1. For ``"ratio"`` also if no
        label is 1: Δ would divide by 0.

    References
    ----------
    Ghoukasian (thesis, 2024), Definition 10 (Δ) and Definition 11 (Δ′), § 5.2.1.

    Examples
    --------
    Half of group a and all of group b have the label 1.

    >>> import dpfair_lib as dpf
    >>> print(dpf.data_unfairness([1, 0, 1, 1], sensitive_features=["a", "a", "b", "b"], kind="difference"))
    0.5
    """
    _check(kind)
    y = as_binary(y, "y")
    check_lengths(y=y, sensitive_features=as_groups(sensitive_features)[1])
    rates = np.array(list(selection_rates(y, sensitive_features=sensitive_features).values()))
    if kind == "difference":
        return rates.max() - rates.min()
    if not y.any():
        raise ValueError(
            'y: found no label 1, expected at least one for kind="ratio", which divides by P(Y = 1)'
        )
    return abs(rates / y.mean() - 1).max()


@same_rows
def data_unfairness_from_rates(p: Any, p1: Any, kind: Kind) -> Any:
    """Return how much the rate of positive labels differs between groups, given the groups' shares and rates.

    A group with share 0 has no rate and is left out.

    Parameters
    ----------
    p : array of shape (..., k)
        Shares P(A = a), at least 0. They sum to 1 along the last axis.
    p1 : array of shape (..., k)
        Rates P(Y = 1 | A = a). Where ``p`` is 0, any number or NaN. The shapes of ``p`` and ``p1`` are broadcast. The
        result is exact if the entries are `Fraction`.
    kind : {"ratio", "difference"}
        As in `data_unfairness`.

    Returns
    -------
    float, Fraction or array
        One number for each distribution.

    Raises
    ------
    ValueError
        If the shares are negative or do not sum to 1, or if a rate is outside [0, 1]. For ``"ratio"`` also if
        P(Y = 1) = 0.

    References
    ----------
    Ghoukasian (thesis, 2024), Definitions 10 and 11; p_i and p_1|i of § 5.1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import dpfair_lib as dpf
    >>> half, fifth = Fraction(1, 2), Fraction(1, 5)
    >>> dpf.data_unfairness_from_rates([half, half], [fifth, 3 * fifth], kind="difference")
    Fraction(2, 5)
    """
    _check(kind)
    p, p1 = _table(p, "p"), even(p1, "p1")
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
    array = even(values, name)
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
