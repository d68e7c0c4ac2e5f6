"""All cheapest rules with equalized odds, relaxed by γ, that see the group and the old label.

They are a face of a linear program. Prices of the rates say which chances are 0 or 1, and which groups lie at an end
of their band.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.postprocessing.exact_input import chances_of, share
from dpfair_lib.postprocessing.optimal_odds import LabelGroup, Point, check_groups


class OddsWithin(NamedTuple):
    """All rules of least cost with which true and false positive rates lie within γ of each other.

    Attributes
    ----------
    groups : sequence of LabelGroup
        The groups.
    gamma : Fraction
        γ.
    cost : Fraction
        The least cost, beyond that of the old labels. The prices prove that no rule costs less.
    prices : list of tuple of Fraction
        Of each group: what its false and its true positive rate are worth. Above 0 the rate is the lowest one of all
        groups; below 0 it is the highest one, γ above. The prices of each kind sum to 0.
    """

    groups: Sequence[LabelGroup]
    gamma: Any
    cost: Any
    prices: list[Point]

    def reduced(self) -> list[tuple[Any, Any]]:
        """Return what q₀ and q₁ of each group cost, less what the rates are worth: above 0 it is 0, below 0 it is 1."""
        return [
            (
                g.up - x * (1 - g.false_positive) - y * (1 - g.true_positive),
                -g.down - x * g.false_positive - y * g.true_positive,
            )
            for g, (x, y) in zip(self.groups, self.prices, strict=True)
        ]

    def bound(self) -> Any:
        """Return what the prices prove: no rule within γ costs less."""
        below = sum(g.down for g in self.groups) + sum(min(c, 0 * c) for pair in self.reduced() for c in pair)
        for prices in zip(*self.prices, strict=True):
            if sum(prices):  # a band that begins lower or higher would be worth any number
                return -math.inf
            below += self.gamma * sum(min(price, 0 * price) for price in prices)
        return below

    def contains(self, chances: np.ndarray) -> np.ndarray:
        """Return which rules are optimal, as `ExactOdds.contains` does."""
        chances = chances_of(chances, (len(self.groups), 2), "chances")
        points = np.stack([g.rates(chances[..., at, :]) for at, g in enumerate(self.groups)], axis=-2)
        kind = object if points.dtype == object else float
        gamma = self.gamma if kind is object else float(self.gamma)
        found = np.asarray(((chances >= 0) & (chances <= 1)).all(axis=(-2, -1)))
        for at, costs in enumerate(self.reduced()):
            for label, cost in enumerate(costs):
                found &= (chances[..., at, label] == (cost < 0)) | (cost == 0)
        for side, prices in enumerate(zip(*self.prices, strict=True)):
            rates = points[..., side]
            lowest, highest = rates.min(axis=-1), rates.max(axis=-1)
            found &= highest - lowest <= gamma
            if any(prices):
                found &= highest - lowest == gamma
            for at, price in enumerate(prices):
                if price:
                    found &= rates[..., at] == (lowest if price > 0 else highest)
        return found


def odds_of_pair(first: LabelGroup, second: LabelGroup, gamma: Any) -> OddsWithin:
    """Return all rules of least cost with equalized odds of two groups, relaxed by γ, in closed form.

    The prices of the second group are those of the first one with the other sign. The bound is concave in both prices
    and linear between six lines: where one of them is 0, and where one of the four chances is free. So it is largest at
    a point where two lines meet, and is the least cost there.

    Parameters
    ----------
    first, second : LabelGroup
        The groups.
    gamma : Fraction
        γ in [0, 1].

    Returns
    -------
    OddsWithin
        Exact if all numbers are `Fraction`.

    References
    ----------
    Derived in the chapter on any number of groups.
    """
    check_groups((first, second))
    share(gamma, "gamma")
    zero, one = Fraction(0), Fraction(1)
    lines = [
        (one, zero, zero),
        (zero, one, zero),
        *(
            line
            for sign, g in ((1, first), (-1, second))
            for line in (
                (1 - g.false_positive, 1 - g.true_positive, sign * g.up),
                (g.false_positive, g.true_positive, -sign * g.down),
            )
        ),
    ]
    best = None
    for (a, b, c), (d, e, f) in itertools.combinations(lines, 2):
        if across := a * e - b * d:
            x, y = (c * e - b * f) / across, (a * f - c * d) / across
            found = OddsWithin((first, second), gamma, zero, [(x, y), (-x, -y)])
            found = found._replace(cost=found.bound())
            best = found if best is None or found.cost > best.cost else best
    assert best is not None  # the first two lines meet
    return best


def odds_within(groups: Sequence[LabelGroup], gamma: Any) -> OddsWithin:
    """Return all rules of least cost with equalized odds, relaxed by γ.

    A solver finds prices in floating point. They are a corner, so that equations fix the ones that it means: prices
    that are 0, and chances that are free. These are solved in fractions, and so is a rule. The cost of the rule and
    the bound of the prices are then compared exactly.

    Parameters
    ----------
    groups : sequence of LabelGroup
        One for each group. Floats count as the fractions that they are.
    gamma : Fraction
        γ in [0, 1].

    Returns
    -------
    OddsWithin
        Certified, in fractions.

    Raises
    ------
    RuntimeError
        If the cost and the bound differ, so that nothing is certified: the solver overlooks what is below 1e-7, such as
        how far a gap exceeds γ.
    """
    from scipy.optimize import linprog

    check_groups(groups)
    share(gamma, "gamma")
    groups, gamma = [LabelGroup(*map(Fraction, g)) for g in groups], Fraction(gamma)
    k = len(groups)
    # variables: q₀ and q₁ of each group, then where the two bands begin
    above = [[Fraction(0)] * (2 * k + 2) for _ in range(2 * k)]
    for at, g in enumerate(groups):
        for side, rate in enumerate((g.false_positive, g.true_positive)):
            row = above[side * k + at]
            row[2 * at], row[2 * at + 1], row[2 * k + side] = 1 - rate, rate, Fraction(-1)
    costs = [c for g in groups for c in (g.up, -g.down)]
    unit = max(map(abs, costs)) or Fraction(1)
    ends: list[tuple[int | None, int | None]] = [(0, 1)] * (2 * k) + [(None, None)] * 2
    floats = np.array(above, dtype=float)
    solved = linprog(
        [*(float(c / unit) for c in costs), 0, 0], np.vstack([floats, -floats]),
        np.repeat([float(gamma), 0.0], 2 * k), bounds=ends, method="highs-ds",
    )  # fmt: skip
    if solved.x is None:
        raise RuntimeError(f"nothing is certified: the solver says {solved.message!r}")
    prices = _prices(groups, solved.ineqlin.marginals[: 2 * k] - solved.ineqlin.marginals[2 * k :], unit)
    rule = _rule(above, gamma, solved.x)[: 2 * k]
    cost = sum(g.up * rule[2 * at] + g.down * (1 - rule[2 * at + 1]) for at, g in enumerate(groups))
    found = OddsWithin(groups, gamma, cost, prices)
    points = [g.rates(np.array(rule[2 * at : 2 * at + 2])) for at, g in enumerate(groups)]
    apart = max(max(side) - min(side) for side in zip(*points, strict=True))
    if apart > gamma or found.bound() != cost or not all(0 <= q <= 1 for q in rule):
        raise RuntimeError(f"nothing is certified: a rule costs {cost}, and the bound is {found.bound()}")
    return found


def _prices(groups: Sequence[LabelGroup], near: np.ndarray, unit: Fraction) -> list[Point]:
    """Return the prices that the solver means: at a corner, where prices are 0 or chances free, as it found."""
    k = len(groups)
    sums = [[Fraction(at // k == side) for at in range(2 * k)] + [Fraction(0)] for side in (0, 1)]
    often = [[Fraction(at == one) for at in range(2 * k)] + [Fraction(0)] for one in range(2 * k)]
    for at, g in enumerate(groups):
        for false, true, cost in (
            (1 - g.false_positive, 1 - g.true_positive, g.up),
            (g.false_positive, g.true_positive, -g.down),
        ):
            row = [Fraction(0)] * (2 * k) + [cost / unit]
            row[at], row[k + at] = false, true
            often.append(row)
    exact = _corner(sums, often, near)
    return [(unit * exact[at], unit * exact[k + at]) for at in range(k)]


def _rule(above: list[list[Fraction]], gamma: Fraction, near: np.ndarray) -> list[Fraction]:
    """Return the chances that the solver means, and where the bands begin: at a corner, as it found."""
    count = len(above[0])
    chances = [
        [Fraction(at == one) for at in range(count)] + [Fraction(end)]
        for one in range(count - 2)
        for end in (0, 1)
    ]
    return _corner([], [*chances, *([*row, end] for row in above for end in (Fraction(0), gamma))], near)


def _corner(always: list[list[Fraction]], often: list[list[Fraction]], near: np.ndarray) -> list[Fraction]:
    """Solve as many equations as there are unknowns: all of the first list, and those that a solution misses least.

    Each row has the coefficients and the right side. A solver ends at a corner, so that enough equations hold.
    """
    missed = np.abs(np.array(often, dtype=float) @ np.append(near, -1.0))
    reduced: list[tuple[int, list[Fraction]]] = []  # place of the leading 1, and the row
    for given in [*always, *(often[at] for at in np.argsort(missed, kind="stable"))]:
        row = given
        for lead, other in reduced:
            if row[lead]:
                row = [a - row[lead] * b for a, b in zip(row, other, strict=True)]
        if any(row[:-1]):
            lead = next(at for at, a in enumerate(row) if a)
            reduced.append((lead, [a / row[lead] for a in row]))
        if len(reduced) == len(near):
            break
    found = [Fraction(0)] * len(near)
    for lead, row in reversed(reduced):
        found[lead] = row[-1] - sum(a * b for a, b in zip(row[:-1], found, strict=True) if b)
    return found
