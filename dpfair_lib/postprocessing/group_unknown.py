"""The least change where the group is not known at prediction, and nothing else is known than the old label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class GroupBlindRule(NamedTuple):
    """The cheapest rule that sees the old label alone.

    Attributes
    ----------
    cost : float or Fraction
        Σ w_a P_a(new label ≠ label).
    if_zero, if_one : float or Fraction
        Probability of the new label 1 for the old labels 0 and 1.
    """

    cost: Any
    if_zero: Any
    if_one: Any


def least_blind_change(
    selection: Sequence[Any], largest_gap: Any, gamma: Any, weights: Sequence[Any] | None = None
) -> GroupBlindRule:
    """Return the least change of a rule that sees the old label, but not the group.

    Such a rule scales all differences of rates alike, those of selection rates as well as those of true or false
    positive rates. So it does not matter which notion is asked for, but for the size of its gap.

    Parameters
    ----------
    selection : sequence of float or Fraction
        Selection rates of the groups, in [0, 1].
    largest_gap : float or Fraction
        Δ, the gap of the notion before the change: the largest difference of two groups' rates, over all rates that
        the notion wants equal.
    gamma : float or Fraction
        γ in [0, 1].
    weights : sequence of float or Fraction, optional
        Weight w_a ≥ 0 of each group's change rate. By default 1.

    Returns
    -------
    GroupBlindRule
        Of cost max(1 − γ/Δ, 0) · min(Σ w_a α_a, Σ w_a (1 − α_a)).

    References
    ----------
    Derived in the chapter on any number of groups.
    """
    shares = [1] * len(selection) if weights is None else weights
    ones = sum(w * rate for w, rate in zip(shares, selection, strict=True))
    zeros = sum(w * (1 - rate) for w, rate in zip(shares, selection, strict=True))
    nothing = 0 * (ones + largest_gap + gamma)
    lost = 1 - gamma / largest_gap if largest_gap > gamma else nothing
    if ones <= zeros:
        return GroupBlindRule(lost * ones, nothing, 1 - lost)
    return GroupBlindRule(lost * zeros, lost, 1 + nothing)
