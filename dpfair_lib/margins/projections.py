"""Bounds on how far Gaussian noise on one weight vector moves the scores of given rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpfair_lib._arguments import inside_unit, nonnegative, positive
from dpfair_lib._validation import as_count, as_generator, check_lengths
from dpfair_lib.margins.margins import margin_lipschitz
from dpfair_lib.margins.radius import projection_quantile

BLOCK = 1 << 22  # entries of rows times draws at a time


def markov_reach(sigma: float, *, zeta: float, slack: float, groups: int) -> float:
    """Return r: with probability 1 − ζ at most a share s of every group moves by more than r, against its side.

    A row moves by |Zᵀx|/‖x‖, and its side is that of the model without noise. Nothing of the rows enters: neither
    their number nor their dimension. For each of the groups Markov's inequality fails with probability at most
    ζ/groups.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise in each coordinate.
    zeta, slack : float
        ζ and s in (0, 1), chosen before the noise is drawn.
    groups : int
        Number of groups.

    Returns
    -------
    float
        tσ with Φ(−t) = ζs/groups; 0 where that is above ½, as no row changes with more than ½.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    share = inside_unit(zeta, "zeta") / as_count(groups, "groups", 1)
    return positive(sigma, "sigma") * max(projection_quantile(share, slack), 0.0)


def simulated_reach(X: Any, sigma: float, *, zeta: float, draws: int, rng: np.random.Generator) -> float:
    """Return r: with probability 1 − ζ, over the noise and the simulation, no row moves by more than r.

    The largest |Zᵀx|/‖x‖ of the real noise and those of the simulated draws are exchangeable, so that the real one is
    above the k-th smallest of R simulated ones with probability at most 1 − k/(R + 1): exactly, for every R.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows, chosen before the noise is drawn; a column of ones stands for an intercept.
    sigma : float
        Standard deviation of the noise in each coordinate.
    zeta : float
        ζ in (0, 1).
    draws : int
        R, at least 1/ζ − 1.
    rng : numpy.random.Generator
        For the simulation, independent of the noise.

    Returns
    -------
    float
        r, in the units of the weights.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the draws are too few for ζ.
    """
    axes, simulated = _prepared(X, draws, rng)
    largest = largest_projections(axes, simulated)
    return positive(sigma, "sigma") * order_statistic(largest, zeta)


def local_reach(
    distances: Any, X: Any, sigma: float, *, wide: float, zeta: float, draws: int, rng: np.random.Generator
) -> float:
    """Return r: no row whose prediction changes is further than r from either boundary, wherever `wide` holds.

    If no row moves by more than w, only rows that the model without noise has within w, and hence the one with noise
    within 2w, can change. The reach over those within 2w of the given model is at least that over those that matter.
    It fails with probability at most ζ, in addition to that of w.

    Parameters
    ----------
    distances : array of shape (n,)
        |wᵀx|/‖x‖ of one of the two models, with or without noise; signs are ignored.
    X, sigma, zeta, draws
        As in `simulated_reach`.
    wide : float
        w, the `simulated_reach` over all rows, at a failure probability of its own.
    rng : numpy.random.Generator
        For a simulation of its own, independent of that of `wide` and of the noise.

    Returns
    -------
    float
        r, in the units of the weights, at most w; 0 if no row can change.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the draws are too few for ζ.
    """
    # fresh draws: which rows matter depends on those of `wide`
    axes, simulated = _prepared(X, draws, rng)
    sizes = np.abs(np.asarray(distances, dtype=float))
    check_lengths(distances=sizes, X=axes)
    near = sizes <= 2 * nonnegative(wide, "wide")
    # draw by draw the largest projection over a superset is at least as large, and so is the order statistic
    narrow = order_statistic(largest_projections(axes[near], simulated), zeta)
    return min(wide, positive(sigma, "sigma") * narrow)


def order_statistic(values: np.ndarray, zeta: float) -> float:
    """Return the value that one more draw from the same law exceeds with probability at most ζ.

    Parameters
    ----------
    values : ndarray of shape (R,)
        Independent draws; R is at least 1/ζ − 1.
    zeta : float
        ζ in (0, 1).

    Returns
    -------
    float
        The k-th smallest, k being the least with k/(R + 1) ≥ 1 − ζ.

    Raises
    ------
    ValueError
        If ζ is not in (0, 1), or the draws are too few.
    """
    # 0.07 · 100 is below 7 in floating point; what this adds to ζ is a relative 10⁻¹²
    allowed = math.floor(inside_unit(zeta, "zeta") * (len(values) + 1) * (1 + 1e-12))
    if allowed < 1:
        raise ValueError(
            f"draws: found {len(values)}, expected at least {math.ceil(1 / zeta) - 1} "
            f"for a failure probability of {zeta:g}"
        )
    at = len(values) - min(allowed, len(values))
    return float(np.partition(values, at)[at])


def largest_projections(axes: np.ndarray, simulated: np.ndarray) -> np.ndarray:
    """Return max |zᵀx|/‖x‖ over the rows for each draw z.

    Parameters
    ----------
    axes : ndarray of shape (n, d)
        Rows of norm 1, or 0.
    simulated : ndarray of shape (R, d)
        Standard normal draws.

    Returns
    -------
    ndarray of shape (R,)
        In the order of the draws.
    """
    found = np.zeros(len(simulated))
    for rows in blocks(len(axes), len(simulated)):
        moved = axes[rows] @ simulated.T
        np.maximum(found, np.maximum(moved.max(axis=0), -moved.min(axis=0)), out=found)
    return found


def blocks(rows: int, draws: int) -> Iterator[slice]:
    """Return slices of rows, so that a block of rows times draws stays small."""
    size = max(1, BLOCK // max(draws, 1))
    return (slice(start, start + size) for start in range(0, rows, size))


def unit_rows(X: Any) -> np.ndarray:
    """Return the rows divided by their norms; a row of zeros stays."""
    lengths = margin_lipschitz(X, binary=True)
    return np.asarray(X, dtype=float) / np.where(lengths > 0, lengths, 1)[:, None]


def _prepared(X: Any, draws: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    axes = unit_rows(X)
    generator = as_generator(rng, "rng")
    return axes, generator.normal(size=(as_count(draws, "draws", 1), axes.shape[1]))
