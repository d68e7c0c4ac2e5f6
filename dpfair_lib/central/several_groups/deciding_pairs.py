"""Values of the two noisy rates between which the midpoint lies, with their probabilities.

Each group of noisy rate x has the knots x and x − γ, for γ = 0 only x. Of K knots the numbers K/2 and K/2 + 1 in
ascending order decide: the lower end t of the band is halfway between them, after both are cut to [0, 1 − γ]. A tie of
knots is broken by the place of the group, the same way everywhere, so that exactly one pair decides.

A noisy rate is a point of its law, or lies in an interval on which its density is replaced by a polynomial with the
same first moments. The new rates of the two groups differ by a number that only rises with the upper noisy rate. So the
values at which it passes the gap are found by halving, and no interval has them inside.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dpfair_lib.central.several_groups.gap_cells import Levels
from dpfair_lib.central.several_groups.law_points import NoisyRate, fine_points

# noisy rates that differ by less are equal; no round number: knots that differ by just this much are miscounted
EQUAL = 7.3e-13
MOMENTS = 5  # that a polynomial has in common with the law, on one interval
OUTER, INNER = 4, 4  # points of an interval
WIDTH, FINE, REACH = (
    1.5,
    0.4,
    8.0,
)  # of the intervals, where noise is often cut, and of their range, in deviations
PIECES = 4  # of an interval, for its moments
HALVED, WIDEST = 8, 0.1  # intervals beside 0 and 1; length of one
UNSEEN = 1e-14  # probability that counts as none
SURE = 1e-12  # probability of what is beyond a law's range
STEPS, NARROW = 44, 1e-15  # of halving; length of an interval that counts as none
LEAST, CLOSE = 1e-8, 1e-10  # deviation that counts as none; ends that are one
LISTED = 60  # points of a coarse lattice that end an interval

Cut = tuple[Callable[["Rows"], np.ndarray], float]
"""A function of the pair that is monotone in either noisy rate, and a value at which something jumps."""


class Rows(NamedTuple):
    """Pairs of noisy rates that may decide, one a row.

    Attributes
    ----------
    lower, upper : ndarray of int
        The groups; the same one twice where both knots are its own.
    first, second : ndarray of int
        Which of its knots: 0 for x, 1 for x − γ.
    x, z : ndarray
        The noisy rates of the lower and of the upper group.
    weights : ndarray
        The probability of both, or of their intervals.
    """

    lower: np.ndarray
    upper: np.ndarray
    first: np.ndarray
    second: np.ndarray
    x: np.ndarray
    z: np.ndarray
    weights: np.ndarray

    def knots(self, gamma: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the two values that decide, before they are cut."""
        return self.x - gamma * self.first, self.z - gamma * self.second

    def start(self, gamma: float) -> np.ndarray:
        """Return the lower end of the band."""
        low, high = (np.clip(knot, 0.0, 1 - gamma) for knot in self.knots(gamma))
        middle: np.ndarray = (low + high) / 2
        return middle

    def chosen(self, at: np.ndarray) -> Rows:
        """Return some of the rows."""
        return Rows(*(one[at] for one in self))


