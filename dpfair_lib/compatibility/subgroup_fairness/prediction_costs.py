"""The cost of each prediction in the game of subgroup fairness: the learner's loss vector."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np


def learner_costs(labels: Any, groups: Any, multipliers: Any) -> np.ndarray:
    """Return the loss vector LC(λ): what predicting 1 for each person adds to the payoff U(h, λ).

    With P_g the share of group g among the n₀ people of label 0 and μ_g = λ_g⁺ − λ_g⁻, it is −1/n for a label 1
    and (1 + Σ_g μ_g (P_g − 1[person in g]))/n for a label 0, so that U(h, λ) is ⟨LC(λ), h⟩ plus the share of
    label 1.

    Parameters
    ----------
    labels : array of shape (n,)
        True labels, 0 or 1, at least one 0.
    groups : array of shape (g, n)
        Membership of each subgroup, 0 or 1.
    multipliers : array of shape (g,)
        μ_g.

    Returns
    -------
    ndarray of shape (n,)
        Costs; `Fraction` where the multipliers are.

    Raises
    ------
    ValueError
        If the shapes do not fit, or nobody has the label 0.

    References
    ----------
    CGKM, Appendix C.2 (payoff U); LC itself is not printed.
    """
    y, members, mu = np.asarray(labels), np.asarray(groups), np.asarray(multipliers)
    if y.ndim != 1 or members.shape != (len(mu), len(y)):
        raise ValueError(
            f"groups: found shape {members.shape}, expected one row for each of {len(mu)} multipliers and one column "
            f"for each of {y.size} labels"
        )
    negative = y == 0
    n, n_0 = len(y), int(negative.sum())
    if n_0 == 0:
        raise ValueError(
            "labels: found no label 0, expected at least one: false positive rates are undefined"
        )
    exact = mu.dtype == object
    one: Any = Fraction(1) if exact else 1.0
    counts = members[:, negative].sum(axis=1)
    shares = np.array([int(c) * one / n_0 for c in counts], dtype=object if exact else float)
    fair = mu @ (shares[:, None] - members)
    return np.where(negative, one + fair, -one) / n


def subgroup_payoff(labels: Any, groups: Any, multipliers: Any, predictions: Any) -> Any:
    """Return U(h, λ) = err(h) + Σ_g μ_g A(g)(FP(h) − FP(h, g)) from its definition.

    Parameters
    ----------
    labels, groups, multipliers
        As in `learner_costs`.
    predictions : array of shape (n,)
        h, 0 or 1 or a chance.

    Returns
    -------
    float or Fraction
        The payoff; a group without a label 0 adds nothing.

    Raises
    ------
    ValueError
        If nobody has the label 0.

    References
    ----------
    CGKM, Appendix C.2 and Definition 8.
    """
    y, members, h = np.asarray(labels), np.asarray(groups), np.asarray(predictions)
    negative = y == 0
    n, n_0 = len(y), int(negative.sum())
    if n_0 == 0:
        raise ValueError(
            "labels: found no label 0, expected at least one: false positive rates are undefined"
        )
    payoff = Fraction(0) + sum((abs(int(label) - p) for label, p in zip(y, h, strict=True))) * Fraction(1, n)
    rate = sum(h[negative]) * Fraction(1, n_0)
    for mu, row in zip(np.asarray(multipliers), members, strict=True):
        inside = negative & (row == 1)
        size = int(inside.sum())
        if size:
            payoff += mu * Fraction(size, n) * (rate - sum(h[inside]) * Fraction(1, size))
    return payoff
