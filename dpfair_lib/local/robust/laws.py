"""A set of laws of group and label: bounds on the probability of each cell, given or from a private survey."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dpfair_lib._validation import as_columns, as_numbers, as_probabilities, as_rate, check_lengths

_ROUNDING = 1e-12
_WIDER = 2.0**-50  # cells written as floats do not sum to 1 exactly: bounds are moved apart by this much


@dataclass(frozen=True)
class CellBounds:
    """All laws of (A, Y) whose cells lie between two bounds.

    Parameters
    ----------
    low, high : array of shape (k, 2)
        Bounds on P(A = i, Y = y), k ≥ 2. At least one law must fit.
    between : pair of float, optional
        Bounds on P(Y = 1), where it is known better than the sums of the cells say.

    Raises
    ------
    ValueError
        If a bound is outside [0, 1], a lower one is above its upper one, no law fits, or P(Y = 1) can be 0.

    Notes
    -----
    The bounds are moved apart by 2⁻⁵⁰, as floats do not sum to 1 exactly. So a cell of a size near this is hardly
    known, and what is proved holds for the wider set.

    Examples
    --------
    >>> from dpfair_lib.local import CellBounds
    >>> laws = CellBounds([[0.3, 0.1], [0.2, 0.1]], [[0.4, 0.2], [0.3, 0.2]])
    >>> [round(float(end), 3) for end in laws.positives]
    [0.3, 0.4]
    """

    low: np.ndarray
    high: np.ndarray
    between: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        low, high = (as_cells(getattr(self, name), name) for name in ("low", "high"))
        if low.shape != high.shape or low.shape[1] != 2 or len(low) < 2:
            raise ValueError(
                f"low, high: found shapes {low.shape} and {high.shape}, expected (k, 2) for both, k ≥ 2"
            )
        if not ((low >= 0) & (low <= high) & (high <= 1)).all():
            i, y = np.argwhere(~((low >= 0) & (low <= high) & (high <= 1)))[0]
            raise ValueError(
                f"low, high: found {low[i, y]} and {high[i, y]} for group {i} and label {y}, "
                "expected 0 ≤ low ≤ high ≤ 1"
            )
        if low.sum() > 1 + _ROUNDING or high.sum() < 1 - _ROUNDING:
            raise ValueError(
                f"low, high: found sums {low.sum():.6g} and {high.sum():.6g}, expected at most 1 and at least 1: "
                "else no law fits"
            )
        low, high = np.maximum(low - _WIDER, 0.0), np.minimum(high + _WIDER, 1.0)
        low.flags.writeable = high.flags.writeable = False
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        at = self.exact_positives
        if not 0 < at[0] <= at[1] < 1:
            raise ValueError(
                f"low, high, between: found P(Y = 1) from {float(at[0]):.6g} to {float(at[1]):.6g}, expected an "
                "interval strictly inside (0, 1): Δ divides by the one end, and at the other all labels are 1"
            )

    @classmethod
    def around(cls, p: Any, p1: Any, radius: float) -> CellBounds:
        """Return the laws whose cells are within a radius of those of one law.

        Parameters
        ----------
        p, p1 : array of shape (k,)
            P(A = i) and P(Y = 1 | A = i).
        radius : float
            The largest difference of a cell, in [0, 1].

        Returns
        -------
        CellBounds
            The bounds, cut off at 0 and 1.
        """
        p, p1 = (as_probabilities(values, name).astype(float) for values, name in ((p, "p"), (p1, "p1")))
        check_lengths(p=p, p1=p1)
        cells, radius = np.stack([p * (1 - p1), p * p1], axis=1), float(as_rate(radius, "radius"))
        return cls(np.maximum(cells - radius, 0.0), np.minimum(cells + radius, 1.0))

    @property
    def k(self) -> int:
        """How many groups there are."""
        return len(self.low)

    @property
    def middle(self) -> np.ndarray:
        """The cells half-way between the bounds, divided by their sum."""
        both: np.ndarray = self.low + self.high
        return both / both.sum()

    @property
    def positives(self) -> tuple[float, float]:
        """The least and the largest P(Y = 1)."""
        least, most = self.exact_positives
        return float(least), float(most)

    @cached_property
    def exact_positives(self) -> tuple[Fraction, Fraction]:
        """The same without rounding."""
        (zeros_low, ones_low), (zeros_high, ones_high) = (
            [sum(map(Fraction, column), Fraction(0)) for column in end.T.tolist()]
            for end in (self.low, self.high)
        )
        least, most = map(Fraction, map(float, self.between))
        return max(ones_low, 1 - zeros_high, least), min(ones_high, 1 - zeros_low, most)

    @property
    def shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds on P(A = i)."""
        return self.low.sum(axis=1), np.minimum(self.high.sum(axis=1), 1.0)

    def contains(self, cells: Any) -> bool:
        """Say whether a law's cells lie between the bounds, up to rounding."""
        cells = np.asarray(cells, dtype=float)
        near = (cells >= self.low - _ROUNDING).all() and (cells <= self.high + _ROUNDING).all()
        least, most = self.positives
        near &= least - _ROUNDING * self.k <= cells[:, 1].sum() <= most + _ROUNDING * self.k
        return bool(near and abs(cells.sum() - 1) <= _ROUNDING * self.k)


def as_cells(values: Any, name: str) -> np.ndarray:
    """Return a table of numbers as an array of floats, one column for each label."""
    return np.stack([as_numbers(column, name).astype(float) for column in as_columns(values, name)], axis=1)
