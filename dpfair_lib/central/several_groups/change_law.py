"""Exact law of the summed changes of several groups after they move to a band whose place depends on noisy rates.

A group of rate α and noisy rate x changes α(1 − high/x) of its members' labels if x is above the band [low, high],
(1 − α)(low − x)/(1 − x) if below, and nobody in between. Given the band, these are independent. So the mean is a sum,
and the distribution a convolution. Where the noisy rate that decides is the median, both also count how many of the
other groups lie below it. A noisy rate with a density is replaced by many points.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dpfair_lib.central.gap_law import RateLaw
from dpfair_lib.central.several_groups.law_points import NEGLIGIBLE, few_points, fine_points
from dpfair_lib.central.several_groups.several_gaps import Rule

TIE = 1e-12  # sums that differ by less are equal
MOST_WAYS = 20_000  # outcomes of the other groups: up to so many, all are listed
BINS, REACH = 2048, 14  # else sums are rounded to so many places, within so many deviations of the mean
WIDTH, FINE = (
    0.5,
    0.05,
)  # of the intervals that keep three points: of the rate that decides, and of the others
PLACES = 2000  # of a noisy rate with a density, at least
LEAST = 1e-9  # deviation that counts as none
BLOCK = 64  # values that decide, at a time

Points = tuple[np.ndarray, np.ndarray]


class ChangeLaw(NamedTuple):
    """The distribution of a sum of changes, as points and masses.

    Attributes
    ----------
    values, masses : ndarray
        Ascending sums, and their probabilities.
    step : float
        Distance of the points to which sums were rounded, with their mean kept; 0 if they are exact.
    nobody : float
        P(sum = 0).
    """

    values: np.ndarray
    masses: np.ndarray
    step: float
    nobody: float

    def exceeds(self, value: float) -> float:
        """Return P(sum > a value)."""
        if not self.step:
            return float(self.masses[self.values > value + TIE].sum())
        # all but the atom at 0 is spread over half a step on either side, or above 0
        bottom = np.maximum(self.values - self.step / 2, 0.0)
        share = np.clip(
            (self.values + self.step / 2 - value) / (self.values + self.step / 2 - bottom), 0.0, 1.0
        )
        return max(float(self.masses @ share) - self.nobody * float(share[self.values <= 0].sum()), 0.0)

    def quantile(self, eta: float) -> float:
        """Return the smallest value that the sum exceeds with probability at most η."""
        if self.exceeds(0.0) <= eta:
            return 0.0
        above = self.masses.sum() - np.cumsum(self.masses)
        if not self.step:
            return float(self.values[np.flatnonzero(above <= eta)[0]])
        low, high = 0.0, float(self.values[-1] + self.step)
        while high - low > TIE:
            middle = (low + high) / 2
            low, high = (low, middle) if self.exceeds(middle) <= eta else (middle, high)
        return high


class _Aim(NamedTuple):
    """Who decides (or nobody), its values with their probabilities, and how many others lie below it (or any)."""

    own: int | None
    values: np.ndarray
    masses: np.ndarray
    below: int | None


def mean_changes(rates: Sequence[float], laws: Sequence[RateLaw], rule: Rule) -> float:
    """Return the expected sum of the groups' change rates."""
    points = [fine_points(law, PLACES) for law in laws]
    total = 0.0
    for aim in _aims(points, rule):
        low, high = _band(aim.values, rule.gamma)
        chances, sums = _none_yet(aim), _none_yet(aim)
        chances[0] += 1
        for group, rate in enumerate(rates):
            if group != aim.own:
                up, down = _mean_moves(rate, points[group], low, high)
                left = _chance_below(points[group], aim, group)
                sums = _shifted(sums, left, aim) + _weighted(chances, up, down, aim)
                chances = _shifted(chances, left, aim)
        total += float(aim.masses @ sums[-1])
    return total


def mean_changes_of_two(rates: tuple[float, float], laws: tuple[RateLaw, RateLaw]) -> float:
    """Return the expected sum of two groups' change rates, if both move halfway.

    If x > y are the noisy rates of groups of rates α and β, they change α(x − y)/(2x) and (1 − β)(x − y)/(2(1 − y)).
    """
    total = 0.0
    for first, second in ((0, 1), (1, 0)):
        # the first group is the higher one
        (x, p), (y, q) = (fine_points(laws[at], PLACES) for at in (first, second))
        below = _before(x, y, q)
        total += rates[first] / 2 * float(p @ ((x * below[0] - below[1]) / np.where(x > 0, x, 1.0)))
        # the same seen from 1: the second group is the higher one
        above = _before(1 - y[::-1], 1 - x[::-1], p[::-1])
        rest = 1 - y[::-1]
        moved = (rest * above[0] - above[1]) / np.where(rest > 0, rest, 1.0)
        total += (1 - rates[second]) / 2 * float(q[::-1] @ moved)
    return total


