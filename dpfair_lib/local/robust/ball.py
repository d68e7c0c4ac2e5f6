"""A set of laws of group and label: a ball round one law."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dpfair_lib._arguments import nonnegative
from dpfair_lib._validation import as_probabilities, check_lengths
from dpfair_lib.local.robust.laws import CellBounds, as_cells

_ROUNDING = 1e-12


@dataclass(frozen=True)
class CellBall:
    """All laws of (A, Y) whose cells differ from those of one law by at most a radius in sum.

    Parameters
    ----------
    cells : array of shape (k, 2)
        P(A = i, Y = y) of the centre, k ≥ 2; they sum to 1.
    radius : float
        The largest Σ |c − centre|, twice the total variation distance. Half of it must be below P(Y = 1) of the centre,
        and below P(Y = 0).

    Raises
    ------
    ValueError
        If the cells are no law, or the radius is negative or lets a label vanish.

    Examples
    --------
    >>> from dpfair_lib.local import CellBall
    >>> laws = CellBall([[0.4, 0.1], [0.3, 0.2]], radius=0.1)
    >>> [round(float(end), 3) for end in laws.positives]
    [0.25, 0.35]
    """

    cells: np.ndarray
    radius: float

    def __post_init__(self) -> None:
        cells = as_cells(self.cells, "cells")
        if cells.shape[1] != 2 or len(cells) < 2:
            raise ValueError(f"cells: found shape {cells.shape}, expected (k, 2), k ≥ 2")
        if not (cells >= 0).all() or not abs(cells.sum() - 1) <= _ROUNDING * cells.size:
            raise ValueError(
                f"cells: found a sum of {cells.sum():.6g} and a least one of {cells.min():.6g}, expected a law: "
                "all at least 0, with sum 1"
            )
        radius = nonnegative(self.radius, "radius")
        if not radius <= 2:
            raise ValueError(
                f"radius: found {radius}, expected at most 2, the distance of laws that share nothing"
            )
        cells.flags.writeable = False
        object.__setattr__(self, "cells", cells)
        object.__setattr__(self, "radius", radius)
        least, most = self.exact_positives
        if not 0 < least <= most < 1:
            raise ValueError(
                f"radius: found {radius}, with P(Y = 1) from {float(least):.6g} to {float(most):.6g}, expected an "
                "interval strictly inside (0, 1): Δ divides by the one end, and at the other all labels are 1"
            )

    @classmethod
    def around(cls, p: Any, p1: Any, radius: float) -> CellBall:
        """Return the ball round the law with these P(A = i) and P(Y = 1 | A = i)."""
        p, p1 = (as_probabilities(values, name).astype(float) for values, name in ((p, "p"), (p1, "p1")))
        check_lengths(p=p, p1=p1)
        return cls(np.stack([p * (1 - p1), p * p1], axis=1), radius)

    @property
    def k(self) -> int:
        """How many groups there are."""
        return len(self.cells)

    @property
    def middle(self) -> np.ndarray:
        """The cells of the centre."""
        return self.cells

    @property
    def exact_cells(self) -> list[tuple[Fraction, Fraction]]:
        """The centre without rounding: the numbers given, divided by their sum."""
        rows = [tuple(map(Fraction, row)) for row in self.cells.tolist()]
        whole = sum((a + b for a, b in rows), Fraction(0))
        return [(a / whole, b / whole) for a, b in rows]

    @cached_property
    def exact_positives(self) -> tuple[Fraction, Fraction]:
        """The least and the largest P(Y = 1), without rounding."""
        share = sum((one for _, one in self.exact_cells), Fraction(0))
        return share - Fraction(self.radius) / 2, share + Fraction(self.radius) / 2

    @property
    def positives(self) -> tuple[float, float]:
        """The least and the largest P(Y = 1)."""
        least, most = self.exact_positives
        return float(least), float(most)

    def contains(self, cells: Any) -> bool:
        """Say whether a law's cells lie in the ball, up to rounding."""
        cells = np.asarray(cells, dtype=float)
        near = abs(cells - self.cells).sum() <= self.radius + _ROUNDING * self.k
        return bool(near and (cells >= -_ROUNDING).all() and abs(cells.sum() - 1) <= _ROUNDING * self.k)


Laws = CellBounds | CellBall
"""A set of laws, of either kind."""


def into_ball(values: Iterable[Any], centre: Sequence[Fraction], radius: float) -> list[Fraction]:
    """Return a distribution near these numbers that differs from the centre by at most the radius in sum, exactly."""
    found = [max(Fraction(value), Fraction(0)) for value in values]
    whole = sum(found, Fraction(0))
    found = [value / whole for value in found] if whole else list(centre)
    away = sum((abs(a - b) for a, b in zip(found, centre, strict=True)), Fraction(0))
    share = min(Fraction(radius) / away, Fraction(1)) if away else Fraction(1)
    return [b + share * (a - b) for a, b in zip(found, centre, strict=True)]
