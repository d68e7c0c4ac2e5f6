"""The law of the parity gap under each rule for the common rate: which module computes it, and its quantiles."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.central.gap_law import Mechanism, RateLaw, expected_gap, violation_probability
from dpfair_lib.central.several_groups.halfway import halfway_exceeds, halfway_mean
from dpfair_lib.central.several_groups.midpoint_law import Midpoint, MidpointModel
from dpfair_lib.central.several_groups.normal_gap import normal_gap
from dpfair_lib.central.several_groups.per_group import (
    noise_levels,
    number_of_groups,
    rate_laws,
    selection_rates,
    sizes,
)
from dpfair_lib.central.several_groups.several_gaps import GapModel, Rule, gap_probability, mean_gap
from dpfair_lib.central.several_groups.targets import checked_gamma, checked_rate, most_accurate

QUANTILE = 1e-6  # precision of the quantile of a law that takes long
NEAR = 0.05  # relative distance for the slope of another law
CUT = 1e-9  # rate that counts as 0


class GapLaw(NamedTuple):
    """The law of the gap: of two groups that move to the midpoint (no rule), or of any number under a rule."""

    rates: tuple[float, ...]
    laws: tuple[Any, ...]
    rule: Rule | Midpoint | None

    @classmethod
    def of(cls, rates: Any, n: Any, epsilon: Any, mechanism: Mechanism, rate: Any, gamma: Any) -> GapLaw:
        """Check the arguments, and return the law."""
        k = number_of_groups(rates, n, epsilon)
        counts, epsilons, alphas = sizes(n, k), noise_levels(epsilon, k), selection_rates(rates, k)
        laws = rate_laws(alphas, counts, epsilons, mechanism)
        aim, band = checked_rate(rate), checked_gamma(gamma)
        anchor = most_accurate(counts, epsilons, mechanism) if aim == "most-accurate" else None
        return cls(alphas, laws, rule_for(aim, band, k, anchor))

    def exceeds(self, gap: float) -> float:
        """Return P(gap > a value)."""
        if isinstance(self.rule, Midpoint):
            return MidpointModel(self.rates, self.laws, self.rule).exceeds(gap)
        if self.rule is not None:
            return gap_probability(self.rates, self.laws, gap, self.rule)
        (alpha, beta), (first, second) = self.rates, self.laws
        if not isinstance(first, RateLaw):
            return halfway_exceeds((alpha, beta), (first, second), gap)
        return violation_probability((alpha, beta), (first, second), gap)

    def mean(self) -> float:
        """Return the expected gap."""
        if isinstance(self.rule, Midpoint):
            return MidpointModel(self.rates, self.laws, self.rule).mean()
        if self.rule is not None:
            return mean_gap(self.rates, self.laws, self.rule)
        (alpha, beta), (first, second) = self.rates, self.laws
        if not isinstance(first, RateLaw):
            return halfway_mean((alpha, beta), (first, second))
        return expected_gap((alpha, beta), (first, second))

    def quantile(self, eta: float) -> float:
        """Return the smallest value that the gap exceeds with probability at most η."""
        if self.rule is not None:
            model = (
                MidpointModel(self.rates, self.laws, self.rule)
                if isinstance(self.rule, Midpoint)
                else GapModel(self.rates, self.laws, self.rule)
            )
            return _quantile(model.exceeds, eta, _like(model))
        if not isinstance(self.laws[0], RateLaw):
            return _quantile(self.exceeds, eta)
        if self.exceeds(0.0) <= eta:
            return 0.0
        low, high = 0.0, 1.0
        while high - low > 1e-12:
            middle = (low + high) / 2
            low, high = (low, middle) if self.exceeds(middle) <= eta else (middle, high)
        # the law counts gaps within 1e-12 of the value as not exceeding it; stay on the safe side of that
        return min(high + 2e-12, 1.0)


def rule_for(aim: str | float, gamma: float, groups: int, anchor: int | None) -> Rule | Midpoint | None:
    """Return the rule that a checked name or number stands for.

    Parameters
    ----------
    aim : str or float
        From `checked_rate`.
    gamma : float
        Width of the band.
    groups : int
        How many there are.
    anchor : int or None
        The group for "most-accurate".

    Returns
    -------
    Rule, Midpoint or None
        None for two groups that move to one rate, the midpoint.
    """
    if aim == "midpoint" and gamma == 0 and groups == 2:
        return None
    if aim == "midpoint" and (gamma > 0 or groups % 2 == 0):
        return Midpoint(gamma)
    return Rule(aim if isinstance(aim, float) else None, anchor, gamma)


def without_midpoint(rule: Rule | Midpoint | None, groups: int) -> Rule | None:
    """Return the rule; refuse the midpoint where two noisy rates decide, which only the parity gap has a law for.

    Parameters
    ----------
    rule : Rule, Midpoint or None
        From `rule_for`.
    groups : int
        How many there are.

    Returns
    -------
    Rule or None
        As it was.

    Raises
    ------
    ValueError
        If the rule is `Midpoint`.
    """
    if isinstance(rule, Midpoint):
        raise ValueError(
            f"rate: found 'midpoint' with {groups} groups and gamma={rule.gamma:g}, which has no exact law here, since "
            "the noisy rates of two groups decide where the band lies; expected 'median', 'most-accurate' or a number, "
            "or two or an odd number of groups and gamma=0"
        )
    return rule


def _quantile(
    exceeds: Callable[[float], float], eta: float, like: Callable[[float], float] | None = None
) -> float:
    """Return a value within `QUANTILE` of the smallest one that is exceeded with probability at most η.

    √(−log P) is nearly linear in the value, so a secant of it finds the place in few steps. Each step goes a little
    beyond, so that it ends on the other side. Where the law jumps, halving takes over. A law that is nearly the same,
    and costs nothing, says where to begin and how fast P falls: ``like``.
    """
    low, high, wanted = 0.0, 1.0, _bend(eta)
    before, last = (0.0, 0.0), (1.0, _bend(0.0))
    if like is not None:
        value = _crossed(like, eta)
        slope = (_bend(like(value * (1 + NEAR))) - _bend(like(value * (1 - NEAR)))) / (2 * NEAR * value)
        before, last = (value - wanted / slope, 0.0) if slope > 0 else before, (value, wanted)
    for step in itertools.count(1):
        slope = (last[1] - before[1]) / (last[0] - before[0])
        value = last[0] + (wanted - last[1]) / slope if slope > 0 else high
        if step > 1 or like is None:
            beyond = max(QUANTILE / 3, abs(value - last[0]) / 50)
            value += beyond if last[1] < wanted else -beyond
        if not low < value < high or (step > 4 and step % 4 == 0):
            value = (low + high) / 2
        chance = exceeds(value)
        low, high = (low, value) if chance <= eta else (value, high)
        found = value, _bend(chance)
        # the slope of the other law is better than none
        before = (
            (value - (last[0] - before[0]), found[1] - (last[1] - before[1])) if step == 1 and like else last
        )
        last = found
        if high - low <= QUANTILE:
            return 0.0 if low == 0 and exceeds(0.0) <= eta else high
    raise AssertionError  # halving ends


def _like(model: GapModel) -> Callable[[float], float]:
    """Return the law of the gap of independent normal new rates, around a band at a likely place."""
    means, (middle, anchor, gamma) = np.array([float(at @ masses) for at, masses in model.points]), model.rule
    if middle is None:
        middle = float(np.median(means)) if anchor is None else float(means[anchor])
    low = min(max(middle - gamma / 2, 0.0), 1 - gamma)
    high = low + gamma
    # errors shrink as the new rates do
    shrunk = np.minimum(high / np.maximum(means, CUT), (1 - low) / np.maximum(1 - means, CUT))
    spreads = np.array([levels.spread for levels in model.levels])
    return normal_gap(np.clip(means, low, high), np.minimum(shrunk, 1) * spreads)


def _crossed(chance: Callable[[float], float], eta: float) -> float:
    """Return where a probability falls to η, to three digits."""
    low, high = 0.0, 1.0
    while high - low > max(1e-3 * high, QUANTILE):
        middle = (low + high) / 2
        low, high = (low, middle) if chance(middle) <= eta else (middle, high)
    return high


def _bend(chance: float) -> float:
    return math.sqrt(-math.log(min(max(chance, 1e-300), 1.0)))
