"""Where two random lines meet: the point that two groups' rates are moved to, and how far their true rates end apart.

Group a has the false positive rate F_a and the true one T_a > F_a. A rule gives it new rates in the parallelogram of
(0, 0), (F_a, T_a), (1, 1) and (1 − F_a, 1 − T_a). The corner of what two groups have in common is reached by rules with
four numbers, of which two are free: X = p_2 − p_1, for p_a the chance of those predicted 0, and Y = q_2 − q_1, for q_a
that of those predicted 1 to be rejected, where one of p_1, p_2 is 0 and one of q_1, q_2. Let κ_1 = 1 − X⁻ − Y⁻ and
κ_2 = 1 − X⁺ − Y⁺. The new rates are equal if

    X + F_2 κ_2 − F_1 κ_1 = 0   and   X + T_2 κ_2 − T_1 κ_1 = 0.

Each equation is a line that is bent where X or Y is 0. With noisy rates the first one is random by the noise on rows of
true label 0, the second one by that on rows of true label 1. They meet once. The differences of the true rates are the
left sides with the true rates at the place where they meet, so they are new coordinates u, v of the plane.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dpfair_lib.central.several_groups.noisy_labels import LabelLaw

Pair = tuple[float, float]
BLOCK = 2_000_000  # numbers at a time, for memory
TIE = 1e-12  # a point so close to a line is on it
POINTS = 16  # of each edge at first, evenly; and as many close to its middle
HALVINGS = 60  # of a piece of the edge
HALVES = 12  # standard deviations around 0 where an edge has half of its points
LARGEST = 0.25  # of the smaller T − F: up to this gap no κ of the square is 0


class Places(NamedTuple):
    """Places of the plane."""

    x: np.ndarray
    kappa: tuple[np.ndarray, np.ndarray]


def places(false: Pair, true: Pair, u: np.ndarray, v: np.ndarray) -> Places:
    """Return where the two left sides, with the true rates, are u and v.

    Parameters
    ----------
    false, true : (float, float)
        F and T of the two groups, T > F.
    u, v : ndarray
        The coordinates.

    Returns
    -------
    Places
        X, κ₁ and κ₂.
    """
    (f, g), (t, s) = false, true
    one = np.ones_like(u)
    # X, Y ≥ 0: only group 2 changes; X, Y ≤ 0: only group 1
    second = (t - f - u + v) / (s - g)
    first = (s - g + u - v) / (t - f)
    right = u - g * second + f
    left = u - g + f * first
    # X ≥ 0 ≥ Y, with κ₂ = 1 − X and κ₁ = 1 + Y; then the other way round
    det = (1 - g) * t - f * (1 - s)
    b = ((1 - u) * t - (1 - v) * f) / det
    a = ((1 - g) * (1 - v) - (1 - s) * (1 - u)) / det
    det = (1 - f) * s - g * (1 - t)
    c = ((1 + u) * s - (1 + v) * g) / det
    d = ((1 - f) * (1 + v) - (1 - t) * (1 + u)) / det
    x = np.array([right, left, 1 - b, c - 1])
    kappa = np.array([[one, second], [first, one], [a, b], [c, d]])
    # how well the signs fit; at the axes two fit, and agree
    fits = np.array(
        [
            np.minimum(right, 1 - second - right),
            np.minimum(-left, 1 - first + left),
            np.minimum(1 - b, 1 - a),
            np.minimum(1 - c, 1 - d),
        ]
    )
    best, at = fits.argmax(axis=0), np.arange(len(u))
    return Places(x[best, at], (kappa[best, 0, at], kappa[best, 1, at]))


def square(false: Pair, true: Pair, gap: float, spreads: Pair, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points on the edge of the square |u|, |v| ≤ gap, once round; at a point all lines may be bent."""
    edges = []
    for spread in reversed(spreads):  # v on the right, then u at the top
        close = min(gap, HALVES * spread / 2)
        edges.append(np.union1d(np.linspace(-gap, gap, points), np.linspace(-close, close, points)))
    along_v, along_u = edges
    up, across = np.full(len(along_v), gap), np.full(len(along_u), gap)
    u = np.concatenate([up, along_u[::-1], -up, along_u])
    v = np.concatenate([along_v, across, along_v[::-1], -across])
    side = np.repeat([0, 1, 2, 3], [len(up), len(across), len(up), len(across)])
    # all lines are bent on four rays from the place of unchanged predictions
    centre = np.array([false[1] - false[0], true[1] - true[0]])
    bends = [
        (1 - false[1], 1 - true[1]),
        (false[0] - 1, true[0] - 1),
        (-false[1], -true[1]),
        (false[0], true[0]),
    ]
    for ray in np.array(bends):
        for axis in (0, 1):
            for value in (gap, -gap):
                if ray[axis] == 0:
                    continue
                length = (value - centre[axis]) / ray[axis]
                point = centre + length * ray
                if length > 0 and abs(point[1 - axis]) < gap:
                    point[axis] = value
                    u, v, side = _inserted(u, v, side, point, axis, value)
    return np.append(u, u[0]), np.append(v, v[0])


