"""The law of the gap that private equalized odds leaves for γ = 0, and what noise makes of the aim.

For two groups it is an integral along the edge of a square (`meeting_lines`). For more groups no deviation from the
corner exceeds the error of its rate, which gives an upper bound, and groups that surely decide give a lower one.

A second upper bound is for every γ and every rule, whether noise turns a group round or not. A rule takes a group's
rates r to p + κ r with κ in [−1, 1]. So its true new rate is the noisy new rate and κ (r − r̃), and those of two groups
differ by at most γ and the sizes of both errors.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpfair_lib.central.several_groups.meeting_lines import LARGEST, meets_within
from dpfair_lib.central.several_groups.noisy_labels import COARSE, LabelLaw

EQUAL = 1e-7  # gaps that differ by less count as equal: the solver of the program knows them no better
SURE = 1e-6  # shares that differ by less may decide either way, for the same reason
TOLERANCE = 3e-4  # error of a probability
ROUGH = 1e-3  # the same under the integral of the mean
MEETINGS = 5  # two bent lines meet at most four times, and should meet once
PIECES = (0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 7)  # standard deviations of a difference: ends of pieces of the gap
FEW, MOST_PARTS = 4_000, 8  # with fewer noisy rates there are more pieces, so many times at most
PRECISION = 1e-6  # of the quantile
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


class OddsLaw(NamedTuple):
    """The law, for given rates and lists of noisy rates.

    Attributes
    ----------
    false, true : tuple of float
        F and T of the groups, T > F.
    labels : pair of tuples of LabelLaw
        Of the noisy F, then of the noisy T, of each group.
    turned : float
        Bounds the probability that a noisy T is not above the noisy F; 1 if shares are merged and may be so ordered.
    same, corner : float
        Bound the probabilities that everybody gets the same label, so that there is no gap, and that the corner is the
        aim.
    deciding : tuple of (int, int)
        Pairs of groups whose gap is, on the lists, what it would be without the others.
    gamma : float
        By how much noisy rates may differ after the rule. Above 0 only the bound for every rule is used.
    moving : float
        Bounds the probability that there is a gap for γ = 0: the corner is the aim, a group is turned round, or some
        noisy rate is not on its list.
    """

    false: tuple[float, ...]
    true: tuple[float, ...]
    labels: tuple[tuple[LabelLaw, ...], tuple[LabelLaw, ...]]
    turned: float
    same: float
    corner: float
    deciding: tuple[tuple[int, int], ...]
    gamma: float = 0.0
    moving: float = 1.0

    @property
    def missing(self) -> float:
        """Return the probability that some noisy rate is not on its list."""
        return sum(law.missing for label in self.labels for law in label)

    def exceeds_at_least(self, gap: float) -> float:
        """Return a lower bound on P(gap > value)."""
        doubt = MEETINGS * self.turned + self.missing + self.same
        if gap >= 1 or doubt >= 1 or self.gamma > 0:
            return 0.0
        listed = self._listed()
        found = (listed - self._pair_within_at_most(pair, gap) for pair in self.deciding)
        return max(max(found, default=0.0) - doubt, 0.0)

    def exceeds_at_most(self, gap: float) -> float:
        """Return an upper bound on P(gap > value)."""
        if gap >= 1 or (self.moving <= 0 and self.gamma == 0):
            return 0.0
        every = 1 - self._every_rule_within(gap)
        if self.gamma > 0:
            return min(max(every, 0.0), 1.0)
        # two lines may meet several times where a group is turned round; the range of errors counts such rates once
        doubt = self.turned * (MEETINGS if len(self.false) == 2 else 1)
        if doubt < 1:
            two = len(self.false) == 2
            least = self._pair_within_at_least((0, 1), gap) if two else self._all_within(gap)
            every = min(every, 1 - least + doubt)
        return max(min(every, self.moving, 1.0), 0.0)

    def mean(self) -> tuple[float, float]:
        """Return bounds on E[gap] for two groups."""
        if len(self.false) != 2:
            raise ValueError(
                f"false_positive: found {len(self.false)} groups, expected 2 for the expected gap"
            )
        pair, end, scale = (0, 1), self._largest((0, 1)), self.scale()
        knots = [0.0, *(step * scale for step in PIECES if step * scale < end), end]
        # few noisy rates make jumps, and are soon summed
        parts = min(
            max(math.ceil(FEW / max(len(law.shares) for label in self.labels for law in label)), 1),
            MOST_PARTS,
        )
        lower = upper = 0.0
        doubt = MEETINGS * self.turned
        ends = [
            low + (high - low) * i / parts for low, high in itertools.pairwise(knots) for i in range(parts)
        ]
        for low, high in itertools.pairwise([*ends, end]):
            for node, weight in zip(_NODES, _WEIGHTS, strict=True):
                within, off = self._meet(pair, low + (high - low) * (node + 1) / 2, ROUGH)
                beyond, share = self._listed() - within, (high - low) / 2 * weight
                lower += share * max(beyond - off - doubt - self.same, 0.0)
                upper += share * min(beyond + off + doubt, self.corner + self.turned)
        within, off = self._meet(pair, end, ROUGH)
        upper += (1 - end) * min(self._listed() - within + off + doubt, self.corner + self.turned)
        shift = self.moved(pair)
        return max(float(lower) - shift, 0.0), min(float(upper) + shift + self.missing, 1.0)

    def quantile(self, eta: float) -> float:
        """Return where the upper bound passes η."""
        low, high = 0.0, 1.0
        if self.exceeds_at_most(0.0) <= eta:
            return 0.0
        while high - low > PRECISION:
            # most gaps are of the size of the deviations
            middle = min((low + high) / 2, max(4 * low, self.scale()) if self.scale() > 0 else 1.0)
            middle = middle if low < middle < high else (low + high) / 2
            low, high = (low, middle) if self.exceeds_at_most(middle) <= eta else (middle, high)
        return high

    def _listed(self) -> float:
        return math.prod(float(law.masses.sum()) for label in self.labels for law in label)

    def scale(self) -> float:
        """Return the size of usual gaps: a standard deviation of a difference of two rates."""
        return max(math.hypot(*sorted(law.spread() for law in label)[-2:]) for label in self.labels)

    def _largest(self, pair: tuple[int, int]) -> float:
        return LARGEST * min(self.true[a] - self.false[a] for a in pair)

    def moved(self, pair: tuple[int, int] = (0, 1)) -> float:
        """Return by how much a gap is off at most because shares of one cell count as one.

        Both left sides move by no more than the shares of both groups together. The place where they are 0 moves, and
        with it each κ, by so much over T̃ − F̃; it is multiplied by the error of the group's rate.
        """
        first, second = pair
        moved = max(label[first].moved + label[second].merged(COARSE).moved for label in self.labels)
        if moved == 0:
            return 0.0
        if any(self.labels[0][at].shares[-1] >= self.labels[1][at].shares[0] for at in pair):
            return 1.0  # κ is not bounded by what it was, so nothing is said
        stretch = 1.0
        for a in pair:
            error = max(
                abs(rates[a] - label[a].shares[end])
                for rates, label in zip((self.false, self.true), self.labels, strict=True)
                for end in (0, -1)
            )
            stretch += 2 * float(error / (self.labels[1][a].shares[0] - self.labels[0][a].shares[-1]))
        return min(stretch * moved, 1.0)

    def _meet(self, pair: tuple[int, int], gap: float, tolerance: float) -> tuple[float, float]:
        first, second = pair
        false, true = ((rates[first], rates[second]) for rates in (self.false, self.true))
        label_0, label_1 = ((label[first], label[second].merged(COARSE)) for label in self.labels)
        found, off = meets_within(gap + EQUAL, false, true, (label_0, label_1), tolerance)
        # the other groups have to be on their lists too
        return found * self._listed() / math.prod(
            float(law.masses.sum()) for law in (*label_0, *label_1)
        ), off

    def _pair_within_at_least(self, pair: tuple[int, int], gap: float) -> float:
        """Return a lower bound on the probability that the lists hold and this pair's gap is at most a value."""
        gap -= self.moved(pair)
        if gap < 0:
            return 0.0
        found, off = self._meet(pair, min(gap, self._largest(pair)), TOLERANCE)
        return found - off

    def _pair_within_at_most(self, pair: tuple[int, int], gap: float) -> float:
        gap += self.moved(pair)
        if gap > self._largest(pair):
            return self._listed()
        found, off = self._meet(pair, gap, TOLERANCE)
        return found + off

    def _all_within(self, gap: float) -> float:
        """Return a lower bound on the probability that the lists hold and no gap exceeds a value: with every κ = 1."""
        chance = 1.0
        for rates, laws in zip((self.false, self.true), self.labels, strict=True):
            shift = 2 * max(law.moved for law in laws)
            errors = [rate - law.shares[::-1] for rate, law in zip(rates, laws, strict=True)]
            chance *= _range_within(gap - shift + EQUAL, errors, [law.masses[::-1] for law in laws])
        return chance

    def _every_rule_within(self, gap: float) -> float:
        """Return a lower bound on the probability that the lists hold and no rule leaves more than a value."""
        chance = 1.0
        for rates, laws in zip((self.false, self.true), self.labels, strict=True):
            shift = 2 * max(law.moved for law in laws)
            errors, masses = [], []
            for rate, law in zip(rates, laws, strict=True):
                sizes = abs(law.shares - rate)
                order = np.argsort(sizes)
                errors.append(sizes[order])
                masses.append(law.masses[order])
            chance *= two_largest_within(gap - self.gamma - shift + EQUAL, errors, masses)
        return chance


