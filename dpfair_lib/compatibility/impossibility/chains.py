"""Chains of neighbouring distributions along which no single hypothesis stays acceptable; exact arithmetic."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.compatibility.impossibility.acceptable import statistical_distance
from dpfair_lib.compatibility.impossibility.constructions import zero_table
from dpfair_lib.compatibility.impossibility.criteria import is_usable
from dpfair_lib.populations import Population


def coin_chain(h: np.ndarray, g: np.ndarray, zeta: Fraction) -> tuple[list[Population], int]:
    """Return a chain as `connecting_chain` does, for accuracy alone: it passes by the law whose labels are a fair coin.

    Raises
    ------
    ValueError
        If the hypotheses are equal or one is constant.
    """
    h, g = np.asarray(h), np.asarray(g)
    if np.array_equal(h, g) or any(f.all() or not f.any() for f in (h, g)):
        raise ValueError("h, g: expected two different hypotheses that are not constant")
    zeta = min(Fraction(zeta), Fraction(1, 2))
    apart = tuple(np.argwhere(h != g)[0])
    coin = zero_table(len(h)) + Fraction(1, 4 * len(h))
    ends = []
    for f in (h, g):
        right = zero_table(len(h))
        for value in (0, 1):
            right[(*np.argwhere(f == value)[0], value)] += Fraction(1, 2)
        first = _mixed(Fraction(1, 2), apart, f[apart], (right + coin) / 2)
        ends.append([first, (1 - zeta) * coin + zeta * right])
    before, after = _filled(ends[0], zeta), _filled(ends[1][::-1], zeta)
    return before + after, len(before)


def connecting_chain(h: np.ndarray, g: np.ndarray, zeta: Fraction) -> tuple[list[Population], int]:
    """Return a chain of laws in steps of at most ζ that forbids to keep to h, and to keep to g.

    h is fair and beats every constant on the first ``switch`` laws, g on the others; g does not beat the constants on
    the first law, nor h on the last.

    Parameters
    ----------
    h, g : array of shape (n_x, 2)
        Deterministic and different, both `is_usable`.
    zeta : Fraction
        Above 0.

    Returns
    -------
    chain : list of Population
    switch : int

    Raises
    ------
    ValueError
        If they are equal or one is not usable.
    """
    h, g = np.asarray(h), np.asarray(g)
    if not (is_usable(h) and is_usable(g)) or np.array_equal(h, g):
        raise ValueError("h, g: expected two different hypotheses, not constant, that select in each group")
    zeta = min(Fraction(zeta), Fraction(1, 2))
    apart = tuple(np.argwhere(h != g)[0])
    first, last = (_mixed(Fraction(1, 2), apart, f[apart], _served(f)) for f in (h, g))
    shared = np.argwhere(h == g)
    if len(shared):
        # nearly all mass where both give the same, right answer: there the two laws are ζ apart
        at = tuple(shared[0])
        before, after = (_mixed(1 - zeta, at, h[at], _served(f)) for f in (h, g))
        corners = [[first, before], [after, last]]
    else:  # g = 1 − h: from where h is right, to a coin, to where h is wrong
        corners = [[first, _noisy(h, Fraction(1)), _noisy(h, zeta)]]
        corners.append([_noisy(h, -zeta), _noisy(h, Fraction(-1)), last])
    parts = [_filled(part, zeta) for part in corners]
    return parts[0] + parts[1], len(parts[0])


def _served(h: np.ndarray) -> Any:
    """Return a law on which h misses no positive and rejects only negatives.

    All such laws on which h selects fewer negatives than positives form a convex set, where h is fair (both γ are 1)
    and beats the constants.
    """
    table = zero_table(len(h))
    for a in (0, 1):
        rejected = np.flatnonzero(h[:, a] == 0)
        selected = np.flatnonzero(h[:, a] == 1)
        table[selected[0], a, 1] += Fraction(1, 4)
        # a group that h selects wholly has its negatives there too, few
        table[(*rejected, *selected)[0], a, 0] += Fraction(3 if len(rejected) else 1)
    table[..., 0] /= 2 * table[..., 0].sum()
    return table


def _mixed(weight: Fraction, at: tuple[int, ...], label: Any, table: Any) -> Any:
    mixed = (1 - weight) * table
    mixed[(*at, int(label))] += weight
    return mixed


def _noisy(h: np.ndarray, s: Fraction) -> Any:
    """Return the law on one selected and one rejected point of each group where h errs with probability (1 − s)/2."""
    table = zero_table(len(h))
    for a in (0, 1):
        for value in (0, 1):
            x = int(np.flatnonzero(h[:, a] == value)[0])
            table[x, a, value] += (1 + s) / 8
            table[x, a, 1 - value] += (1 - s) / 8
    return table


def _filled(corners: list[Any], zeta: Fraction) -> list[Population]:
    """Return the polygon through the corners in steps of at most ζ."""
    laws = [Population.from_table(corners[0])]
    for start, end in itertools.pairwise(corners):
        target = Population.from_table(end)
        steps = math.ceil(statistical_distance(Population.from_table(start), target) / zeta)
        for step in range(1, steps + 1):
            laws.append(Population.from_table(start + Fraction(step, steps) * (end - start)))
    return laws
