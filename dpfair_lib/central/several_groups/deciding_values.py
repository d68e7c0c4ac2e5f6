"""Values of a noisy rate that decides: points which stand for the laws of several groups at once.

Given the place of the band, the gap depends smoothly on it, but for jumps: where noise is often cut to 0 or 1, many
groups have one of few new rates, and these move with the band. Two of them are a given gap apart at places which solve
linear equations. There the intervals end.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from dpfair_lib.central.several_groups.law_points import NoisyRate, fine_points

SHARED = 5  # points that several laws have in common, on one interval
PIECES = 4  # of an interval, for its moments
WIDEST = 0.1  # interval
HALVED = 10  # intervals beside 0 and 1
NEAR = 6  # of the likeliest jumps, with shorter intervals beside them
RARE, MOST_JUMPS = 1e-6, 100  # jumps of smaller probability do not count; and so many of the largest do

Law = tuple[np.ndarray, np.ndarray]


def all_points(laws: Sequence[Law]) -> Law:
    """Return all points of several laws, and an array of one row of masses for each law."""
    at = np.unique(np.concatenate([points for points, _ in laws]))
    masses = np.zeros((len(laws), len(at)))
    for row, (points, mass) in zip(masses, laws, strict=True):
        row[np.searchsorted(at, points)] = mass
    return at, masses


def interval_ends(points: Sequence[Law], width: float, jumps: np.ndarray) -> np.ndarray:
    """Return ascending ends of intervals from the smallest to the largest point of several laws.

    Parameters
    ----------
    points : sequence of tuple of ndarray
        Points and masses of the laws.
    width : float
        Length of the intervals, at most.
    jumps : ndarray
        More ends.

    Returns
    -------
    ndarray
        Beside 0 and 1, where a new rate is a quotient of small numbers, the intervals become shorter and shorter.
    """
    width = min(width, WIDEST)
    start, stop = min(float(at[0]) for at, _ in points), max(float(at[-1]) for at, _ in points)
    if stop <= start:
        start, stop = max(start - width / 2, 0.0), min(stop + width / 2, 1.0)
    small = width * 0.5 ** np.arange(1, HALVED)
    every = np.concatenate(
        [np.linspace(start, stop, math.ceil((stop - start) / width) + 1), small, 1 - small, jumps]
    )
    ends = np.unique(every[(every >= start) & (every <= stop)])
    kept: np.ndarray = ends[np.concatenate([[True], np.diff(ends) > 1e-9])]
    return kept


def shared_points(laws: Sequence[NoisyRate], ends: np.ndarray) -> Law:
    """Return points on the intervals between the ends, with the probabilities of each law.

    Parameters
    ----------
    laws : sequence of NoisyRate
        Of the noisy rates.
    ends : ndarray
        From `interval_ends`.

    Returns
    -------
    tuple of ndarray
        Ascending points, and an array of one row of masses for each law. On an interval they have the same integrals of
        polynomials of degree below `SHARED` as the law; a mass may be negative. The atoms 0, ½ and 1 stay points of
        their own.
    """
    nodes, _ = np.polynomial.legendre.leggauss(SHARED)
    to_masses = np.linalg.inv(np.polynomial.legendre.legvander(nodes, SHARED - 1).T)
    middles, halves = (ends[1:] + ends[:-1]) / 2, np.diff(ends) / 2
    atoms = np.array([0.0, 0.5, 1.0])
    places = math.ceil(PIECES / float(np.median(2 * halves)))
    rows = []
    for points, mass in (fine_points(law, places, ends) for law in laws):
        inside = ~np.isin(points, atoms)
        place = np.clip(np.searchsorted(ends, points[inside], side="right") - 1, 0, len(middles) - 1)
        y = (points[inside] - middles[place]) / halves[place]
        moments = np.stack([
            np.bincount(place, mass[inside] * one, len(middles))
            for one in np.polynomial.legendre.legvander(y, SHARED - 1).T
        ])  # fmt: skip
        own = [mass[points == atom].sum() for atom in atoms]
        rows.append(np.concatenate([own, (to_masses @ moments).T.ravel()]))
    at = np.concatenate([atoms, (middles[:, None] + halves[:, None] * nodes).ravel()])
    order = np.argsort(at, kind="stable")
    return at[order], np.array(rows)[:, order]


def jump_places(rates: Sequence[float], atoms: Sequence[Law], gamma: float, gap: float) -> np.ndarray:
    """Return where a band may lie so that two likely new rates are the gap apart.

    Parameters
    ----------
    rates : sequence of float
        The groups' true rates.
    atoms : sequence of tuple of ndarray
        Of each law with a density, the points of positive probability, and their probabilities.
    gamma, gap : float
        Width of the band, and the gap.

    Returns
    -------
    ndarray
        Middles of bands, of the likeliest jumps.
    """
    # a new rate as a linear function of the band's lower end t: slope, value at t = 0, probability, group
    lines = [(0.0, rate, 1.0, group) for group, rate in enumerate(rates)]
    for group, (rate, (points, masses)) in enumerate(zip(rates, atoms, strict=True)):
        for point, mass in zip(points.tolist(), masses.tolist(), strict=True):
            if point > 0:
                lines.append((rate / point, rate * gamma / point, mass, group))
            if point < 1:
                slope = (1 - rate) / (1 - point)
                lines.append((slope, 1 - slope, mass, group))
    found = []
    for (slope, start, mass, group), (other, begin, chance, neighbour) in itertools.combinations(lines, 2):
        if group != neighbour and slope != other and mass * chance > RARE and mass * chance < 1:
            for side in {gap, -gap}:
                t = (side - start + begin) / (slope - other)
                if 0 < t < 1 - gamma:
                    found.append((-mass * chance, t + gamma / 2))
    likeliest = [place for _, place in sorted(set(found))[:MOST_JUMPS]]
    # what follows a jump may be as narrow as the smallest rates
    near = [
        place + side * 0.002 * 0.5**step
        for place in likeliest[:NEAR]
        for side in (-1, 1)
        for step in range(4)
    ]
    return np.array([gamma / 2, 1 - gamma / 2, *likeliest, *near])
