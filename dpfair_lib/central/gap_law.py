"""The exact distribution of the parity gap after post-processing with noisy rates.

Algorithm 2 computes its flips from the rates α̃ and β̃ of a sample, with noise and clipped to [0, 1], instead of the
population's rates α and β. `signed_gap` is the gap that results, `RateLaw` the distribution of one noisy rate.
`violation_probability` and `expected_gap` combine the two, by convolution and one integral.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Mechanism = Literal["laplace", "geometric"]

# a Gauss rule on [0, 1], and the rule that its nodes but the middle one make, for comparison
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(7)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2
_OTHERS = np.delete(_NODES, 3)
_ROUGH = np.insert(np.linalg.solve(np.vander(_OTHERS, increasing=True).T, 1 / np.arange(1.0, 7.0)), 3, 0.0)
_BELOW_ONE = float(np.nextafter(1, 0))
_MOST_COUNTS, _HALVINGS, _MOST_PIECES = 4096, 40, 200_000
_TIE = 1e-12  # a gap that is the threshold but for rounding does not exceed it


def signed_gap(alpha: Any, beta: Any, noisy_alpha: Any, noisy_beta: Any) -> Any:
    """Return rate₀ − rate₁ after the flips of Algorithm 2.

    It never falls as β̃ grows, never rises as α̃ grows, and is α − β wherever α̃ = β̃.

    Parameters
    ----------
    alpha, beta : float, Fraction or array
        Rates of the population, in [0, 1].
    noisy_alpha, noisy_beta : float, Fraction or array
        Rates that the algorithm believes, in [0, 1].

    Returns
    -------
    float, Fraction or array
        The gap with its sign, in [−1, 1]; `Fraction` stays exact.

    References
    ----------
    ISIT, Algorithm 2, line 4; where nothing is to be flipped, nothing is divided.
    """
    a, b = np.asarray(noisy_alpha), np.asarray(noisy_beta)
    target = (a + b) / 2
    return _moved(alpha, a, target) - _moved(beta, b, target)


def _moved(rate: Any, believed: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return a group's new rate: scaled by target/believed if it goes down, its complement likewise if up."""
    one = believed * 0 + 1
    down = target / np.where(believed > target, believed, one)
    up = (1 - target) / np.where(believed < target, 1 - believed, one)
    return np.where(believed > target, rate * down, np.where(believed < target, 1 - (1 - rate) * up, rate))


def summed_changes(alpha: Any, beta: Any, noisy_alpha: Any, noisy_beta: Any) -> Any:
    """Return the sum of the two groups' change rates after the flips of Algorithm 2.

    The group of higher noisy rate only demotes and the other only promotes, so the sum is how far the signed
    difference of the rates has moved.

    Parameters
    ----------
    alpha, beta, noisy_alpha, noisy_beta : float, Fraction or array
        As in `signed_gap`.

    Returns
    -------
    float, Fraction or array
        P₀(ĥ ≠ h) + P₁(ĥ ≠ h), in [0, 1].
    """
    return abs(alpha - beta - signed_gap(alpha, beta, noisy_alpha, noisy_beta))