def two_largest_within(gap: float, errors: Sequence[np.ndarray], masses: Sequence[np.ndarray]) -> float:
    """Return the probability that the two largest of independent errors add up to at most a value.

    Parameters
    ----------
    gap : float
        The value.
    errors, masses : sequence of ndarray
        Of each group the sizes of its error, ascending, and their probabilities.

    Returns
    -------
    float
        At most one error is above half of the value. The sum is over which one it is, and how large.
    """
    if gap < 0:
        return 0.0
    below = [np.append(0.0, np.cumsum(mass)) for mass in masses]

    def upto(at: int, value: np.ndarray | float) -> np.ndarray:
        return below[at][np.searchsorted(errors[at], value, side="right")]

    groups = range(len(errors))
    chance = math.prod(float(upto(at, gap / 2)) for at in groups)
    for at, (error, mass) in enumerate(zip(errors, masses, strict=True)):
        large = (error > gap / 2) & (error <= gap)
        others = np.ones(int(large.sum()))
        for other in groups:
            if other != at:
                others *= upto(other, gap - error[large])
        chance += float(mass[large] @ others)
    return chance


def _range_within(gap: float, errors: Sequence[np.ndarray], masses: Sequence[np.ndarray]) -> float:
    """Return P(largest error or 0, minus smallest error or 0, is at most a value), for independent errors.

    It is a sum over how far the smallest one is below 0.
    """
    if gap < 0:
        return 0.0
    below = [np.append(0.0, np.cumsum(mass)) for mass in masses]
    depths = np.unique(
        np.concatenate([-error[(error <= 0) & (error >= -gap)] for error in errors] + [np.zeros(1)])
    )
    at_least, above = np.ones(len(depths)), np.ones(len(depths))
    for error, cumulated in zip(errors, below, strict=True):
        top = cumulated[np.searchsorted(error, gap - depths, side="right")]
        at_least *= top - cumulated[np.searchsorted(error, -depths, side="left")]
        above *= np.maximum(top - cumulated[np.searchsorted(error, -depths, side="right")], 0.0)
    above[depths == 0] = 0.0  # where none is below 0, nothing is counted twice
    return float((at_least - above).sum())


