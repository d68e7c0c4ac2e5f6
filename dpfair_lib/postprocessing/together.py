"""What demographic parity and equalized odds cost together, where base rates differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def largest_informativeness(base: Sequence[Any], parity: Any, odds: Any) -> list[Any]:
    """Return how informative a classifier may be in each group, if both notions hold up to given gaps.

    Parameters
    ----------
    base : sequence of float or Fraction
        Base rates π_a = P(Y = 1 | A = a) in [0, 1].
    parity : float or Fraction
        Largest difference of two groups' selection rates.
    odds : float or Fraction
        Largest difference of two groups' true positive rates, and of their false positive rates.

    Returns
    -------
    list of float or Fraction
        For each group the bound of |TPR − FPR|, at most 1. It is 1 where all base rates are equal. The groups of lowest
        and highest base rate, D apart, have (γ_p + γ_o)/D.

    References
    ----------
    Derived in the chapter on any number of groups.
    """
    low, high = min(base), max(base)
    allowed = parity + odds
    whole = 1 + 0 * (allowed + low)
    if low == high:
        return [whole] * len(base)
    bounds = []
    for rate in base:
        below, above = rate - low, high - rate
        reach = max(below + above * low / high, above + below * (1 - high) / (1 - low))
        bounds.append(min(allowed / (high - low) + odds, allowed / reach, whole))
    return bounds


def least_error_together(shares: Sequence[Any], base: Sequence[Any], parity: Any, odds: Any) -> Any:
    """Return a lower bound of the error of every classifier for which both notions hold up to given gaps.

    Parameters
    ----------
    shares : sequence of float or Fraction
        P(A = a), which add up to 1.
    base, parity, odds
        As in `largest_informativeness`.

    Returns
    -------
    float or Fraction
        Σ P(A = a) · min(π_a, 1 − π_a) · (1 − the group's bound). With exact notions it is the error of the best
        constant label in each group, whatever the features are.
    """
    bounds = largest_informativeness(base, parity, odds)
    return sum(
        share * min(rate, 1 - rate) * (1 - bound)
        for share, rate, bound in zip(shares, base, bounds, strict=True)
    )
