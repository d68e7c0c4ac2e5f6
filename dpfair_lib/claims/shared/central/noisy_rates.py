"""Algorithm 2 on small samples, in fractions: the witnesses that the checks of Theorem 3 and Proposition 4 share.

Geometric noise on counts has rational probabilities where e^(−ε) is rational, so every law is a finite sum.
"""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.gap_law import excess_change

ZERO, ONE = Fraction(0), Fraction(1)


def fractions_up_to(denominator: int) -> list[Fraction]:
    """Return all fractions in [0, 1] with denominators up to the given one, sorted."""
    return sorted({Fraction(i, n) for n in range(1, denominator + 1) for i in range(n + 1)})


def printed_rates(alpha: Fraction, beta: Fraction, a: Fraction, b: Fraction) -> tuple[Fraction, Fraction]:
    """Return both groups' rates with the thresholds of Algorithm 2 as printed; divides by zero where they do."""
    if a >= b:
        return alpha * (a + b) / (2 * a), beta + (1 - beta) * (a - b) / (2 * (1 - b))
    second, first = printed_rates(beta, alpha, b, a)
    return first, second


def printed_changes(alpha: Fraction, beta: Fraction, a: Fraction, b: Fraction) -> Fraction:
    """Return the summed change rates with the printed thresholds: demoted in one group, promoted in the other."""
    if a < b:
        return printed_changes(beta, alpha, b, a)
    return alpha * (1 - (a + b) / (2 * a)) + (1 - beta) * (a - b) / (2 * (1 - b))


def has_thresholds(a: Fraction, b: Fraction) -> bool:
    """Return whether the printed thresholds are numbers: not at (0, 0) and not at (1, 1)."""
    return not (a == b and a in (0, 1))


def printed_gap(alpha: Fraction, beta: Fraction, a: Fraction, b: Fraction) -> Fraction:
    """Return the signed gap with the printed thresholds; that of before where they are 0/0 and no one is flipped."""
    first, second = printed_rates(alpha, beta, a, b) if has_thresholds(a, b) else (alpha, beta)
    return first - second


def lattice_law(n: int, rate: Fraction, decay: Fraction) -> list[Fraction]:
    """Return the law of the clipped noisy count by adding up; ``decay`` is e^(−ε), 0 for no noise."""
    law = [ZERO] * (n + 1)
    for k in range(n + 1):
        p = math.comb(n, k) * rate**k * (1 - rate) ** (n - k)
        for j in range(1, n):
            law[j] += p * (1 - decay) / (1 + decay) * decay ** abs(j - k)
        # P(noise ≤ −k) = P(noise ≥ k) = decay^k/(1 + decay) for k ≥ 0
        law[0] += p * decay**k / (1 + decay)
        law[n] += p * decay ** (n - k) / (1 + decay)
    return law


@functools.cache
def gap_outcomes(
    rates: tuple[Fraction, Fraction], n: tuple[int, int], decays: tuple[Fraction, Fraction]
) -> tuple[tuple[Fraction, Fraction, Fraction], ...]:
    """Return (signed gap, summed changes, probability) of every outcome of Algorithm 2 with geometric noise."""
    laws = [lattice_law(*each) for each in zip(n, rates, decays, strict=True)]
    outcomes = []
    for i, j in itertools.product(range(n[0] + 1), range(n[1] + 1)):
        a, b = Fraction(i, n[0]), Fraction(j, n[1])
        changes = printed_changes(*rates, a, b) if has_thresholds(a, b) else ZERO
        outcomes.append((printed_gap(*rates, a, b), changes, laws[0][i] * laws[1][j]))
    return tuple(outcomes)


SMALL: tuple[dict[str, Any], ...] = tuple(
    {"rates": rates, "n": n, "decays": decays}
    for rates in itertools.product((ZERO, Fraction(1, 3), Fraction(4, 5)), repeat=2)
    for n in ((1, 1), (2, 3), (4, 2))
    for decays in (
        (Fraction(1, 2), Fraction(1, 2)),
        (Fraction(9, 10), Fraction(1, 5)),
        (ZERO, Fraction(2, 3)),
    )
)


def epsilons(decays: tuple[Fraction, Fraction]) -> tuple[float, float]:
    """Return −log of each decay: the ε of the geometric noise."""
    first, second = (math.inf if decay == 0 else -math.log(decay) for decay in decays)
    return first, second


def fine_lattice(rate: float, n: int, epsilon: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points and probabilities of a Laplace-noised rate, by geometric noise on a lattice of 1/steps counts.

    As the steps grow this tends to the clipped Laplace law, with an error of the order of ε/steps.
    """
    counts = np.array([math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)])
    decay = math.exp(-epsilon / steps)
    at = np.arange(n * steps + 1)
    law = counts @ (decay ** abs(at - steps * np.arange(n + 1)[:, None])) * (1 - decay) / (1 + decay)
    law[0] = counts @ decay ** (steps * np.arange(n + 1)) / (1 + decay)
    law[-1] = counts @ decay ** (steps * (n - np.arange(n + 1))) / (1 + decay)
    return at / (n * steps), law


def unclipped_bound(alpha: Any, beta: Any, gap: Any) -> Any:
    """The printed lower bound |α − β| − γ in place of err*, also where it is negative."""
    return abs(alpha - beta - gap) - (abs(alpha - beta) - abs(gap))


def against_exact_parity(alpha: Any, beta: Any, gap: Any) -> Any:
    """The excess over the least change for gap 0."""
    return abs(alpha - beta - gap) - abs(alpha - beta)


def gap_without_sign(alpha: Any, beta: Any, gap: Any) -> Any:
    """The excess as if the flips had never gone too far."""
    return excess_change(alpha, beta, abs(gap))