def law_of_lists(
    false: tuple[float, ...], true: tuple[float, ...], labels: tuple[tuple[LabelLaw, ...], tuple[LabelLaw, ...]],
    totals: Sequence[tuple[float, tuple[int, int], tuple[int, int]]], gamma: float = 0.0,
) -> OddsLaw:  # fmt: skip
    """Return the law, with bounds on what the lists leave open.

    Parameters
    ----------
    false, true : tuple of float
        F and T of the groups, T > F.
    labels : pair of tuples of LabelLaw
        Of the noisy F and T.
    totals : sequence of (float, (int, int), (int, int))
        Bounds on the noisy rows of true label 0, and of 1, of all groups together; before them, with which probability
        they are wrong.
    gamma : float
        γ of the program.

    Returns
    -------
    OddsLaw
        With the best of these bounds.
    """
    turned = sum(_may_exceed(low, high, 1, 1) for low, high in zip(*labels, strict=True))
    missing = sum(law.missing for label in labels for law in label)
    round_or_missing = turned + missing  # whoever is turned round may keep a gap
    if turned > 0 and any(law.moved > 0 or len(law.shares) > COARSE for law in (*labels[0], *labels[1])):
        turned = 1.0  # what is said of merged shares needs their order
    same = corner = 1.0
    for wrong, (fewest_0, most_0), (fewest_1, most_1) in totals:
        all_same = 0.0
        for low, high in zip(*labels, strict=True):
            reject, select = high.others(), low.others()
            all_same += _may_exceed(low, high, most_0, fewest_1) + _may_exceed(
                reject, select, most_1, fewest_0
            )
            # the corner needs both, so it is no likelier than either
            either = _may_exceed(high, low, most_1, fewest_0), _may_exceed(select, reject, most_0, fewest_1)
            corner = min(corner, wrong + min(either))
        same = min(same, wrong + all_same)
    return OddsLaw(
        false, true, labels, turned, same, corner, _deciding(labels), gamma, corner + round_or_missing
    )


def _may_exceed(first: LabelLaw, second: LabelLaw, a: float, b: float) -> float:
    """Return at least P(a · first ≥ b · second), on the lists."""
    limits = b * (second.shares - second.moved) / a - first.moved
    below = np.append(0.0, np.cumsum(first.masses))
    return float(
        second.masses @ (below[-1] - below[np.searchsorted(first.shares, limits - SURE, side="left")])
    )


def _deciding(labels: tuple[tuple[LabelLaw, ...], tuple[LabelLaw, ...]]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of which it is sure, on the lists, that their gap does not depend on other groups."""
    groups = range(len(labels[0]))
    if len(groups) == 2:
        return ((0, 1),)
    low_f, high_f, low_t, high_t = (
        [float(law.shares[end]) + sign * law.moved for law in label]
        for label in labels
        for end, sign in ((0, -1), (-1, 1))
    )
    # who surely has the smallest T/F, and who the largest (1 − T)/(1 − F)
    left = [a for a in groups if all(high_t[a] * high_f[b] < low_t[b] * low_f[a] for b in groups if b != a)]
    right = [
        a
        for a in groups
        if all((1 - high_t[a]) * (1 - high_f[b]) > (1 - low_t[b]) * (1 - low_f[a]) for b in groups if b != a)
    ]
    if not (left and right):
        return ()
    if left == right:
        return tuple((left[0], b) for b in groups if b != left[0])
    return ((left[0], right[0]),)
