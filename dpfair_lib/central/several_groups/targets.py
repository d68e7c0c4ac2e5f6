"""Which band of selection rates the groups move to, when their rates are known with noise only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from dpfair_lib._arguments import number
from dpfair_lib.central.gap_law import Mechanism
from dpfair_lib.postprocessing.bands import change_curve, cheapest_band

RULES: dict[str, str] = {
    "midpoint": "the middle of all bands with the fewest summed changes",
    "median": "the median of the noisy rates, the lower one of an even number",
    "most-accurate": "the noisy rate with the smallest error, by the public divisors and ε",
}


def target_band(rates: Sequence[float], rate: str | float, gamma: float, anchor: int) -> tuple[float, float]:
    """Return the band of rates to which the groups move.

    Parameters
    ----------
    rates : sequence of float
        The groups' noisy selection rates, in [0, 1].
    rate : {"midpoint", "median", "most-accurate"} or float
        Where the band lies: a key of `RULES`, or a number for its middle.
    gamma : float
        Width γ of the band, in [0, 1].
    anchor : int
        Place of the group for "most-accurate".

    Returns
    -------
    (float, float)
        The lowest and the highest rate, within [0, 1].
    """
    if rate == "midpoint":
        # the middle of all bands that need the fewest changes; of two groups, halfway between them
        start = float(cheapest_band([change_curve(one) for one in rates], gamma).middle)
    elif isinstance(rate, str):
        start = sorted(rates)[(len(rates) - 1) // 2] if rate == "median" else rates[anchor]
    else:
        start = rate
    if rate != "midpoint":
        start = min(max(start - gamma / 2, 0.0), 1 - gamma)
    return start, start + gamma


def checked_rate(rate: Any) -> str | float:
    """Return the name of a rule, or a number in [0, 1] as a float."""
    if isinstance(rate, str) and rate in RULES:
        return rate
    wanted = f"one of {', '.join(map(repr, RULES))}, or a number in [0, 1]"
    if not isinstance(rate, Real) or isinstance(rate, bool | np.bool_) or not 0 <= float(rate) <= 1:
        raise ValueError(f"rate: found {rate!r}, expected {wanted}")
    return float(rate)


def checked_gamma(gamma: Any) -> float:
    """Return a gap in [0, 1] as a float."""
    found = number(gamma, "gamma", "a number in [0, 1]")
    if not 0 <= found <= 1:
        raise ValueError(f"gamma: found {gamma}, expected a number in [0, 1]")
    return found


def most_accurate(n: Sequence[float], epsilons: Sequence[float], mechanism: Mechanism) -> int:
    """Return the place of the group whose noisy rate has the smallest variance, at most; the first of several.

    Parameters
    ----------
    n : sequence of float
        Divisor of each group's count, at least 1.
    epsilons : sequence of float
        ε of the noise on each count.
    mechanism : {"laplace", "geometric"}
        The noise.

    Returns
    -------
    int
        It depends on these numbers only: sampling has a variance of at most 1/(4n).
    """
    largest = [
        1 / (4 * size) + noise_variance(epsilon, mechanism) / (size * size)  # a power would overflow
        for size, epsilon in zip(n, epsilons, strict=True)
    ]
    return largest.index(min(largest))


def noise_variance(epsilon: float, mechanism: Mechanism) -> float:
    """Return the variance of the noise on a count: 2/ε², or 1/(2 sinh²(ε/2)) for geometric noise."""
    if math.isinf(epsilon):
        return 0.0
    if mechanism == "laplace":
        return 2 * (1 / epsilon) * (1 / epsilon)  # a power would overflow
    inverse = 1 / math.sinh(epsilon / 2) if epsilon < 1000 else 0.0
    return 0.5 * inverse * inverse
