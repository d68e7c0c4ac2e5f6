"""Numbers a + b·√n with rational a and b, so that an optimum that is no fraction can be verified exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import total_ordering
from typing import Any

import numpy as np


@total_ordering
class Surd:
    """The number a + b·√n, n a positive integer that is no square."""

    def __init__(self, a: Any, b: Any, n: int) -> None:
        self.a, self.b, self.n = Fraction(a), Fraction(b), n

    def _lift(self, other: Any) -> Surd:
        return other if isinstance(other, Surd) else Surd(other, 0, self.n)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # entry by entry, which NumPy does
        other = self._lift(other)
        return Surd(self.a + other.a, self.b + other.b, self.n)

    def __neg__(self) -> Surd:
        return Surd(-self.a, -self.b, self.n)

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # entry by entry, which NumPy does
        return self + -self._lift(other)

    def __rsub__(self, other: Any) -> Surd:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # entry by entry, which NumPy does
        other = self._lift(other)
        return Surd(self.a * other.a + self.n * self.b * other.b, self.a * other.b + self.b * other.a, self.n)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # entry by entry, which NumPy does
        other = self._lift(other)
        norm = other.a**2 - self.n * other.b**2
        return self * Surd(other.a / norm, -other.b / norm, self.n)

    def __rtruediv__(self, other: Any) -> Surd:
        return self._lift(other) / self

    def __abs__(self) -> Surd:
        return -self if self.sign < 0 else self

    __radd__, __rmul__ = __add__, __mul__

    @property
    def sign(self) -> int:
        """−1, 0 or 1, without rounding: a² is compared with n·b²."""
        first, second = (self.a > 0) - (self.a < 0), (self.b > 0) - (self.b < 0)
        if first * second >= 0:
            return first or second
        return first if self.a**2 > self.n * self.b**2 else second

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Surd | Fraction | int) and (self - other).sign == 0

    def __lt__(self, other: Any) -> bool:
        return (self - other).sign < 0

    def __hash__(self) -> int:
        return hash((self.a, self.b, self.n))

    def __float__(self) -> float:
        return float(self.a) + float(self.b) * math.sqrt(self.n)

    def __repr__(self) -> str:
        return f"{self.a} + {self.b}·√{self.n}"


def solve(matrix: list[list[Any]], right: list[Any]) -> np.ndarray:
    """Solve a square linear system exactly, whatever field its numbers are from."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    n = len(rows)
    for column in range(n):
        pivot = next(i for i in range(column, n) if rows[i][column] != 0)
        rows[column], rows[pivot] = rows[pivot], rows[column]
        lead = rows[column][column]
        rows[column] = [value / lead for value in rows[column]]
        for i in range(n):
            factor = rows[i][column]
            if i != column and factor != 0:
                rows[i] = [value - factor * top for value, top in zip(rows[i], rows[column], strict=True)]
    return np.array([row[-1] for row in rows], dtype=object)
