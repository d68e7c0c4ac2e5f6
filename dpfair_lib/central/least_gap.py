"""The least parity gap that a private classifier can have.

A classifier answers to the feature x ∈ {0, 1} of a group a with probabilities t_a (x = 0) and t_a + κ_a (x = 1);
κ_a is its *response*. Where a share p_a of the group has x = 1, its selection rate is t_a + κ_a p_a. If p_a is
unknown, a private classifier has to guess it: on two populations whose p_a are τ apart, one and the same
classifier has signed gaps that are κ_a τ apart. So the gap is at least κ_a times the error of a private estimate
of p_a, from the group's n records alone. Everything here is for one group whose rate is unknown and another whose
rate is known; with two unknown rates the gap can only be larger.

Neighbours differ in one record of the group. Every other usual relation asks for at least as much.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._arguments import below_one, inside_unit, nonnegative, number, positive_integer

POINTS = 33  # shifts that are tried; each of them gives a bound


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
    errors = _errors(n, odds, delta)
    high = (1 + shift) / 2
    if isinstance(shift, Fraction):
        law = [math.comb(n, k) * high**k * (1 - high) ** (n - k) for k in range(n + 1)]
        return sum((p * g for p, g in zip(law, errors, strict=True)), Fraction(0))
    from scipy.stats import binom

    return float(binom.pmf(np.arange(n + 1), n, high) @ np.asarray(errors, dtype=float))


def _errors(n: int, odds: Any, delta: Any) -> Any:
    """Return g_0, …, g_n: P(the test says "smaller rate" | k records have x = 1)."""
    start = n // 2 + 1
    if n % 2:
        first = 0.0 if odds == math.inf else (1 - delta) / (odds + 1)
    else:
        first = 0.0 if odds == math.inf else max((1 - 2 * delta) / (2 * odds), 0 * delta)
    if isinstance(odds, Fraction):
        right = [first]
        while len(right) <= n - start:
            right.append(max((right[-1] - delta) / odds, 0 * delta))
        return [1 - g for g in reversed(right)] + [Fraction(1, 2)] * (1 - n % 2) + right
    # the recursion summed: r^j g − δ (r + … + r^j), r = e^(−ε), which stays below 0 once it is
    powers = (
        np.exp(-math.log(odds) * np.arange(n - start + 1)) if odds < math.inf else np.zeros(n - start + 1)
    )
    sums = np.concatenate([[0.0], np.cumsum(powers[1:])])
    tail = np.maximum(first * powers - delta * sums, 0)
    return np.concatenate([1 - tail[::-1], [0.5] * (1 - n % 2), tail])


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
    shifts, confusions = confusions_at_shifts(count, odds, delta)
    return float(response * (shifts * confusions).max())


@functools.lru_cache(maxsize=256)  # every response has the same
def confusions_at_shifts(count: int, odds: float, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the shifts that are tried, and the least error probability of a private test at each."""
    from scipy.stats import binom

    scale = max(_private_shift(count, odds, delta), min(0.5 / math.sqrt(count), 1.0))
    shifts = np.unique(np.minimum(scale * np.geomspace(1 / 8, 8, POINTS), 1.0))
    errors, counts = _errors(count, odds, delta), np.arange(count + 1)
    return shifts, binom.pmf(counts, count, (1 + shifts[:, None]) / 2) @ errors


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


def accurate_failures(sizes: Any, shift: Any, epsilon: Any, delta: Any = 0.0, *, missed: Any = 0.0) -> float:
    """Return a lower bound of how often accurate private classifiers are unfair, on three populations together.

    On the first, x = 1 for half of each group; on the two others, for ½ + τ of one of the groups. Labels are
    y = x, and the classifier is any that an algorithm makes of all records. If on the first population it has
    accuracy ≥ (1 + κ)/2, it has a response ≥ κ in some group; so if its gap is below κτ/2 there, it is not on one of
    the two others.

    Parameters
    ----------
    sizes : (int, int)
        Records of the two groups.
    shift : float
        τ in [0, ½].
    epsilon, delta : float
        Of the whole algorithm, for one record replaced within its group.
    missed : float, default=0
        Probability ρ in [0, 1) that the accuracy is below (1 + κ)/2 on the first population.

    Returns
    -------
    float
        1 − ρ − (n_0 + n_1)τη, at least 0: the sum of the probabilities of a gap ≥ κτ/2 on the three populations is
        at least this, for every κ in (0, 1].

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    if len(sizes) != 2:
        raise ValueError(f"sizes: found {len(sizes)} numbers, expected one for each of two groups")
    records = sum(positive_integer(size, "sizes") for size in sizes)
    tau = number(shift, "shift", "a number in [0, 0.5]")
    if not 0 <= tau <= 0.5:
        raise ValueError(f"shift: found {shift}, expected a number in [0, 0.5]")
    _, odds, delta, _ = _arguments(1, epsilon, delta, 1)
    return max(1 - below_one(missed, "missed") - records * tau * contraction(odds, delta), 0.0)


def _private_shift(n: int, odds: float, delta: float) -> float:
    """Return the τ at which n·τ·η, a bound on how far the outputs distinguish two rates, is ½; at most 1."""
    distance = n * contraction(odds, delta)
    return 1.0 if distance <= 0.5 else 0.5 / distance


def _arguments(n: Any, epsilon: Any, delta: Any, response: Any) -> tuple[int, float, float, float]:
    level = nonnegative(epsilon, "epsilon")
    odds = math.exp(level) if level < 700 else math.inf
    return positive_integer(n, "n"), odds, below_one(delta, "delta"), checked_response(response)


def checked_response(response: Any) -> float:
    """Return κ as a float in (0, 1]."""
    kappa = number(response, "response", "a number in (0, 1]")
    return kappa if kappa == 1 else inside_unit(kappa, "response")
