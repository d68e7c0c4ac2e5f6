"""Laws of noisy true positive rates by other routes than the library's: integrals over one count, and whole lists."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

ROOM = 40  # what a Laplace noise exceeds with probability e^(−40)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)


class Ratios(NamedTuple):
    """Outcomes of a group's noisy counts: rate, noisy number of positives, probability; and what is not listed."""

    rates: np.ndarray
    positives: np.ndarray
    masses: np.ndarray
    missing: float


def binomial(m: int, rate: float) -> np.ndarray:
    """Return the chances of 0 to m."""
    return np.array([math.comb(m, t) * rate**t * (1 - rate) ** (m - t) for t in range(m + 1)])


@functools.cache
def tails_given_count(t: int, m: int, epsilon: float, parts: int) -> np.ndarray:
    """Return P(x > i/parts) for i = 0, …, parts, with Laplace noise on t true positives and m − t others.

    The other count is integrated over, and the tail of the first one is that of one noise. No tail of a weighted sum of
    two noises is used.
    """
    f = m - t
    none, nobody = math.exp(-epsilon * t) / 2, math.exp(-epsilon * f) / 2  # P(T ≤ 0), P(F ≤ 0)
    s = np.arange(parts) / parts
    steep = s / (1 - s)
    divisor = np.maximum(steep, 1e-300)
    # beyond the end one of the two noises would have to be too large
    end = np.minimum(f + ROOM / epsilon, (t + ROOM / epsilon) / divisor)
    kinks = np.sort([np.zeros(parts), np.minimum(f, end), np.minimum(t / divisor, end), end], axis=0)
    half = np.diff(kinks, axis=0) / 2
    y = (kinks[:-1] + half)[..., None] + half[..., None] * _NODES
    z = epsilon * (steep[:, None] * y - t)
    # P(T > steep·y) where y > 0
    tail = np.where(z >= 0, np.exp(-abs(z)) / 2, 1 - np.exp(-abs(z)) / 2)
    density = epsilon / 2 * np.exp(-epsilon * abs(y - f))
    total = (half * ((density * tail) @ _WEIGHTS)).sum(axis=0)
    return np.append(total + nobody * (1 - none) + np.where(2 * s < 1, nobody * none, 0.0), 0.0)


@functools.cache
def atoms_given_count(t: int, m: int, epsilon: float) -> np.ndarray:
    """Return P(x = 0), P(x = ½) and P(x = 1) for Laplace noise, from the signs of the two noisy counts."""
    none, nobody = math.exp(-epsilon * t) / 2, math.exp(-epsilon * (m - t)) / 2
    return np.array([none * (1 - nobody), none * nobody, nobody * (1 - none)])


def laplace_cells(rate: float, m: int, epsilon: float, parts: int) -> tuple[np.ndarray, ...]:
    """Return lower ends, upper ends and probabilities of the cells of [0, 1] of a noisy rate; atoms are cells."""
    chances = binomial(m, rate)
    tails = sum(p * tails_given_count(t, m, epsilon, parts) for t, p in enumerate(chances))
    atoms = sum(p * atoms_given_count(t, m, epsilon) for t, p in enumerate(chances))
    ends = np.arange(parts + 1) / parts
    inner = tails[:-1] - tails[1:]  # of (end, next end]; its atom is apart
    inner[np.searchsorted(ends, 0.5) - 1] -= atoms[1]
    inner[-1] -= atoms[2]
    own = np.array([0.0, 0.5, 1.0])
    return np.r_[ends[:-1], own], np.r_[ends[1:], own], np.r_[np.maximum(inner, 0), atoms]


