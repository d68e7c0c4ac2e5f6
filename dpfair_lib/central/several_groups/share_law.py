"""The law of one noisy true positive rate, given how many rows of true label 1 there are.

Of m such rows t are true positives, binomial with the rate ρ of the population, and f = m − t are not. With noises u
and v the noisy counts are T = t + u and F = f + v, negative ones count as 0, and the noisy rate is x = T/(T + F); it is
½ if both are 0. For 0 ≤ s < 1 and T > 0 it exceeds s just where (1 − s) T > s F. If T ≤ 0 < F it is 0, and the
inequality fails too. So only the corner T, F ≤ 0 is apart. There −T and −F are independent exponential variables for
Laplace noise, so

    P(x > s) = P((1 − s) u − s v > s m − t) − ¼ e^(−εm) (s − [s < ½]),

where the first term is a binomial mean of the tail of a weighted sum of two noises, known in closed form. It is smooth
between two counts, and tabled there by polynomials. For geometric noise all pairs (T, F) are listed. Where their ratios
have more than `MOST_VALUES` values, those that are next to each other count as one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpfair_lib.central.gap_law import Mechanism
from dpfair_lib.central.several_groups.law_points import with_edges

UNSEEN = 1e-17  # probability of a count or a noise that is left out
NODES = 8  # Chebyshev points of a piece
MOST_PAIRS = 6_000_000  # of noisy counts of geometric noise
MOST_VALUES = 8_000  # of the ratio of two noisy counts; of more, those in one of so many cells are one
FEWEST_PIECES = 128  # of [0, 1]
LARGE = 1_000  # from so many rows on, half as many pieces between two counts are enough
SURELY_MORE = 8  # times as many ratios have more different values than that
FEW = 100  # counts whose noise may decide: up to so many, each is looked at
CELLS = 2_000  # into which [0, 1] is cut, at least, where points stand for a density
BLOCK = 2_000_000  # numbers at a time, for memory
Points = tuple[np.ndarray, np.ndarray]
_ANGLES = (np.arange(NODES) + 0.5) * np.pi / NODES
_PLACES = np.cos(_ANGLES)
_TO_COEFFICIENTS = 2 / NODES * np.cos(np.outer(np.arange(NODES), _ANGLES))
_TO_COEFFICIENTS[0] /= 2


@dataclass(frozen=True)
class PairLaw:
    """The law of x for whole noise, or none: finitely many points.

    Attributes
    ----------
    values, above : ndarray
        Ascending points, and P(x ≥ each), with a 0 at the end.
    """

    values: np.ndarray
    above: np.ndarray
    lattice: ClassVar[bool] = True

    def tail(self, x: np.ndarray, *, strict: bool, slack: float = 0.0) -> np.ndarray:  # noqa: ARG002
        """Return P(noisy rate > x), or P(noisy rate ≥ x), for any real x."""
        # equal ratios are rounded alike, so ties are exact and need no slack
        return self.above[np.searchsorted(self.values, x, side="right" if strict else "left")]

    def fine_points(self, places: int = 1, edges: np.ndarray | None = None) -> Points:  # noqa: ARG002
        """Return all points and their probabilities."""
        return self.values, self.above[:-1] - self.above[1:]

    def below_one(self) -> float:
        """Return a number below 1 that no noisy rate but 1 exceeds."""
        return float(np.nextafter(1, 0))


@dataclass(frozen=True)
class DensityLaw:
    """The law of x for Laplace noise: a table of P((1 − s) u − s v > s m − t), and what the corner adds.

    Attributes
    ----------
    m : int
        Rows of true label 1.
    first, pieces : int
        The first count of the table, and pieces between two counts. Before it the tabled function is 1, after it 0.
    table : ndarray of shape (number of pieces, NODES)
        Chebyshev coefficients on each piece.
    corner, bottom, top : float
        P(T, F ≤ 0), P(x = 0) and P(x = 1).
    """

    m: int
    first: int
    pieces: int
    table: np.ndarray
    corner: float
    bottom: float
    top: float
    lattice: ClassVar[bool] = False

    def tail(self, x: np.ndarray, *, strict: bool, slack: float = 0.0) -> np.ndarray:  # noqa: ARG002
        """Return P(noisy rate > x), or P(noisy rate ≥ x), for any real x."""
        x = np.asarray(x, dtype=float)
        s = np.clip(x, 0.0, np.nextafter(1, 0))
        half = s < 0.5 if strict else s <= 0.5
        inside = self._smooth(s) - self.corner * (s - half)
        if strict:
            return np.where(x < 0, 1.0, np.where(x >= 1, 0.0, inside))
        return np.where(x <= 0, 1.0, np.where(x > 1, 0.0, np.where(x == 1, self.top, inside)))

    def _smooth(self, s: np.ndarray) -> np.ndarray:
        place = (s * max(self.m, 1) - self.first) * self.pieces
        last = len(self.table) - 1
        piece = np.clip(place.astype(np.int64), 0, last)
        y = 2 * (place - piece) - 1
        # Clenshaw's recurrence
        older = newer = np.zeros_like(y)
        for order in range(NODES - 1, 0, -1):
            older, newer = newer, self.table[piece, order] + 2 * y * newer - older
        found = np.clip(self.table[piece, 0] + y * newer - older, 0.0, 1.0)
        return np.where(place < 0, 1.0, np.where(place > last + 1, 0.0, found))

    def fine_points(self, places: int = 1, edges: np.ndarray | None = None) -> Points:
        """Return the middles of many cells with their probabilities, the atoms 0, ½ and 1 among them."""
        size, steps = max(self.m, 1), self.pieces
        steps *= math.ceil(max(places, CELLS) / (size * steps))
        count = len(self.table) * steps // self.pieces
        ends = np.unique(np.clip(self.first / size + np.arange(count + 1) / (size * steps), 0, 1))
        ends = with_edges(ends, edges)
        smooth = self._smooth(ends) - self.corner * ends
        inner = smooth[:-1] - smooth[1:]
        # beyond the table nothing is left but the corner, which is spread evenly
        at = np.concatenate([[0.0], (ends[:-1] + ends[1:]) / 2, [0.5, 1.0]])
        masses = np.concatenate([[self.bottom], np.maximum(inner, 0.0), [self.corner, self.top]])
        seen = masses > 0
        at, masses = at[seen], masses[seen]
        order = np.argsort(at, kind="stable")
        return at[order], masses[order]

    def below_one(self) -> float:
        """Return a number below 1 that no noisy rate but 1 exceeds."""
        return float(np.nextafter(1, 0))


ShareLaw = PairLaw | DensityLaw


def share_law(rate: float, positives: int, epsilon: float, mechanism: Mechanism) -> ShareLaw:
    """Return the law of a group's noisy true positive rate, given the number of its rows of true label 1.

    Parameters
    ----------
    rate : float
        True positive rate of the population, in [0, 1].
    positives : int
        m ≥ 0.
    epsilon : float
        ε of the noise on both counts; infinity for none.
    mechanism : {"laplace", "geometric"}
        Its distribution.

    Returns
    -------
    PairLaw or DensityLaw
        Probabilities below about 1e-14 in all are left out.

    Raises
    ------
    ValueError
        If geometric noise is so large that its pairs of counts are too many.
    """
    from scipy.stats import binom

    t = np.arange(positives + 1)
    chances = binom.pmf(t, positives, rate)
    kept = chances > UNSEEN
    t, chances = t[kept], chances[kept]
    if math.isinf(epsilon):
        return _pairs(t, positives - t, chances)
    if mechanism == "geometric":
        return _listed_pairs(t, positives, chances, epsilon)
    return _tabled(rate, t, positives, chances, epsilon)


def _pairs(found: np.ndarray, missed: np.ndarray, chances: np.ndarray) -> PairLaw:
    """Return the law of the ratios of pairs of counts that are not negative."""
    positives = found + missed
    values = np.where(positives > 0, found / np.maximum(positives, 1), 0.5)
    masses = chances
    if len(values) <= SURELY_MORE * MOST_VALUES:  # else sorting them would only cost time
        values, places = np.unique(values, return_inverse=True)
        masses = np.bincount(places.ravel(), chances.ravel(), len(values))
    if len(values) > MOST_VALUES:
        values, masses = _merged(values, masses)
    return PairLaw(values, np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]]))


def _merged(values: np.ndarray, masses: np.ndarray) -> Points:
    """Return about `MOST_VALUES` points: those of a small cell are put at their mean, the atoms 0, ½ and 1 stay."""
    low, high = values.min(), values.max()
    cells = ((values - low) * (MOST_VALUES / (high - low))).astype(np.int64) + 2
    cells += values > 0.5  # a cell does not reach across the atom
    atoms = (0.0, 0.5, 1.0)
    last = int(cells.max())
    for place, atom in zip((0, 1, last + 1), atoms, strict=True):
        cells[values == atom] = place
    together = np.bincount(cells, masses)
    seen = np.flatnonzero(together)
    at = np.bincount(cells, masses * values)[seen] / together[seen]
    for place, atom in zip((0, 1, last + 1), atoms, strict=True):
        at[seen == place] = atom  # a mean is rounded
    order = np.argsort(at, kind="stable")
    return at[order], together[seen][order]


def _listed_pairs(t: np.ndarray, m: int, chances: np.ndarray, epsilon: float) -> PairLaw:
    """Return the law for geometric noise.

    For T = a and F = m − b the noises are a − t and t − b. With p_t the chance of t, r = e^(−ε) and c = P(noise = 0)
    the pair has the probability c² Σ_t p_t r^(|a − t| + |b − t|). It is the same for a and b exchanged. For a ≤ b it is
    c² r^(b − a) times the sum of p_t for t in [a, b], of p_t r^(2(a − t)) below a, and of p_t r^(2(t − b)) above b.
    """
    from scipy.signal import lfilter

    reach = math.ceil(-math.log(UNSEEN) / epsilon)
    rows = int(t[-1] - t[0]) + 2 * reach + 1
    widest = min(math.ceil(-math.log(UNSEEN * 1e-3) / epsilon), rows - 1)
    if rows * (2 * widest + 1) > MOST_PAIRS:
        raise ValueError(
            f"epsilon: found {epsilon:g} beside {m} rows of true label 1, which gives {rows * (2 * widest + 1)} pairs "
            f"of noisy counts; expected at most {MOST_PAIRS}, or mechanism='laplace'"
        )
    law = np.zeros(rows)
    law[reach + t - t[0]] = chances
    twice = math.exp(-2 * epsilon)
    before = lfilter([0.0, twice], [1.0, -twice], law)
    after = lfilter([0.0, twice], [1.0, -twice], law[::-1])[::-1]
    upto = np.concatenate([[0.0], np.cumsum(law)])
    apart = np.arange(widest + 1)
    a, b = np.broadcast_arrays(np.arange(rows)[:, None], np.arange(rows)[:, None] + apart)
    inside = b < rows
    a, b = a[inside], b[inside]
    masses = np.exp(-epsilon * (b - a)) * (upto[b + 1] - upto[a] + before[a] + after[b])
    masses *= math.tanh(epsilon / 2) ** 2
    seen = masses > UNSEEN * 1e-3
    a, b, masses = a[seen] + t[0] - reach, b[seen] + t[0] - reach, masses[seen]
    other = a < b
    found = np.concatenate([a, b[other]])
    missed = m - np.concatenate([b, a[other]])
    return _pairs(np.maximum(found, 0), np.maximum(missed, 0), np.concatenate([masses, masses[other]]))


def _tabled(rate: float, t: np.ndarray, m: int, chances: np.ndarray, epsilon: float) -> DensityLaw:
    reach = -math.log(UNSEEN) / epsilon
    first, last = max(int(t[0] - reach) - 1, 0), min(math.ceil(t[-1] + reach) + 1, max(m, 1))
    # short enough that the exponents vary little on a piece, and that 1/s and 1/(1 − s) do
    finer = 2 if m < LARGE else 1
    pieces = math.ceil(max(min(finer * epsilon, 64), FEWEST_PIECES / max(m, 1)))
    count = (last - first) * pieces
    middles = first + (np.arange(count) + 0.5) / pieces
    nodes = middles[:, None] + _PLACES / (2 * pieces)
    values = _mean_tail(nodes.ravel(), t, m, chances, epsilon).reshape(nodes.shape)
    corner = math.exp(-epsilon * m) / 4
    none, all_of_them = (
        math.exp(m * math.log1p(share * math.expm1(-epsilon))) / 2 - corner for share in (rate, 1 - rate)
    )
    return DensityLaw(
        m, first, pieces, values @ _TO_COEFFICIENTS.T, corner, max(none, 0.0), max(all_of_them, 0.0)
    )


def _mean_tail(counts: np.ndarray, t: np.ndarray, m: int, chances: np.ndarray, epsilon: float) -> np.ndarray:
    """Return P((1 − s) u − s v > s m − t) at s = counts/m; of m = 0 at s = counts."""
    s, wanted = counts / max(m, 1), counts if m else 0 * counts
    width = min(len(t), 2 * math.ceil(-math.log(UNSEEN) / epsilon) + 3)
    least = np.minimum(s, 1 - s)
    # where the closed form divides by little, and where s or 1 − s varies too much, there are few points
    singly = (least * m < 32) | (np.abs(1 - 2 * s) < 0.01) if width > FEW else np.ones(len(s), dtype=bool)
    blocks = np.where(singly, 0, np.sign(s - 0.5) * (np.floor(-np.log2(np.maximum(least, 1e-300))) + 1))
    found = np.empty_like(s)
    for block in np.unique(blocks):
        part = np.flatnonzero(blocks == block)
        mean = _swept_tail if block else _windowed_tail
        found[part] = mean(s[part], wanted[part], t, chances, epsilon)
    return found


def _windowed_tail(
    s: np.ndarray, wanted: np.ndarray, t: np.ndarray, chances: np.ndarray, epsilon: float
) -> np.ndarray:
    """Return that mean by a sum over the counts t that are near enough to be uncertain."""
    reach = -math.log(UNSEEN) / epsilon
    above = np.concatenate([np.cumsum(chances[::-1])[::-1], [0.0]])
    width = min(len(t), 2 * math.ceil(reach) + 3)
    found = np.empty_like(s)
    for part in np.array_split(np.arange(len(s)), -(-len(s) * width // BLOCK)):
        # counts t far above s·m surely pass, and those far below surely do not
        start = np.clip(np.ceil(wanted[part] - reach).astype(np.int64) - t[0], 0, len(t) - width)
        at = start[:, None] + np.arange(width)
        tails = two_noises_exceed((wanted[part, None] - t[at]) * epsilon, s[part, None])
        found[part] = (chances[at] * tails).sum(axis=1) + above[start + width]
    return found


def _swept_tail(
    s: np.ndarray, wanted: np.ndarray, t: np.ndarray, chances: np.ndarray, epsilon: float
) -> np.ndarray:
    """Return that mean by sums that all points share.

    With z = ε (s m − t), `two_noises_exceed` is a difference of two exponential functions of |z| on either side of 0.
    So the mean is P(t > s m) and a difference of two sums as in `_signed_sums`.
    """
    low, high = (
        int(pick(np.floor(ends)))
        for pick, ends in ((min, [t[0], wanted.min()]), (max, [t[-1], wanted.max()]))
    )
    law = np.zeros(high - low + 2)
    law[t - low] = chances
    j = np.floor(wanted).astype(np.int64) - low
    past = wanted - low - j
    above = np.cumsum(law[::-1])[::-1]
    up, down = (share**2 * _signed_sums(epsilon / share, law, j, past) for share in (1 - s, s))
    return np.clip(above[j + 1] + (up - down) / (2 * (1 - 2 * s)), 0.0, 1.0)


def _signed_sums(decays: np.ndarray, law: np.ndarray, j: np.ndarray, past: np.ndarray) -> np.ndarray:
    """Return Σ_{t ≤ j} p_t e^(−λ(c − t)) − Σ_{t > j} p_t e^(−λ(t − c)) for places c = j + past, each with its own λ.

    Where λ has one value, a recurrence gives the sums for all j. They are bounded by 1 for complex λ of positive real
    part. So they are interpolated in λ at Chebyshev points; on an ellipse that does not reach 0 the error falls with
    the power of the sum of its half axes.
    """
    from scipy.signal import lfilter

    bottom, top = float(decays.min()), float(decays.max())
    middle, half = (top + bottom) / 2, max((top - bottom) / 2, 1e-6 * top)
    order = math.ceil(-math.log(UNSEEN) / math.acosh(middle / half)) + 1
    angles = (np.arange(order) + 0.5) * np.pi / order
    to_coefficients = 2 / order * np.cos(np.outer(np.arange(order), angles))
    to_coefficients[0] /= 2
    y = np.arccos(np.clip((decays - middle) / half, -1.0, 1.0))
    weights = np.cos(np.outer(y, np.arange(order))) @ to_coefficients
    left = right = np.zeros_like(decays)
    for weight, decay in zip(weights.T, np.exp(-(middle + half * np.cos(angles))), strict=True):
        left = left + weight * lfilter([1.0], [1.0, -decay], law)[j]
        right = right + weight * lfilter([1.0], [1.0, -decay], law[::-1])[::-1][j + 1]
    return left * np.exp(-decays * past) - right * np.exp(-decays * (1 - past))


def two_noises_exceed(z: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return P((1 − s) u − s v > z) for independent Laplace noises u and v of scale 1 and 0 ≤ s ≤ 1.

    Parameters
    ----------
    z, s : ndarray
        Of shapes that go together.

    Returns
    -------
    ndarray
        For z ≥ 0 and g(a) = a² e^(−z/a) it is (g(1 − s) − g(s))/(2 (1 − 2s)); near s = ½ by the derivatives of g.
    """
    size, apart = np.abs(z), 1 - 2 * s

    def g(a: np.ndarray) -> np.ndarray:
        return a**2 * np.exp(-size / np.maximum(a, 1e-300))

    near = np.abs(apart) < 2e-3
    far = (g(1 - s) - g(s)) / (2 * np.where(near, 1.0, apart))
    close = np.exp(-2 * size) * ((1 + size) + 16 * size**3 * apart**2 / 24) / 2
    tail = np.where(near, close, far)
    return np.where(z >= 0, tail, 1 - tail)
