"""The law of a noisy rate as finitely many points: all of them, or few that integrate smooth functions alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from dpfair_lib.central.gap_law import RateLaw

NEGLIGIBLE = 1e-14  # probability of what is left out at each end
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2
SMALL_NORM = 1e-25
COARSEST = 5  # places of a lattice in a standard deviation; with fewer, a smooth law says too little of it
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


@dataclass(frozen=True)
class SpreadLaw:
    """A law of whole counts with each inner count spread evenly over the unit around it.

    Of large groups it says nearly the same, and it is smooth: sums over few points stand for it. With d counts in a
    standard deviation, the variance grows by the share 1/(12 d²). The counts 0 and n stay points.

    Attributes
    ----------
    law : RateLaw
        With whole counts.
    """

    law: RateLaw
    lattice: ClassVar[bool] = False

    def tail(self, x: np.ndarray, *, strict: bool, slack: float = 0.0) -> np.ndarray:  # noqa: ARG002
        """Return P(noisy rate > x), or P(noisy rate ≥ x), for any real x."""
        n, above = self.law.n, self.law.above
        place = np.clip(x, -1.0, 2.0) * n + 0.5
        at = np.clip(place.astype(np.int64), 1, n)
        inner = np.clip(place - at, 0.0, 1.0) * (at < n)
        found = above[at] + inner * (above[np.minimum(at + 1, n)] - above[at])
        if strict:
            return np.where(x < 0, 1.0, np.where(x >= 1, 0.0, found))
        return np.where(x <= 0, 1.0, np.where(x > 1, 0.0, found))

    def fine_points(self, places: int = 1, edges: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:  # noqa: ARG002
        """Return the ends and two points of each unit, the Gauss rule of an even density, and their probabilities."""
        points, masses = self.law.atoms()
        inner = points[1:-1, None] + np.array([-1, 1]) / (math.sqrt(12) * self.law.n)
        return (
            np.concatenate([points[:1], inner.ravel(), points[-1:]]),
            np.concatenate([masses[:1], np.repeat(masses[1:-1] / 2, 2), masses[-1:]]),
        )

    def below_one(self) -> float:
        """Return a number below 1 that no noisy rate but 1 exceeds."""
        return 1 - 0.5 / self.law.n


def fineness(law: NoisyRate, spread: float) -> float:
    """Return how many places of a lattice there are in a standard deviation; 0 if they are not evenly spaced."""
    return law.n * spread if isinstance(law, RateLaw) and law.lattice else 0.0


def smoothed(laws: Sequence[NoisyRate], places: Sequence[float]) -> list[NoisyRate]:
    """Return a smooth law for each fine lattice: sums over few points miss the jumps of a lattice."""
    return [
        SpreadLaw(law) if isinstance(law, RateLaw) and many >= COARSEST else law
        for law, many in zip(laws, places, strict=True)
    ]


def fine_points(
    law: NoisyRate, places: int = 1, edges: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return points and probabilities: those of a lattice, or a Gauss rule between any two counts.

    Parameters
    ----------
    law : NoisyRate
        The law of one group's noisy rate. A law of another kind than `RateLaw` has its own `fine_points`.
    places : int
        Into how many intervals [0, 1] is divided, at least, for a law with a density.
    edges : ndarray, optional
        Numbers in [0, 1] that no such interval has inside.

    Returns
    -------
    tuple of ndarray
        Ascending points in [0, 1] and their probabilities, but for at most `NEGLIGIBLE` at either end.
    """
    if not isinstance(law, RateLaw):
        points, masses = law.fine_points(places, edges)  # type: ignore[attr-defined]
        return _without_ends(points, masses) if law.lattice else (points, masses)
    points, masses = law.atoms()
    if law.lattice:
        return _without_ends(points, masses)
    # between two counts the density is a sum of e^(−εs) and e^(−ε(1 − s)); on a piece the exponents vary by at most ½
    pieces = math.ceil(max(min(2 * law.epsilon, MOST_PIECES), places / law.n))
    first, last = _reach(law)
    ends = with_edges(np.arange(first * pieces, last * pieces + 1) / (law.n * pieces), edges)
    width = np.diff(ends)[:, None]
    inner = (ends[:-1, None] + width * _NODES).ravel()
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
        if norm < SMALL_NORM:  # nearly all is at fewer points
            break
        diagonal.append(float(p @ (x * now**2)) / norm)
        if step:
            beside.append(math.sqrt(norm / norm_before))
        ratio = norm / norm_before if step else 0.0
        before, now, norm_before = now, (x - diagonal[-1]) * now - ratio * before, norm
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1))
    return center + scale * nodes, total * vectors[0] ** 2


def with_edges(ends: np.ndarray, edges: np.ndarray | None) -> np.ndarray:
    """Return ascending ends of intervals, and those edges that lie between the first and the last."""
    if edges is None:
        return ends
    return np.unique(np.concatenate([ends, edges[(edges > ends[0]) & (edges < ends[-1])]]))
