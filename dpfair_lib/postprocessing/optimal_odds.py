"""All cheapest rules with equalized odds that see the group and the old label, for any number of groups.

With γ = 0 all groups have one common point of rates. The points that all groups can have are those of one classifier,
whose rates follow from the groups' likelihood ratios. So the least cost has a closed form, and so have all rules that
attain it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.postprocessing.exact_input import chances_of, finite, groups_of, share, weight_of

Point = tuple[Any, Any]
"""A false and a true positive rate."""
Range = tuple[Any, Any]


class LabelGroup(NamedTuple):
    """One group, of which a rule sees the old label.

    A rule gives the label 1 with the chance q₀ to the old label 0, and q₁ to the old label 1. It costs
    ``up * q₀ + down * (1 - q₁)`` more than the old labels.

    Attributes
    ----------
    false_positive, true_positive : Fraction
        Rates before.
    up, down : Fraction
        What it costs to give the label 1 to everybody of old label 0, and the label 0 to everybody of old label 1; 0
        where nobody has that label.
    """

    false_positive: Any
    true_positive: Any
    up: Any
    down: Any

    @classmethod
    def of_changes(
        cls, false_positive: Any, true_positive: Any, selected: Any, weight: Any = 1
    ) -> LabelGroup:
        """Count changes: `selected` is the selection rate, and the weight is that of the group's changes."""
        share(selected, "selected")
        weight_of(weight, "weight")
        return cls(false_positive, true_positive, weight * (1 - selected), weight * selected)

    @classmethod
    def of_errors(cls, false_positive: Any, true_positive: Any, base: Any, weight: Any = 1) -> LabelGroup:
        """Count errors: `base` is the share of true label 1, and the weight is that of the group's errors."""
        share(base, "base")
        weight_of(weight, "weight")
        up = (1 - base) * (1 - false_positive) - base * (1 - true_positive)
        return cls(
            false_positive,
            true_positive,
            weight * up,
            weight * (base * true_positive - (1 - base) * false_positive),
        )

    @property
    def informativeness(self) -> Any:
        """True minus false positive rate: 0 if the old label says nothing of the true one."""
        return self.true_positive - self.false_positive

    def rates(self, chances: np.ndarray) -> np.ndarray:
        """Return both rates of rules q₀, q₁, on the last axis."""
        kind = object if chances.dtype == object else float
        zero, one = chances[..., :1], chances[..., 1:]
        return zero + (one - zero) * np.array([self.false_positive, self.true_positive], dtype=kind)

    def cost(self, point: Point) -> Any:
        """Return the least cost of a point that the group can have."""
        zero, one = self.rule(point)
        return self.up * zero + self.down * (1 - one)

    def rule(self, point: Point) -> tuple[Any, Any]:
        """Return a cheapest rule of a point."""
        false, true = point
        if self.informativeness:
            step = (true - false) / self.informativeness
            zero = false - self.false_positive * step
            return zero, zero + step
        rate = self.true_positive
        if self.both_ways() >= 0:  # change one label alone, as far as it goes
            zero = max(true - rate, 0 * true) / (1 - rate) if rate < 1 else 0 * true
            return zero, min(true / rate, 1 + 0 * true) if rate else 1 + 0 * true
        zero = min(true / (1 - rate), 1 + 0 * true)
        return zero, max(true - (1 - rate), 0 * true) / rate

    def both_ways(self) -> Any:
        """Return what it costs, where both rates are equal, to change both labels so that the rate stays."""
        return self.up * self.true_positive + self.down * (1 - self.true_positive)


