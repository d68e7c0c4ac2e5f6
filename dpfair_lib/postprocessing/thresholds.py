"""What the thresholds of one group give, and which mixture of them leaves least to chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpfair_lib.postprocessing.curves import hull

Mixture = list[tuple[int, float]]
"""How many levels are selected, from the highest down, and the probability of this threshold."""
_Three = tuple[float, float, float]
STEPS = 1000
NEGLIGIBLE = 1e-12  # a chance that only rounding makes positive, or a variance


class Thresholds(NamedTuple):
    """What each threshold of one group gives: arrays of shape (levels + 1,), from nobody selected to everybody.

    Attributes
    ----------
    false_positive, true_positive, selected : ndarray
        Rates, ascending from 0 to 1; the last one is the selection rate.
    costs : ndarray
        Numbers of errors or of changes.
    """

    false_positive: np.ndarray
    true_positive: np.ndarray
    selected: np.ndarray
    costs: np.ndarray

    @classmethod
    def of(cls, zeros: np.ndarray, ones: np.ndarray, if_one: np.ndarray, if_zero: np.ndarray) -> Thresholds:
        """Sum what stands at each level, from the highest score down.

        Parameters
        ----------
        zeros, ones : ndarray of shape (levels,)
            Weight of the people of true label 0 and 1 at each level, score ascending; neither may be all 0.
        if_one, if_zero : ndarray of shape (levels,)
            What it costs to give the label 1, or 0, to everybody at the level.
        """
        reached = [np.concatenate([[0.0], np.cumsum(kind[::-1])]) for kind in (zeros, ones, zeros + ones)]
        costs = if_zero.sum() + np.concatenate([[0.0], np.cumsum((if_one - if_zero)[::-1])])
        false_positive, true_positive, selected = (rate / rate[-1] for rate in reached)
        return cls(false_positive, true_positive, selected, costs)

    def rates(self, mixture: Sequence[tuple[int, float]]) -> tuple[float, float]:
        """Return the false and the true positive rate of a mixture: numbers of selected levels, and probabilities."""
        at, chances = [count for count, _ in mixture], [chance for _, chance in mixture]
        return float(self.false_positive[at] @ chances), float(self.true_positive[at] @ chances)

    def cost(self, mixture: Sequence[tuple[int, float]]) -> float:
        """Return what a mixture costs."""
        return float(sum(self.costs[count] * chance for count, chance in mixture))

    def corners(self) -> np.ndarray:
        """Return the thresholds of which all others are mixtures that cost the same.

        On either side of the cheapest threshold, costs of errors or changes are linear in the two rates. So the corners
        of the hull of the rates are enough there.
        """
        last = len(self.costs) - 1
        along, across = self.false_positive + self.true_positive, self.true_positive - self.false_positive
        found, sides = np.zeros(last + 1, dtype=bool), [np.arange(last + 1)]
        found[0] = found[last] = True
        errors = self.costs[0] * (1 - self.true_positive) + self.costs[-1] * self.false_positive
        if abs(self.costs - errors).max() > NEGLIGIBLE * self.costs.max():  # not linear throughout
            cheapest = int(np.argmin(self.costs))
            sides = [np.arange(cheapest + 1), np.arange(cheapest, last + 1)]
            found[cheapest] = True
        for side in sides:
            x, y, kept = along[side], across[side], side
            rises = x[1:] > x[:-1]
            if not rises.all():  # rounding may make tiny steps of the rates vanish
                chosen = np.append(True, rises)
                x, y, kept = x[chosen], y[chosen], side[chosen]
            if len(kept) > 2:
                found[kept[hull(x, y)]] = True
                found[kept[hull(x, -y)]] = True
        return np.flatnonzero(found)

    def steadiest(self, mixture: Mixture, allowed: np.ndarray) -> Mixture:
        """Return the mixture of the same two rates whose selection rate varies least over the draw of the threshold.

        The mean of the selection rate is the same for all such mixtures, and its variance is linear in the chances. So
        this is a linear program with three limits. The simplex method starts from the given mixture.

        Parameters
        ----------
        mixture : list of (int, float)
            At most three thresholds, and chances above 0.
        allowed : ndarray of int
            Which thresholds may be used, besides those of the mixture.

        Returns
        -------
        list of (int, float)
            At most three thresholds, ascending, and their chances; the given ones if rounding hinders any other.
        """
        if not 2 <= len(mixture) <= 3:
            return mixture
        at = [count for count, _ in mixture]
        rates = (1.0, *self.rates(mixture))
        mean = sum(self.selected[count] * chance for count, chance in mixture)
        places = np.append(allowed, at)
        fpr, tpr = self.false_positive[places], self.true_positive[places]
        variances = (self.selected[places] - mean) ** 2
        basis = list(range(len(allowed), len(places)))
        columns: list[_Three] = [(1.0, float(fpr[one]), float(tpr[one])) for one in basis]
        costs = [float(variances[one]) for one in basis]
        if (
            len(at) == 2
        ):  # a third column that must keep the chance 0: it leads off the line through both points
            (_, x, y), (_, other_x, other_y) = columns
            columns.append((0.0, y - other_y, other_x - x))
            basis.append(-1)
            costs.append(0.0)
        for _ in range(STEPS):
            inverse = _inverse(*columns)
            if inverse is None:
                return mixture
            chances = [_dot(row, rates) for row in inverse]
            # by hand: for three numbers a call of NumPy takes longer than all of this
            (a, b, c), (first, second, third) = costs, inverse
            one, x, y = (a * first[i] + b * second[i] + c * third[i] for i in (0, 1, 2))
            gain = variances - (one + x * fpr + y * tpr)
            enters = int(gain.argmin())
            if gain[enters] >= -NEGLIGIBLE:
                break
            column = 1.0, float(fpr[enters]), float(tpr[enters])
            lasts = [
                np.inf if abs(move) <= NEGLIGIBLE or (move < 0 <= which) else max(chance, 0.0) / abs(move)
                for which, chance, move in zip(
                    basis, chances, (_dot(row, column) for row in inverse), strict=True
                )
            ]
            leaves = lasts.index(min(lasts))
            basis[leaves], columns[leaves], costs[leaves] = enters, column, float(variances[enters])
        else:
            return mixture
        used = [
            (int(places[which]), chance)
            for which, chance in zip(basis, chances, strict=True)
            if chance > NEGLIGIBLE and which >= 0
        ]
        total = sum(chance for _, chance in used)
        found = sorted((count, chance / total) for count, chance in used)
        off = max(abs(a - b) for a, b in zip(self.rates(found), rates[1:], strict=True))
        return found if off < 10 * NEGLIGIBLE else mixture


def _inverse(a: _Three, b: _Three, c: _Three) -> tuple[_Three, _Three, _Three] | None:
    """Return the rows of the inverse of a matrix of three columns, or None if it has none."""
    rows = _cross(b, c), _cross(c, a), _cross(a, b)
    determinant = _dot(a, rows[0])
    if determinant == 0:
        return None
    first, second, third = ((x / determinant, y / determinant, z / determinant) for x, y, z in rows)
    return first, second, third


def _cross(a: _Three, b: _Three) -> _Three:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _dot(a: _Three, b: _Three) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
