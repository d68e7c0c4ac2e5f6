"""The least parity gap of private classifiers: what none can avoid, and what one attains.

A classifier answers to the feature x ∈ {0, 1} of a group a with probabilities t_a (x = 0) and t_a + κ_a (x = 1);
κ_a is its *response*. Where a share p_a of the group has x = 1, its selection rate is t_a + κ_a p_a. If p_a is
unknown, a private classifier has to guess it: on two populations whose p_a are τ apart, one and the same
classifier has signed gaps that are κ_a τ apart. So the gap is at least κ_a times the error of a private estimate
of p_a, from the group's n records alone. Everything here is for one group whose rate is unknown, beside one whose
rate is known; with two unknown rates the gap can only be larger.

Neighbours differ in one record of the group. Every other usual relation asks for at least as much.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.privacy._arguments import below_one, inside_unit, nonnegative, number, positive_integer

POINTS = 65  # shifts that are tried; each of them gives a bound


def contraction(odds: Any, delta: Any) -> Any:
    """Return the largest distance in total variation of the outputs on two neighbours.

    Parameters
    ----------
    odds : float or Fraction
        e^ε, at least 1; infinity allowed.
    delta : float or Fraction
        δ in [0, 1).

    Returns
    -------
    float or Fraction
        (e^ε − 1 + 2δ)/(e^ε + 1): P(S) ≤ e^ε Q(S) + δ and 1 − Q(S) ≤ e^ε (1 − P(S)) + δ add up to
        2v ≤ (e^ε − 1)(1 − v) + 2δ for v = P(S) − Q(S).
    """
    return 1.0 if odds == math.inf else (odds - 1 + 2 * delta) / (odds + 1)


def least_confusion(n: int, shift: Any, odds: Any, delta: Any) -> Any:
    """Return the least error probability of a private test between two rates that are τ apart.

    The rates are (1 − τ)/2 and (1 + τ)/2, the test sees n records, and the larger of its two error probabilities
    counts. Error g_k given the count k, with g_(n−k) = 1 − g_k by symmetry, is least for all k > n/2 at once if it
    starts at ½, or in the middle of an odd n at (1 − δ)/(e^ε + 1), and goes on with
    g_(k+1) = max(0, (g_k − δ)/e^ε).

    Parameters
    ----------
    n : int
        Records, at least 1.
    shift : float or Fraction
        τ in [0, 1].
    odds, delta : float or Fraction
        e^ε at least 1 and δ in [0, 1).

    Returns
    -------
    float or Fraction
        In [0, ½]; exact if shift, odds and delta are fractions.

    References
    ----------
    Derived in the chapter on thesis § 6.2.1.
    """
    first = n // 2 + 1
    if odds == math.inf:
        right = [0 * shift] * (n - first + 1)
    else:
        right = [(1 - delta) / (odds + 1) if n % 2 else max((odds**0 - 2 * delta) / (2 * odds), 0 * delta)]
        while len(right) < n - first + 1:
            right.append(max((right[-1] - delta) / odds, 0 * delta))
    middle = [] if n % 2 else [Fraction(1, 2) if isinstance(odds, Fraction) else 0.5]
    errors = [1 - g for g in reversed(right)] + middle + right
    high = (1 + shift) / 2
    if isinstance(shift, Fraction):
        law = [math.comb(n, k) * high**k * (1 - high) ** (n - k) for k in range(n + 1)]
        return sum((p * g for p, g in zip(law, errors, strict=True)), Fraction(0))
    from scipy.stats import binom

    return float(binom.pmf(np.arange(n + 1), n, high) @ np.array(errors, dtype=float))


def least_failure(gap: float, n: Any, epsilon: Any, delta: Any = 0.0, *, response: float = 0.5) -> float:
    """Return a probability with which the gap reaches a given value on some population, whatever is done.

    Parameters
    ----------
    gap : float
        γ ≥ 0.
    n : int
        Records of the group whose rate is unknown.
    epsilon, delta : float
        ε ≥ 0 and δ in [0, 1) of the whole algorithm.
    response : float, default=0.5
        κ in (0, 1]: the classifier answers to x in this group with at least this difference. Algorithm 2, applied
        to h(x, a) = x, has at least ½ in both groups.

    Returns
    -------
    float
        `least_confusion` at τ = 2γ/κ; 0 where that is above 1. For every such algorithm the larger of
        P(gap ≥ γ) on two populations is at least this.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    count, odds, delta, response = _arguments(n, epsilon, delta, response)
    shift = 2 * nonnegative(gap, "gap") / response
    return least_confusion(count, shift, odds, delta) if shift <= 1 else 0.0


