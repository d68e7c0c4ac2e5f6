"""Bounds on how much a group's accuracy can differ between two models, from one model's margins.

The rows enter through their *relative margins* ρ/L: the distance that the other model must keep at most for the row
to be judged alike. Every function returns one term for each cell of rows, with empty cells as NaN.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpfair_lib._arrays import space_of
from dpfair_lib._validation import as_numbers, check_lengths, refuse

BLOCK = 1 << 16  # rows at a time: the temporaries stay in the cache


def relative_margins(rho: Any, lipschitz: Any) -> Any:
    """Return ρ/L with its sign; infinite where L = 0, as a row of zeros has the same scores under every linear model.

    Parameters
    ----------
    rho, lipschitz : array of shape (n,)
        Margins and constants as `margins` and `margin_lipschitz` return them.

    Returns
    -------
    array of shape (n,)
        Distances between models, in the norm for which L was taken.

    Raises
    ------
    ValueError
        If a margin is not a number, a constant is negative or not finite, the lengths differ, or a row with L = 0 has a
        margin other than 0, which no linear model has.

    References
    ----------
    MPBT, § 3.1, where 0/0 is not defined.
    """
    space = space_of(rho=rho, lipschitz=lipschitz)
    rho = space.astype(as_numbers(rho, "rho", space), space.real)
    lipschitz = space.astype(as_numbers(lipschitz, "lipschitz", space), space.real)
    check_lengths(rho=rho, lipschitz=lipschitz)
    refuse(lipschitz < 0, lipschitz, "lipschitz", "numbers of at least 0", space)
    still = lipschitz == 0
    wrong = still & (rho != 0)
    if space.any(wrong):
        at = space.first(wrong)
        raise ValueError(
            f"X: found a row of zeros at position {at} with a margin of {space.at(rho, at)}, expected 0 there; "
            "a model with an intercept needs a column of ones"
        )
    if not space.host:
        divisor = lipschitz + space.astype(still, lipschitz.dtype)
        return space.xp.where(still, space.number(math.inf, rho.dtype), rho / divisor)
    return np.divide(rho, lipschitz, out=np.full_like(rho, np.inf), where=~still)


def cell_counts(relative: Any, codes: Any, cells: int, radius: float) -> np.ndarray:
    """Return, for each cell: its rows, those that can be lost, gained, either, and those that are right now.

    A row can be lost (right under h, not under h′) if 0 ≤ ρ/L ≤ radius, and gained if −radius ≤ ρ/L ≤ 0; a tie can be
    either, and counts as wrong now, as does a row of zeros, where all scores tie. The result has shape (cells, 5).
    """
    wrong, gained, tied, lost, right, still, *_ = _histogram(relative, codes, cells, radius).T
    rows = wrong + gained + tied + lost + right + still
    return np.stack([rows, lost + tied, gained + tied, lost + gained + tied, lost + right], axis=1)


def _histogram(relative: np.ndarray, codes: np.ndarray, cells: int, radius: float) -> np.ndarray:
    """Return how many rows of each cell lie past 0, 1, … 5 of the edges −radius, 0, just above 0, radius, ∞.

    On the host this is one pass in blocks. Where cell and place fit into a byte, two rows are counted at a time: their
    two bytes are read as one number, and the table of pairs is summed along either side. The result has shape
    (cells, 8).
    """
    space = space_of(relative=relative, codes=codes)
    if not space.host:
        past = [relative >= -radius, relative >= 0, relative > 0, relative > radius, relative == math.inf]
        place = sum(space.astype(one, codes.dtype) for one in past)
        return space.counts(codes * 8 + place, 8 * cells).reshape(cells, 8)
    width = 8 * cells  # places 6 and 7 stay free
    paired = width <= 256
    key_type: type[np.unsignedinteger | np.signedinteger] = np.uint8 if paired else np.intp
    size = 256 * width if paired else width
    totals = np.zeros(size, dtype=np.int64)
    edges = ((np.greater_equal, 0.0), (np.greater, 0.0), (np.greater, radius), (np.equal, np.inf))
    for start in range(0, len(relative), BLOCK):
        part = relative[start : start + BLOCK]
        place = (part >= -radius).view(np.uint8)
        for beyond, edge in edges:
            place += beyond(part, edge).view(np.uint8)
        key = codes[start : start + BLOCK].astype(key_type)
        key *= 8
        key += place
        if paired:
            key = (key if len(key) % 2 == 0 else np.append(key, np.uint8(7))).view(np.uint16)
        found = np.bincount(key)
        totals[: len(found)] += found
    if paired:
        pairs = totals.reshape(width, 256)
        totals = pairs.sum(axis=1) + pairs[:, :width].sum(axis=0)
    return totals.reshape(cells, 8)


def exact_terms(relative: np.ndarray, codes: np.ndarray, cells: int, radius: float) -> np.ndarray:
    """Return P(|ρ|/L ≤ radius) of each cell."""
    counts = cell_counts(relative, codes, cells, radius)
    with np.errstate(invalid="ignore"):
        return counts[:, 3] / counts[:, 0]


def signed_terms(relative: np.ndarray, codes: np.ndarray, cells: int, radius: float) -> np.ndarray:
    """Return P(0 ≤ ρ/L ≤ radius), at most lost, and P(−radius ≤ ρ/L ≤ 0), at most gained; shape (cells, 2)."""
    counts = cell_counts(relative, codes, cells, radius)
    with np.errstate(invalid="ignore"):
        return counts[:, 1:3] / counts[:, :1]


def markov_terms(
    relative: Any, codes: Any, cells: int, radius: float, *, truncated: bool = False
) -> np.ndarray:
    """Return E[L/|ρ|] · radius of each cell; truncated, only rows with |ρ|/L ≤ radius count."""
    space = space_of(relative=relative, codes=codes)
    size = space.xp.abs(relative)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = radius / size
        if truncated:
            weights = space.xp.where(size <= radius, weights, space.number(0, size.dtype))
        return space.totals(codes, weights, cells) / space.counts(codes, cells)


def chernoff_terms(relative: Any, codes: Any, cells: int, radius: float) -> np.ndarray:
    """Return inf over t ≥ 0 of E[exp(t (radius − |ρ|/L))] of each cell, each with a t of its own."""
    size = space_of(relative=relative, codes=codes).xp.abs(relative)
    return np.array([chernoff_bound(size[codes == cell], radius) for cell in range(cells)])


def chernoff_bound(size: Any, radius: float) -> float:
    """Return inf over t ≥ 0 of the mean of exp(t (radius − size)), a convex function of t."""
    from scipy.optimize import brentq

    if size.shape[0] == 0:
        return np.nan
    space = space_of(size=size)
    xp, gap = space.xp, radius - size
    if float(xp.mean(gap)) >= 0:  # the slope at t = 0, where the mean is 1
        return 1.0
    largest = float(xp.max(gap))
    if largest <= 0:  # it falls for ever, to the share of rows at the radius itself
        return space.many(gap == 0) / gap.shape[0]
    finite = gap[xp.isfinite(gap)] / largest
    share = finite.shape[0] / gap.shape[0]

    def slope(t: float) -> float:
        # the factor exp(−t) keeps the exponents at most 0 and does not move the root
        return float(xp.mean(finite * xp.exp(t * (finite - 1))))

    if slope(0.0) >= 0:  # only infinite margins made the slope negative: the infimum is approached at t → 0
        return share
    upper = 1.0
    while slope(upper) < 0:
        upper *= 2
    t = brentq(slope, 0.0, upper, xtol=1e-14 * upper)
    return share * float(xp.mean(xp.exp(t * finite)))
