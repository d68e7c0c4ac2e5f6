"""The least cost of rates that differ by at most γ, for any number of groups, in closed form.

Each group's cost is a convex function of its rate. All rates lie in a band [t, t + γ]. Let F(s) be the sum of the
groups' slopes at s where they rise, and G(s) where they fall. A band at t costs ∫ F below t and ∫ G above t + γ in
addition to each group's least cost. F rises and G falls, so t is best where F(t) crosses G(t + γ), and the
additional cost is ∫ min(F(s), G(s + γ)) ds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.postprocessing.curves import Curve

EQUAL_SLOPES = 1e-9  # relative: rounding of sums of slopes


class Band(NamedTuple):
    """The bands of least cost.

    Attributes
    ----------
    cost : float or Fraction
        The least cost of all groups together.
    lowest, highest : float or Fraction
        The band [t, t + γ] has this cost exactly if t lies between the two.
    gamma : float or Fraction
        γ.
    """

    cost: Any
    lowest: Any
    highest: Any
    gamma: Any

    @property
    def middle(self) -> Any:
        """The lower end halfway between the lowest and the highest."""
        return (self.lowest + self.highest) / 2

    def rate(self, curve: Curve, start: Any) -> Any:
        """Return a group's cheapest rate in the band [start, start + γ]; an array of rates for an array of starts."""
        if np.ndim(start):
            return np.clip(curve.best_rate, start, start + self.gamma)
        return min(max(curve.best_rate, start), start + self.gamma)


def cheapest_band(curves: Sequence[Curve], gamma: Any) -> Band:
    """Return the least cost of rates within γ of each other, and all bands that have it.

    Parameters
    ----------
    curves : sequence of Curve
        One for each group.
    gamma : float or Fraction
        γ in [0, 1].

    Returns
    -------
    Band
        Exact if all numbers are `Fraction`.

    References
    ----------
    Derived in the chapter on any number of groups.
    """
    least = sum(curve.costs.min() for curve in curves)
    (rise_at, rise), (fall_at, fall) = (
        [np.concatenate(parts) for parts in zip(*(steps(curve) for curve in curves), strict=True)]
        for steps in (_rises, _falls)
    )
    (rise_at, fall_at, (width, one)), unit = _in_units(rise_at, fall_at, np.array([gamma, gamma * 0 + 1]))
    (rise, fall), slope = _in_units(rise, fall)
    top = one - width
    ends = np.array([0 * top, top])
    knots = np.unique(np.clip(np.concatenate([rise_at, fall_at - width, ends]), 0 * top, top))
    # on each interval between knots: what the groups below pay for more, and those above for less
    below = _sums(rise_at, rise, knots[:-1])
    above = _sums(width - fall_at, fall, -knots[1:])
    lengths = np.diff(knots)
    slack = 0 if knots.dtype == object else EQUAL_SLOPES * (below + above)
    first = int(np.count_nonzero(below - above < -slack))
    last = int(np.count_nonzero(below - above <= slack))
    cost = least + (np.minimum(below, above) * lengths).sum() * (unit * slope)
    return Band(cost, knots[first] * unit, knots[last] * unit, gamma)


