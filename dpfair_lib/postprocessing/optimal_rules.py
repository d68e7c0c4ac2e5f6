"""All cheapest rules whose rates lie within γ of each other, for any number of groups, and who may be changed.

A group is a list of cells of people whom a rule cannot tell apart: the two old labels, or values of features. Counted
are those people of whom the rate is taken: everybody for the selection rate, people of true label 1 for the true
positive rate. The best bands are those of `bands`. In a group that has to move, cells are changed in the order of what
one counted person costs, in one direction, and nobody is changed where nobody counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.postprocessing.bands import Band, cheapest_band
from dpfair_lib.postprocessing.curves import Curve
from dpfair_lib.postprocessing.exact_input import chances_of, groups_of, share, shares_of_one, weight_of


class Face(NamedTuple):
    """The cheapest rules of one group for one band: all chances in a box that give one of the rates.

    Attributes
    ----------
    lowest, highest : list of Fraction
        Of each cell, the least and the largest chance of the label 1.
    rates : tuple of Fraction
        The least and the largest rate; equal in a group of positive weight.
    """

    lowest: list[Any]
    highest: list[Any]
    rates: tuple[Any, Any]


class Cells(NamedTuple):
    """What a rule can tell apart in one group.

    Attributes
    ----------
    sizes : sequence of Fraction
        Share of the group's people in each cell; they sum to 1.
    counted : sequence of Fraction
        Share of the group's counted people in each cell; they sum to 1. It is 0 where the size is.
    before : sequence of Fraction
        Chance of the label 1 before, in [0, 1].
    weight : Fraction
        Of the group's changes, at least 0.
    """

    sizes: Sequence[Any]
    counted: Sequence[Any]
    before: Sequence[Any]
    weight: Any = Fraction(1)

    @classmethod
    def by_label(cls, rate: Any, selected: Any, weight: Any = Fraction(1)) -> Cells:
        """Return the two cells of the old labels 0 and 1.

        Parameters
        ----------
        rate, selected : Fraction
            The rate of the counted people, and the share of all people that is selected.
        weight : Fraction
            Of the group's changes.

        Returns
        -------
        Cells
            Two of them.
        """
        share(rate, "rate")
        share(selected, "selected")
        return cls((1 - selected, selected), (1 - rate, rate), (Fraction(0), Fraction(1)), weight)

    @property
    def rate(self) -> Any:
        """The rate before."""
        return sum(c * h for c, h in zip(self.counted, self.before, strict=True))

    def ranks(self) -> list[list[int]]:
        """Return the cells in which somebody counts, cheap ones first, equally cheap ones together."""
        prices = {i: Fraction(self.sizes[i]) / Fraction(c) for i, c in enumerate(self.counted) if c}
        return [
            [i for i, price in prices.items() if price == least] for least in sorted(set(prices.values()))
        ]

    def curve(self) -> Curve:
        """Return what each rate costs at least: convex, as the cheapest cells come first."""
        below, above = (self._way(end) for end in (0, 1))
        points = [*reversed(below), (self.rate, 0 * self.rate), *above]
        rates, costs = (np.array(part, dtype=object) for part in zip(*points, strict=True))
        return Curve(rates, costs, np.arange(len(points)))

    def _way(self, end: int) -> list[tuple[Any, Any]]:
        """Return rates and costs on the way to the rate 0 or 1, where all cells of one price are used up."""
        found, rate, cost = [], self.rate, 0 * self.rate
        for rank in self.ranks():
            moved = sum(self.counted[i] * (end - self.before[i]) for i in rank)
            if moved:
                rate += moved
                cost += self.weight * sum(self.sizes[i] * abs(end - self.before[i]) for i in rank)
                found.append((rate, cost))
        return found

    def cheapest(self, start: Any, gamma: Any) -> Face:
        """Return all cheapest rules whose rate lies in [start, start + γ]."""
        count = len(self.sizes)
        if not self.weight:
            return Face([Fraction(0)] * count, [Fraction(1)] * count, (start, start + gamma))
        own = self.rate
        target = min(max(own, start), start + gamma)
        lowest, highest = list(self.before), list(self.before)
        end, missing = (Fraction(1), target - own) if target > own else (Fraction(0), own - target)
        for rank in self.ranks():
            room = sum(self.counted[i] * abs(end - self.before[i]) for i in rank)
            for i in rank:
                if room <= missing:
                    lowest[i] = highest[i] = end
                elif missing > 0:
                    lowest[i], highest[i] = min(end, self.before[i]), max(end, self.before[i])
            missing = max(missing - room, 0 * room)
        nobody = [i for i, size in enumerate(self.sizes) if not size]
        for i in nobody:
            lowest[i], highest[i] = Fraction(0), Fraction(1)
        return Face(lowest, highest, (target, target))


class OptimalRules(NamedTuple):
    """All rules of least cost whose rates lie within γ of each other.

    Attributes
    ----------
    groups : sequence of Cells
        The groups.
    band : Band
        The least cost, and all best bands.
    """

    groups: Sequence[Cells]
    band: Band

    def faces(self, start: Any) -> list[Face]:
        """Return each group's cheapest rules for the best band that begins at `start`."""
        first, last = self.band[1:3]
        if not first <= start <= last:
            raise ValueError(
                f"start: found {start}, expected the begin of a best band, from {first} to {last}"
            )
        return [group.cheapest(start, self.band.gamma) for group in self.groups]

    def contains(self, chances: Sequence[Any]) -> Any:
        """Return which rules are optimal.

        Parameters
        ----------
        chances : sequence of array of shape (..., cells)
            Of each group, the chances of the label 1 in its cells. Rates are compared without any tolerance: give
            `Fraction`, or floats whose sums are exact.

        Returns
        -------
        ndarray of bool, of the leading shape
            Whether the rule is one of those that cost least.
        """
        if len(chances) != len(self.groups):
            raise ValueError(f"chances: found {len(chances)} groups, expected {len(self.groups)}")
        given = [
            chances_of(each, (len(g.sizes),), f"chances[{at}]")
            for at, (each, g) in enumerate(zip(chances, self.groups, strict=True))
        ]
        kind = object if any(each.dtype == object for each in given) else float
        rates = [each @ np.array(g.counted, dtype=kind) for each, g in zip(given, self.groups, strict=True)]
        lowest, highest = np.minimum.reduce(rates), np.maximum.reduce(rates)
        first, last, gamma, top = (
            end if kind is object else float(end) for end in (*self.band[1:], 1 - self.band.gamma)
        )
        # of several bands with these rates all are best ones, or none is
        starts = np.minimum(lowest, top)
        found = np.asarray((highest - starts <= gamma) & (first <= starts) & (starts <= last))
        for start in np.unique(starts):
            here = found & (starts == start)
            if here.any():
                for face, each, rate in zip(self.faces(Fraction(start)), given, rates, strict=True):
                    low, high = (np.array(part, dtype=kind) for part in (face.lowest, face.highest))
                    least, most = (Fraction(end) if kind is object else float(end) for end in face.rates)
                    found &= ~here | (
                        ((each >= low) & (each <= high)).all(axis=-1) & (rate >= least) & (rate <= most)
                    )
        return found

    @property
    def unique(self) -> bool:
        """Whether only one rule is optimal, in the groups of positive weight and the cells of positive size."""
        each = [group for group in self.groups if group.weight]
        for group in each:
            first, last = (group.cheapest(start, self.band.gamma) for start in self.band[1:3])
            free = [low < high for low, high, size in zip(*first[:2], group.sizes, strict=True) if size]
            if first.rates != last.rates or sum(free) > 1:
                return False
        return True


