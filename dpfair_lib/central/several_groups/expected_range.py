"""The expected range of independent errors and 0, bounded: what the worst of many groups costs on average.

The range of 0 and the errors is the largest positive error plus the largest negative one. For every c ≥ 0, the largest
is at most c plus the sum of what each error has above c. So the mean of the range is at most 2c + 2 Σ_a E(error_a − c)⁺
if the errors are symmetric, or if the bound on E(error − c)⁺ holds for both signs. At c = 0 this is the sum of the mean
sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dpfair_lib.central.gap_law import Mechanism

Excess = Callable[[np.ndarray], np.ndarray]
STEPS = 400


def expected_range(excesses: Sequence[Excess], scales: Sequence[float]) -> float:
    """Return a bound on the expected range of 0 and the errors: the least that a grid of levels c gives.

    Parameters
    ----------
    excesses : sequence of callable
        For each error, c ↦ a bound on E(error − c)⁺ and on E(−error − c)⁺.
    scales : sequence of float
        The size of each error; the levels go up to some multiple of the largest.

    Returns
    -------
    float
        A bound, whatever the grid is.
    """
    levels = np.concatenate([[0.0], np.geomspace(1e-3, 30, STEPS) * max(scales)])
    total = sum((excess(levels) for excess in excesses), np.zeros_like(levels))
    return float((2 * (levels + total)).min())


def noise_excess(epsilon: float, size: int, mechanism: Mechanism) -> Excess:
    """Return c ↦ E(noise/n − c)⁺, exactly.

    Parameters
    ----------
    epsilon : float
        ε of the noise, finite.
    size : int
        The divisor n.
    mechanism : {"laplace", "geometric"}
        Laplace or two-sided geometric noise.

    Returns
    -------
    callable
        From an array of levels c ≥ 0.
    """

    def laplace(c: np.ndarray) -> np.ndarray:
        return np.exp(-epsilon * size * c) / (2 * epsilon * size)

    def geometric(c: np.ndarray) -> np.ndarray:
        # linear between whole numbers, at which it falls by the factor e^(−ε)
        whole = np.floor(size * c)
        at = np.exp(-epsilon * whole) * np.exp(-epsilon) / -np.expm1(-2 * epsilon)
        return at * (1 + (size * c - whole) * np.expm1(-epsilon)) / size

    return laplace if mechanism == "laplace" else geometric


def sampling_excess(size: int) -> Excess:
    """Return c ↦ a bound on E(mean of n independent labels − its expectation − c)⁺, for all rates.

    Parameters
    ----------
    size : int
        n.

    Returns
    -------
    callable
        The smaller of two bounds: by the variance, which is at most σ² = 1/(4n), (√(σ² + c²) − c)/2; and by Hoeffding's
        tail e^(−c²/(2σ²)), integrated from c.
    """
    from scipy.special import erfc

    deviation = math.sqrt(1 / (4 * size))

    def excess(c: np.ndarray) -> np.ndarray:
        by_variance = (np.hypot(deviation, c) - c) / 2
        by_tail = math.sqrt(math.pi / 2) * deviation * erfc(c / deviation / math.sqrt(2))
        return np.minimum(by_variance, by_tail)

    return excess
