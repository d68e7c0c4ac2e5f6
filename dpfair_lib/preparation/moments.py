"""Private sums of columns: what one row adds to them, and how much noise that asks for.

A value in [low, high] becomes an integer k between −K and K, with K = 2²¹, by rounding (value − middle)/(high − low)
· 2K. A row adds (k, ⌊k²/(2K)⌋, K/2) to the three sums of a column, and nothing where its value is missing. In units
of the range, c = k/(2K) ∈ [−½, ½], these are c, c² and ¼.

*One row more or less* moves the sums by at most K + K/2 + K/2 = 2K in the sum of absolute values, attained at a bound.

*One row replaced* moves them by at most 2K too. If its value appears or vanishes, the first case says so. Else let
f(k) = ⌊k²/(2K)⌋ and |k| ≥ |k′|. The move is |k − k′| + f(k) − f(k′). It increases in |k|, so |k| = K is worst, and k′
of the other sign, |k′| = K − j: 2K − j + K/2 − ⌊K/2 − j + j²/(2K)⌋ = 2K − ⌊j²/(2K)⌋ ≤ 2K. It is attained at j = 0.

So one number serves both relations, and all arithmetic before the noise is exact. Without the squares the same holds
with (k, K) for a present value: K + K, and for a replacement |k − k′| ≤ 2K.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpfair_lib.preparation.cells import as_floats
from dpfair_lib.privacy.mechanisms import Mechanism
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import noise_scale, quotient_above

HALF = 2**21
"""K, half of a range in steps."""
MOST = 2 * HALF
"""How far one row moves the sums of a column, in the sum of absolute values."""


class Moments(NamedTuple):
    """Noisy sums of a column's values, in units of its range and from its middle."""

    mean: float
    square: float


def row_sums(values: np.ndarray, low: float, high: float, *, squares: bool) -> np.ndarray:
    """Return the exact sums of a column, integers.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Cells; one that is no number counts as missing.
    low, high : float
        Public bounds; values beyond are cut off.
    squares : bool
        Whether the sum of squares is one of them.

    Returns
    -------
    ndarray of int64
        Of k, of ⌊k²/(2K)⌋ if asked for, and of K/2 (K without squares) for each value that is present.
    """
    found = as_floats(values)
    present = found == found
    cut = np.clip(np.where(present, found, low), low, high)
    k = np.where(present, np.rint((cut - low) / (high - low) * MOST).astype(np.int64) - HALF, 0)
    if squares:
        return np.array([k.sum(), (k * k // MOST).sum(), (HALF // 2) * present.sum()], dtype=np.int64)
    return np.array([k.sum(), HALF * present.sum()], dtype=np.int64)


def moments_scale(columns: int, epsilon: float) -> float:
    """Return the scale of the noise on the sums of so many columns."""
    return noise_scale(MOST * columns, epsilon)


def moments_mechanism(columns: int, epsilon: float) -> Mechanism:
    """Return the release of the sums of so many columns, known before any noise is drawn."""
    return Mechanism("laplace", quotient_above(MOST * columns, moments_scale(columns, epsilon)))


def noisy_moments(
    columns: list[tuple[np.ndarray, float, float]], epsilon: float, source: NoiseSource, *, squares: bool
) -> list[Moments]:
    """Release mean, and mean square if asked for, of columns in units of their ranges, around the middle.

    Parameters
    ----------
    columns : list of (values, low, high)
        One or more.
    epsilon : float
        ε of all of them together, under add-remove as under replace-one.
    source : NoiseSource
        Where the noise comes from.
    squares : bool
        Whether mean squares are released.

    Returns
    -------
    list of Moments
        For each column; means lie in [−½, ½], and mean squares, 0 if not asked for, in [0, ¼].
    """
    sums = [row_sums(values, low, high, squares=squares) for values, low, high in columns]
    noisy = source.add_laplace(np.concatenate(sums), moments_scale(len(columns), epsilon)).reshape(
        len(columns), -1
    )
    found = []
    for first, *middle, present in noisy.tolist():
        # a count below one half says nothing; in units of 2K a present value counts ¼, or ½ without squares
        rows = max(present / MOST * (4 if squares else 2), 0.5)
        mean = min(max(first / MOST / rows, -0.5), 0.5)
        square = min(max(middle[0] / MOST / rows, 0.0), 0.25) if squares else 0.0
        found.append(Moments(mean, square))
    return found