@dataclass(frozen=True)
class RateLaw:
    """The law of one group's noisy rate: a binomial count, plus noise of scale 1/ε, clipped and divided by n.

    Attributes
    ----------
    n : int
        Rows of the group.
    epsilon : float
        ε of the noise on the count; infinity for none.
    lattice : bool
        Whether the noisy count is an integer: geometric noise, or none.
    from_left, from_right : ndarray of shape (n + 1,)
        Σ_{k ≤ j} p_k e^{−ε(j − k)} and Σ_{k ≥ j} p_k e^{−ε(k − j)}, with p the binomial law of the count.
    above : ndarray of shape (n + 2,)
        P(count ≥ j); for a lattice of the noisy count itself.
    """

    n: int
    epsilon: float
    lattice: bool
    from_left: np.ndarray
    from_right: np.ndarray
    above: np.ndarray

    @classmethod
    def of(cls, rate: float, n: int, epsilon: float, mechanism: Mechanism) -> RateLaw:
        """Convolve the binomial law of the count with the noise."""
        from scipy.signal import lfilter
        from scipy.stats import binom

        counts = binom.pmf(np.arange(n + 1), n, rate)
        decay = math.exp(-epsilon)
        from_left = lfilter([1.0], [1.0, -decay], counts)
        from_right = lfilter([1.0], [1.0, -decay], counts[::-1])[::-1]
        lattice = mechanism == "geometric" or math.isinf(epsilon)
        if lattice:
            # P(noise = 0) = (1 − e^−ε)/(1 + e^−ε); what falls outside of 0, …, n is clipped to the ends
            weights = (from_left + from_right - counts) * math.tanh(epsilon / 2)
            weights[0] = from_right[0] / (1 + decay)
            weights[-1] += from_left[-1] / (1 + decay) - from_left[-1] * math.tanh(epsilon / 2)
            counts = weights
        above = np.concatenate([np.cumsum(counts[::-1])[::-1], [0.0]])
        return cls(n, float(epsilon), lattice, from_left, from_right, above)

    def atoms(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the points of positive probability and their probabilities."""
        if self.lattice:
            return np.arange(self.n + 1) / self.n, self.above[:-1] - self.above[1:]
        return np.array([0.0, 1.0]), np.array([self.from_right[0], self.from_left[-1]]) / 2

    def density(self, x: np.ndarray) -> np.ndarray:
        """Return the density inside (0, 1); zero on a lattice."""
        if self.lattice:
            return np.zeros_like(x)
        left, right, _ = self._locate(x)
        return self.n * self.epsilon / 2 * (left + right)

    def survival(self, x: np.ndarray) -> np.ndarray:
        """Return P(noisy rate > x) for x in [0, 1); off the lattice points, where there are any."""
        left, right, j = self._locate(x)
        if self.lattice:
            return self.above[j + 1]
        return self.above[j + 1] + (left - right) / 2

    def tail(self, x: np.ndarray, *, strict: bool, slack: float = 0.0) -> np.ndarray:
        """Return P(noisy rate > x), or P(noisy rate ≥ x), for any real x; a count within the slack of x equals it."""
        if self.lattice:
            count = np.clip(x, -1.0, 2.0) * self.n
            at = np.floor(count + slack) + 1 if strict else np.ceil(count - slack)
            return self.above[np.clip(at, 0, self.n + 1).astype(np.int64)]
        inside = self.survival(np.clip(x, 0.0, _BELOW_ONE))
        if strict:
            return np.where(x < 0, 1.0, np.where(x >= 1, 0.0, inside))
        return np.where(x <= 0, 1.0, np.where(x > 1, 0.0, np.where(x == 1, self.from_left[-1] / 2, inside)))

    def below_one(self) -> float:
        """Return a number below 1 that no noisy rate but 1 exceeds."""
        return 1 - 0.5 / self.n if self.lattice else _BELOW_ONE

    def _locate(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        count = x * self.n
        j = np.minimum(count.astype(np.int64), self.n - 1)
        if self.lattice:
            return j, j, j
        past = count - j
        left = self.from_left[j] * np.exp(-self.epsilon * past)
        return left, self.from_right[j + 1] * np.exp(-self.epsilon * (1 - past)), j


def violation_probability(rates: tuple[float, float], laws: tuple[RateLaw, RateLaw], gap: float) -> float:
    """Return P(|rate₀ − rate₁| > gap) for independent noisy rates with these laws, gap ≥ 0."""
    (alpha, beta), (first, second) = rates, laws
    return _exceeds(alpha, beta, first, second, gap) + _exceeds(beta, alpha, second, first, gap)


def excess_change(alpha: Any, beta: Any, gap: Any) -> Any:
    """Return by how much the summed changes exceed the least that any classifier of the same gap needs.

    The signed gap D decides alone: the changes sum to |α − β − D|, the least is max(|α − β| − |D|, 0). For α ≥ β
    the excess is 0 while 0 ≤ D ≤ α − β, and at most 2|D| everywhere.

    Parameters
    ----------
    alpha, beta : float, Fraction or array
        Rates of the population, in [0, 1].
    gap : float, Fraction or array
        `signed_gap` of the result.

    Returns
    -------
    float, Fraction or array
        The excess, at least 0.
    """
    before = abs(alpha - beta)
    changes = abs(alpha - beta - gap)
    least = before - np.minimum(abs(gap), before)
    return changes - least


def excess_probability(rates: tuple[float, float], laws: tuple[RateLaw, RateLaw], excess: float) -> float:
    """Return P(excess change > excess) for independent noisy rates with these laws, excess ≥ 0."""
    (alpha, beta), (first, second) = rates, laws
    if alpha < beta:
        (alpha, beta), (first, second) = (beta, alpha), (second, first)
    before = alpha - beta
    # too far by half of it, or by so much that nothing needed to change; or in the wrong direction
    overshot = excess / 2 if excess / 2 <= before else excess - before
    return _exceeds(beta, alpha, second, first, overshot) + _exceeds(
        alpha, beta, first, second, before + excess
    )


def change_probability(rates: tuple[float, float], laws: tuple[RateLaw, RateLaw], changes: float) -> float:
    """Return P(summed changes > a value) for independent noisy rates with these laws, value ≥ 0.

    The changes sum to |α − β − D|, with D the signed gap of the result.
    """
    (alpha, beta), (first, second) = rates, laws
    before = alpha - beta
    return _exceeds(alpha, beta, first, second, before + changes) + _exceeds(
        beta, alpha, second, first, changes - before
    )


def expected_gap(rates: tuple[float, float], laws: tuple[RateLaw, RateLaw]) -> float:
    """Return E|rate₀ − rate₁| to nine digits: the integral of the violation probability over the gap."""
    (alpha, beta), (first, second) = rates, laws
    if first.lattice and second.lattice:
        # pairs of probability below 1e-18 cannot be seen in the sum
        (a, a_mass), (b, b_mass) = (_without_dust(law) for law in laws)
        return float(a_mass @ abs(signed_gap(alpha, beta, a[:, None], b)) @ b_mass)
    # the integrand jumps where both noisy rates are clipped, and is smooth on the scale of the deviations
    corners = {abs(alpha - beta), (1 + alpha - beta) / 2, (1 - alpha + beta) / 2}
    spread = sum(1 / math.sqrt(law.n) + (0 if law.lattice else 1 / (law.n * law.epsilon)) for law in laws)
    scales = {min(step * spread, 1.0) for step in (0.3, 1, 2, 4, 8, 16)}
    knots = sorted({0.0, 1.0, *corners, *scales})

    most = violation_probability(rates, laws, 0.0)

    def tails(gaps: np.ndarray) -> np.ndarray:
        chances, chance = np.zeros(gaps.size), most
        for at in np.argsort(gaps, axis=None):  # they fall with the gap: stop where nothing more can be seen
            if chance < 1e-18 * most:
                break
            chance = chances[at] = violation_probability(rates, laws, float(gaps.flat[at]))
        return chances.reshape(gaps.shape)

    edges = np.array(knots)
    return _integral(tails, edges[:-1], np.diff(edges), 1e-8)


def _without_dust(law: RateLaw) -> tuple[np.ndarray, np.ndarray]:
    points, masses = law.atoms()
    return points[masses > 1e-18], masses[masses > 1e-18]


def _exceeds(alpha: float, beta: float, first: RateLaw, second: RateLaw, t: float) -> float:
    """Return P(rate₀ − rate₁ > t), t ≥ 0: for each α̃, those β̃ that lie above a curve."""
    if t >= 1:
        return 0.0
    points, masses = first.atoms()
    total = float(masses @ _given(points, alpha, beta, second, t))
    if first.lattice:
        return total

    def integrand(a: np.ndarray) -> np.ndarray:
        return first.density(a) * _given(a, alpha, beta, second, t)

    def on_curve(b: np.ndarray) -> np.ndarray:
        a = crossing(beta, alpha, b, -t)
        return a[(a > 0) & (a < 1)]

    # it has one hump: some of the counts show where it is, and only there all of them are needed
    low, high = _hump(integrand, np.concatenate([_some_counts(first), on_curve(_some_counts(second))]))
    if low == high:
        return total
    b_range = np.clip(crossing(alpha, beta, np.array([low, high]), t), 0.0, 1.0)
    # it is smooth between the points where α̃, or the curve, passes a kink of its law
    knots = np.concatenate([_kinks(first, low, high), on_curve(_kinks(second, *np.sort(b_range)))])
    knots = np.unique(np.clip(knots, low, high))
    return total + _integral(integrand, knots[:-1], np.diff(knots), 1e-12)


def _integral(
    integrand: Callable[[np.ndarray], np.ndarray], left: np.ndarray, width: np.ndarray, disagreement: float
) -> float:
    """Integrate a nonnegative function over pieces; halve those on which two rules disagree."""
    total = 0.0
    for _ in range(_HALVINGS):
        values = integrand(left[:, None] + width[:, None] * _NODES)
        parts, rough = width * (values @ _WEIGHTS), width * (values @ _ROUGH)
        poor = abs(parts - rough) > disagreement * (total + parts.sum())
        total += float(parts[~poor].sum())
        half = width[poor] / 2
        left, width = np.concatenate([left[poor], left[poor] + half]), np.concatenate([half, half])
        if not 0 < left.size < _MOST_PIECES:
            break
    return total + float(parts[poor].sum())


def _hump(integrand: Callable[[np.ndarray], np.ndarray], points: np.ndarray) -> tuple[float, float]:
    """Return the ends of what is not negligible at the points, with two more of them on either side."""
    points = np.unique(points)
    values = integrand(points)
    seen = np.flatnonzero(values > 1e-22 * values.max())
    if not seen.size:  # all of it is below the smallest float
        return 0.0, 0.0
    return float(points[max(seen[0] - 2, 0)]), float(points[min(seen[-1] + 2, points.size - 1)])


def _some_counts(law: RateLaw) -> np.ndarray:
    """Return the places in [0, 1] of all counts or, of very many, of some at even distances."""
    return np.unique(np.linspace(0, law.n, min(law.n, _MOST_COUNTS) + 1).round()) / law.n


def _kinks(law: RateLaw, low: float, high: float) -> np.ndarray:
    """Return the counts' places around [low, high] ⊂ [0, 1], and points between them.

    So many that no exponent varies by more than 1, as long as they are not too many; halving does the rest.
    """
    counts = math.ceil((high - low) * law.n) + 1
    pieces = 1 if law.lattice else math.ceil(min(law.epsilon, 64, max(2**18 / counts, 1)))
    first, last = math.floor(low * law.n) * pieces, math.ceil(high * law.n) * pieces
    return np.arange(first, last + 1) / (law.n * pieces)


def _given(a: np.ndarray, alpha: float, beta: float, second: RateLaw, t: float) -> np.ndarray:
    """Return P(rate₀ − rate₁ > t) given α̃ = a."""
    curve = crossing(alpha, beta, a, t)
    if second.lattice:
        # start below the rounded root; the gap itself decides which lattice points lie above the curve
        start = np.clip(np.floor(np.minimum(curve, 2.0) * second.n) - 1, 0, second.n + 1).astype(np.int64)
        for _ in range(3):
            inside = start <= second.n
            below = signed_gap(alpha, beta, a, np.minimum(start, second.n) / second.n) <= t + _TIE
            start = start + (inside & below)
        return second.above[start]
    chance = second.survival(np.clip(curve, 0.0, _BELOW_ONE))
    chance = np.where(curve >= 1, second.from_left[-1] / 2, chance)
    chance = np.where(signed_gap(alpha, beta, a, 1.0) > t + _TIE, chance, 0.0)
    return np.where(signed_gap(alpha, beta, a, 0.0) > t + _TIE, 1.0, chance)


def crossing(alpha: float, beta: float, a: np.ndarray, t: float) -> np.ndarray:
    """Return the b with signed gap t at (a, b); 0 or below, or 1 or above, if there is none in (0, 1).

    For b ≤ a, which is t ≤ α − β, x = 1 − b solves α x² − [α(1+a) − a(1+β+2t)] x = a(1−a)(1−β); for b > a,
    (1−α) b² + [(1−a)(2α−β−2t) − a(1−α)] b = βa(1−a).
    """
    if t <= alpha - beta:
        return 1 - _positive_root(alpha, a * (1 + beta + 2 * t) - alpha * (1 + a), a * (1 - a) * (1 - beta))
    return _positive_root(
        1 - alpha, (1 - a) * (2 * alpha - beta - 2 * t) - a * (1 - alpha), beta * a * (1 - a)
    )


def _positive_root(square: float, linear: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Return the root x ≥ 0 of square·x² + linear·x = constant, square and constant ≥ 0; 2 if there is none."""
    root = np.sqrt(linear**2 + 4 * square * constant)
    # two forms of one number; each subtracts nothing where it is used
    rising = linear > 0
    small = 2 * constant / np.where(rising, linear + root, 1.0)
    # a root of 1 or more is all the same, also where the true one is beyond the largest float
    large = np.minimum(root - linear, 4 * square) / (2 * square) if square > 0 else np.full_like(root, 2.0)
    return np.where(rising, small, large)
