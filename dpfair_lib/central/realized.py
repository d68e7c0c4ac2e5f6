"""The parity gap of one draw of a randomised classifier, whose expected gap is 0."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.flips import flip_probabilities


def shared_draw_rates(alpha: Any, beta: Any, target: Any) -> list[tuple[Any, Any, Any]]:
    """Return the law of the two groups' rates when one uniform draw s decides every flip.

    Parameters
    ----------
    alpha, beta : float or Fraction
        Selection rates of the two groups before the flips.
    target : float or Fraction
        The common rate.

    Returns
    -------
    list of (rate_0, rate_1, probability)
        One entry per interval of s on which the classifier is one and the same; the probabilities add up
        to 1, and the mean of both rates is the target.

    Raises
    ------
    ValueError
        If a rate is outside [0, 1].

    References
    ----------
    ISIT, Algorithm 1, line 2, with s read as one draw for the whole classifier.
    """
    flips = [(rate, *flip_probabilities(rate, target)) for rate in (alpha, beta)]
    # s keeps a positive prediction while s <= 1 - down, and promotes a negative one while s <= up
    edges = sorted({0 * alpha, 1 + 0 * alpha, *(edge for _, down, up in flips for edge in (1 - down, up))})
    law = []
    for left, right in itertools.pairwise(edges):
        rate_0, rate_1 = (
            (rate if right <= 1 - down else 0 * rate) + (1 - rate if right <= up else 0 * rate)
            for rate, down, up in flips
        )
        law.append((rate_0, rate_1, right - left))
    return law


def fresh_draw_gap_mean(counts: tuple[int, int], selected: tuple[int, int], target: float) -> float:
    """Return the expected parity gap among finitely many people when each has a draw of their own.

    Parameters
    ----------
    counts : (int, int)
        People in the two groups.
    selected : (int, int)
        How many of them the classifier selects before the flips.
    target : float
        The common rate.

    Returns
    -------
    float
        E|rate₀ − rate₁| over the draws, from the two binomial laws.

    Raises
    ------
    ValueError
        If a count is not positive or more people are selected than there are.
    """
    from scipy.stats import binom

    laws = []
    for n, k in zip(counts, selected, strict=True):
        if not 0 <= k <= n or n == 0:
            raise ValueError(f"selected: found {k} of {n}, expected a count between 0 and the group's size")
        down, up = flip_probabilities(Fraction(k, n), Fraction(target))
        trials, chance, kept = (k, 1 - float(down), 0) if down > 0 else (n - k, float(up), k)
        support = np.arange(trials + 1)
        laws.append(((kept + support) / n, binom.pmf(support, trials, chance)))
    (rate_0, p_0), (rate_1, p_1) = laws
    return float(p_0 @ abs(rate_0[:, None] - rate_1[None, :]) @ p_1)