def check_groups(groups: Sequence[LabelGroup]) -> None:
    """Refuse groups that there cannot be."""
    groups_of(groups, LabelGroup)
    for at, group in enumerate(groups):
        rates = group[:2]
        for name, rate in zip(group._fields[:2], rates, strict=True):
            share(rate, f"groups[{at}].{name}")
        for name, label, end in (("up", 0, 1), ("down", 1, 0)):
            cost = getattr(group, name)
            finite(cost, f"groups[{at}].{name}")
            if cost and rates == (end, end):
                raise ValueError(
                    f"groups[{at}].{name}: found {cost}, expected 0, as both rates are {end}: nobody has the old "
                    f"label {label}"
                )


class ExactOdds(NamedTuple):
    """All rules of least cost with which every group has the same true and false positive rate.

    Attributes
    ----------
    groups : sequence of LabelGroup
        The groups.
    cost : Fraction
        The least cost, beyond that of the old labels.
    apex : tuple of Fraction or None
        The classifier's rates whose region is that of all groups together; None if only answers that do not depend on
        the old label are left, whose two rates are equal.
    if_zero, if_one : tuple of Fraction
        The least and the largest chance of the label 1 for that classifier's labels 0 and 1; without one, the range of
        the common rate, twice.
    """

    groups: Sequence[LabelGroup]
    cost: Any
    apex: Point | None
    if_zero: Range
    if_one: Range

    @property
    def corners(self) -> list[Point]:
        """The corners of the optimal common points."""
        if self.apex is None:
            return [(c, c) for c in sorted(set(self.if_zero))]
        pairs = {(zero, one) for zero in self.if_zero for one in self.if_one}
        return sorted(tuple(zero + (one - zero) * rate for rate in self.apex) for zero, one in pairs)

    def has(self, point: Point) -> bool:
        """Return whether a common point, of fractions, is optimal."""
        false, true = point
        if self.apex is None:
            return bool(false == true and self.if_zero[0] <= true <= self.if_zero[1])
        step = (true - false) / (self.apex[1] - self.apex[0])
        zero = false - self.apex[0] * step
        return bool(
            self.if_zero[0] <= zero <= self.if_zero[1] and self.if_one[0] <= zero + step <= self.if_one[1]
        )

    def contains(self, chances: np.ndarray) -> np.ndarray:
        """Return which rules are optimal.

        Parameters
        ----------
        chances : ndarray of shape (..., groups, 2)
            q₀ and q₁ of each group; outside [0, 1] they are no rule. Rates are compared without any tolerance: give
            `Fraction`, or floats whose sums are exact.

        Returns
        -------
        ndarray of bool, of the leading shape
            Whether the rule is one of those that cost least.
        """
        chances = chances_of(chances, (len(self.groups), 2), "chances")
        points = np.stack([g.rates(chances[..., at, :]) for at, g in enumerate(self.groups)], axis=-2)
        found = np.asarray((points == points[..., :1, :]).all(axis=(-2, -1)))
        found &= ((chances >= 0) & (chances <= 1)).all(axis=(-2, -1))
        common = points[..., 0, :]
        for point in {(false, true) for false, true in common[found]}:
            if not self.has((Fraction(point[0]), Fraction(point[1]))):
                found &= (common != np.array(point, dtype=common.dtype)).any(axis=-1)
        for at, group in enumerate(self.groups):
            keeps = 0 if group.informativeness else group.both_ways()
            zero, one = chances[..., at, 0], chances[..., at, 1]
            if keeps > 0:
                found &= (zero == 0) | (one == 1)
            elif keeps < 0:
                found &= (zero == 1) | (one == 0)
        return found

    @property
    def unique(self) -> bool:
        """Whether only one rule is optimal, apart from the chances of labels that nobody of the group has."""
        alone = all(low == high for low, high in (self.if_zero, self.if_one))
        inside = self.if_zero[0] not in (0, 1)
        return alone and all(
            g.informativeness != 0 or g.both_ways() != 0 or g.true_positive in (0, 1) or not inside
            for g in self.groups
        )


