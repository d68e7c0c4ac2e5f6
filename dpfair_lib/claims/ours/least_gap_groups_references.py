"""What the bounds for several groups are compared with: nothing of it depends on what is examined."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction

import numpy as np

from dpfair_lib.central.least_gap_exact import LeastGap, least_gap, noisy_count_law
from dpfair_lib.central.least_gap_program import private_minimax_gap
from dpfair_lib.claims.shared.central.mechanism_programs import (
    binomials,
    least_loss,
    of_rates,
    one_apart,
    products,
)

SIXTHS = [i / 6 for i in range(7)]


@functools.cache
def two_rates(sizes: tuple[int, int], epsilon: float) -> float:
    """Return the least worst gap per unit of response if both rates are unknown sixths."""
    laws, losses, symmetries = of_rates(sizes, tuple(SIXTHS))
    return least_loss(laws, losses, one_apart(sizes), math.exp(epsilon), symmetries=symmetries)


@functools.cache
def exact_gap(n: int, epsilon: float, delta: float = 0.0) -> LeastGap:
    """Return the certificate for one group, in floats."""
    return least_gap(n, math.exp(epsilon), delta)


@functools.cache
def one_rate(n: int, epsilon: float) -> float:
    """Return the least worst gap per unit of response if one rate is an unknown sixth."""
    return float(private_minimax_gap(SIXTHS, n, epsilon, response=1.0)[0])


@functools.cache
def worst_of_centres(n: int, epsilon: float) -> float:
    """Return the worst risk at two rates of the centres for one group of 2n; x is exchanged in the second group."""
    law, rates = noisy_count_law(2 * n, math.exp(epsilon)), np.linspace(0, 1, 51)
    laws, centres = binomials(n, rates), np.array(exact_gap(2 * n, epsilon).centres)
    # the counts of both groups together, and what the noise makes of them, for every pair of rates
    counts = np.zeros((len(rates), len(rates), 2 * n + 1))
    for at in range(n + 1):
        counts[:, :, at : at + n + 1] += laws[:, None, at, None] * laws[None]
    means = (rates[:, None] + rates) / 2
    return float((counts @ law * abs(means[:, :, None] - centres)).sum(axis=2).max())


@functools.cache
def worst_of_release(sizes: tuple[int, int], epsilon: float) -> float:
    """Return the worst mean square error of the noisy difference, shrunk, over rates in eighths."""
    first, second = sizes
    steps = first * second if first != second else first
    scale = epsilon / (second if first != second else 1)
    noise = np.arange(
        -600, 601
    )  # the difference times `steps` is a whole number, and moves by at most 1 or n
    chance = np.exp(-scale * abs(noise)) * math.tanh(scale / 2)
    v = float(chance @ noise**2) / steps**2
    far = 1 / (4 * first) + 1 / (4 * second) + v - 1 / (first + second)
    root = math.sqrt(first + second)
    weight = min(root / (1 + root), 1 / (1 + far))
    rates = list(itertools.product(np.linspace(0, 1, 9), repeat=2))
    pairs = itertools.product(range(first + 1), range(second + 1))
    differences = np.array([i / first - j / second for i, j in pairs])
    gaps = np.array([p - q for p, q in rates])
    errors = gaps[:, None, None] - weight * (differences[:, None] + noise / steps)
    return float((products(sizes, rates) * (errors**2 @ chance)).sum(axis=1).max())


@functools.cache
def noisy_range(k: int, n: int, epsilon: float) -> float:
    """Return the mean range of the errors of k noisy shares at the rate ½, from their distribution function."""
    noise = np.arange(-int(40 / epsilon) - 1, int(40 / epsilon) + 2)
    law = np.convolve(binomials(n, [0.5])[0], np.exp(-epsilon * abs(noise)) * math.tanh(epsilon / 2))
    below = np.minimum(np.cumsum(law), 1)
    return float((1 - below**k - (1 - below) ** k).sum() / n)


@functools.cache
def extreme_outputs(
    n: int, odds: Fraction, shift: Fraction
) -> list[tuple[tuple[int, ...], Fraction, Fraction]]:
    """Return every extreme output: its steps, and its mean chances at both signs."""
    high, found = (1 + shift) / 2, []
    law = [math.comb(n, k) * high**k * (1 - high) ** (n - k) for k in range(n + 1)]
    for steps in itertools.product((-1, 0, 1), repeat=n):
        powers = [odds**at for at in itertools.accumulate(steps, initial=0)]
        for_it = sum((p * x for p, x in zip(law, powers, strict=True)), Fraction(0))
        against = sum((p * x for p, x in zip(reversed(law), powers, strict=True)), Fraction(0))
        found.append((steps, for_it, against))
    return found
