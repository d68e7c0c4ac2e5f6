"""Rows of the linear program for bounds on the cells; their multipliers are laws and shares within these bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpfair_lib.local.robust.builder import Builder
from dpfair_lib.local.robust.laws import CellBounds

Reader = Callable[[np.ndarray, float], np.ndarray]
"""From the multipliers of all rows, and that of the condition (above 0), to the law or the shares that they mean."""


def truth_rows(rows: Builder, laws: CellBounds, diagonal: np.ndarray, least: tuple[Any, ...]) -> Reader:
    """Add: for all shares within the bounds the reports are true at least so often.

    The least truth is max over λ of λ(1 − Σ high) + Σ high d − Σ (high − low) max(d − λ, 0), d being the diagonal.
    ``least`` has further entries of the last row, and its right-hand side.
    """
    low, high = laws.shares
    (price,), over = rows.unknowns(1, free=True), rows.unknowns(laws.k)
    ones = np.ones(laws.k)
    inner = rows.add((diagonal, ones), (np.full(laws.k, price), -ones), (over, -ones))
    *further, right = least
    rows.add(
        (np.array([[price]]), [[high.sum() - 1]]), (diagonal[None, :], -high[None, :]),
        (over[None, :], (high - low)[None, :]), *further, right=right,
    )  # fmt: skip
    return lambda multipliers, weight: np.maximum(high - multipliers[inner] / weight, low)


def condition_rows(
    rows: Builder, laws: CellBounds, share: float, factors: Sequence[float], column: np.ndarray, further: Any
) -> tuple[int, Reader]:
    """Add: for all laws with this P(Y = 1) the sum of factor_y · c_iy · q_i is at most what ``further`` says.

    For one label it is the least over λ of λ(total − Σ low) + Σ low v + Σ (high − low) max(v − λ, 0), where v is q with
    the sign of the factor.
    """
    k, parts, pieces = laws.k, [further], []
    for y, factor in enumerate(factors):
        low, high = laws.low[:, y], laws.high[:, y]
        total = share if y else 1 - share
        sign, size = (1.0, factor) if factor >= 0 else (-1.0, -factor)
        (price,), over = rows.unknowns(1, free=True), rows.unknowns(k)
        inner = rows.add((column, np.full(k, sign)), (np.full(k, price), -np.ones(k)), (over, -np.ones(k)))
        parts += [
            (np.array([[price]]), [[size * (total - low.sum())]]),
            (column[None, :], (sign * size * low)[None, :]),
            (over[None, :], (size * (high - low))[None, :]),
        ]
        pieces.append((inner, size))

    def law(multipliers: np.ndarray, weight: float) -> np.ndarray:
        cells = laws.low.copy()
        for y, (inner, size) in enumerate(pieces):
            if size > 0:
                cells[:, y] += multipliers[inner] / (weight * size)
        return cells

    return rows.add(*parts).start, law