def _before(x: np.ndarray, y: np.ndarray, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return P(Y < x) and E(Y; Y < x) for each x."""
    at = np.searchsorted(y, x)
    chance, mean = (np.concatenate([[0.0], np.cumsum(one)])[at] for one in (masses, masses * y))
    return chance, mean


def change_law(rates: Sequence[float], laws: Sequence[RateLaw], rule: Rule) -> ChangeLaw:
    """Return the distribution of the sum of the groups' change rates."""
    points = [fine_points(law, PLACES) for law in laws]
    ways = math.prod(len(at) for at, _ in points)
    if ways <= MOST_WAYS * max(len(at) for at, _ in points) and all(law.lattice for law in laws):
        return _listed(rates, points, rule)
    return _rounded(rates, points, rule)


def _aims(points: Sequence[Points], rule: Rule) -> Iterator[_Aim]:
    if rule.middle is not None:
        yield _Aim(None, np.array([rule.middle]), np.ones(1), None)
        return
    below = (len(points) - 1) // 2 if rule.anchor is None else None
    for group in range(len(points)) if rule.anchor is None else (rule.anchor,):
        yield _Aim(group, *points[group], below)


def _band(values: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    low = np.clip(values - gamma / 2, 0.0, 1 - gamma)
    return low, low + gamma


def _none_yet(aim: _Aim) -> np.ndarray:
    """Return zeros: for each number of groups below, up to the one that is wanted, and each value."""
    return np.zeros(((aim.below or 0) + 1, len(aim.values)))


def _chance_below(points: Points, aim: _Aim, group: int) -> np.ndarray:
    """Return P(the group lies below the one that decides); of equal noisy rates, the first group lies below."""
    at, masses = points
    if aim.own is None or aim.below is None:
        return np.zeros(len(aim.values))
    sums = np.concatenate([[0.0], np.cumsum(masses)])
    return sums[np.searchsorted(at, aim.values, side="right" if group < aim.own else "left")]


def _shifted(kept: np.ndarray, left: np.ndarray, aim: _Aim) -> np.ndarray:
    """Return the coefficients after one more group, which lies below with the given chance."""
    return _weighted(kept, left, 1 - left, aim)


def _weighted(kept: np.ndarray, left: np.ndarray, right: np.ndarray, aim: _Aim) -> np.ndarray:
    """Multiply by left·z + right, where z counts groups below; without a count z is 1."""
    if aim.below is None:
        return kept * (left + right)
    result = kept * right
    result[1:] += kept[:-1] * left
    return result


def _mean_moves(
    rate: float, points: Points, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the group's expected share of promoted people, and that of rejected people, for each band."""
    at, masses = points
    inverse = masses / np.where(at > 0, at, 1.0)
    rest = masses / np.where(at < 1, 1 - at, 1.0)
    above, by_rate = (np.concatenate([np.cumsum(one[::-1])[::-1], [0.0]]) for one in (masses, inverse))
    under, by_rest = (np.concatenate([[0.0], np.cumsum(one)]) for one in (masses, rest))
    top, bottom = np.searchsorted(at, high, side="right"), np.searchsorted(at, low, side="left")
    down = rate * (above[top] - high * by_rate[top])
    up = (1 - rate) * (under[bottom] - (1 - low) * by_rest[bottom])
    return np.maximum(up, 0.0), np.maximum(down, 0.0)


def _moves(rate: float, at: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return which share of the group changes, for each band (row) and noisy rate (column)."""
    low, high = low[:, None], high[:, None]
    down = rate * (1 - np.minimum(high / np.where(at > 0, at, 1.0), 1.0)) * (at > high)
    up = (1 - rate) * (1 - np.minimum((1 - low) / np.where(at < 1, 1 - at, 1.0), 1.0)) * (at < low)
    return down + up


def _lies_below(at: np.ndarray, aim: _Aim, group: int) -> np.ndarray:
    values = aim.values[:, None]
    if aim.own is None or aim.below is None:
        return np.zeros((len(values), len(at)), dtype=bool)
    return at <= values if group < aim.own else at < values


def _listed(rates: Sequence[float], points: Sequence[Points], rule: Rule) -> ChangeLaw:
    """List all outcomes."""
    found: list[Points] = []
    for aim in _aims(points, rule):
        low, high = _band(aim.values, rule.gamma)
        sums, masses = np.zeros((len(aim.values), 1)), aim.masses[:, None]
        count = np.zeros((len(aim.values), 1), dtype=int)
        for group, rate in enumerate(rates):
            if group != aim.own:
                at, chance = points[group]
                parts = _moves(rate, at, low, high), chance, _lies_below(at, aim, group)
                sums = (sums[:, :, None] + parts[0][:, None]).reshape(len(sums), -1)
                masses = (masses[:, :, None] * parts[1]).reshape(len(masses), -1)
                count = (count[:, :, None] + parts[2][:, None]).reshape(len(count), -1)
        wanted = np.ones_like(count, dtype=bool) if aim.below is None else count == aim.below
        found.append((sums[wanted], masses[wanted]))
    values, chances = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(values)
    return ChangeLaw(values[order], chances[order], 0.0, float(chances[values <= TIE].sum()))


def _rounded(rates: Sequence[float], points: Sequence[Points], rule: Rule) -> ChangeLaw:
    """Round each group's change to two neighbouring places, in proportion, and convolve by Fourier transforms."""
    deviations = [_deviation(*one) for one in points]
    smallest = min(deviations)
    thinned = [few_points(*one, FINE * size) for one, size in zip(points, deviations, strict=True)]
    aims = []
    for aim in _aims(points, rule):
        if aim.own is not None:
            at, masses = few_points(aim.values, aim.masses, WIDTH * smallest)
            aim = aim._replace(values=at, masses=masses)
        chances = _none_yet(aim)
        chances[0] += 1
        for group in range(len(rates)):
            if group != aim.own:
                chances = _shifted(chances, _chance_below(points[group], aim, group), aim)
        likely = aim.masses * chances[-1] > NEGLIGIBLE
        aims.append(aim._replace(values=aim.values[likely], masses=aim.masses[likely]))
    low, high = _range(rates, thinned, rule, np.concatenate([aim.values for aim in aims]))
    step = max(high - low, TIE) / BINS
    start = math.floor(low / step)
    law = np.zeros(BINS // 2 + 1, dtype=complex)
    for aim in aims:
        for part in range(0, len(aim.values), BLOCK):
            cut = slice(part, part + BLOCK)
            law += _transform(
                rates, thinned, rule, aim._replace(values=aim.values[cut], masses=aim.masses[cut]), step
            )
    # a sum is known up to multiples of the whole range, of which only one lies where sums are likely
    masses = np.maximum(np.roll(np.fft.irfft(law, BINS), -start), 0.0)
    return ChangeLaw(
        (start + np.arange(BINS)) * step, masses / masses.sum(), step, _nobody(rates, points, rule)
    )


def _nobody(rates: Sequence[float], points: Sequence[Points], rule: Rule) -> float:
    """Return the probability that nothing changes: each noisy rate is in the band, or nobody is there to be changed."""
    total = 0.0
    for aim in _aims(points, rule):
        low, high = _band(aim.values, rule.gamma)
        chances = _none_yet(aim)
        chances[0] += 1
        for group, (at, masses) in enumerate(points):
            if group == aim.own:
                continue
            sums = np.concatenate([[0.0], np.cumsum(masses)])
            bottom = np.searchsorted(at, low - TIE, side="left") * (rates[group] < 1)
            top = np.searchsorted(at, high + TIE, side="right") if rates[group] > 0 else len(at)
            middle = bottom
            if aim.own is not None and aim.below is not None:
                middle = np.searchsorted(at, aim.values, side="right" if group < aim.own else "left")
            chances = _weighted(chances, sums[middle] - sums[bottom], sums[top] - sums[middle], aim)
        total += float(aim.masses @ chances[-1])
    return total


def _deviation(at: np.ndarray, masses: np.ndarray) -> float:
    mean = float(masses @ at)
    return max(math.sqrt(float(masses @ (at - mean) ** 2)), LEAST)


def _range(
    rates: Sequence[float], points: Sequence[Points], rule: Rule, values: np.ndarray
) -> tuple[float, float]:
    """Return between which numbers the sum lies, but for a negligible part."""
    some = np.sort(values)[np.unique(np.linspace(0, len(values) - 1, 2 * REACH).astype(int))]
    low, high = _band(some, rule.gamma)
    mean, variance = np.zeros(len(some)), np.zeros(len(some))
    for rate, (at, masses) in zip(rates, points, strict=True):
        moves = _moves(rate, at, low, high)
        one = moves @ masses
        mean, variance = mean + one, variance + np.maximum(moves**2 @ masses - one**2, 0.0)
    room = REACH * np.sqrt(variance)
    return max(float((mean - room).min()), 0.0), min(float((mean + room).max()), float(len(rates)))


def _transform(
    rates: Sequence[float], points: Sequence[Points], rule: Rule, aim: _Aim, step: float
) -> np.ndarray:
    """Return the Fourier transform of the law of the sum, on places modulo `BINS`, over these values of the aim."""
    low, high = _band(aim.values, rule.gamma)
    rows = BINS * np.arange(len(low))[:, None]
    kept = [np.ones((len(low), 1), dtype=complex)] + [np.zeros((len(low), 1), dtype=complex)] * (
        aim.below or 0
    )

    def transform(places: np.ndarray, masses: np.ndarray) -> np.ndarray:
        first = np.floor(places).astype(np.int64)
        share = places - first
        law = np.bincount((rows + first % BINS).ravel(), (masses * (1 - share)).ravel(), rows.size * BINS)
        law += np.bincount((rows + (first + 1) % BINS).ravel(), (masses * share).ravel(), rows.size * BINS)
        return np.fft.rfft(law.reshape(-1, BINS))

    for group, rate in enumerate(rates):
        if group == aim.own:
            continue
        at, masses = points[group]
        places = _moves(rate, at, low, high) / step
        if aim.below is None:
            kept = [kept[0] * transform(places, masses + 0 * places)]
            continue
        below = _lies_below(at, aim, group)
        left, right = transform(places, masses * below), transform(places, masses * ~below)
        kept = [kept[0] * right] + [more * right + fewer * left for fewer, more in itertools.pairwise(kept)]
    return aim.masses @ kept[-1]
