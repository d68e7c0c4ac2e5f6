"""Exact law of the parity gap of several groups after they move to a band whose place depends on noisy rates.

A group of rate α and noisy rate x moves to a band [low, high]: its new rate is α·high/x for x > high,
1 − (1 − α)(1 − low)/(1 − x) for x < low, and α in between. Given the band, the groups' new rates are independent, and
each falls as its noisy rate grows. So

    P(gap ≤ g) = Σ over y of P(all rates ≥ y, all ≤ y + g) − P(all > y, all ≤ y + g),

each a product of differences of distribution functions. Where the band is a public number, this is all. Where it is at
one group's noisy rate, that group keeps its rate α_i, and the sum goes over the values of its noisy rate. Where that
rate is the median, the products also count how many of the others lie below, as coefficients of a polynomial.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.central.gap_law import RateLaw
from dpfair_lib.central.several_groups.law_points import NEGLIGIBLE, few_points, fine_points

TIE = 1e-12  # rates that differ by less are equal
FEW = 600_000  # pairs of a value that decides and a rate: up to so many, no point of a law is left out
FEW_OF_A_DENSITY = (
    3_000  # the same beside a public number, if noise has a density: cells then differ by about 1e-6
)
BLOCK = 300_000  # pairs at a time, for memory
STEP, GROWTH, REACH = 0.1, 0.02, 9.0  # cells: in standard deviations, relative to the distance, and how far
WIDTH = 0.5  # of the intervals of the noisy rate that decides, in the smallest standard deviation


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


class _Case(NamedTuple):
    """Values of the noisy rates that decide.

    Attributes
    ----------
    own : int or None
        The group that decides, if one does.
    points : ndarray of shape (values, 1)
        Its noisy rate, or the public number; the band is around it.
    masses : ndarray of shape (values,)
        Their probabilities.
    below : int or None
        How many of the other groups lie below it; the rest lies above it. With None, anywhere.
    resolved : bool
        Whether all points of all laws are used.
    """

    own: int | None
    points: np.ndarray
    masses: np.ndarray
    below: int | None
    resolved: bool


def gap_probability(rates: Sequence[float], laws: Sequence[RateLaw], gap: float, rule: Rule) -> float:
    """Return P(largest − smallest new rate > gap) for independent noisy rates with these laws, gap ≥ 0."""
    if gap >= 1:
        return 0.0
    within = total = 0.0
    for case, cuts in _cases(rates, laws, gap, rule):
        model = _Model(rates, laws, case, rule.gamma)
        within += _summed(functools.partial(model.within, gap=gap), cuts, laws, case)
        total += float(model.weights().sum())
    return float(min(max(total - within, 0.0), 1.0))


def mean_gap(rates: Sequence[float], laws: Sequence[RateLaw], rule: Rule) -> float:
    """Return E[largest − smallest new rate]: the integral over z of P(smallest ≤ z < largest)."""
    return sum(
        _summed(_Model(rates, laws, case, rule.gamma).mean, cuts, laws, case)
        for case, cuts in _cases(rates, laws, None, rule)
    )


def _summed(
    integral: Callable[[np.ndarray], float], cuts: np.ndarray, laws: Sequence[RateLaw], case: _Case
) -> float:
    """Add up cells; extrapolate from half-cells, as the error of the trapezoid rule falls with the width squared."""
    coarse = integral(cuts)
    if case.resolved and all(law.lattice for law in laws):  # nothing lies between the cuts
        return coarse
    fine = integral(np.sort(np.concatenate([cuts, (cuts[:, 1:] + cuts[:, :-1]) / 2], axis=1), axis=1))
    return fine + (fine - coarse) / 3


def _cases(
    rates: Sequence[float], laws: Sequence[RateLaw], gap: float | None, rule: Rule
) -> Iterator[tuple[_Case, np.ndarray]]:
    """Yield who decides, with which values, and for each value the rates between which to add up."""
    spreads = np.array([_spread(rate, law) for rate, law in zip(rates, laws, strict=True)])
    for case in _deciding(rates, laws, rule, spreads):
        width = _cuts(rates, laws, _part(case, np.arange(1)), gap, rule.gamma, spreads).shape[1]
        for part in np.array_split(np.arange(len(case.points)), -(-len(case.points) * width // BLOCK)):
            if len(part):
                one = _part(case, part)
                yield one, _cuts(rates, laws, one, gap, rule.gamma, spreads)


def _part(case: _Case, at: np.ndarray) -> _Case:
    return case._replace(points=case.points[at], masses=case.masses[at])


def _spread(rate: float, law: RateLaw) -> float:
    noise = 0.0 if np.isinf(law.epsilon) else 2 / law.epsilon**2
    return max(float(np.sqrt((law.n * rate * (1 - rate) + noise) / law.n**2)), 1e-9)


def _deciding(
    rates: Sequence[float], laws: Sequence[RateLaw], rule: Rule, spreads: np.ndarray
) -> Iterator[_Case]:
    points = [fine_points(law) for law in laws]
    sizes, k = [len(at) for at, _ in points], len(laws)
    if rule.middle is not None:
        few = FEW if all(law.lattice for law in laws) else FEW_OF_A_DENSITY
        yield _Case(None, np.full((1, 1), rule.middle), np.ones(1), None, 4 * sum(sizes) <= few)
        return
    values = sizes[rule.anchor] if rule.anchor is not None else sum(sizes)
    resolved = 4 * values * sum(sizes) <= FEW
    below = (k - 1) // 2 if rule.anchor is None else None
    for group in range(k) if rule.anchor is None else (rule.anchor,):
        at, masses = points[group] if resolved else few_points(*points[group], WIDTH * float(spreads.min()))
        yield from _likely(_Case(group, at[:, None], masses, below, resolved), rates, laws, rule)


def _likely(case: _Case, rates: Sequence[float], laws: Sequence[RateLaw], rule: Rule) -> Iterator[_Case]:
    """Yield the case with those values that are likely enough to be seen, if there are any."""
    if len(case.masses) and (kept := _Model(rates, laws, case, rule.gamma).weights() > NEGLIGIBLE).any():
        yield _part(case, kept)


def _cuts(
    rates: Sequence[float], laws: Sequence[RateLaw], case: _Case, gap: float | None, gamma: float, spreads: np.ndarray
) -> np.ndarray:  # fmt: skip
    """Return ascending rates for each value: everywhere around the atoms, else as densely as the laws need it."""
    low, high = _band(case.points, gamma)
    atoms = np.concatenate([
        _moved(rate, fine_points(law)[0] if case.resolved else np.array([0.0, 1.0]), low, high)
        for rate, law in zip(rates, laws, strict=True)
    ], axis=1)  # fmt: skip
    kinks = np.broadcast_to(np.array(rates), (len(low), len(rates)))
    cuts = [atoms - TIE, atoms + TIE, kinks - TIE, kinks + TIE]
    if not case.resolved:
        step = STEP * (0.2 if case.own is None else 1.0)
        grid = _offsets(spreads, step, GROWTH * step / STEP)
        cuts += [end + grid for end in ((low, high) if gamma else (low,))]
    all_cuts = np.concatenate(cuts, axis=1)
    bottom, top = np.full_like(low, -2 * TIE), np.full_like(low, 1 + 2 * TIE)
    if gap is not None:
        all_cuts = np.concatenate([all_cuts, all_cuts - gap - 3 * TIE], axis=1)
        if case.own is not None:
            top = np.full_like(low, rates[case.own] - 2 * TIE)
            bottom = np.minimum(rates[case.own] - gap - 2 * TIE, top)
    return np.sort(np.concatenate([np.clip(all_cuts, bottom, top), bottom, top], axis=1), axis=1)


def _offsets(spreads: np.ndarray, step: float, growth: float) -> np.ndarray:
    near = np.arange(0, REACH, step) * spreads.min()
    rounds = int(np.ceil(np.log(max(spreads.max() / spreads.min(), 1.0)) / np.log1p(growth)))
    far = near[-1] * (1 + growth) ** np.arange(1, rounds + 1)
    one = np.concatenate([near, far])
    return np.concatenate([-one[::-1], one[1:]])


def _band(points: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    low = np.clip(points - gamma / 2, 0.0, 1 - gamma)
    return low, low + gamma


def _moved(rate: float, believed: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return a group's new rate."""
    over, under = believed > high, believed < low
    down = rate * high / np.where(over, believed, 1.0)
    up = 1 - (1 - rate) * (1 - low) / np.where(under, 1 - believed, 1.0)
    return np.where(over, down, np.where(under, up, rate))