@functools.cache
def noisy_pairs(t: int, f: int, odds: float, reach: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all noisy counts with geometric noise up to a limit, negative ones as 0, and their probabilities."""
    noise = np.arange(-reach, reach + 1)
    one = (
        (odds - 1) / (odds + 1) * odds ** -abs(noise.astype(float))
        if math.isfinite(odds)
        else 1.0 * (noise == 0)
    )
    first, second = (array.ravel() for array in np.meshgrid(t + noise, f + noise, indexing="ij"))
    masses = np.outer(one, one).ravel()
    return np.maximum(first, 0), np.maximum(second, 0), masses


def ratios(cells: Sequence[tuple[int, int, float]], odds: float, reach: int) -> Ratios:
    """Return the law of the noisy rate and of its divisor, for exact counts with these probabilities."""
    found: dict[tuple[int, int], float] = {}
    for t, f, chance in cells:
        pairs = noisy_pairs(t, f, odds, reach)
        for seen, missed, mass in zip(*(one.tolist() for one in pairs), strict=True):
            if mass:
                found[seen, missed] = found.get((seen, missed), 0.0) + chance * mass
    pair = np.array(list(found))
    total, masses = pair.sum(axis=1), np.array(list(found.values()))
    rates = np.where(total > 0, pair[:, 0] / np.maximum(total, 1), 0.5)
    return Ratios(rates, total, masses, max(1 - float(masses.sum()), 0.0))


def given_positives(m: int, rate: float) -> list[tuple[int, int, float]]:
    """Return all numbers of true positives and of others of m rows, with their probabilities."""
    return [(t, m - t, float(p)) for t, p in enumerate(binomial(m, rate))]


def without_divisors(law: Ratios) -> Ratios:
    """Return the law of the noisy rate alone, each value once."""
    values, places = np.unique(law.rates, return_inverse=True)
    masses = np.bincount(places.ravel(), law.masses)
    return Ratios(values, np.ones_like(values), masses, law.missing)


def gaps(
    rates: Sequence[float], laws: Sequence[Ratios], aim: Callable[[list[Any], list[Any]], Any], width: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return all gaps of new rates, their probabilities, and the probability of what is not listed."""
    grids = np.meshgrid(*(np.arange(len(law.rates)) for law in laws), indexing="ij")
    places = [grid.ravel() for grid in grids]
    seen = [law.rates[at] for law, at in zip(laws, places, strict=True)]
    divisors = [law.positives[at] for law, at in zip(laws, places, strict=True)]
    masses = np.prod([law.masses[at] for law, at in zip(laws, places, strict=True)], axis=0)
    low = np.clip(aim(seen, divisors) - width / 2, 0.0, 1 - width)
    after = np.array([moved(rate, x, low, low + width) for rate, x in zip(rates, seen, strict=True)])
    return np.ptp(after, axis=0), masses, sum(law.missing for law in laws)


def moved(rate: float, x: Any, low: Any, high: Any) -> Any:
    """Return a group's new rate."""
    down = rate * high / np.where(x > high, x, 1.0)
    up = 1 - (1 - rate) * (1 - low) / np.where(x < low, 1 - x, 1.0)
    return np.where(x > high, down, np.where(x < low, up, rate))


def between(
    rates: Sequence[float], cells: Sequence[tuple[np.ndarray, ...]], aim: Callable[..., Any], width: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the least and the largest gap on each product of cells, and its probability.

    A new rate falls with the own noisy rate and rises with the band; the band rises with every noisy rate.
    """
    grids = np.meshgrid(*(np.arange(len(one[0])) for one in cells), indexing="ij")
    places = [grid.ravel() for grid in grids]
    low, high = ([one[end][at] for one, at in zip(cells, places, strict=True)] for end in (0, 1))
    masses = np.prod([one[2][at] for one, at in zip(cells, places, strict=True)], axis=0)
    bands = [np.clip(aim(ends, None) - width / 2, 0.0, 1 - width) for ends in (low, high)]
    least = np.array(
        [moved(rate, x, bands[0], bands[0] + width) for rate, x in zip(rates, high, strict=True)]
    )
    most = np.array([moved(rate, x, bands[1], bands[1] + width) for rate, x in zip(rates, low, strict=True)])
    smallest = np.maximum(least.max(axis=0) - most.min(axis=0), 0.0)
    return smallest, most.max(axis=0) - least.min(axis=0), masses


@functools.cache
def listed_gaps(
    rates: tuple[float, ...], positives: tuple[int, ...], rule: Callable[..., Any], width: float, odds: float,
    reach: int,
) -> tuple[Any, Any, float]:  # fmt: skip
    """Return gaps, their probabilities and what is not listed, over all pairs of noisy counts of all groups."""
    laws = [
        without_divisors(ratios(given_positives(m, rate), odds, reach))
        for rate, m in zip(rates, positives, strict=True)
    ]
    return gaps(rates, laws, rule, width)
