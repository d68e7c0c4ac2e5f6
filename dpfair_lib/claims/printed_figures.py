"""The privacy of every point of MPBT's figures, from below and from above."""

from __future__ import annotations

import functools
from typing import NamedTuple

from dpfair_lib.experiments.mpbt.bounded_impact import (
    BOUND,
    EPSILON,
    levels,
    modulus,
    noise_scale,
    sizes,
)
from dpfair_lib.experiments.mpbt.bounded_impact_records import cut_n
from dpfair_lib.experiments.mpbt.decisive_pairs import decisive_move, farthest_move
from dpfair_lib.privacy.gaussian import gaussian_epsilon


class FigureRun(NamedTuple):
    """One point of a figure, and between which bounds the ε of one private model lies, at δ = 1/n².

    Parameters
    ----------
    data, fit : str
        Data set, and whether as run or as stated.
    axis : {"n", "epsilon"}
        What varies in its line.
    n : int
        Training records.
    stated, least, most : float
        The ε shown; no smaller one than ``least`` is true; ``most`` is true.
    """

    data: str
    fit: str
    axis: str
    n: int
    stated: float
    least: float
    most: float


@functools.cache
def figure_runs(data: str, fit: str) -> tuple[FigureRun, ...]:
    """Return the points of the lines over n, then over ε, of one data set and fit."""
    last = cut_n(data)
    points = [("n", n, EPSILON) for n in sizes(last)] + [
        ("epsilon", last, epsilon) for epsilon in levels(data)
    ]
    return tuple(
        FigureRun(data, fit, axis, n, stated, *bounds(data, fit, n, stated)) for axis, n, stated in points
    )


@functools.cache
def _moves(data: str, fit: str, n: int) -> tuple[float, float]:
    case = BOUND[data], n, modulus(fit, n)
    return decisive_move(*case), farthest_move(*case)


def bounds(data: str, fit: str, n: int, stated: float) -> tuple[float, float]:
    """Return the bounds of one private model's ε at δ = 1/n², from below and from above."""
    sigma = noise_scale(BOUND[data], n, stated)
    least, most = (gaussian_epsilon(1 / n**2, sigma, moved) for moved in _moves(data, fit, n))
    return least, most
