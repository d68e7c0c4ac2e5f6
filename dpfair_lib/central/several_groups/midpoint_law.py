"""Exact law of the gap of several groups that move to the midpoint, where two noisy rates decide.

The band of the fewest changes lies halfway between two knots (`deciding_pairs`). Given which knots these are, and their
values u ≤ v, every other group has both knots below (x ≤ u), or both above (x ≥ v + γ), or is in the band
(v ≤ x ≤ u + γ, for γ > 0). If as many knots lie below u as above v, these two decide. Given who is where, all others
are independent. So the chance of a pair, and of all others in a window of new rates, is a coefficient of
Π (L_a z² + M_a z + H_a), with L, M and H the chances of a group to be in the window and below, in, or above the band.

The two groups that decide have known new rates a ≤ b. The gap is at most g if b − a ≤ g and all others are in
[a, a + g], or the smallest is another one's y in [b − g, a) and all others are in [y, y + g].
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dpfair_lib.central.several_groups.deciding_pairs import (
    EQUAL,
    SURE,
    UNSEEN,
    Cut,
    Rows,
    ends_for,
    joined,
    knots_that_may_decide,
    pair_rows,
    parts_of,
)
from dpfair_lib.central.several_groups.deciding_values import jump_places
from dpfair_lib.central.several_groups.gap_cells import Cells, cells_between, integrated
from dpfair_lib.central.several_groups.law_points import NoisyRate, smoothed
from dpfair_lib.central.several_groups.several_gaps import TIE, GapModel, Rule

MOST_LISTED = 60_000  # pairs of values of lattices: up to so many, none is left out
MOST_CELLS = 3_000_000  # of these pairs, times all values
BLOCK = 20_000  # cells at a time, for memory
MOST_JUMPS = 12  # places of a band at which two likely new rates are the gap apart
LEAST = 1e-8  # deviation that counts as none
TOLERANCE = 1e-4  # of all cells together, in the mean
STEP = 1.5  # of the first cuts, in deviations
FAR = 5  # how many on either side


class Midpoint(NamedTuple):
    """The middle of all bands with the fewest changes, for more than two groups or a band of some width.

    Attributes
    ----------
    gamma : float
        Width of the band.
    """

    gamma: float


Window = tuple[np.ndarray, np.ndarray]


class _Place(NamedTuple):
    """Of one group, in each row: whether it decides, and P(x is past it) for the places that part the three zones."""

    decides: np.ndarray
    below: np.ndarray
    first: np.ndarray
    last: np.ndarray
    above: np.ndarray


class _Deciding(NamedTuple):
    """Pairs of values that decide.

    Attributes
    ----------
    rows : Rows
        With the probability of the values.
    places : list of _Place
        Of all groups.
    wanted : ndarray
        How many knots of the others lie below.
    total : ndarray
        The probability of the values, and that they decide.
    low, high : ndarray
        The bands.
    least, most : ndarray
        The smaller and the larger new rate of the groups that decide.
    banded : bool
        Whether γ > 0.
    """

    rows: Rows
    places: list[_Place]
    wanted: np.ndarray
    total: np.ndarray
    low: np.ndarray
    high: np.ndarray
    least: np.ndarray
    most: np.ndarray
    banded: bool

    def chosen(self, at: np.ndarray) -> _Deciding:
        """Return some of the rows."""
        places = [_Place(*(one[at] for one in place)) for place in self.places]
        wanted, total, low, high, least, most = (
            one[at] for one in (self.wanted, self.total, self.low, self.high, self.least, self.most)
        )
        return _Deciding(self.rows.chosen(at), places, wanted, total, low, high, least, most, self.banded)


class MidpointModel(GapModel):
    """What is computed once for all gaps."""

    def __init__(self, rates: Sequence[float], laws: Sequence[NoisyRate], rule: Midpoint) -> None:
        self.rates, self.rule = [float(rate) for rate in rates], Rule(None, None, rule.gamma)
        self._take(laws)
        self.every = self.exact and self._takes_every_value()
        if self.exact and not self.every:
            self._take(smoothed(laws, self.fineness))
        ranges = [_range(*points) for points in self.points]
        self.pairs = knots_that_may_decide(ranges, rule.gamma)
        self.ends = ends_for(self.points, self.levels, rule.gamma)
        self.parts = [parts_of(law, self.ends) for law in self.laws]
        self.kept: list[_Deciding] = []

    def _takes_every_value(self) -> bool:
        sizes = [len(at) for at, _ in self.points]
        pairs = (sum(sizes) ** 2 - sum(size * size for size in sizes)) * (4 if self.rule.gamma > 0 else 1)
        return pairs <= MOST_LISTED and pairs * sum(sizes) <= MOST_CELLS

    def exceeds(self, gap: float, tolerance: float | None = None) -> float:  # noqa: ARG002
        """Return P(gap > a value)."""
        if gap >= 1:
            return 0.0
        exceeds = 0.0
        for part in self._deciding(gap):
            exceeds += float(part.total.sum()) - self._inside(part, gap)
        return float(min(max(exceeds, 0.0), 1.0))

    def mean(self) -> float:
        """Return the expected gap."""
        return sum(self._average(part) for part in self._deciding(None))

    def _deciding(self, gap: float | None) -> list[_Deciding]:
        """Return the pairs of values that decide; the same for all gaps if they are listed."""
        cuts = [] if self.every or gap is None else self._jumps(gap)
        if not cuts and self.kept:
            return self.kept
        gamma = self.rule.gamma
        rows = joined([pair_rows(self.parts, self.ends, pair, gamma, cuts) for pair in self.pairs])
        found = []
        for at in np.array_split(np.arange(len(rows.x)), -(-len(rows.x) // BLOCK)):
            some = rows.chosen(at[np.abs(rows.weights[at]) > UNSEEN])
            if not len(some.x):
                continue
            low, own = some.start(gamma), self._own(some)
            part = _Deciding(
                some, self._places(some), _wanted(some, len(self.laws), gamma), some.weights, low, low + gamma,
                np.minimum(*own), np.maximum(*own), gamma > 0,
            )  # fmt: skip
            one, none = np.ones(len(low)), np.zeros(len(low))
            part = part._replace(total=some.weights * _chance(part, [(one, none)] * len(self.laws)))
            found.append(part.chosen(np.flatnonzero(np.abs(part.total) > UNSEEN)))
        if not cuts:
            self.kept = found
        return found

    def _jumps(self, gap: float) -> list[Cut]:
        """Return where the chance of a gap jumps: two known rates are as far apart, or two likely ones."""

        def apart(rows: Rows) -> np.ndarray:
            low, high = self._own(rows)
            return low - high

        gamma = self.rule.gamma
        found: list[Cut] = [(apart, -gap), (apart, gap)]
        atoms = [(levels.jumps, levels.jump_masses) for levels in self.levels]
        if any(len(at) for at, _ in atoms):
            # the first two are the ends of all bands
            places = jump_places(self.rates, atoms, gamma, gap)[2 : 2 + MOST_JUMPS]
            found += [
                (lambda rows: rows.start(gamma), place - gamma / 2) for place in sorted(set(places.tolist()))
            ]
        return found

    def _own(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return the new rates of the groups that decide."""
        low, rates = rows.start(self.rule.gamma), np.array(self.rates)
        high = low + self.rule.gamma
        return (
            moved_rates(rates[rows.lower], rows.x, low, high),
            moved_rates(rates[rows.upper], rows.z, low, high),
        )

    def _places(self, rows: Rows) -> list[_Place]:
        gamma, (u, v) = self.rule.gamma, rows.knots(self.rule.gamma)
        found = []
        for group, law in enumerate(self.laws):
            # a knot as high as the one that decides counts as lower if its group comes first
            before, past = group < rows.lower, group < rows.upper
            decides = (rows.lower == group) | (rows.upper == group)
            found.append(
                _Place(
                    decides,
                    _past(law, u, before),
                    _past(law, v, past),
                    _past(law, u + gamma, before),
                    _past(law, v + gamma, past),
                )
            )
        return found

    def _inside(self, part: _Deciding, gap: float) -> float:
        """Return the probability that these pairs decide, and the gap is at most a value."""
        part = part.chosen(np.flatnonzero(part.most - part.least <= gap + 2 * TIE))
        if not len(part.total):
            return 0.0
        weights = part.rows.weights
        # the smallest rate is one of those two
        windows = self._windows(part, part.least - 2 * TIE, part.least + gap + 2 * TIE)
        found = float(weights @ _chance(part, windows))
        if len(self.laws) == 2:
            return found
        # or it is another one
        every = self._places_of_rates(part)
        if not self.every:
            every = np.concatenate([every, every - gap - 3 * TIE], axis=1)
        bottom, top = (part.most - gap - 2 * TIE)[:, None], (part.least - 2 * TIE)[:, None]
        cells = cells_between(np.clip(np.concatenate([every, bottom, top], axis=1), bottom, top))
        if self.every:
            # the smallest rate is one of the points, and nothing lies between them
            narrow = cells.nodes[1] - cells.nodes[0] <= 3 * TIE
            cells = Cells(cells.rows[narrow], cells.nodes[:, narrow])
        return found + self._summed_up(functools.partial(self._least_in, part, gap), cells)

    def _least_in(self, part: _Deciding, gap: float, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        """Return, by cells and by their halves, P(another's rate is the smallest and in it, and the gap small)."""
        at, some = cells.nodes, part.chosen(cells.rows)
        below = [self._above_rate(group, at, some.low, some.high) for group in range(len(self.laws))]
        upto = [
            self._up_to_rate(group, at + gap + 3 * TIE, some.low, some.high)
            for group in range(len(self.laws))
        ]
        weights = some.rows.weights

        @functools.cache
        def window(top: int, bottom: int) -> np.ndarray:
            pairs = [(one[top], other[bottom]) for one, other in zip(upto, below, strict=True)]
            found: np.ndarray = weights * _chance(some, pairs)
            return found

        def between(left: int, right: int) -> np.ndarray:
            first = window(left, left) - window(left, right)
            return first if self.every else (first + window(right, left) - window(right, right)) / 2

        last = len(at) - 1
        coarse = between(0, last)
        return coarse, coarse if last == 1 else between(0, 1) + between(1, 2)

    def _average(self, part: _Deciding) -> float:
        """Return the integral of P(these pairs decide, smallest ≤ z < largest)."""
        ends = np.concatenate([np.full((len(part.total), 1), one) for one in (-2 * TIE, 1 + 2 * TIE)], axis=1)
        own = np.stack([part.least, part.most], axis=1)
        every = np.concatenate([self._places_of_rates(part), own - TIE, own + TIE, ends], axis=1)
        cells = cells_between(np.clip(every, -2 * TIE, 1 + 2 * TIE))
        return self._summed_up(functools.partial(self._spanned, part), cells)

    def _spanned(self, part: _Deciding, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        """Return that integral by cells and by their halves."""
        some, one, k = part.chosen(cells.rows), np.ones(len(cells.rows)), range(len(self.laws))
        values = []
        for at in cells.nodes:
            # all are above z, or all are at z or below
            above = _chance(some, [(one, self._above_rate(group, at, some.low, some.high)) for group in k])
            upto = _chance(some, [(self._up_to_rate(group, at, some.low, some.high), 0 * one) for group in k])
            none = np.where(at < some.least, above, 0.0) + np.where(at >= some.most, upto, 0.0)
            values.append(some.total - some.rows.weights * none)
        width = cells.nodes[-1] - cells.nodes[0]
        coarse = width * (values[0] + values[-1]) / 2
        return coarse, coarse if len(values) == 2 else coarse / 2 + width * values[1] / 2

    def _windows(self, part: _Deciding, least: np.ndarray, most: np.ndarray) -> list[Window]:
        return [
            (
                self._up_to_rate(group, most, part.low, part.high),
                self._above_rate(group, least, part.low, part.high),
            )
            for group in range(len(self.laws))
        ]

    def _places_of_rates(self, part: _Deciding) -> np.ndarray:
        """Return where new rates jump, and places around the band that are a deviation apart."""
        low, high = part.low[:, None], part.high[:, None]
        values = [
            points[0] if self.every else levels.jumps
            for points, levels in zip(self.points, self.levels, strict=True)
        ]
        jumps = [
            moved_rates(np.array(rate), at, low, high) for rate, at in zip(self.rates, values, strict=True)
        ]
        jumps.append(np.broadcast_to(self.rates, (len(low), len(self.rates))))
        every = np.concatenate(jumps, axis=1)
        cuts = [every - TIE, every + TIE]
        if not self.every:
            spreads = [levels.spread for levels in self.levels if levels.spread > LEAST]
            for size in {min(spreads), max(spreads)} if spreads else ():
                steps = size * STEP * np.arange(-FAR, FAR + 1)
                cuts += [low + steps, high + steps] if self.rule.gamma > 0 else [low + steps]
        return np.concatenate(cuts, axis=1)

    def _summed_up(self, rule: Callable[[Cells], tuple[np.ndarray, np.ndarray]], cells: Cells) -> float:
        tolerance = TOLERANCE / max(len(cells.rows), 1)
        return integrated(rule, cells, halve=not self.every, block=BLOCK, tolerance=tolerance)


def moved_rates(rate: np.ndarray, believed: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return new rates of groups that move to bands.

    Parameters
    ----------
    rate, believed : ndarray
        True and noisy rates.
    low, high : ndarray
        Ends of the bands.

    Returns
    -------
    ndarray
        In [0, 1].
    """
    over, under = believed > high, believed < low
    down = rate * high / np.where(over, believed, 1.0)
    up = 1 - (1 - rate) * (1 - low) / np.where(under, 1 - believed, 1.0)
    return np.where(over, down, np.where(under, up, rate))


def _wanted(rows: Rows, groups: int, gamma: float) -> np.ndarray:
    """Return how many knots of the other groups lie below; for γ = 0 each group counts twice."""
    if gamma == 0:
        return np.full(len(rows.x), groups - 2)
    return np.where(rows.lower == rows.upper, groups - 1, groups - 3 + rows.first + rows.second)


def _chance(part: _Deciding, windows: Sequence[Window]) -> np.ndarray:
    """Return the probability that all other groups are in their windows, and as many knots below as are wanted."""
    kept = {0: np.ones_like(part.total)}
    most, least = int(part.wanted.max(initial=0)), int(part.wanted.min(initial=0))
    for group, (place, (top, bottom)) in enumerate(zip(part.places, windows, strict=True)):
        zones = {
            2: np.maximum(top - np.maximum(bottom, place.below), 0.0),
            0: np.maximum(np.minimum(top, place.above) - bottom, 0.0),
        }
        if part.banded:  # else nobody is in the band
            zones[1] = np.maximum(np.minimum(top, place.first) - np.maximum(bottom, place.last), 0.0)
        left = len(windows) - group - 1
        after: dict[int, np.ndarray] = {}
        for power, zone in zones.items():
            zone = np.where(place.decides, float(power == 0), zone)
            if not zone.any():
                continue
            for at, one in kept.items():
                if at + power <= most and at + power + 2 * left >= least:
                    after[at + power] = after[at + power] + one * zone if at + power in after else one * zone
        kept = after
    found = np.zeros_like(part.total)
    for wanted in range(least, most + 1):
        if wanted in kept:
            found = np.where(part.wanted == wanted, kept[wanted], found)
    return found


def _past(law: NoisyRate, place: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return P(noisy rate > a place), or P(noisy rate ≥ a place) where a tie does not count as being before it."""
    return np.where(before, law.tail(place + EQUAL, strict=True), law.tail(place - EQUAL, strict=False))


def _range(points: np.ndarray, masses: np.ndarray) -> tuple[float, float]:
    """Return between which numbers a noisy rate surely lies."""
    reached = np.cumsum(masses)
    inside = (reached > SURE) & (reached - masses < reached[-1] - SURE)
    return float(points[inside][0]), float(points[inside][-1])