def exact_odds(groups: Sequence[LabelGroup]) -> ExactOdds:
    """Return all rules of least cost with exact equalized odds.

    Parameters
    ----------
    groups : sequence of LabelGroup
        One for each group.

    Returns
    -------
    ExactOdds
        Exact if all numbers are `Fraction`.

    References
    ----------
    Derived in the chapter on any number of groups.
    """
    apex = common_classifier(groups)

    def total(point: Point) -> Any:
        return sum(group.cost(point) for group in groups)

    if apex is None:
        kinks = [Fraction(0), Fraction(1)]
        for group in groups:
            if not group.informativeness:
                kinks.append(group.true_positive if group.both_ways() >= 0 else 1 - group.true_positive)
        costs = [total((c, c)) for c in kinks]
        best = [c for c, cost in zip(kinks, costs, strict=True) if cost == min(costs)]
        ends = min(best), max(best)
        return ExactOdds(groups, min(costs), None, ends, ends)
    here, nobody, everybody = (total(point) for point in (apex, (Fraction(0),) * 2, (Fraction(1),) * 2))
    up, down = everybody - here, nobody - here
    cost = here + min(up, 0 * up) + min(down, 0 * down)
    zero, one = Fraction(0), Fraction(1)
    if_zero = (zero if up >= 0 else one, one if up <= 0 else zero)
    if_one = (zero if down <= 0 else one, one if down >= 0 else zero)
    return ExactOdds(groups, cost, apex, if_zero, if_one)


def common_classifier(groups: Sequence[LabelGroup]) -> Point | None:
    """Return the rates of one classifier with which the same points can be had as with every group's.

    Parameters
    ----------
    groups : sequence of LabelGroup
        One for each group. A group whose true positive rate is the lower one is turned: its labels are exchanged.

    Returns
    -------
    tuple of Fraction or None
        The rates F, T with T/F the least of the groups', and (1 − T)/(1 − F) the largest. None if some group has
        T = F.
    """
    check_groups(groups)
    turned = [_turned(group) for group in groups]
    if any(false == true for false, true in turned):
        return None
    low, high = turned[0], turned[0]  # of the least T/F, and of the largest (1 − T)/(1 − F)
    for false, true in turned[1:]:
        low = (false, true) if true * low[0] < low[1] * false else low
        high = (false, true) if (1 - true) * (1 - high[0]) > (1 - high[1]) * (1 - false) else high
    far = (high[1] - high[0]) / (low[1] * (1 - high[0]) - low[0] * (1 - high[1]))
    return far * low[0], far * low[1]


def _turned(group: LabelGroup) -> tuple[Any, Any]:
    """Return F and T, of exchanged labels where T < F."""
    if group.informativeness > 0:
        return group.false_positive, group.true_positive
    return 1 - group.false_positive, 1 - group.true_positive


def odds_without_chance(groups: Sequence[LabelGroup]) -> bool:
    """Return whether a rule that sees group and old label changes least, with equal odds, without drawing lots.

    Parameters
    ----------
    groups : sequence of LabelGroup
        Made by `LabelGroup.of_changes`, of positive weights.

    Returns
    -------
    bool
        Whether one of the optimal rules for γ = 0 has no chance but 0 and 1.
    """
    check_groups(groups)
    informative = all(group.informativeness for group in groups)
    return odds_without_group(groups) or (informative and len({_turned(group) for group in groups}) == 1)


def odds_without_group(groups: Sequence[LabelGroup]) -> bool:
    """Return whether a rule that sees the old label alone changes least, with equal odds, among those that see both.

    Parameters
    ----------
    groups : sequence of LabelGroup
        Made by `LabelGroup.of_changes`, of positive weights.

    Returns
    -------
    bool
        Whether one of the optimal rules for γ = 0 treats all groups alike: only where nothing has to change, or where
        one answer for everybody has the least cost.
    """
    found = exact_odds(groups)
    same = len({(g.false_positive, g.true_positive) for g in groups}) == 1
    return same or any(found.has((Fraction(end), Fraction(end))) for end in (0, 1))