def least_expected_gap(n: Any, epsilon: Any, delta: Any = 0.0, *, response: float = 0.5) -> float:
    """Return a lower bound of the worst expected parity gap of every private classifier with a response.

    Parameters
    ----------
    n, epsilon, delta, response
        As in `least_failure`.

    Returns
    -------
    float
        The largest κτ · `least_confusion` found over shifts τ.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    count, odds, delta, response = _arguments(n, epsilon, delta, response)
    scale = max(_private_shift(count, odds, delta), min(0.5 / math.sqrt(count), 1.0))
    shifts = np.unique(np.minimum(scale * np.geomspace(1 / 8, 8, POINTS), 1.0))
    return max(
        float(response * shift * least_confusion(count, float(shift), odds, delta)) for shift in shifts
    )


def simple_least_gap(n: Any, epsilon: Any, delta: Any = 0.0, *, response: float = 0.5) -> float:
    """Return a closed form below `least_expected_gap`, which shows the rate.

    Parameters
    ----------
    n, epsilon, delta, response
        As in `least_failure`.

    Returns
    -------
    float
        κ/8 · max(1/√n, 1/(nη)) with η = (e^ε − 1 + 2δ)/(e^ε + 1) where nη ≥ ½; else κ(1 − nη)/2.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    count, odds, delta, response = _arguments(n, epsilon, delta, response)
    shift = _private_shift(count, odds, delta)
    private = shift * (1 - count * shift * contraction(odds, delta)) / 2
    return response * max(private, 1 / (8 * math.sqrt(count)))


def matching_gap(n: Any, epsilon: Any, delta: Any = 0.0, *, response: float = 0.5) -> float:
    """Return an expected gap that one private classifier of this response never exceeds: at most 12 times the bound.

    It answers κx + t, where t makes its rate that of the other group if p is a noisy mean: with two-sided geometric
    noise on the count, or with noise uniform on an interval of length 1/δ, whichever is smaller on average. Or it
    takes ½ for p.

    Parameters
    ----------
    n, epsilon, delta : int, float, float
        As in `least_failure`.
    response : float, default=0.5
        κ in (0, ½]; with more there are pairs of rates that no classifier of this response makes equal.

    Returns
    -------
    float
        κ · min(½, 1/(2√n) + min(1/sinh ε, 1/(4δ))/n).

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    count, odds, delta, response = _arguments(n, epsilon, delta, response)
    if response > 0.5:
        raise ValueError(f"response: found {response}, expected at most 0.5")
    geometric = math.inf if odds == 1 else 0.0 if odds == math.inf else 2 / (odds - 1 / odds)
    noise = min(geometric, 1 / (4 * delta) if delta else math.inf)
    return response * min(0.5, 1 / (2 * math.sqrt(count)) + noise / count)


def _private_shift(n: int, odds: float, delta: float) -> float:
    """Return the τ at which n·τ·η, a bound on what the outputs tell, is ½; at most 1."""
    told = n * contraction(odds, delta)
    return 1.0 if told <= 0.5 else 0.5 / told


def _arguments(n: Any, epsilon: Any, delta: Any, response: Any) -> tuple[int, float, float, float]:
    level = nonnegative(epsilon, "epsilon")
    kappa = number(response, "response", "a number in (0, 1]")
    kappa = kappa if kappa == 1 else inside_unit(kappa, "response")
    odds = math.exp(level) if level < 700 else math.inf
    return positive_integer(n, "n"), odds, below_one(delta, "delta"), kappa