class Parts(NamedTuple):
    """A law: its points and their probabilities, and moments of its density on intervals."""

    points: np.ndarray
    masses: np.ndarray
    moments: np.ndarray | None

    def weights(self, ends: np.ndarray, place: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Return the density at points of intervals."""
        assert self.moments is not None
        left, right = ends[place], ends[place + 1]
        y = (2 * at - left - right) / (right - left)
        scaled = self.moments * (np.arange(MOMENTS)[:, None] + 0.5)
        found = np.zeros_like(at)
        for order, values in enumerate(np.moveaxis(np.polynomial.legendre.legvander(y, MOMENTS - 1), -1, 0)):
            found += scaled[order][place] * values
        return found * 2 / (right - left)


def ends_for(
    points: Sequence[tuple[np.ndarray, np.ndarray]], levels: Sequence[Levels], gamma: float
) -> np.ndarray:
    """Return ends of intervals on which every law, moved by γ either way or not, varies little.

    Parameters
    ----------
    points : sequence of tuple of ndarray
        Points and masses of the laws.
    levels : sequence of Levels
        Their deviations.
    gamma : float
        Width of the band.

    Returns
    -------
    ndarray
        Ascending, in [0, 1].
    """
    shifts = {-gamma, 0.0, gamma}
    length = FINE if any(len(one.jumps) for one in levels) else WIDTH
    wide = [
        (float(at @ masses) + shift, max(one.spread, EQUAL))
        for (at, masses), one in zip(points, levels, strict=True)
        for shift in shifts
        if one.spread > LEAST
    ]
    centers, spreads = (np.array([one[at] for one in wide] or [0.5]) for at in (0, 1))
    jumps = [
        at[masses > UNSEEN] + shift
        for at, masses in points
        if int((masses > UNSEEN).sum()) <= LISTED
        for shift in shifts
    ]
    fixed = np.array([0.0, gamma, 1 - gamma, 1.0])
    ends, at = [0.0], 0.0
    while at < 1:
        apart = np.abs(at - centers) / spreads
        near = apart < REACH * (1 + 1e-9)
        width = float(spreads[near].min()) * length if near.any() else 1.0
        # up to where the next law begins
        begin = centers - REACH * spreads
        later = begin[(begin > at) & (begin < at + width)]
        later = later[spreads[(begin > at) & (begin < at + width)] * length < width]
        at = float(later.min()) if len(later) else at + width
        at = min(at, ends[-1] + WIDEST, 1.0)
        ends.append(at)
    small = min(WIDEST, float(spreads.min())) * 0.5 ** np.arange(1, HALVED)
    every = np.concatenate([ends, small, 1 - small, fixed, *jumps])
    every = np.unique(np.clip(every, 0.0, 1.0))
    kept: np.ndarray = every[np.concatenate([[True], np.diff(every) > CLOSE])]
    kept[-1] = 1.0
    return kept


def parts_of(law: NoisyRate, ends: np.ndarray) -> Parts:
    """Return a lattice's points, or the atoms 0, ½ and 1 and the moments of a density on the intervals."""
    if law.lattice:
        return Parts(*fine_points(law), None)
    widths = np.diff(ends)
    points, masses = fine_points(law, math.ceil(PIECES / float(np.median(widths))), ends)
    atoms = np.isin(points, (0.0, 0.5, 1.0))
    inner, mass = points[~atoms], masses[~atoms]
    place = np.clip(np.searchsorted(ends, inner, side="right") - 1, 0, len(widths) - 1)
    y = (2 * inner - ends[place] - ends[place + 1]) / widths[place]
    moments = np.array([
        np.bincount(place, mass * one, len(widths))
        for one in np.polynomial.legendre.legvander(y, MOMENTS - 1).T
    ])  # fmt: skip
    seen = atoms & (masses > 0)
    return Parts(points[seen], masses[seen], moments)


def knots_that_may_decide(
    levels: Sequence[tuple[float, float]], gamma: float
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return pairs (group, which of its knots) that may be the middle two, by the ranges of the noisy rates.

    Parameters
    ----------
    levels : sequence of (float, float)
        Between which numbers each noisy rate surely lies.
    gamma : float
        Width of the band.

    Returns
    -------
    list of tuple
        The lower and the upper knot.
    """
    kinds = (0, 1) if gamma > 0 else (0,)
    knots = [(group, kind) for group in range(len(levels)) for kind in kinds]
    low = np.array([levels[group][0] - gamma * kind for group, kind in knots])
    high = np.array([levels[group][1] - gamma * kind for group, kind in knots])
    half = len(knots) // 2
    below = (high[None, :] < low[:, None] - EQUAL).sum(axis=1)  # surely below this one
    above = (low[None, :] > high[:, None] + EQUAL).sum(axis=1)
    lowest = [at for at in range(len(knots)) if below[at] <= half - 1 and above[at] <= half]
    highest = [at for at in range(len(knots)) if below[at] <= half and above[at] <= half - 1]
    found = []
    for first, second in itertools.product(lowest, highest):
        (group, kind), (other, sort) = knots[first], knots[second]
        if (group != other or (kind, sort) == (1, 0)) and low[first] <= high[second] + EQUAL:
            found.append((knots[first], knots[second]))
    return found


def pair_rows(
    laws: Sequence[Parts], ends: np.ndarray, pair: tuple[tuple[int, int], tuple[int, int]], gamma: float,
    cuts: Sequence[Cut],
) -> Rows:  # fmt: skip
    """Return the values of two knots that may decide.

    Parameters
    ----------
    laws : sequence of Parts
        Of all groups.
    ends : ndarray
        Of the intervals.
    pair : tuple
        From `knots_that_may_decide`.
    gamma : float
        Width of the band.
    cuts : sequence of (callable, float)
        What jumps where.

    Returns
    -------
    Rows
        Values with their probabilities, whatever the other groups do.
    """
    (lower, first), (upper, second) = pair
    low, high = laws[lower], laws[upper]
    shift = (second - first) * gamma
    bounded = gamma > 0 and (first, second) != (0, 1)

    def rows(x: np.ndarray, z: np.ndarray, weights: np.ndarray) -> Rows:
        one, other, kind, sort = (np.full(x.shape, value) for value in (lower, upper, first, second))
        return Rows(one, other, kind, sort, x, z, weights)

    if lower == upper:
        return _of_one(low, ends, rows)
    found = []
    # both are points
    x, z = (one.ravel() for one in np.meshgrid(low.points, high.points, indexing="ij"))
    apart = z - x - shift
    right = apart > EQUAL if lower > upper else apart > -EQUAL
    if bounded:
        right &= (apart < gamma + EQUAL) if lower > upper else apart < gamma - EQUAL
    found.append(rows(x[right], z[right], np.outer(low.masses, high.masses).ravel()[right]))
    outer, mass = low.points, low.masses
    if low.moments is not None:
        at, weight = _nodes(low, ends)
        outer, mass = np.concatenate([outer, at]), np.concatenate([mass, weight])
    if high.moments is not None:
        top = outer + shift + gamma if bounded else np.ones_like(outer)
        one = _Inner(high, ends, outer, mass, outer + shift, top)
        found.append(one.rows(rows, cuts))
    if low.moments is not None:
        outer, mass = high.points, high.masses
        bottom = outer - shift - gamma if bounded else np.zeros_like(outer)
        one = _Inner(low, ends, outer, mass, bottom, outer - shift)
        found.append(one.rows(lambda z, x, weights: rows(x, z, weights), cuts))
    return joined(found)


def joined(found: Sequence[Rows]) -> Rows:
    """Return the rows of several as one."""
    return Rows(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _of_one(law: Parts, ends: np.ndarray, rows: Callable[..., Rows]) -> Rows:
    at, mass = law.points, law.masses
    if law.moments is not None:
        inner, weights = _nodes(law, ends)
        at, mass = np.concatenate([at, inner]), np.concatenate([mass, weights])
    return rows(at, at, mass)


def _nodes(law: Parts, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points of all intervals on which a density is seen, and their weights."""
    assert law.moments is not None
    seen = np.flatnonzero(np.abs(law.moments[0]) > UNSEEN)
    y, weight = np.polynomial.legendre.leggauss(OUTER)
    left, right = ends[seen, None], ends[seen + 1, None]
    at = (left + right + (right - left) * y) / 2
    place = np.broadcast_to(seen[:, None], at.shape)
    masses = law.weights(ends, place.ravel(), at.ravel()).reshape(at.shape) * (right - left) / 2 * weight
    return at.ravel(), masses.ravel()


class _Inner(NamedTuple):
    """A density of one noisy rate between two numbers, for each value of the other."""

    law: Parts
    ends: np.ndarray
    outer: np.ndarray
    masses: np.ndarray
    bottom: np.ndarray
    top: np.ndarray

    def rows(self, make: Callable[..., Rows], cuts: Sequence[Cut]) -> Rows:
        """Return the rows, with no interval that has a jump inside."""
        assert self.law.moments is not None
        ends, share = self.ends, self.law.moments[0]
        left = np.maximum(ends[:-1], self.bottom[:, None])
        right = np.minimum(ends[1:], self.top[:, None])
        seen = (right - left > NARROW) & (np.abs(self.masses[:, None] * share) > UNSEEN)
        which, place = np.nonzero(seen)
        start, stop = left[seen], right[seen]
        for value, wanted in cuts:
            outer = self.outer[which]
            places = _where(functools.partial(_valued, value, make, outer), wanted, start, stop)
            inside = np.flatnonzero((start + NARROW < places) & (places < stop - NARROW))
            which, place = (np.concatenate([one, one[inside]]) for one in (which, place))
            start, stop = np.concatenate([start, places[inside]]), np.concatenate([stop, stop[inside]])
            stop[inside] = places[inside]
        y, weight = np.polynomial.legendre.leggauss(INNER)
        half = (stop - start)[:, None] / 2
        at = start[:, None] + half * (1 + y)
        density = self.law.weights(ends, np.repeat(place, INNER), at.ravel()).reshape(at.shape)
        masses = density * half * weight * self.masses[which][:, None]
        return make(np.repeat(self.outer[which], INNER), at.ravel(), masses.ravel())


def _valued(
    value: Callable[[Rows], np.ndarray], make: Callable[..., Rows], outer: np.ndarray, at: np.ndarray
) -> np.ndarray:
    return value(make(outer, at, at))


def _where(
    value: Callable[[np.ndarray], np.ndarray], wanted: float, start: np.ndarray, stop: np.ndarray
) -> np.ndarray:
    """Return where monotone functions pass a value, by halving; −1 for those that do not between these ends."""
    first, last = value(start), value(stop)
    inside = (np.minimum(first, last) < wanted) & (wanted < np.maximum(first, last))
    if not inside.any():
        return np.full_like(start, -1.0)
    up = last >= first
    low, high = np.where(up, start, stop), np.where(up, stop, start)
    for _ in range(STEPS):
        middle = (low + high) / 2
        over = value(middle) > wanted
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return np.where(inside, (low + high) / 2, -1.0)
