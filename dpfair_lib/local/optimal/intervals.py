"""Intervals with fixed-point ends, rounded outwards: each result holds the true number for all numbers of its parts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

DIGITS = 256
"""Binary digits after the point."""
_ONE = 1 << DIGITS


class Interval:
    """All numbers from ``low``·2⁻²⁵⁶ to ``high``·2⁻²⁵⁶."""

    __slots__ = ("high", "low")

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    @classmethod
    def of(cls, low: Fraction | int, high: Fraction | int | None = None) -> Interval:
        """Return the least interval that holds a number, or all numbers between two."""
        ends = Fraction(low), Fraction(low if high is None else high)
        return cls(_down(ends[0]), -_down(-ends[1]))

    def __sub__(self, other: Interval) -> Interval:
        return Interval(self.low - other.high, self.high - other.low)

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __mul__(self, other: Interval) -> Interval:
        ends = (
            self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high
        )  # fmt: skip
        return Interval(min(ends) >> DIGITS, -(-max(ends) >> DIGITS))

    def __truediv__(self, other: Interval) -> Interval:
        if not other.sign:
            raise ZeroDivisionError("an interval that holds 0")
        whole = _ONE * _ONE
        return self * Interval(whole // other.high, -(-whole // other.low))

    @property
    def sign(self) -> int:
        """1 or −1 if all its numbers have this sign, otherwise 0."""
        return (self.low > 0) - (self.high < 0)

    @property
    def vanishes(self) -> bool:
        """Whether it holds nothing but 0."""
        return self.low == self.high == 0

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Both ends."""
        return Fraction(self.low, _ONE), Fraction(self.high, _ONE)

    def __float__(self) -> float:
        return float(sum(self.ends)) / 2


def _down(number: Fraction) -> int:
    return number.numerator * _ONE // number.denominator


def solved(matrix: list[list[Any]], right: list[Any]) -> list[Interval]:
    """Return intervals that hold the solution of every square system within the given one.

    Raises
    ------
    ValueError
        If a pivot cannot be told from 0, as it is for a singular matrix.
    """
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    n = len(rows)
    for c in range(n):
        at = max(
            range(c, n),
            key=lambda i: min(abs(rows[i][c].low), abs(rows[i][c].high)) if rows[i][c].sign else -1,
        )
        rows[c], rows[at] = rows[at], rows[c]
        if not rows[c][c].sign:
            raise ValueError(f"matrix: found no pivot in column {c} that is not 0")
        lead = rows[c][c]
        rows[c] = [entry if entry.vanishes else entry / lead for entry in rows[c]]
        for i in range(n):
            factor = rows[i][c]
            if i != c and not factor.vanishes:
                rows[i] = [a if b.vanishes else a - factor * b for a, b in zip(rows[i], rows[c], strict=True)]
                rows[i][c] = Interval(0, 0)
    return [row[-1] for row in rows]
