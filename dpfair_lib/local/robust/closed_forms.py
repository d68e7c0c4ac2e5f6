"""The largest unfairness of a channel where nothing is known of the law but how often Y = 1."""

from __future__ import annotations

from typing import Any


def unfairness_of_level(ratio: Any, share: Any) -> Any:
    """Return the largest Δ over all laws with a given P(Y = 1).

    Parameters
    ----------
    ratio : float or Fraction
        R = e^ε ≥ 1, the largest ratio of two entries of a column of the channel.
    share : float or Fraction
        τ = P(Y = 1) in (0, 1).

    Returns
    -------
    float or Fraction
        (1 − τ)(R − 1)/(1 + min(τ, 1 − τ)(R − 1)).

    References
    ----------
    Derived in the chapter on the distribution that is not known.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dpfair_lib.local.robust.closed_forms import unfairness_of_level
    >>> unfairness_of_level(3, Fraction(1, 4))
    Fraction(1, 1)
    """
    return (1 - share) * (ratio - 1) / (1 + min(share, 1 - share) * (ratio - 1))
