"""Closed bounds of the least parity gap, at most a factor of 3 apart, for one or two unknown rates.

The lower ones use priors that spread over an interval, the upper one a noisy count that is shrunk towards one half.
Setting and relation are those of `dpfair_lib.central.least_gap`.
"""

from __future__ import annotations

import math
from typing import Any

from dpfair_lib._arguments import below_one, nonnegative, positive_integer
from dpfair_lib.central.least_gap import checked_response, contraction

MOST_LEVEL = 500.0  # beyond it e^ε is taken as infinite


def sampling_least_gap(n: Any, *, response: float = 0.5) -> float:
    """Return a lower bound of the worst expected gap that sampling alone enforces, with privacy or without.

    Parameters
    ----------
    n : int
        Records of the group whose rate is unknown, at least 0.
    response : float, default=0.5
        κ in (0, 1].

    Returns
    -------
    float
        κ/4 · C(2m, m)/4^m with m = ⌈n/2⌉: for p uniform on [0, 1], by pairs of rates. About 0.2 κ/√n.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    half = (positive_integer(n, "n") + 1) // 2 if n != 0 else 0
    if half < 10**4:
        log = math.lgamma(2 * half + 1) - 2 * math.lgamma(half + 1) - 2 * half * math.log(2)
    else:  # the differences would lose digits; the next term of the series is 1/(192 m³)
        log = -math.log(math.pi * half) / 2 - 1 / (8 * half)
    return checked_response(response) * math.exp(log) / 4


def privacy_least_gap(n: Any, epsilon: Any, delta: Any = 0.0, *, response: float = 0.5) -> float:
    """Return a lower bound of the worst expected gap that privacy enforces, however the records were sampled.

    Parameters
    ----------
    n : int
        Records of the group whose rate is unknown, at least 1.
    epsilon, delta : float
        ε ≥ 0 and δ in [0, 1) of the whole algorithm.
    response : float, default=0.5
        κ in (0, 1].

    Returns
    -------
    float
        κρ/(2η(1 + √n)²) if η(1 + √n) ≥ 1, else κρ/(2 + 2nη/(1 − η)), with η = (e^ε − 1 + 2δ)/(e^ε + 1). ρ is 1
        without δ, at least ½ always: (1 + 1/r)(1 − ln(1 + r)/r) for r = (e^ε − 1)/(2δ). About κ/(nε) for δ = 0, small
        ε and many records, which is the truth.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    count, kappa, delta = positive_integer(n, "n"), checked_response(response), below_one(delta, "delta")
    level = min(nonnegative(epsilon, "epsilon"), MOST_LEVEL)
    eta = contraction(math.exp(level), delta)
    reach = eta * (1 + math.sqrt(count))
    spread = 2 * reach * (1 + math.sqrt(count)) if reach >= 1 else 2 + 2 * count * eta / (1 - eta)
    return kappa * _loss_of_delta(level, delta) / spread


def _loss_of_delta(level: float, delta: float) -> float:
    """Return ρ: 1 − ln(1 + r)/r loses digits for small r, so a series is used there."""
    if delta == 0:
        return 1.0
    r = math.expm1(level) / (2 * delta)
    if r < 1e-4:
        return (1 + r) * (1 / 2 - r / 3)  # 1 − ln(1 + r)/r ≥ r/2 − r²/3
    return (1 + 1 / r) * (1 - math.log1p(r) / r)


