"""Composition of equal releases by formula: basic, advanced, optimal."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

import numpy as np

from dpfair_lib.privacy._arguments import (
    below_one,
    inside_unit,
    nonnegative,
    one_of,
    positive,
    positive_integer,
)
from dpfair_lib.privacy.rounding import above, lowered, product_above, raised


def basic_composition(epsilon: float, delta: float, releases: int) -> tuple[float, float]:
    """Return (kε, kδ) for k releases that are each (ε, δ)-DP, chosen adaptively.

    Parameters
    ----------
    epsilon : float
        ε > 0 of each release.
    delta : float
        δ in [0, 1) of each release.
    releases : int
        k ≥ 1.

    Returns
    -------
    epsilon, delta : float
        Of all releases together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Dwork and Roth (2014), Corollary 3.15 and Theorem 3.16.
    """
    epsilon, delta, k = _homogeneous(epsilon, delta, releases)
    return product_above(k, epsilon), product_above(k, delta)


def advanced_composition(epsilon: float, delta: float, releases: int, slack: float) -> tuple[float, float]:
    """Return (√(2k ln(1/δ′)) ε + kε(e^ε − 1), kδ + δ′) for k releases that are each (ε, δ)-DP.

    Parameters
    ----------
    epsilon, delta, releases
        As in `basic_composition`.
    slack : float
        δ′ in (0, 1).

    Returns
    -------
    epsilon, delta : float
        Of all releases together; for few releases larger than the basic ones.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Dwork, Rothblum and Vadhan (2010); Dwork and Roth (2014), Theorem 3.20.
    """
    epsilon, delta, k = _homogeneous(epsilon, delta, releases)
    slack = inside_unit(slack, "slack")
    growth = math.expm1(epsilon) if epsilon < 700 else math.inf
    total = math.sqrt(-2 * k * math.log(slack)) * epsilon + k * epsilon * growth
    return raised(total), above(k * Fraction(delta) + Fraction(slack))


def divided_epsilon(
    epsilon: float, delta: float, releases: int, kind: Literal["printed", "concentrated"]
) -> float:
    """Return an ε for each of k purely private releases such that they are together (ε, δ)-DP.

    With L = ln(1/δ): "printed" is ε/√(8kL), sound for ε ≤ 8L. "concentrated" is √(2/k)(√(L + ε) − √L), the
    ε₀ of kε₀²/2 + ε₀√(2kL) = ε, sound for every ε and δ and larger wherever the printed one is sound; for
    ε ≤ L it is at least ε/√(3kL).

    Parameters
    ----------
    epsilon : float
        ε > 0 of all releases together.
    delta : float
        δ in (0, 1) of all releases together.
    releases : int
        k ≥ 1, chosen adaptively.
    kind : {"printed", "concentrated"}
        The formula.

    Returns
    -------
    float
        ε₀ > 0 of each release.

    Raises
    ------
    ValueError
        If an argument is out of its range; if the printed formula is asked for ε > 8 ln(1/δ), where it can
        fail.

    References
    ----------
    CGKM, Theorem 6 ("in particular"), after Dwork and Roth (2014), Corollary 3.21; Bun and Steinke (2016),
    Propositions 1.3 and 1.4 and Lemma 1.7, solved for ε₀.
    """
    epsilon, k = positive(epsilon, "epsilon"), positive_integer(releases, "releases")
    log_delta = -math.log(inside_unit(delta, "delta"))
    if one_of(kind, "kind", ("printed", "concentrated")) == "concentrated":
        # √(L + ε) − √L without cancellation
        return lowered(math.sqrt(2 / k) * epsilon / (math.sqrt(log_delta + epsilon) + math.sqrt(log_delta)))
    if epsilon > 8 * log_delta:
        raise ValueError(
            f"epsilon: found {epsilon}, expected at most 8 ln(1/delta) = {8 * log_delta} for the printed formula; "
            "use kind='concentrated'"
        )
    return lowered(epsilon / math.sqrt(8 * k * log_delta))


def optimal_composition_delta(epsilon: float, delta: float, releases: int, at: float) -> float:
    """Return the smallest δ at which any k releases that are each (ε, δ)-DP are together (at, δ)-DP.

    The worst release fails openly with probability δ and is else binary randomised response, so that
    δ_total = 1 − (1 − δ)^k (1 − Σ_l C(k, l) [e^((k−l)ε) − e^(at + lε)]₊ / (1 + e^ε)^k).

    Parameters
    ----------
    epsilon, delta, releases
        As in `basic_composition`.
    at : float
        The ε of all releases together, at least 0.

    Returns
    -------
    float
        The total δ; no smaller one holds for all mechanisms.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Kairouz, Oh and Viswanath (2015), Theorem 3.3, at every ε instead of a lattice of them.
    """
    epsilon, delta, k = _homogeneous(epsilon, delta, releases)
    at = nonnegative(at, "at")
    open_failure = -math.expm1(k * math.log1p(-delta))
    lies = np.arange(k + 1)
    gap = at - (k - 2 * lies) * epsilon  # negative where the loss of that many lies exceeds `at`
    chance = _binomial_pmf(k, math.exp(-epsilon) / (1 + math.exp(-epsilon)))
    pure = float(chance @ -np.expm1(np.minimum(gap, 0)))
    return open_failure + (1 - open_failure) * pure


def _binomial_pmf(n: int, p: float) -> np.ndarray:
    from scipy.stats import binom

    return binom.pmf(np.arange(n + 1), n, p)


def optimal_composition_delta_from_odds(
    odds: Fraction | float, delta: Fraction | float, releases: int, at_odds: Fraction | float
) -> Fraction:
    """Return `optimal_composition_delta` with e^ε and e^at in place of ε and at, in exact arithmetic.

    Parameters
    ----------
    odds : float or Fraction
        e^ε > 1 of each release.
    delta : float or Fraction
        δ in [0, 1) of each release.
    releases : int
        k ≥ 1.
    at_odds : float or Fraction
        e^at ≥ 1.

    Returns
    -------
    Fraction
        The total δ.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    As `optimal_composition_delta`.
    """
    for name, value, inside in (("odds", odds, odds > 1), ("at_odds", at_odds, at_odds >= 1)):
        if not inside or value == math.inf:
            least = "above" if name == "odds" else "of at least"
            raise ValueError(f"{name}: found {value}, expected a finite number {least} 1")
    below_one(delta, "delta")
    k, e, e_at = positive_integer(releases, "releases"), Fraction(odds), Fraction(at_odds)
    excess = Fraction(0)
    for lies in range(k + 1):
        excess += math.comb(k, lies) * max(e ** (k - lies) - e_at * e**lies, Fraction(0))
    return 1 - (1 - Fraction(delta)) ** k * (1 - excess / (1 + e) ** k)


def optimal_composition_epsilon(epsilon: float, delta: float, releases: int, total_delta: float) -> float:
    """Return the smallest ε at which any k releases that are each (ε, δ)-DP are together (ε, total δ)-DP.

    Parameters
    ----------
    epsilon, delta, releases
        As in `basic_composition`.
    total_delta : float
        In (0, 1), at least 1 − (1 − δ)^k.

    Returns
    -------
    float
        The total ε, at which `optimal_composition_delta` is at most the total δ as computed.

    Raises
    ------
    ValueError
        If an argument is out of its range; if the total δ is below what is bound to fail openly.

    References
    ----------
    The inverse of Kairouz, Oh and Viswanath (2015), Theorem 3.3.
    """
    epsilon, delta, k = _homogeneous(epsilon, delta, releases)
    target = inside_unit(total_delta, "total_delta")
    least = optimal_composition_delta(epsilon, delta, k, k * epsilon)
    if target < least:
        raise ValueError(f"total_delta: found {total_delta}, expected at least 1 - (1 - delta)^k = {least}")
    low, high = 0.0, k * epsilon
    if optimal_composition_delta(epsilon, delta, k, low) <= target:
        return 0.0
    while (middle := (low + high) / 2) not in (low, high):  # bisection down to neighbouring floats
        if optimal_composition_delta(epsilon, delta, k, middle) <= target:
            high = middle
        else:
            low = middle
    return high


def _homogeneous(epsilon: float, delta: float, releases: int) -> tuple[float, float, int]:
    return positive(epsilon, "epsilon"), below_one(delta, "delta"), positive_integer(releases, "releases")
