"""Cells of new rates: cut at moved quantiles, added up with their halves, and split where the two disagree."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

STEP = 0.5  # of the levels of quantiles, in deviations of a normal law
CLOSE = 0.4  # cuts that differ by less are one, in the smallest deviation
TOLERANCE = 1e-7  # difference between a cell and its halves
ROUNDS = 20  # of splitting, at most


class Levels(NamedTuple):
    """Of one law: values at many levels, those of positive probability if it has a density, and its deviation."""

    values: np.ndarray
    jumps: np.ndarray
    jump_masses: np.ndarray
    spread: float


class Cells(NamedTuple):
    """Cells of several rows: two ends, and the middle between them if they are halved.

    Attributes
    ----------
    rows : ndarray of shape (cells,)
        The row of each.
    nodes : ndarray of shape (2, cells) or (3, cells)
        Ascending.
    """

    rows: np.ndarray
    nodes: np.ndarray


def quantiles(points: np.ndarray, masses: np.ndarray) -> Levels:
    """Return where the distribution function of a law reaches the levels of a normal one."""
    from scipy.special import ndtr

    levels = ndtr(np.arange(-8, 8 + STEP / 2, STEP))
    reached = np.cumsum(masses)
    values = np.interp(levels, reached, points)
    # 0, ½ and 1 may be atoms of a law with a density
    jumps = (masses > 1e-10) & np.isin(points, (0.0, 0.5, 1.0))
    mean = float(masses @ points)
    return Levels(
        values, points[jumps], masses[jumps], max(float(np.sqrt(masses @ (points - mean) ** 2)), 1e-9)
    )


def starting_cuts(moved: list[np.ndarray]) -> np.ndarray:
    """Return the moved quantiles of all groups for each row, rounded so that close ones fall together."""
    every = np.concatenate(moved, axis=1)
    middle = moved[0].shape[1] // 2
    one = round(1 / STEP)
    widths = np.stack([np.abs(values[:, middle + one] - values[:, middle - one]) / 2 for values in moved])
    width = np.where(widths > 1e-9, widths, np.inf).min(axis=0)
    width = (CLOSE * np.where(np.isfinite(width), width, 1.0))[:, None]
    rounded: np.ndarray = np.round(every / width) * width
    return rounded


def cells_between(cuts: np.ndarray) -> Cells:
    """Return the cells between neighbouring cuts of each row."""
    cuts = np.sort(cuts, axis=1)
    left, right = cuts[:, :-1], cuts[:, 1:]
    wide = right > left
    rows = np.broadcast_to(np.arange(len(cuts))[:, None], wide.shape)[wide]
    return Cells(rows, np.stack([left[wide], right[wide]]))


def integrated(
    rule: Callable[[Cells], tuple[np.ndarray, np.ndarray]], cells: Cells, *, halve: bool, block: int,
    tolerance: float | None,
) -> float:  # fmt: skip
    """Add up cells; split those which differ from their halves, and extrapolate the others.

    Parameters
    ----------
    rule : callable
        Cells ↦ their parts, by themselves and by their halves.
    cells : Cells
        Without middles.
    halve : bool
        Whether the halves differ from the cells at all.
    block : int
        Cells at a time.
    tolerance : float or None
        Difference up to which a cell is not split; None for the usual one.

    Returns
    -------
    float
        The sum. The error of a cell falls with the square of its width.
    """
    total, tolerance = 0.0, TOLERANCE if tolerance is None else tolerance
    for rounds in range(ROUNDS):
        if not len(cells.rows):
            break
        again = []
        for part in np.array_split(np.arange(len(cells.rows)), -(-len(cells.rows) // block)):
            rows, nodes = cells.rows[part], cells.nodes[:, part]
            if halve:
                nodes = np.stack([nodes[0], (nodes[0] + nodes[1]) / 2, nodes[1]])
            coarse, fine = rule(Cells(rows, nodes))
            poor = np.abs(fine - coarse) > tolerance
            if rounds == ROUNDS - 1:
                poor[:] = False
            total += float((fine + (fine - coarse) / 3)[~poor].sum())
            again.append(
                Cells(np.tile(rows[poor], 2), np.concatenate([nodes[:2, poor], nodes[-2:, poor]], axis=1))
            )
        cells = Cells(*(np.concatenate(parts, axis=-1) for parts in zip(*again, strict=True)))
    return total