def sharp_least_gap(n: Any, epsilon: Any, delta: Any = 0.0, *, response: float = 0.5) -> float:
    """Return the largest of the closed lower bounds of the worst expected gap.

    Parameters
    ----------
    n, epsilon, delta, response
        As in `privacy_least_gap`.

    Returns
    -------
    float
        The largest of `sampling_least_gap`, `privacy_least_gap`, κ · `two_rates_apart`, and a bound by sampling that is
        right for many records: κ(2S − √(S/(2m + 1))) with S the first one per unit of κ, or κ/4 for one record. No (ε,
        δ)-private classifier of this response has a smaller worst expected gap. For κ ≤ ½ some have at most 3 times it,
        and from 300 records on at most 2.5 times.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    private = privacy_least_gap(n, epsilon, delta, response=response)
    sampling = sampling_least_gap(n, response=response)
    near = 1 / 4 if n == 1 else near_one_half(int(n), best_length(int(n)))
    return max(sampling, private, checked_response(response) * max(near, two_rates_apart(n, epsilon, delta)))


def two_rates_apart(records: float, epsilon: float, delta: float) -> float:
    """Return a lower bound by two rates that are τ apart, per unit of response: the largest τ(1 − nτη)/2.

    Parameters
    ----------
    records : float
        n, or the mean number if it is random.
    epsilon, delta : float
        ε ≥ 0 and δ in [0, 1).

    Returns
    -------
    float
        1/(8nη) if nη ≥ ½, else (1 − nη)/2.
    """
    apart = records * contraction(math.exp(min(epsilon, MOST_LEVEL)), delta)
    return 1 / (8 * apart) if apart >= 0.5 else (1 - apart) / 2


def near_one_half(n: int, length: float) -> float:
    """Return a lower bound by sampling, per unit of response, for a rate that is uniform on an interval around ½.

    Parameters
    ----------
    n : int
        Records, at least 0.
    length : float
        L in (0, 1], the length of the interval.

    Returns
    -------
    float
        2S(1 − L/2) − 1/(4L(2m + 1)) with S of `sampling_least_gap` and m = ⌈n/2⌉; it may be negative.
    """
    half = (n + 1) // 2
    return 2 * sampling_least_gap(n, response=1) * (1 - length / 2) - 1 / (4 * length * (2 * half + 1))


def best_length(n: int) -> float:
    """Return the length at which `near_one_half` is largest: it is then 2S − √(S/(2m + 1)).

    Parameters
    ----------
    n : int
        Records, at least 1.

    Returns
    -------
    float
        1/√(4S(2m + 1)), below 1.
    """
    return 1 / math.sqrt(4 * sampling_least_gap(n, response=1) * (2 * ((n + 1) // 2) + 1))


def shrunk_gap(n: Any, epsilon: Any, delta: Any = 0.0, *, response: float = 0.5) -> float:
    """Return an expected gap that one private classifier of this response never exceeds.

    It is fair at the rate ½ + w(c − ½), where c is the count over n with noise: that of smallest variance σ² in
    `count_noise_variance`. With v = σ²/n², w = √n/(1 + √n), or 1/(1 + 4v) if smaller.

    Parameters
    ----------
    n, epsilon, delta : int, float, float
        As in `privacy_least_gap`.
    response : float, default=0.5
        κ in (0, ½]; with more there are pairs of rates that no classifier of this response makes equal.

    Returns
    -------
    float
        κ√(¼ + nv)/(1 + √n) if 4v√n ≤ 1, else κ√(v/(1 + 4v)). At most 3 times `sharp_least_gap`.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    count, kappa, delta = positive_integer(n, "n"), checked_response(response), below_one(delta, "delta")
    if kappa > 0.5:
        raise ValueError(f"response: found {response}, expected at most 0.5")
    v = count_noise_variance(min(nonnegative(epsilon, "epsilon"), MOST_LEVEL), delta) / count**2
    root = math.sqrt(count)
    if 4 * v * root <= 1:
        return kappa * math.sqrt(0.25 + count * v) / (1 + root)
    return kappa * (0.5 if v == math.inf else math.sqrt(v / (1 + 4 * v)))


def count_noise_variance(level: float, delta: float) -> float:
    """Return a variance of private noise on a count that one record changes by 1.

    Parameters
    ----------
    level, delta : float
        ε ≥ 0 and δ in [0, 1).

    Returns
    -------
    float
        The smaller of that of geometric noise and `noise_variance`.
    """
    geometric = 0.5 / math.sinh(level / 2) ** 2 if level > 1e-150 else math.inf
    return min(geometric, noise_variance(level, delta))


def noise_variance(level: float, delta: float) -> float:
    """Return a variance of private noise on a number that one record changes by at most 1.

    Parameters
    ----------
    level, delta : float
        ε ≥ 0 and δ in [0, 1).

    Returns
    -------
    float
        The smallest of three: Laplace noise, 2/ε²; uniform noise, 1/(12δ²); and a bound for the best private noise
        of the chapter, (1 − ln(1 + r)/r − ln²(1 + r)/(2r))/(2 tanh²(ε/2)) with r = (e^ε − 1)/(2δ). The last is at most
        ρ²/(2η²), where ρ/(2nη) is what privacy costs at least with many records.
    """
    laplace = 2 / level**2 if level > 1e-150 else math.inf
    if delta < 1e-150:
        return laplace
    uniform = 1 / (12 * delta**2)
    r = math.expm1(level) / (2 * delta)
    if r < 1e-3:  # differences would lose digits; the next term of the series would be negative
        short = (1 / 6 - 5 * r / 24 + 13 * r**2 / 60) * (math.exp(level) + 1) ** 2 / (8 * delta**2)
    else:
        log = math.log1p(r)
        short = (1 - log / r - log * (log / r) / 2) / (2 * math.tanh(level / 2) ** 2)
    return min(laplace, uniform, short)