def _inserted(
    u: np.ndarray, v: np.ndarray, side: np.ndarray, point: np.ndarray, axis: int, value: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    where = {(0, True): 0, (1, True): 1, (0, False): 2, (1, False): 3}[axis, value > 0]
    along, mine = (v, point[1]) if axis == 0 else (u, point[0])
    own = np.flatnonzero(side == where)
    before = along[own] < mine if where in (0, 3) else along[own] > mine
    at = own[0] + int(before.sum())
    return np.insert(u, at, point[0]), np.insert(v, at, point[1]), np.insert(side, at, where)


def meets_within(
    gap: float, false: Pair, true: Pair, laws: tuple[tuple[LabelLaw, LabelLaw], tuple[LabelLaw, LabelLaw]],
    tolerance: float = 1e-4,
) -> tuple[float, float]:  # fmt: skip
    """Return the probability that the two lines meet where no difference exceeds a gap, and how far it may be off.

    It is the integral ∮ H dK once round the square, where H is the probability that a point is on the upper side of the
    first line, and K that it is on the upper side of the second one. For two fixed lines the integral counts how often
    they meet inside. On a piece of the edge that only one of them can cross the trapezoid is exact, so the error is at
    most half of the probability that both cross one piece. Pieces where that is likely are halved.

    Parameters
    ----------
    gap : float
        Above 0, and at most `LARGEST` times the smaller T − F.
    false, true : (float, float)
        F and T of the two groups.
    laws : pair of pairs of LabelLaw
        Of the noisy F, then of the noisy T, of both groups; every noisy T of a group is above every noisy F.
    tolerance : float
        Error at which halving ends.

    Returns
    -------
    probability, error : float
        The first is within the second of the probability of the listed rates.
    """
    spreads = tuple(math.hypot(*(law.spread() for law in label)) for label in laws)
    edge = np.stack(square(false, true, gap, spreads, POINTS))  # type: ignore[arg-type]
    left, right = edge[:, :-1], edge[:, 1:]
    total = error = 0.0
    for _ in range(HALVINGS):
        both = np.stack([left, right], axis=2).reshape(2, -1)
        at = places(false, true, *both)
        (h, apart_h), (k, apart_k) = (_sides(at, *label) for label in laws)
        off = apart_h * apart_k / 2
        # what is left may share what the tolerance allows
        good = off <= max(tolerance - error, 0.0) / (2 * len(off))
        total += float((h.mean(axis=1) * (k[:, 1] - k[:, 0]))[good].sum())
        error += float(off[good].sum())
        if good.all():
            return total, error
        poor_h, poor_k, poor = h[~good], k[~good], float(off[~good].sum())
        if error + poor <= tolerance:
            break
        a, b = left[:, ~good], right[:, ~good]
        middle = (a + b) / 2
        left, right = np.concatenate([a, middle], axis=1), np.concatenate([middle, b], axis=1)
    return total + float(poor_h.mean(axis=1) @ (poor_k[:, 1] - poor_k[:, 0])), error + poor


def _sides(at: Places, first: LabelLaw, second: LabelLaw) -> tuple[np.ndarray, np.ndarray]:
    """Return for each piece the probability that the left side is 0 or more at both ends, and that they differ in it.

    Parameters
    ----------
    at : Places
        Both ends of each piece, one after the other; all lines are straight between them.
    first, second : LabelLaw
        Of the noisy rates of one true label in the two groups.

    Returns
    -------
    ndarray of shape (n, 2), ndarray of shape (n,)
        The probabilities; what the laws do not list is left out.
    """
    below = np.append(0.0, np.cumsum(first.masses))
    n, columns = len(at.x), max(BLOCK // len(at.x), 1)
    chance, parted = np.zeros(n), np.zeros(n // 2)
    mine, other = at.kappa
    for start in range(0, len(second.shares), columns):
        shares, masses = (part[start : start + columns] for part in (second.shares, second.masses))
        limits = (at.x[:, None] + other[:, None] * shares + TIE) / mine[:, None]
        smaller = below[np.searchsorted(first.shares, limits, side="right")]
        chance += smaller @ masses
        parted += abs(smaller[1::2] - smaller[::2]) @ masses
    return chance.reshape(-1, 2), parted
