"""Shares, truths and levels of binary channels."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpfair_lib.datasets import standin

HALF = Fraction(1, 2)


SHARES = tuple(Fraction(i, 12) for i in range(1, 12))


LEVELS = tuple(Fraction(i, 10) for i in range(10))  # e^(−ε): from infinite ε down to ε of about 0.1


TRUTHS = tuple(Fraction(i, 20) for i in range(10, 21))


def level(p: Fraction, q: Fraction) -> Any:
    """Return e^ε of a channel, by its definition."""
    pairs = ((p, 1 - q), (1 - p, q))
    if any((one == 0) != (two == 0) for one, two in pairs):
        return math.inf
    return max(max(one / two, two / one) for one, two in pairs if two)


AT_ONE = Fraction(3679, 10_000)  # e^(−1), to four digits


def adult_women() -> Fraction:
    """Return the share of women among the rows of Adult that the thesis's experiments use."""
    cells = standin.recorded()["adult-26k"]["cells"]
    return Fraction(
        sum(cell["rows"] for cell in cells if cell["group"] == 0), sum(cell["rows"] for cell in cells)
    )
