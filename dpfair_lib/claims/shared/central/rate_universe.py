"""What the checks on noisy rates enumerate: neighbouring data sets, laws on a lattice, divergences by summation."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.released_rates import Decay, Rate, rational_decay

PARTS = 12  # every point and every size up to 4 fits a lattice of twelfths
State = tuple[int, int, int, int]  # selected and size of group 0, then of group 1


def interval(rate: Rate, low: Fraction, high: Fraction, decay: Decay) -> Any:
    """Return P(low ≤ noisy rate ≤ high) from the distribution function of Laplace noise."""

    def below(x: Fraction) -> Any:
        u = rate.size * x - rate.selected  # on the scale of counts the noise is Laplace of scale 1/ε
        return decay(-u) / 2 if u < 0 else 1 - decay(u) / 2

    return below(high) - below(low)


@functools.cache
def cells(rate: Rate, root: Fraction) -> list[Any]:
    """Return the law of the clipped noisy rate, e^(−ε/12) = root: both atoms, and twelve intervals between."""
    decay = rational_decay(root, PARTS)
    edges = [Fraction(i, PARTS) for i in range(PARTS + 1)]
    inner = [interval(rate, low, high, decay) for low, high in itertools.pairwise(edges)]
    k, short = rate.selected, rate.size - rate.selected
    upper = decay(Fraction(short)) / 2 if short >= 0 else 1 - decay(Fraction(-short)) / 2
    return [decay(Fraction(k)) / 2, *inner, upper]


def rate_pairs() -> Iterator[tuple[Rate, Rate]]:
    """Yield all pairs of rates that one record can turn into one another; a count may exceed its divisor by one."""
    for m, n in itertools.product(range(1, 5), repeat=2):
        for k, j in itertools.product(range(m + 2), range(n + 2)):
            if m == n and abs(k - j) <= 1 and min(k, j) <= m:
                yield Rate(k, m), Rate(j, n)
            if abs(m - n) == 1 and k <= m and j <= n and (j - k) * (n - m) in (0, 1) and k - j <= 1:
                yield Rate(k, m), Rate(j, n)


def neighbours(state: State, relation: str) -> Iterator[State]:
    """Yield what one record can make of the groups' counts and sizes under a relation."""
    k_0, m_0, k_1, m_1 = state
    groups = ((k_0, m_0), (k_1, m_1))
    if relation in ("replace-within-group", "replace-one"):
        for a in (0, 1):
            k, m = groups[a]
            yield from (_with(groups, {a: (j, m)}) for j in (k - 1, k + 1) if 0 <= j <= m)
    if relation in ("replace-one", "sensitive-attribute"):
        for a, was, will in itertools.product((0, 1), repeat=3):
            (k, m), (j, n) = groups[a], groups[1 - a]
            if was <= k and k - was <= m - 1:
                yield _with(groups, {a: (k - was, m - 1), 1 - a: (j + will, n + 1)})
    if relation == "add-remove":
        for a, selected in itertools.product((0, 1), repeat=2):
            k, m = groups[a]
            yield _with(groups, {a: (k + selected, m + 1)})
            if selected <= k and k - selected <= m - 1:
                yield _with(groups, {a: (k - selected, m - 1)})


def _with(groups: Any, changed: dict[int, tuple[int, int]]) -> State:
    first, second = (changed.get(a, groups[a]) for a in (0, 1))
    return (*first, *second)


def product(*laws: list[Any]) -> list[Any]:
    """Return the law of independent outcomes together."""
    return [math.prod(chances) for chances in itertools.product(*laws)]


def laplace_delta_by_integral(first: float, second: float, at: float) -> float:
    """Return δ(at) of two Laplace counts that both move, by Gauss–Legendre over how far one lies between them.

    With u = clip(noisy count − count, 0, 1) the loss of one count is ε(1 − 2u). The event of a loss above
    ``at`` is ε₀u₀ + ε₁u₁ < v = (ε₀ + ε₁ − at)/2; it is integrated under both laws.
    """
    v = (first + second - at) / 2
    if v <= 0:
        return 0.0

    def below(x: np.ndarray, epsilon: float, moved: int) -> np.ndarray:
        """P(εu < x), u as above, for noise around 0 or around 1."""
        inside = 1 - np.exp(-x) / 2 if moved == 0 else np.exp(x - epsilon) / 2
        return np.where(x <= 0, 0, np.where(x > epsilon, 1, inside))

    nodes, weights = np.polynomial.legendre.leggauss(40)
    chances = []
    for moved in (0, 1):
        atom_low = 0.5 if moved == 0 else math.exp(-second) / 2
        atom_high = math.exp(-second) / 2 if moved == 0 else 0.5
        total = atom_low * below(np.array(v), first, moved) + atom_high * below(
            np.array(v - second), first, moved
        )
        stops = sorted({0.0, min(max(v - first, 0.0), second), min(v, second)})
        for low, high in itertools.pairwise(stops):
            t = low + (high - low) * (nodes + 1) / 2
            density = np.exp(-t if moved == 0 else t - second) / 2
            total = total + (high - low) / 2 * (weights @ (density * below(v - t, first, moved)))
        chances.append(float(total))
    return chances[0] - math.exp(at) * chances[1]
