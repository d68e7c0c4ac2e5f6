"""How far a hypothesis's error and discrimination on a sample are from those on the population."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._validation import as_count
from dpfair_lib.populations.compositions import compositions

Pair = tuple[Any, Any]


def deviation_law(
    n: int, positives: Pair, rates: Pair, false_positives: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact law of |Γ^Z − Γ|, or of |u(Z) − u|, for n i.i.d. examples and one deterministic hypothesis.

    Every composition of n into the cells (positives of either group on which h is 1 or 0, the others) is enumerated,
    so the group counts are as random as they are. Γ^Z is 0 where a group has no positives.

    Parameters
    ----------
    n : int
        Examples.
    positives : pair
        P₁₀ and P₁₁, the probabilities of a positive of either group; together below 1.
    rates : pair
        γ₁₀ and γ₁₁, the true positive rates of h.
    false_positives : number, optional
        Pr[h = 1 | Y = 0]. If it is given, the law of the deviation of u = Γ + err is returned.

    Returns
    -------
    deviations, probabilities : ndarray
        One entry for each composition; exact where all arguments are `Fraction`.
    """
    shares = [share for p, rate in zip(positives, rates, strict=True) for share in (p * rate, p * (1 - rate))]
    rest = 1 - positives[0] - positives[1]
    shares += [rest] if false_positives is None else [rest * false_positives, rest * (1 - false_positives)]
    counts = compositions(as_count(n, "n", 1), len(shares), np.int16)
    exact = isinstance(shares[-1], Fraction)
    weights = _multinomial(counts.astype(object) if exact else counts, shares, exact)
    hit_0, miss_0, hit_1, miss_1 = (counts[:, i].astype(object if exact else float) for i in range(4))
    m_0, m_1 = hit_0 + miss_0, hit_1 + miss_1
    one = Fraction(1) if exact else 1.0
    gap = abs(hit_0 * one / np.maximum(m_0, 1) - hit_1 * one / np.maximum(m_1, 1))
    gap = np.where((m_0 > 0) & (m_1 > 0), gap, 0 * one)
    truth = abs(rates[0] - rates[1])
    if false_positives is None:
        return abs(gap - truth), weights
    error = (miss_0 + miss_1 + counts[:, 4]) * one / n
    wrong = sum(p * (1 - rate) for p, rate in zip(positives, rates, strict=True)) + rest * false_positives
    return abs(gap + error - truth - wrong), weights


def _multinomial(counts: np.ndarray, shares: list[Any], exact: bool) -> np.ndarray:
    n = int(counts[0].sum())
    if exact:
        factorials = np.array([math.factorial(k) for k in range(n + 1)], dtype=object)
        weights = factorials[n] // np.prod(factorials[counts.astype(int)], axis=1)
        for i, share in enumerate(shares):
            weights = (
                weights
                * np.array([Fraction(share) ** k for k in range(n + 1)], dtype=object)[
                    counts[:, i].astype(int)
                ]
            )
        return weights
    logs = np.array([math.lgamma(k + 1) for k in range(n + 1)])
    total = logs[n] - logs[counts].sum(axis=1)
    for i, share in enumerate(shares):
        with np.errstate(divide="ignore", invalid="ignore"):
            total = total + np.where(counts[:, i] == 0, 0.0, counts[:, i] * np.log(float(share)))
    return np.exp(total)


def discrimination_bound(rho: Any, n: int, positives: Pair) -> Any:
    """Return our bound on Pr[|Γ^Z − Γ| > ρ]: 2 Σ_a (1 − P₁ₐ(1 − e^(−ρ²/2)))ⁿ.

    Given the counts N_a, Hoeffding's inequality for either rate at ρ/2 gives 2 Σ_a e^(−N_a ρ²/2); the bound is the
    expectation over N_a ~ Bin(n, P₁ₐ). An empty cell counts as a failure. It is at most 4 exp(−0.39 ρ² n min_a P₁ₐ) for
    ρ ≤ 1, since 1 − e^(−ρ²/2) is concave in ρ².

    Parameters
    ----------
    rho : float or array
        In [0, 1].
    n : int
        I.i.d. examples.
    positives : pair
        P₁₀ and P₁₁.

    Returns
    -------
    float or ndarray
        The bound; it may exceed 1.
    """
    drop = -np.expm1(-(np.asarray(rho, dtype=float) ** 2) / 2)
    return 2 * sum((1 - float(p) * drop) ** n for p in positives)


def utility_bound(rho: Any, n: int, positives: Pair, share: Any = 0.5) -> Any:
    """Return our bound on Pr[|u(Z) − u| > ρ]: `discrimination_bound` at a share of ρ, Hoeffding's for err at the rest.

    Parameters
    ----------
    rho : float or array
        At least 0.
    n : int
        I.i.d. examples.
    positives : pair
        P₁₀ and P₁₁.
    share : float or array
        In (0, 1): the part of ρ left to Γ.

    Returns
    -------
    float or ndarray
        The bound; it may exceed 1.
    """
    rho = np.asarray(rho, dtype=float)
    gap = discrimination_bound(np.minimum(share * rho, 1), n, positives)
    # Γ cannot deviate by more than 1, nor err
    gap = np.where(share * rho > 1, 0.0, gap)
    return gap + 2 * np.exp(-2 * n * ((1 - share) * rho) ** 2)


def printed_discrimination_bound(rho: Any, n: int, positives: Pair, sign: int = 1) -> Any:
    """Return 16 exp(± ρ² n min_a P₁ₐ / 4): Lemma 3 with the sign in print, +1, or the one that is meant, −1."""
    return 16 * np.exp(sign * np.asarray(rho, dtype=float) ** 2 * n * float(min(positives)) / 4)


def printed_utility_bound(rho: Any, n: int, positives: Pair) -> Any:
    """Return 18 exp(−ρ² n min_a P₁ₐ / 16): Lemma 1."""
    return 18 * np.exp(-(np.asarray(rho, dtype=float) ** 2) * n * float(min(positives)) / 16)
