"""How far a gap of true positive rates can open within a statistical distance, if each group keeps enough positives.

The distance in question tells how many steps of neighbours lie between distributions that want different answers:
see `dpfair_lib.compatibility.impossibility.thresholds`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.compatibility.impossibility.constructions import zero_table
from dpfair_lib.populations import Population


def largest_gap(start: Any, ratio: Any) -> Any:
    """Return the largest gap of true positive rates within a distance of where it is at most `start`.

    Parameters
    ----------
    start : number
        In [0, 1).
    ratio : number
        ρ ≥ 0: the statistical distance, divided by the least mass of positives of either group on both distributions.

    Returns
    -------
    number
        1 + start/(1 + ρ) − 1/(1 + ρ)² for small ρ, then ((1 + start + ρ)/2)², and 1 from ρ = 1 − start on. Every
        value below 1 is attained.
    """
    start, ratio = _checked_start(start), _nonnegative(ratio, "ratio")
    if ratio >= 1 - start:
        return 1 + 0 * ratio
    share = _share_leaving(start, ratio)
    return 1 - (1 - start - ratio) * (1 - share) - share**2


def least_distance(threshold: float, slack: float, floor: float) -> float:
    """Return the infimum of the distances from a gap of at most the threshold to one above threshold + slack.

    Parameters
    ----------
    threshold, slack : float
        α in [0, 1) and s ≥ 0.
    floor : float
        The least mass of positives of either group, in (0, 1/3].

    Returns
    -------
    float
        It is not attained; infinite if threshold + slack is at least 1: no gap is larger.
    """
    alpha, slack = float(_checked_start(threshold)), float(_nonnegative(slack, "slack"))
    end = alpha + slack
    if not slack:
        return 0.0
    if end >= 1:
        return math.inf
    if end >= ((alpha + math.sqrt(alpha**2 + 8)) / 4) ** 2:
        return float(floor * (2 * math.sqrt(end) - 1 - alpha))
    return float(floor * (2 / (alpha + math.sqrt(alpha**2 + 4 * (1 - end))) - 1))


def least_steps(
    threshold: Fraction, slack: Fraction, tolerance: Fraction, *, floor: Fraction, zeta: Fraction
) -> int:
    """Return how many steps lead from a law on which h alone is `accepted` to one on which the constant 0 alone is.

    Parameters
    ----------
    threshold, slack, tolerance : Fraction
        α in [0, 1), s ≥ 0 and τ in [0, floor].
    floor : Fraction
        The least mass of positives of either group, in (0, 1/3).
    zeta : Fraction
        The length of a step, above 0.

    Returns
    -------
    int
        The least m for which mζ exceeds τ, or the gap can open to more than α + s within mζ. Exact.
    """
    steps, end = 1, _checked_start(threshold) + _nonnegative(slack, "slack")
    while steps * zeta <= tolerance and largest_gap(threshold, steps * zeta / floor) <= end:
        steps += 1
    return steps


def opening_pair(h: Any, start: Fraction, ratio: Fraction, floor: Fraction) -> tuple[Population, Population]:
    """Return two laws between which the gap of h opens from `start` to `largest_gap(start, ratio)`.

    Their distance is ratio · floor. On the first, h selects more positives than any constant, and no negatives.

    Parameters
    ----------
    h : array of shape (n_x, 2)
        Zeros and ones, both in each group.
    start, ratio : Fraction
        As in `largest_gap`, with start + ratio < 1.
    floor : Fraction
        In (0, 1/3].
    """
    h = _mixed(h)
    share = _share_leaving(_checked_start(start), ratio)
    leaving = floor * share / (1 - share)
    moved = floor * ratio
    chosen, left = ([int(np.flatnonzero(h[:, a] == value)[0]) for a in (0, 1)] for value in (1, 0))
    hits = (1 - share - start) * floor
    before = {(1, chosen[1]): floor, (1, left[1]): leaving, (0, chosen[0]): hits, (0, left[0]): floor - hits}
    after = before | {
        (1, left[1]): leaving * 0,
        (0, chosen[0]): hits - moved + leaving,
        (0, left[0]): floor - hits + moved,
    }
    return _law(before, len(h), left[0]), _law(after, len(h), left[0])


def flipped_pair(h: Any, moved: Fraction, floor: Fraction) -> tuple[Population, Population]:
    """Return two laws `moved` apart, on both of which h has gap 0.

    On the first the error of h is by `moved` below that of the constant 0, on the second by `moved` above it.

    Parameters
    ----------
    h : array of shape (n_x, 2)
        Zeros and ones, both in each group.
    moved, floor : Fraction
        Above 0, with moved + 2 · floor ≤ 1.
    """
    h = _mixed(h)
    chosen, left = ([int(np.flatnonzero(h[:, a] == value)[0]) for a in (0, 1)] for value in (1, 0))
    rejected = {(a, left[a]): floor for a in (0, 1)}
    first = _law(rejected | {(a, chosen[a]): moved / 2 for a in (0, 1)}, len(h), left[0])
    table = first.table.copy()
    for a in (0, 1):
        table[chosen[a], a] = table[chosen[a], a, ::-1].copy()
    return first, Population.from_table(table)


def _law(positives: dict[tuple[int, int], Fraction], n_x: int, rest: int) -> Population:
    """Return the law with these positives, whose others are negatives of group 0 at one point."""
    table = zero_table(n_x)
    for (a, x), mass in positives.items():
        table[x, a, 1] += mass
    table[rest, 0, 0] += 1 - table.sum()
    return Population.from_table(table)


def _share_leaving(start: Any, ratio: Any) -> Any:
    """Return which share of a group's positives leaves it, where the gap opens fastest."""
    return min((1 - start - ratio) / 2, ratio / (1 + ratio))


def _nonnegative(value: Any, name: str) -> Any:
    if not value >= 0:
        raise ValueError(f"{name}: found {value}, expected a number of at least 0")
    return value


def _checked_start(value: Any) -> Any:
    if not 0 <= value < 1:
        raise ValueError(f"start: found {value}, expected a gap in [0, 1)")
    return value


def _mixed(h: Any) -> np.ndarray:
    h = np.asarray(h)
    if not (h.any(axis=0).all() and not h.all(axis=0).any()):
        raise ValueError("h: expected a hypothesis that selects and rejects somebody in each group")
    return h
