"""What a rate costs: the cheapest threshold rule of one group for every rate that it could have.

People are ordered by a score. A threshold rule gives the label 1 to everybody above a threshold; mixing two of them at
random gives the rates in between. The cheapest mixture costs a convex, piecewise linear function of the rate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

ON_THE_HULL = 1e-12  # relative to the largest cost: rounding of sums


class Curve(NamedTuple):
    """The least cost of each rate in [0, 1]: convex, and linear between the points.

    Attributes
    ----------
    rates : ndarray of shape (m,)
        Strictly ascending, from 0 to 1; float or `Fraction`.
    costs : ndarray of shape (m,)
        The cost at each of them.
    selected : ndarray of shape (m,), int64
        How many levels, from the highest score down, have the label 1 there.
    """

    rates: np.ndarray
    costs: np.ndarray
    selected: np.ndarray

    @property
    def best_rate(self) -> Any:
        """The lowest of the rates that cost least."""
        return self.rates[np.argmin(self.costs)]

    def cost(self, rate: Any) -> Any:
        """Return the cost of a rate."""
        at, share = self._segment(rate)
        return self.costs[at] + share * (self.costs[at + 1] - self.costs[at])

    def mixture(self, rate: Any) -> list[tuple[int, Any]]:
        """Return the two threshold rules to mix: how many levels each selects, fewer first, and its probability.

        Parameters
        ----------
        rate : float or Fraction
            In [0, 1].

        Returns
        -------
        list of (int, float or Fraction)
            Numbers of selected levels, and probabilities.
        """
        at, share = self._segment(rate)
        return [(int(self.selected[at]), 1 - share), (int(self.selected[at + 1]), share)]

    def _segment(self, rate: Any) -> tuple[int, Any]:
        at = int(self.rates.searchsorted(rate, side="right")) - 1
        at = min(max(at, 0), len(self.rates) - 2)  # np.clip takes ten times as long for one number
        share = (rate - self.rates[at]) / (self.rates[at + 1] - self.rates[at])
        return at, min(max(share, 0 * share), 1 + 0 * share)


def cheapest_rules(counted: np.ndarray, if_one: np.ndarray, if_zero: np.ndarray) -> Curve:
    """Return what each rate costs at least, over all mixtures of threshold rules of one group.

    Parameters
    ----------
    counted : ndarray of shape (levels,)
        Weight of the people at each level, score ascending, that count for the rate: everybody for the selection rate,
        people of true label 1 for the true positive rate. At least 0, and not all 0.
    if_one, if_zero : ndarray of shape (levels,)
        What it costs to give the label 1, or 0, to everybody at the level: numbers of changes or of errors.

    Returns
    -------
    Curve
        The lower convex hull of the thresholds, every threshold on it included. Exact if the arrays hold `Fraction`.
    """
    none = 0 * counted[:1]
    reached = np.concatenate([none, np.cumsum(counted[::-1])])
    # not by another sum of all: levels where nobody counts must reach exactly the same rate
    rates = reached / reached[-1]
    costs = if_zero.sum() + np.concatenate([none, np.cumsum((if_one - if_zero)[::-1])])
    kept = _cheapest_of_each(rates, costs)
    slack = 0 if rates.dtype == object else ON_THE_HULL * float(abs(costs).max())
    rates, costs = rates[kept], costs[kept]
    corners = hull(rates, costs)  # the first point is one
    # thresholds between two corners are kept too: mixing neighbours leaves less to chance
    place = np.minimum(rates[corners].searchsorted(rates, side="right") - 1, len(corners) - 2)
    left, right = corners[place], corners[place + 1]
    line = costs[left] + (rates - rates[left]) / (rates[right] - rates[left]) * (costs[right] - costs[left])
    on = costs - line <= slack
    return Curve(rates[on], costs[on], kept[on].astype(np.int64, copy=False))


def _cheapest_of_each(rates: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Return the place of the cheapest among the thresholds of equal rate, the first if several are."""
    if (rates[1:] > rates[:-1]).all():
        return np.arange(len(rates))
    order = np.lexsort((costs, rates)) if rates.dtype != object else _sorted(rates, costs)
    rates, first = rates[order], np.ones(len(order), dtype=bool)
    first[1:] = rates[1:] != rates[:-1]
    return np.asarray(order)[first]


def _sorted(rates: np.ndarray, costs: np.ndarray) -> np.ndarray:
    return np.array(sorted(range(len(rates)), key=lambda i: (rates[i], costs[i], i)))


def hull(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the corners of the lower convex hull of points with strictly ascending x, both ends included."""
    if x.dtype != object:
        from scipy.optimize import isotonic_regression

        # the hull of sums is the isotonic regression of their steps
        widths = x[1:] - x[:-1]
        blocks = isotonic_regression((y[1:] - y[:-1]) / widths, weights=widths).blocks
        return np.asarray(blocks, dtype=np.int64)
    corners: list[int] = []
    for i in range(len(x)):
        while len(corners) > 1:
            a, b = corners[-2:]
            if (y[b] - y[a]) * (x[i] - x[b]) < (y[i] - y[b]) * (x[b] - x[a]):
                break
            corners.pop()
        corners.append(i)
    return np.array(corners)
