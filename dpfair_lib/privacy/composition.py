"""Composition of equal releases: basic, advanced and optimal formulas."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Literal

import numpy as np

from dpfair_lib._arguments import (
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

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> privacy.basic_composition(0.5, 0.0, releases=4)
    (2.0, 0.0)
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

    Examples
    --------
    For few releases the sum is smaller; for many this bound is.

    >>> from dpfair_lib import privacy
    >>> [tuple(round(x, 6) for x in privacy.advanced_composition(0.1, 0.0, k, slack=1e-6)) for k in (4, 400)]
    [(1.093373, 1e-06), (14.71988, 1e-06)]
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
    solution ε₀ of kε₀²/2 + ε₀√(2kL) = ε, sound for every ε and δ and larger wherever the printed one is sound; for
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
    Propositions 1.3 and 1.4 and Lemma 1.7, which give the equation for ε₀.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> [round(privacy.divided_epsilon(1.0, 1e-6, 100, kind), 4) for kind in ("printed", "concentrated")]
    [0.0095, 0.0187]
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

    The worst release reveals everything with probability δ, and is otherwise binary randomised response. Hence
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
        The total δ, rounded up by a relative 4e-15 and 1e-15 for each release at most. No smaller number holds for all
        mechanisms. If δ is 0 it is exactly 0 from kε on.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Kairouz, Oh and Viswanath (2015), Theorem 3.3, at every ε instead of a lattice of them.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> round(privacy.optimal_composition_delta(0.5, 0.0, releases=4, at=1.0), 4)
    0.0949
    """
    epsilon, delta, k = _homogeneous(epsilon, delta, releases)
    at = nonnegative(at, "at")
    failing = delta if k == 1 else -math.expm1(k * math.log1p(-delta))
    failing = raised(failing) if k > 1 and delta else failing
    excess = _lies_above(epsilon, k, at)
    return (
        min(raised(failing + math.exp(k * math.log1p(-delta)) * excess), 1.0) if excess else min(failing, 1.0)
    )


def _lies_above(epsilon: float, k: int, at: float) -> float:
    """Return Σ_l P(l lies) [1 − e^(at − (k − 2l)ε)]₊ of k answers, rounded up; 0 exactly from kε on."""
    if at == math.inf:
        return 0.0
    # The last number of lies whose loss exceeds `at`, and by how much: exact, since the two may nearly cancel.
    room = k * Fraction(epsilon) - Fraction(at)
    if room <= 0:
        return 0.0
    last = min(math.ceil(room / (2 * Fraction(epsilon))) - 1, k)
    least = float(room - 2 * last * Fraction(epsilon))
    lies = np.arange(last + 1)
    over = least + 2 * epsilon * (last - lies)
    terms = _binomial_above(k, epsilon)[: last + 1] * -np.expm1(-over)
    return raised(math.fsum(terms.tolist()))


@functools.lru_cache(maxsize=1)  # the search for a total ε asks for one law again and again
def _binomial_above(k: int, epsilon: float) -> np.ndarray:
    """Return P(l of k answers are lies) for l = 0, …, k, a lie being e^ε times as rare as the truth, rounded up."""
    lies, mode = np.arange(k + 1), min(int((k + 1) / (1 + math.exp(epsilon))) if epsilon < 700 else 0, k)
    # over the likeliest number of lies, from which on they fall on either side
    up = np.cumprod((k - lies[mode:-1]) / lies[mode + 1 :] * math.exp(-epsilon))
    down = np.cumprod((lies[1 : mode + 1] / (k - lies[:mode]))[::-1] * math.exp(min(epsilon, 700.0)))[::-1]
    weights = np.concatenate([down, [1.0], up])
    # each step of the products rounds at most six times; a weight below the smallest normal float is raised to it
    error = abs(lies - mode) * 6 * 2.0**-53
    least = math.fsum(np.maximum(weights * (1 - error), 0).tolist())
    return np.maximum(weights * (1 + error), 2.0**-1021) / least


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

    Examples
    --------
    Two releases with e^ε = 2, judged at e^at = 2:

    >>> from fractions import Fraction
    >>> from dpfair_lib.privacy import optimal_composition_delta_from_odds
    >>> optimal_composition_delta_from_odds(Fraction(2), Fraction(0), 2, Fraction(2))
    Fraction(2, 9)
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
        The total ε, rounded up: at this very number the exact δ is at most the total δ.

    Raises
    ------
    ValueError
        If an argument is out of its range; if the total δ is below 1 − (1 − δ)^k, the probability that some release
        reveals everything.

    References
    ----------
    The inverse of Kairouz, Oh and Viswanath (2015), Theorem 3.3.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> round(privacy.optimal_composition_epsilon(0.1, 0.0, releases=400, total_delta=1e-6), 3)
    10.919
    """
    epsilon, delta, k = _homogeneous(epsilon, delta, releases)
    target = inside_unit(total_delta, "total_delta")
    low, high = 0.0, product_above(k, epsilon)
    least = optimal_composition_delta(epsilon, delta, k, high)
    if target < least:
        raise ValueError(f"total_delta: found {total_delta}, expected at least 1 - (1 - delta)^k = {least}")
    if optimal_composition_delta(epsilon, delta, k, low) <= target:
        return 0.0
    while (middle := (low + high) / 2) not in (low, high):  # bisection down to neighbouring floats
        if optimal_composition_delta(epsilon, delta, k, middle) <= target:
            high = middle
        else:
            low = middle
    return high


def _homogeneous(epsilon: float, delta: float, releases: int) -> tuple[float, float, int]:
    """Return ε, δ and the number of equal releases, each in its range."""
    return positive(epsilon, "epsilon"), below_one(delta, "delta"), positive_integer(releases, "releases")
