"""Exact law of the gap of several groups after they move to a band whose place depends on noisy rates.

A group of rate α and noisy rate x moves to a band [low, high]: its new rate is α·high/x for x > high,
1 − (1 − α)(1 − low)/(1 − x) for x < low, and α in between. Given the band, the groups' new rates are independent, and
each falls as its noisy rate grows. So

    P(gap ≤ g) = Σ over y of P(all rates ≥ y, all ≤ y + g) − P(all > y, all ≤ y + g),

each a product of differences of distribution functions. Where the band is a public number, this is all. Where it is at
one group's noisy rate, that group keeps its rate α_i, and the sum goes over the values of its noisy rate. Where that
rate is the median, the products also count how many of the others lie below, as coefficients of a polynomial; those of
all groups but one come from products of the first groups and of the last ones.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dpfair_lib.central.several_groups.deciding_values import (
    all_points,
    interval_ends,
    jump_places,
    shared_points,
)
from dpfair_lib.central.several_groups.gap_cells import (
    Cells,
    cells_between,
    integrated,
    quantiles,
    starting_cuts,
)
from dpfair_lib.central.several_groups.law_points import (
    NEGLIGIBLE,
    NoisyRate,
    fine_points,
    fineness,
    smoothed,
)
from dpfair_lib.central.several_groups.orders import Window, all_but, one_decides

TIE = 1e-12  # rates that differ by less are equal
FEW = 1_200_000  # pairs of a value that decides and a rate: up to so many, no point of a law is left out
UNSEEN = 1e-15  # chance to lie on the other side that counts as none
BLOCK = 20000  # cells at a time, for memory
# values of lattices that decide, times groups: none is left out; or, of coarse ones
MANY, MOST = 12_000, 4_000
# places of a lattice in a standard deviation, if fewer; with fewer still it is not spread
COARSE, COARSEST = 15, 5
WIDTH = 1.0  # of the intervals of the noisy rate that decides, in the smallest standard deviation


class Rule(NamedTuple):
    """Where the band lies: around a number, or around the noisy rate of a group, maybe if it is the median.

    Attributes
    ----------
    middle : float or None
        A public number.
    anchor : int or None
        The group whose noisy rate decides; with None and no number, the median does.
    gamma : float
        Width of the band.
    """

    middle: float | None
    anchor: int | None
    gamma: float


class _Aim(NamedTuple):
    """Values of the noisy rates that decide, in ascending order.

    Attributes
    ----------
    owners : tuple of (int or None)
        The groups that may decide; None for a public number.
    points : ndarray of shape (values,)
        The noisy rate, or the public number; the band is around it.
    masses : ndarray of shape (owners, values)
        The probability of each value for each group that may decide.
    below : int or None
        How many of the other groups lie below it; the rest lies above it. With None, anywhere.
    resolved : bool
        Whether all points of all laws are used.
    reached : tuple of ndarray of shape (groups, values)
        With a median: the chance of each group to lie above a value, if groups as high as it lie below it, or above.
    """

    owners: tuple[int | None, ...]
    points: np.ndarray
    masses: np.ndarray
    below: int | None
    resolved: bool
    reached: tuple[np.ndarray, ...] = ()


def gap_probability(rates: Sequence[float], laws: Sequence[NoisyRate], gap: float, rule: Rule) -> float:
    """Return P(largest − smallest new rate > gap) for independent noisy rates with these laws, gap ≥ 0."""
    return GapModel(rates, laws, rule).exceeds(gap)


def mean_gap(rates: Sequence[float], laws: Sequence[NoisyRate], rule: Rule) -> float:
    """Return E[largest − smallest new rate]: the integral over z of P(smallest ≤ z < largest)."""
    return GapModel(rates, laws, rule).mean()


class GapModel:
    """What is computed once for all gaps: the values that decide, and the quantiles of all laws."""

    def __init__(self, rates: Sequence[float], laws: Sequence[NoisyRate], rule: Rule) -> None:
        self.rates, self.rule = [float(rate) for rate in rates], rule
        self._take(laws)
        self.every = self.exact and self._takes_every_value()
        if self.exact and not self.every:
            self._take(smoothed(laws, self.fineness))
        self.jumps = any(len(levels.jumps) for levels in self.levels)
        self.always: list[_Aim] = []

    def _take(self, laws: Sequence[NoisyRate]) -> None:
        self.laws = laws
        self.exact = all(law.lattice for law in laws)
        self.points = [fine_points(law) for law in laws]
        self.levels = [quantiles(*points) for points in self.points]
        self.fineness = [fineness(law, levels.spread) for law, levels in zip(laws, self.levels, strict=True)]

    def _takes_every_value(self) -> bool:
        """Return whether all values that may decide are few enough, for lattices."""
        if self.rule.middle is not None:
            return True
        owners = range(len(self.laws)) if self.rule.anchor is None else [self.rule.anchor]
        values = len(np.unique(np.concatenate([self.points[group][0] for group in owners])))
        return values * len(self.laws) <= MANY or (values <= MOST and min(self.fineness) < COARSE)

    def exceeds(self, gap: float, tolerance: float | None = None) -> float:
        """Return P(gap > a value)."""
        if gap >= 1:
            return 0.0
        within = total = 0.0
        for aim in self._aims(gap):
            total += float(self._weights(aim).sum())
            within += self._at_own(aim, gap)
            within += self._summed(aim, gap, functools.partial(self._within, aim, gap=gap), tolerance)
        return float(min(max(total - within, 0.0), 1.0))

    def mean(self) -> float:
        """Return the expected gap."""
        return sum(
            self._summed(aim, None, functools.partial(self._between, aim), None) for aim in self._aims(0.0)
        )

    def _aims(self, gap: float) -> list[_Aim]:
        """Return the values that decide, few at a time; the same for all gaps unless new rates jump."""
        if self.always:
            return self.always
        aim = self._aim(gap)
        aims = [self._likely(part) for part in self._parts(aim)]
        aims = [one for one in aims if len(one.points) and one.owners]
        if self.every or not self.jumps:
            self.always = aims
        return aims

    def _aim(self, gap: float) -> _Aim:
        sizes, k, rule = [len(at) for at, _ in self.points], len(self.laws), self.rule
        if rule.middle is not None:
            return _Aim(
                (None,), np.array([rule.middle]), np.ones((1, 1)), None, self.exact and sum(sizes) <= FEW
            )
        owners = tuple(range(k)) if rule.anchor is None else (rule.anchor,)
        below = (k - 1) // 2 if rule.anchor is None else None
        resolved = self.every and sum(sizes[group] for group in owners) * sum(sizes) <= FEW
        points = [self.points[group] for group in owners]
        if self.every:
            at, masses = all_points(points)
        else:
            atoms = [(levels.jumps, levels.jump_masses) for levels in self.levels]
            places = jump_places(self.rates, atoms, rule.gamma, gap) if self.jumps else np.zeros(0)
            width = WIDTH * min(levels.spread for levels in self.levels)
            ends = interval_ends(points, width, places)
            at, masses = shared_points([self.laws[group] for group in owners], ends)
        reached = () if below is None else tuple(
            np.array([_tail(law, at, strict=strict, slack=1e-9) for law in self.laws]) for strict in (True, False)
        )  # fmt: skip
        return _Aim(owners, at, masses, below, resolved, reached)

    def _parts(self, aim: _Aim) -> Iterator[_Aim]:
        """Yield few values at a time."""
        each = 2 * sum(len(at) for at, _ in self.points) if aim.resolved else 400
        for part in np.array_split(np.arange(len(aim.points)), -(-len(aim.points) * each // BLOCK)):
            if len(part):
                yield _chosen(aim, part)

    def _likely(self, aim: _Aim) -> _Aim:
        """Leave out what is not likely enough to be seen."""
        weights = np.abs(self._weights(aim))
        aim = _chosen(aim, weights.sum(axis=0) > NEGLIGIBLE)
        if aim.below is None:
            return aim
        seen = weights.sum(axis=1) > NEGLIGIBLE
        owners = tuple(owner for owner, one in zip(aim.owners, seen, strict=True) if one)
        return aim._replace(owners=owners, masses=aim.masses[seen])

    def _weights(self, aim: _Aim) -> np.ndarray:
        """Return the probability of each value of the noisy rate that decides, and that it is the one to decide."""
        whole = [(np.ones_like(aim.points), np.zeros_like(aim.points))] * len(self.laws)
        return aim.masses * self._chance(aim, aim.points, whole)

    def _summed(
        self, aim: _Aim, gap: float | None, rule: Callable[[Cells], tuple[np.ndarray, np.ndarray]],
        tolerance: float | None,
    ) -> float:  # fmt: skip
        """Add up cells between the cuts, split where they disagree with their halves."""
        low, high = _band(aim.points, self.rule.gamma)
        moved = [
            _moved(rate, points[0] if aim.resolved else levels.jumps, low[:, None], high[:, None])
            for rate, points, levels in zip(self.rates, self.points, self.levels, strict=True)
        ]
        ends = [np.full((len(low), 1), one) for one in (-2 * TIE, 1 + 2 * TIE)]
        jumps = np.concatenate([*moved, np.broadcast_to(self.rates, (len(low), len(self.rates)))], axis=1)
        cuts = [jumps - TIE, jumps + TIE, *ends]
        if not aim.resolved:
            cuts.append(self._cuts(low, high))
        every = np.concatenate(cuts, axis=1)
        if gap is not None:
            every = every if aim.resolved else np.concatenate([every, every - gap - 3 * TIE], axis=1)
            own = [self.rates[group] for group in aim.owners if group is not None]
            # the same numbers decide below which cells belong to whom
            every = np.concatenate(
                [every, *(np.full_like(low[:, None], one) for rate in own for one in _reach(rate, gap))],
                axis=1,
            )
            if own:
                every = np.clip(every, _reach(min(own), gap)[0], _reach(max(own), gap)[1])
        every = np.clip(every, -2 * TIE, 1 + 2 * TIE) if gap is None or aim.owners[0] is None else every
        cells = cells_between(every)
        if aim.resolved and gap is not None:
            # the smallest rate is one of the points, and nothing lies between them
            narrow = cells.nodes[1] - cells.nodes[0] <= 3 * TIE
            cells = Cells(cells.rows[narrow], cells.nodes[:, narrow])
        return integrated(rule, cells, halve=not aim.resolved, block=BLOCK, tolerance=tolerance)

    def _cuts(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the moved quantiles, where they are not too close."""
        moved = [
            _moved(rate, levels.values, low[:, None], high[:, None])
            for rate, levels in zip(self.rates, self.levels, strict=True)
        ]
        return starting_cuts(moved)

    def _within(self, aim: _Aim, cells: Cells, gap: float) -> tuple[np.ndarray, np.ndarray]:
        """Return, by cells and by their halves, P(the smallest rate is in it, and the gap is at most ``gap``)."""
        at, rows = cells.nodes, cells.rows
        low, high = (one[rows] for one in _band(aim.points, self.rule.gamma))
        below = [self._above_rate(group, at, low, high) for group in range(len(self.laws))]
        upto = [self._up_to_rate(group, at + gap + 3 * TIE, low, high) for group in range(len(self.laws))]
        weights = aim.masses[:, rows] * np.array([
            np.ones(len(rows)) if group is None else
            (at[0] >= _reach(self.rates[group], gap)[0]) & (at[-1] <= _reach(self.rates[group], gap)[1])
            for group in aim.owners
        ])  # fmt: skip

        @functools.cache
        def window(top: int, bottom: int) -> np.ndarray:
            pairs = [(one[top], other[bottom]) for one, other in zip(upto, below, strict=True)]
            return (weights * self._chance(aim, aim.points[rows], pairs, rows)).sum(axis=0)

        def part(left: int, right: int) -> np.ndarray:
            # the smallest rate is in the cell, and no rate above what is its end plus the gap: either end
            first = window(left, left) - window(left, right)
            return first if aim.resolved else (first + window(right, left) - window(right, right)) / 2

        last = len(at) - 1
        coarse = part(0, last)
        return coarse, coarse if last == 1 else part(0, 1) + part(1, 2)

    def _at_own(self, aim: _Aim, gap: float) -> float:
        """Return the probability that the smallest rate is that of the group that decides, and the gap at most."""
        low, high = _band(aim.points, self.rule.gamma)
        found = 0.0
        for place, owner in enumerate(aim.owners):
            if owner is None:
                continue
            own = np.full_like(low, self.rates[owner])
            pairs = [
                (
                    self._up_to_rate(group, own + gap + 2 * TIE, low, high),
                    self._above_rate(group, own - 2 * TIE, low, high),
                )
                for group in range(len(self.laws))
            ]
            found += float(aim.masses[place] @ self._chance(aim, aim.points, pairs)[place])
        return found

    def _between(self, aim: _Aim, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        """Return, by cells and by their halves, the integral of P(smallest ≤ z < largest)."""
        rows = cells.rows
        low, high = (one[rows] for one in _band(aim.points, self.rule.gamma))
        own = np.array([np.nan if group is None else self.rates[group] for group in aim.owners])[:, None]
        k, points, one = range(len(self.laws)), aim.points[rows], np.ones(len(rows))
        whole = self._chance(aim, points, [(one, 0 * one)] * len(k), rows)
        values = []
        for at in cells.nodes:
            above = [(one, self._above_rate(group, at, low, high)) for group in k]
            upto = [(self._up_to_rate(group, at, low, high), 0 * one) for group in k]
            none_below = self._chance(aim, points, above, rows) * ~(at >= own)
            none_above = self._chance(aim, points, upto, rows) * ~(at < own)
            values.append((aim.masses[:, rows] * (whole - none_below - none_above)).sum(axis=0))
        width = cells.nodes[-1] - cells.nodes[0]
        coarse = width * (values[0] + values[-1]) / 2
        return coarse, coarse if len(values) == 2 else coarse / 2 + width * values[1] / 2

    def _above_rate(self, group: int, rate: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return P(noisy rate > the largest with which the new rate is at least ``rate``)."""
        own, law = self.rates[group], self.laws[group]
        up = 1 - (1 - own) * (1 - low) / np.where(rate < 1, 1 - rate, 1.0)
        up = np.where(rate < 1, np.where(low >= 1, law.below_one(), up), -1.0)
        down = np.where(rate > 0, own * high / np.where(rate > 0, rate, 1.0), 2.0)
        return _tail(law, np.where(rate <= own, down, up), strict=True)

    def _up_to_rate(self, group: int, rate: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return P(noisy rate ≥ the smallest with which the new rate is at most ``rate``)."""
        own, law = self.rates[group], self.laws[group]
        up = np.where(rate < 1, 1 - (1 - own) * (1 - low) / np.where(rate < 1, 1 - rate, 1.0), -1.0)
        down = np.where(rate > 0, own * high / np.where(rate > 0, rate, 1.0), 2.0)
        down = np.where((high <= 0) & (rate >= 0), 1 - law.below_one(), down)
        return _tail(law, np.where(rate >= own, up, down), strict=False)

    def _chance(
        self, aim: _Aim, points: np.ndarray, windows: Sequence[Window],
        rows: np.ndarray | None = None,
    ) -> np.ndarray:  # fmt: skip
        """Return P(every other group is in its window, on the right side) for each that may decide."""
        if aim.below is None:
            return all_but(windows, aim.owners[0], points)[None]
        # a group that is surely below all these values, or surely above, is only a factor
        sure = [_surely(aim, group) for group in range(len(windows))]
        factor = np.ones_like(points)
        for (top, bottom), side in zip(windows, sure, strict=True):
            if side:
                factor = factor * np.maximum(top - bottom, 0.0)
        unsure = [group for group, side in enumerate(sure) if not side]
        below = aim.below - sure.count(-1)
        if not 0 <= below < max(len(unsure), 1):
            return np.zeros((len(aim.owners), len(points)))
        ways = one_decides(
            [windows[group] for group in unsure], self._sides_of(aim, unsure, rows), below, factor
        )
        return np.array(
            [ways[unsure.index(owner)] if owner in unsure else 0 * factor for owner in aim.owners]
        )

    def _sides_of(
        self, aim: _Aim, groups: Sequence[int], rows: np.ndarray | None
    ) -> list[tuple[np.ndarray, ...]]:
        pairs = [tuple(one[group] for one in aim.reached) for group in groups]
        return pairs if rows is None else [tuple(one[rows] for one in pair) for pair in pairs]


def _chosen(aim: _Aim, at: np.ndarray) -> _Aim:
    return aim._replace(
        points=aim.points[at], masses=aim.masses[:, at], reached=tuple(one[:, at] for one in aim.reached)
    )


def _surely(aim: _Aim, group: int) -> int:
    """Return −1 or 1 for a group that surely lies below or above all values, and does not decide; else 0."""
    if group in aim.owners:
        return 0
    most, least = (
        float(pick(one[group])) for pick, one in zip((np.max, np.min), aim.reached[::-1], strict=True)
    )
    return -1 if most < UNSEEN else int(least > 1 - UNSEEN)


def _reach(rate: float, gap: float) -> tuple[float, float]:
    """Return between which numbers the smallest rate lies, if it is below that of the group that decides."""
    return rate - gap - 2 * TIE, rate - 2 * TIE


def _band(points: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    low = np.clip(points - gamma / 2, 0.0, 1 - gamma)
    return low, low + gamma


def _moved(rate: float, believed: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return a group's new rate."""
    over, under = believed > high, believed < low
    down = rate * high / np.where(over, believed, 1.0)
    up = 1 - (1 - rate) * (1 - low) / np.where(under, 1 - believed, 1.0)
    return np.where(over, down, np.where(under, up, rate))


def _tail(law: NoisyRate, x: np.ndarray, *, strict: bool, slack: float = 0.0) -> np.ndarray:
    return law.tail(x, strict=strict, slack=slack)