class _Model:
    """Given the values of the noisy rate that decides: probabilities of what all groups' new rates do together."""

    def __init__(self, rates: Sequence[float], laws: Sequence[RateLaw], case: _Case, gamma: float) -> None:
        self.rates, self.laws, self.case = rates, laws, case
        self.low, self.high = _band(case.points, gamma)
        # the group that decides is in the band, and keeps its rate
        self.own = None if case.own is None else rates[case.own]
        self.others = [group for group in range(len(laws)) if group != case.own]
        # who is as high as the group that decides lies above it if its place does
        self.reached = {} if case.own is None or case.below is None else {
            group: _tail(laws[group], case.points, strict=group < case.own, slack=1e-9) for group in self.others
        }  # fmt: skip

    def weights(self) -> np.ndarray:
        """Return the probability of each value of the noisy rate that decides, and that it is the one to decide."""
        nothing = np.zeros((len(self.case.points), 1))
        return self.case.masses * self._chance(dict.fromkeys(self.others, (nothing + 1, nothing)))[:, 0]

    def within(self, cuts: np.ndarray, gap: float) -> float:
        """Return the probability that the gap is at most ``gap``, by cells between the cuts."""
        at_least = {group: self._above_rate(group, cuts) for group in self.others}
        at_most = {group: self._up_to_rate(group, cuts + gap + 3 * TIE) for group in self.others}
        # the smallest rate is in the cell, and no rate above what is its end plus the gap
        first = self._window(at_most, at_least, slice(0, -1), slice(0, -1))
        first -= self._window(at_most, at_least, slice(0, -1), slice(1, None))
        second = self._window(at_most, at_least, slice(1, None), slice(0, -1))
        second -= self._window(at_most, at_least, slice(1, None), slice(1, None))
        found = ((first + second) / 2).sum(axis=1)
        if self.own is not None:  # or it is that of the group that decides
            own = np.full_like(self.low, self.own)
            there = self._chance({
                group: (self._up_to_rate(group, own + gap + 2 * TIE), self._above_rate(group, own - 2 * TIE))
                for group in self.others
            })  # fmt: skip
            found = found + there[:, 0]
        return float(self.case.masses @ found)

    def mean(self, cuts: np.ndarray) -> float:
        """Return the expected gap times the probability of the case."""
        nothing = np.zeros_like(cuts)
        low = self._chance({group: (nothing + 1, self._above_rate(group, cuts)) for group in self.others})
        high = self._chance({group: (self._up_to_rate(group, cuts), nothing) for group in self.others})
        if self.own is not None:
            low, high = np.where(cuts < self.own, low, 0.0), np.where(cuts >= self.own, high, 0.0)
        whole = self._chance(dict.fromkeys(self.others, (nothing[:, :1] + 1, nothing[:, :1])))
        between = whole - low - high
        return float(self.case.masses @ (np.diff(cuts) * (between[:, 1:] + between[:, :-1]) / 2).sum(axis=1))

    def _window(self, at_most: Any, at_least: Any, top: slice, bottom: slice) -> np.ndarray:
        return self._chance({
            group: (at_most[group][:, top], at_least[group][:, bottom]) for group in self.others
        })  # fmt: skip

    def _above_rate(self, group: int, rate: np.ndarray) -> np.ndarray:
        """Return P(noisy rate > the largest with which the new rate is at least ``rate``)."""
        own = self.rates[group]
        up = 1 - (1 - own) * (1 - self.low) / np.where(rate < 1, 1 - rate, 1.0)
        up = np.where(rate < 1, np.where(self.low >= 1, _beside_one(self.laws[group]), up), -1.0)
        down = np.where(rate > 0, own * self.high / np.where(rate > 0, rate, 1.0), 2.0)
        return _tail(self.laws[group], np.where(rate <= own, down, up), strict=True)

    def _up_to_rate(self, group: int, rate: np.ndarray) -> np.ndarray:
        """Return P(noisy rate ≥ the smallest with which the new rate is at most ``rate``)."""
        own = self.rates[group]
        up = np.where(rate < 1, 1 - (1 - own) * (1 - self.low) / np.where(rate < 1, 1 - rate, 1.0), -1.0)
        down = np.where(rate > 0, own * self.high / np.where(rate > 0, rate, 1.0), 2.0)
        down = np.where((self.high <= 0) & (rate >= 0), 1 - _beside_one(self.laws[group]), down)
        return _tail(self.laws[group], np.where(rate >= own, up, down), strict=False)

    def _chance(self, windows: dict[int, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """Return the probability that every group is in its window, and that the right number lies below."""
        below = self.case.below
        none = np.zeros((len(self.case.points), 1))
        if below is None:
            found = none + 1
            for top, bottom in windows.values():
                found = found * np.maximum(top - bottom, 0.0)
            return found
        counts = [none + 1, *(none for _ in range(below))]
        for group, (top, bottom) in windows.items():
            reached = self.reached[group]
            left = np.maximum(top - np.maximum(bottom, reached), 0.0)
            right = np.maximum(np.minimum(top, reached) - bottom, 0.0)
            for count in range(below, 0, -1):
                counts[count] = counts[count] * right + counts[count - 1] * left
            counts[0] = counts[0] * right
        return counts[below]


def _beside_one(law: RateLaw) -> float:
    """Return a number below 1 that no noisy rate but 1 exceeds: a group jumps where the band ends at 0 or 1."""
    return 1 - 0.5 / law.n if law.lattice else float(np.nextafter(1, 0))


def _tail(law: RateLaw, x: np.ndarray, *, strict: bool, slack: float = 0.0) -> np.ndarray:
    """Return P(noisy rate > x), or P(noisy rate ≥ x), for any real x; a count within the slack of x equals it."""
    if law.lattice:
        count = np.clip(x, -1.0, 2.0) * law.n
        at = np.floor(count + slack) + 1 if strict else np.ceil(count - slack)
        return law.above[np.clip(at, 0, law.n + 1).astype(np.int64)]
    inside = law.survival(np.clip(x, 0.0, np.nextafter(1, 0)))
    if strict:
        return np.where(x < 0, 1.0, np.where(x >= 1, 0.0, inside))
    return np.where(x <= 0, 1.0, np.where(x > 1, 0.0, np.where(x == 1, law.from_left[-1] / 2, inside)))
