"""Law of the gap of two groups that move halfway, for noisy rates of any law.

The signed gap never falls as the second noisy rate grows. So for each value of the first one, a tail of the second one
tells how often the gap is exceeded.
"""

from __future__ import annotations

import numpy as np

from dpfair_lib.central.gap_law import crossing, signed_gap
from dpfair_lib.central.several_groups.gap_cells import quantiles
from dpfair_lib.central.several_groups.law_points import NoisyRate, few_points, fine_points

TIE = 1e-12  # a gap that is the threshold but for rounding does not exceed it
MOST_PAIRS = 4_000_000  # of two lattices: up to so many, all are listed for the mean
PLACES = 20_000  # of a noisy rate with a density, at least
FINE = 0.02  # intervals that keep three points, in deviations

Pair = tuple[float, float]
Laws = tuple[NoisyRate, NoisyRate]


def halfway_exceeds(rates: Pair, laws: Laws, gap: float) -> float:
    """Return P(gap > a value).

    Parameters
    ----------
    rates : (float, float)
        True rates of the groups.
    laws : (NoisyRate, NoisyRate)
        Of their noisy rates, independent.
    gap : float
        At least 0.

    Returns
    -------
    float
        Exact for two lattices, else right to about 1e-5.
    """
    if gap >= 1:
        return 0.0
    total = 0.0
    for (alpha, beta), (first, second) in ((rates, laws), (rates[::-1], laws[::-1])):
        points, masses = fine_points(first, PLACES)
        total += float(masses @ _given(points, alpha, beta, second, gap))
    return min(total, 1.0)


def _given(a: np.ndarray, alpha: float, beta: float, second: NoisyRate, gap: float) -> np.ndarray:
    """Return P(rate₀ − rate₁ > gap) for each value of the first noisy rate."""
    if second.lattice:
        values = fine_points(second)[0]
        # halve the places until each knows the last of its values that does not exceed the gap
        low, high = np.full(len(a), -1), np.full(len(a), len(values))
        while (high - low > 1).any():
            middle = np.clip((low + high) // 2, 0, len(values) - 1)
            exceeds = signed_gap(alpha, beta, a, values[middle]) > gap + TIE
            open_places = high - low > 1
            low = np.where(open_places & ~exceeds, middle, low)
            high = np.where(open_places & exceeds, middle, high)
        return np.where(low < 0, 1.0, second.tail(values[np.maximum(low, 0)], strict=True, slack=1e-9))
    curve = crossing(alpha, beta, a, gap)
    chance = second.tail(np.clip(curve, 0.0, np.nextafter(1, 0)), strict=True)
    chance = np.where(curve >= 1, second.tail(np.ones(1), strict=False), chance)
    chance = np.where(signed_gap(alpha, beta, a, 1.0) > gap + TIE, chance, 0.0)
    return np.where(signed_gap(alpha, beta, a, 0.0) > gap + TIE, 1.0, chance)


def halfway_mean(rates: Pair, laws: Laws) -> float:
    """Return the expected gap.

    Parameters
    ----------
    rates, laws
        As in `halfway_exceeds`.

    Returns
    -------
    float
        Exact for two lattices of few points, else right to about 1e-5.
    """
    points = [fine_points(law, PLACES) for law in laws]
    if not all(law.lattice for law in laws) or len(points[0][0]) * len(points[1][0]) > MOST_PAIRS:
        points = [few_points(*one, FINE * quantiles(*one).spread) for one in points]
    (a, p), (b, q) = points
    return float(p @ np.abs(signed_gap(*rates, a[:, None], b)) @ q)
