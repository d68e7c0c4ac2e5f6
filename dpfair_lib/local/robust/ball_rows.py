"""Rows of the linear program for a ball of laws; their multipliers are what is taken from cells and put on others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpfair_lib.local.robust.ball import CellBall
from dpfair_lib.local.robust.box_rows import Reader
from dpfair_lib.local.robust.builder import Builder


def truth_rows(rows: Builder, laws: CellBall, diagonal: np.ndarray, least: tuple[Any, ...]) -> Reader:
    """Add: under all laws of the ball the reports are true at least so often.

    As `dpfair_lib.local.robust.box_rows.truth_rows`. With d the diagonal and p the shares of the centre the least truth
    is Σ pd + h·min d − least over u of (hu + Σ p max(d − u, 0)), h being half of the radius.
    """
    k, half, p = laws.k, laws.radius / 2, laws.cells.sum(axis=1)
    lowest, price = rows.unknowns(2, free=True)
    over, ones = rows.unknowns(k), np.ones(k)
    put = rows.add((np.full(k, lowest), ones), (diagonal, -ones))
    taken = rows.add((diagonal, ones), (np.full(k, price), -ones), (over, -ones))
    *further, right = least
    rows.add(
        (diagonal[None, :], -p[None, :]), (np.array([[lowest, price]]), [[-half, half]]), (over[None, :], p[None, :]),
        *further, right=right,
    )  # fmt: skip
    return lambda multipliers, weight: p + (multipliers[put] - multipliers[taken]) / weight


def condition_rows(
    rows: Builder, laws: CellBall, share: float, factors: Sequence[float], column: np.ndarray, further: Any
) -> tuple[int, Reader]:
    """Add: for all laws of the ball with this P(Y = 1) the sum of factor_y · c_iy · q_i is at most what is said.

    As `dpfair_lib.local.robust.box_rows.condition_rows`. Half of the radius is taken from cells of the centre and put
    on any; u is the price of a unit taken, v that of one put, w that of label 1.
    """
    k, half = laws.k, laws.radius / 2
    u, v, w = rows.unknowns(3, free=True)
    parts, pieces = [further, (np.array([[u, v, w]]), [[half, half, share - laws.cells[:, 1].sum()]])], []
    for y, factor in enumerate(factors):
        centre, over, ones = laws.cells[:, y], rows.unknowns(k), np.ones(k)
        put_label, taken_label = ([(np.full(k, w), sign * ones)] if y else [] for sign in (-1, 1))
        put = rows.add((column, factor * ones), (np.full(k, v), -ones), *put_label)
        taken = rows.add((column, -factor * ones), (np.full(k, u), -ones), (over, -ones), *taken_label)
        parts += [(column[None, :], (factor * centre)[None, :]), (over[None, :], centre[None, :])]
        pieces.append((put, taken))

    def law(multipliers: np.ndarray, weight: float) -> np.ndarray:
        moved = [(multipliers[put] - multipliers[taken]) / weight for put, taken in pieces]
        return laws.cells + np.stack(moved, axis=1)

    return rows.add(*parts).start, law
