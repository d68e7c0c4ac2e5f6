"""The exact distribution of the perturbed leader, for classes where the noise can be integrated in closed form."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dpfair_lib._arguments import positive


def cube_law(total: Any, epsilon: float) -> np.ndarray:
    """Return P(hᵢ = 1) where every h in {0, 1}ⁿ may be played: P(totalᵢ + Lap(1/ε) < 0).

    Parameters
    ----------
    total : array of shape (..., n)
        Total costs without noise.
    epsilon : float
        ε > 0: the noise has the scale 1/ε.

    Returns
    -------
    ndarray of shape (..., n)
        Chances; the coordinates are independent.

    Raises
    ------
    ValueError
        If ε is not positive and finite.
    """
    x = positive(epsilon, "epsilon") * np.asarray(total, dtype=float)
    half = np.exp(-abs(x)) / 2
    return np.where(x >= 0, half, 1 - half)


def bit_chance(total: int, ratio: Any) -> Any:
    """Return `cube_law` of one coordinate in the arithmetic of `ratio` = e^(−ε), for a whole total.

    Parameters
    ----------
    total : int
        Total cost.
    ratio : Fraction or float
        In (0, 1).

    Returns
    -------
    Fraction or float
        P(h = 1).

    Raises
    ------
    ValueError
        If the ratio is not in (0, 1).
    """
    if not 0 < ratio < 1:
        raise ValueError(f"ratio: found {ratio}, expected a number in (0, 1)")
    half = ratio ** abs(total) / 2
    return half if total >= 0 else 1 - half


def expert_law(total: Any, epsilon: float) -> np.ndarray:
    """Return the law of the perturbed leader among n experts, hypotheses with a single 1.

    Expert i leads if its noisy total is below all others. Between two totals every distribution function is a
    constant plus a multiple of z = e^(εx) or of 1/z, and their product is integrated term by term.

    Parameters
    ----------
    total : array of shape (n,)
        Total costs without noise.
    epsilon : float
        ε > 0: the noise has the scale 1/ε.

    Returns
    -------
    ndarray of shape (n,)
        Chances, of sum 1.

    Raises
    ------
    ValueError
        If ε is not positive and finite, or the totals are not a vector.
    """
    totals = np.asarray(total, dtype=float)
    if totals.ndim != 1 or len(totals) == 0:
        raise ValueError(f"total: found shape {totals.shape}, expected a vector")
    x = positive(epsilon, "epsilon") * (totals - totals.min())
    n = len(x)
    stops = [-np.inf, *np.unique(x), np.inf]
    chances = np.zeros(n)
    for low, high in itertools.pairwise(stops):
        # powers of z are taken relative to a point of the interval, so that none overflows
        middle = high if np.isinf(low) else low
        for i in range(n):
            terms = _laurent(n, 0, np.exp(-abs(middle - x[i])) / 2, -1 if low >= x[i] else 1)
            for j in range(n):
                if j != i:
                    terms = _times_survival(terms, middle - x[j], low >= x[j])
            chances[i] += _integral(terms, low - middle, high - middle)
    return chances


def _laurent(n: int, constant: float, factor: float, power: int) -> np.ndarray:
    """Return constant + factor · z^power as coefficients of z^(−n) … z^n."""
    terms = np.zeros(2 * n + 1)
    terms[n], terms[n + power] = constant, factor
    return terms


def _times_survival(terms: np.ndarray, offset: float, above: bool) -> np.ndarray:
    """Multiply by P(total + noise > x): e^(−u)/2 above the total, 1 − e^u/2 below, u the distance from it."""
    if above:
        return np.append(terms[1:], 0.0) * np.exp(-offset) / 2
    return terms - np.insert(terms[:-1], 0, 0.0) * np.exp(offset) / 2


def _integral(terms: np.ndarray, low: float, high: float) -> float:
    n = len(terms) // 2
    total = 0.0
    for power, factor in zip(range(-n, n + 1), terms, strict=True):
        if factor == 0:
            continue
        if power == 0:
            total += factor * (high - low)
        else:
            ends = [0.0 if np.isinf(end) else np.exp(power * end) / power for end in (low, high)]
            total += factor * (ends[1] - ends[0])
    return float(total)
