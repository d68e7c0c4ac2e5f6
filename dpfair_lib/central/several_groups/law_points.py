"""The law of a noisy rate as finitely many points: all of them, or few that integrate smooth functions alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from dpfair_lib.central.gap_law import RateLaw

NEGLIGIBLE = 1e-14  # probability of what is left out at each end
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2
SHARED = 5  # points that several laws have in common, on one interval
MOST_PIECES = 256  # of the interval between two counts


class NoisyRate(Protocol):
    """The law of one group's noisy rate, of selection or of true positives."""

    @property
    def lattice(self) -> bool:
        """Whether it has finitely many points."""

    def tail(self, x: np.ndarray, *, strict: bool, slack: float = 0.0) -> np.ndarray:
        """Return P(noisy rate > x), or P(noisy rate ≥ x), for any real x."""

    def below_one(self) -> float:
        """Return a number below 1 that no noisy rate but 1 exceeds."""


def fine_points(law: NoisyRate, places: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return points and probabilities: those of a lattice, or a Gauss rule between any two counts.

    Parameters
    ----------
    law : NoisyRate
        The law of one group's noisy rate. A law of another kind than `RateLaw` has its own `fine_points`.
    places : int
        Into how many intervals [0, 1] is divided, at least, for a law with a density.

    Returns
    -------
    tuple of ndarray
        Ascending points in [0, 1] and their probabilities, but for at most `NEGLIGIBLE` at either end.
    """
    if not isinstance(law, RateLaw):
        points, masses = law.fine_points(places)  # type: ignore[attr-defined]
        return _without_ends(points, masses) if law.lattice else (points, masses)
    points, masses = law.atoms()
    if law.lattice:
        return _without_ends(points, masses)
    # between two counts the density is a sum of e^(−εs) and e^(−ε(1 − s)); on a piece the exponents vary by at most ½
    pieces = math.ceil(max(min(2 * law.epsilon, MOST_PIECES), places / law.n))
    first, last = _reach(law)
    starts = np.arange(first * pieces, last * pieces) / (law.n * pieces)
    width = 1 / (law.n * pieces)
    inner = (starts[:, None] + width * _NODES).ravel()
    weights = (law.density(inner).reshape(-1, len(_NODES)) * (width * _WEIGHTS)).ravel()
    return np.concatenate([points[:1], inner, points[1:]]), np.concatenate([masses[:1], weights, masses[1:]])


def _without_ends(points: np.ndarray, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    kept = (np.cumsum(masses) > NEGLIGIBLE) & (np.cumsum(masses[::-1])[::-1] > NEGLIGIBLE)
    return points[kept], masses[kept]


def _reach(law: RateLaw) -> tuple[int, int]:
    """Return the counts between which the noisy count of continuous noise lies but for a negligible part."""
    counts = np.arange(law.n) / law.n
    above = law.survival(counts)
    first = max(int(np.count_nonzero(above >= 1 - NEGLIGIBLE)) - 1, 0)
    return first, min(int(np.count_nonzero(above > NEGLIGIBLE)), law.n)


def few_points(points: np.ndarray, masses: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Return fewer points with the same integrals of polynomials of degree up to 5 on each interval.

    Parameters
    ----------
    points, masses : ndarray
        From `fine_points`.
    width : float
        Length of the intervals.

    Returns
    -------
    tuple of ndarray
        At most three points in each interval (the Gauss rule of the law restricted to it), and their probabilities.
        The ends 0 and 1 stay points of their own.
    """
    found: list[tuple[np.ndarray, np.ndarray]] = []
    inner = (points > 0) & (points < 1)
    found.append((points[~inner], masses[~inner]))
    points, masses = points[inner], masses[inner]
    if len(points):
        cells = np.floor(points / width)
        for part in np.split(np.arange(len(points)), np.flatnonzero(np.diff(cells)) + 1):
            found.append(gauss_points(points[part], masses[part]))
    at, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(at, kind="stable")
    return at[order], weight[order]


def gauss_points(points: np.ndarray, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the Gauss rule of three points for a measure of finitely many points, or the points if they are as few."""
    total = masses.sum()
    if len(points) <= 3 or total <= 0 or np.ptp(points) == 0:
        return points, masses
    center, scale = points.mean(), np.ptp(points) / 2
    x, p = (points - center) / scale, masses / total
    # the Jacobi matrix of the orthogonal polynomials, by the recurrence of Stieltjes
    before, now = np.zeros_like(x), np.ones_like(x)
    diagonal, beside, norm_before = [], [], 1.0
    for step in range(3):
        norm = float(p @ now**2)
        diagonal.append(float(p @ (x * now**2)) / norm)
        if step:
            beside.append(math.sqrt(norm / norm_before))
        ratio = norm / norm_before if step else 0.0
        before, now, norm_before = now, (x - diagonal[-1]) * now - ratio * before, norm
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1))
    return center + scale * nodes, total * vectors[0] ** 2


def shared_points(
    laws: Sequence[tuple[np.ndarray, np.ndarray]], width: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return points that stand for several laws at once, with the probabilities of each.

    Parameters
    ----------
    laws : sequence of tuple of ndarray
        Points and masses from `fine_points`.
    width : float or None
        Length of the intervals, each with as many common points as `SHARED`; None for all points of all laws.

    Returns
    -------
    tuple of ndarray
        Ascending points, and an array of one row of masses for each law. On an interval they have the same integrals of
        polynomials of degree below `SHARED` as the law; a mass may be negative. The ends 0 and 1 stay points of
        their own.
    """
    if width is None:
        at = np.unique(np.concatenate([points for points, _ in laws]))
        masses = np.zeros((len(laws), len(at)))
        for row, (points, mass) in zip(masses, laws, strict=True):
            row[np.searchsorted(at, points)] = mass
        return at, masses
    start, stop = (pick(float(points[at]) for points, _ in laws) for pick, at in ((min, 0), (max, -1)))
    edges = (
        np.linspace(start, stop, math.ceil((stop - start) / width) + 1)
        if stop > start
        else np.array([start, 1.0])
    )
    # a new rate is a quotient of what may be small near the ends
    small = width * 0.5 ** np.arange(1, 10)
    edges = np.unique(
        np.concatenate([edges, *(one[(one > start) & (one < stop)] for one in (small, 1 - small))])
    )
    nodes, _ = np.polynomial.legendre.leggauss(SHARED)
    to_masses = np.linalg.inv(np.polynomial.legendre.legvander(nodes, SHARED - 1).T)
    middles, halves = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    inner = (middles[:, None] + halves[:, None] * nodes).ravel()
    at = np.concatenate([[0.0], inner, [1.0]])
    rows = []
    for points, mass in laws:
        inside = (points > 0) & (points < 1)
        place = np.clip(np.searchsorted(edges, points[inside], side="right") - 1, 0, len(middles) - 1)
        y = (points[inside] - middles[place]) / halves[place]
        moments = np.stack([
            np.bincount(place, mass[inside] * one, len(middles))
            for one in np.polynomial.legendre.legvander(y, SHARED - 1).T
        ])  # fmt: skip
        rows.append(np.concatenate([
            [mass[points == 0].sum()], (to_masses @ moments).T.ravel(), [mass[points == 1].sum()],
        ]))  # fmt: skip
    return at, np.array(rows)