def _in_units(*parts: np.ndarray) -> tuple[list[np.ndarray], Any]:
    """Return numbers as multiples of a unit, and the unit: of fractions one that makes them whole, of floats 1.

    Sorting and adding up whole numbers takes a fraction of the time.
    """
    numbers: list[Any] = [number for part in parts for number in part] if parts[0].dtype == object else [0.0]
    if not all(isinstance(number, Rational) for number in numbers):
        return list(parts), 1
    common = math.lcm(*(int(number.denominator) for number in numbers))
    whole = [
        np.array(
            [int(number.numerator) * (common // int(number.denominator)) for number in part], dtype=object
        )
        for part in parts
    ]
    return whole, Fraction(1, common)


def least_total_change(rates: Sequence[Any], gamma: Any, weights: Sequence[Any] | None = None) -> Any:
    """Return the least sum of the groups' changes with which all selection rates are within γ.

    Parameters
    ----------
    rates : sequence of float or Fraction
        Selection rates α_a in [0, 1].
    gamma : float or Fraction
        γ in [0, 1].
    weights : sequence of float or Fraction, optional
        Weight w_a ≥ 0 of each group's change rate: shares of the groups for the share of all people. By default 1.

    Returns
    -------
    float or Fraction
        Σ w_a P_a(new label ≠ label) of the classifiers that change least. Without weights it is
        Σ max(α_(k+1−i) − α_(i) − γ, 0) over the pairs i ≤ k/2 of the i-th lowest and the i-th highest rate.
    """
    if weights is None:
        ordered = sorted(rates)
        pairs = zip(ordered[: len(ordered) // 2], reversed(ordered), strict=False)
        return sum(max(high - low - gamma, 0 * gamma) for low, high in pairs)
    return cheapest_band([change_curve(r, w) for r, w in zip(rates, weights, strict=True)], gamma).cost


def change_curve(rate: Any, weight: Any = 1) -> Curve:
    """Return what it costs to move one group's selection rate: the weight times the distance.

    Parameters
    ----------
    rate : float or Fraction
        The group's rate α in [0, 1].
    weight : float or Fraction
        Of the group's changes, at least 0.

    Returns
    -------
    Curve
        w |r − α| for every rate r.
    """
    zero = rate * 0 * weight
    rates = [zero, rate, 1 + zero] if 0 < rate < 1 else [zero, 1 + zero]
    kind = object if isinstance(zero, Fraction) else float
    costs = [weight * abs(r - rate) for r in rates]
    return Curve(np.array(rates, dtype=kind), np.array(costs, dtype=kind), np.arange(len(rates)))


def opportunity_curve(true_positive: Any, selection: Any, weight: Any = 1) -> Curve:
    """Return what it costs to move one group's true positive rate, if only the old label is seen.

    The true label is not known at prediction. So moving the true positive rate by d takes d/T of all selected people
    down, or d/(1 − T) of all others up.

    Parameters
    ----------
    true_positive, selection : float or Fraction
        The group's true positive rate T and selection rate in [0, 1]; a rate T above 0 needs a selection rate above 0,
        and one below 1 a selection rate below 1.
    weight : float or Fraction
        Of the group's changes, at least 0.

    Returns
    -------
    Curve
        The least weighted change rate for every true positive rate.
    """
    zero = true_positive * 0 * weight
    ends = [zero, true_positive, 1 + zero] if 0 < true_positive < 1 else [zero, 1 + zero]
    down, up = weight * selection, weight * (1 - selection)
    costs = {0: [zero, up], 1: [down, zero]}.get(true_positive, [down, zero, up])
    kind = object if isinstance(zero, Fraction) else float
    return Curve(np.array(ends, dtype=kind), np.array(costs, dtype=kind), np.arange(len(ends)))


def _rises(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    """Return where the slope rises above 0, from the left, and by how much: all that comes before adds up to it."""
    steps = np.maximum(_slopes(curve), 0)
    steps[1:] -= steps[:-1]
    return curve.rates[:-1], steps


def _falls(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    """Return where the slope falls below 0, from the right, and by how much: all that comes after adds up to it."""
    steps = -np.minimum(_slopes(curve), 0)
    steps[:-1] -= steps[1:]
    return curve.rates[1:], steps


def _slopes(curve: Curve) -> np.ndarray:
    rates, costs = curve.rates, curve.costs
    slopes: np.ndarray = (costs[1:] - costs[:-1]) / (rates[1:] - rates[:-1])
    return slopes


def _sums(at: np.ndarray, steps: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the sum of the steps at or below each place."""
    order = np.argsort(at, kind="stable")
    total = np.concatenate([[0 * steps[0]], np.cumsum(steps[order])])
    return total[np.searchsorted(at[order], places, side="right")]