def optimal_rules(groups: Sequence[Cells], gamma: Any) -> OptimalRules:
    """Return all rules of least cost whose rates lie within γ of each other.

    Parameters
    ----------
    groups : sequence of Cells
        One for each group.
    gamma : Fraction
        γ in [0, 1].

    Returns
    -------
    OptimalRules
        Exact.

    References
    ----------
    Derived in the chapter on any number of groups.
    """
    groups_of(groups, Cells)
    for at, group in enumerate(groups):
        _check(group, f"groups[{at}]")
    share(gamma, "gamma")
    return OptimalRules(groups, cheapest_band([group.curve() for group in groups], gamma))


def _check(group: Cells, name: str) -> None:
    """Refuse cells that no group has."""
    lengths = [len(part) for part in group[:3]]
    if len(set(lengths)) > 1:
        raise ValueError(f"{name}: found {lengths} sizes, counted and before, expected as many of each")
    shares_of_one(group.sizes, f"{name}.sizes")
    shares_of_one(group.counted, f"{name}.counted")
    for at, (size, counted) in enumerate(zip(group.sizes, group.counted, strict=True)):
        if counted and not size:
            raise ValueError(f"{name}.counted[{at}]: found {counted}, expected 0, as the cell has the size 0")
        share(group.before[at], f"{name}.before[{at}]")
    weight_of(group.weight, f"{name}.weight")


def optimal_without_chance(groups: Sequence[Cells], gamma: Any) -> bool:
    """Return whether a rule that sees group and old label is optimal without drawing lots.

    Parameters
    ----------
    groups : sequence of Cells
        Made by `Cells.by_label`, of positive weights.
    gamma : Fraction
        γ in [0, 1].

    Returns
    -------
    bool
        Whether one of the optimal rules has no chance but 0 and 1: only where nothing has to change, or where γ = 0
        and one answer for everybody has the least cost.
    """
    band = optimal_rules(groups, gamma).band
    rates = [group.rate for group in groups]
    return max(rates) - min(rates) <= gamma or (gamma == 0 and (band.lowest == 0 or band.highest == 1))


def optimal_without_group(groups: Sequence[Cells], gamma: Any) -> bool:
    """Return whether a rule that sees the old label, but not the group, is optimal among those that see both.

    Parameters
    ----------
    groups : sequence of Cells
        Made by `Cells.by_label`, of positive weights.
    gamma : Fraction
        γ in [0, 1].

    Returns
    -------
    bool
        Whether one of the optimal rules treats all groups alike.
    """
    band = optimal_rules(groups, gamma).band
    every = {group.rate for group in groups}
    rejected = {
        group.rate for group in groups if group.sizes[0]
    }  # of the groups with people of the old label 0
    selected = {group.rate for group in groups if group.sizes[1]}
    # all are raised to one rate, or lowered to one; nobody may be changed in whose group and label nobody counts
    raised = band.highest == 1 - gamma and (len(rejected) == 1 or (gamma == 0 and 1 not in rejected))
    lowered = band.lowest == 0 and (len(selected) == 1 or (gamma == 0 and 0 not in selected))
    by_label = all(
        group.sizes[0] * group.sizes[1] == 0 for group in groups
    )  # the old label says what the group is
    return max(every) - min(every) <= gamma or raised or lowered or by_label
