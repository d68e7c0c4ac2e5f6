"""Private scaling of features, and how far one record moves all scaled rows without it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from dpfair_lib._arguments import positive
from dpfair_lib._validation import as_binary
from dpfair_lib.privacy.mechanisms import Mechanism
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import noise_scale
from dpfair_lib.privacy.sampling import Noise
from dpfair_lib.privacy.statements import PrivacyStatement

SMALLEST_DEVIATION = 0.02  # of a column's range; noise can leave a variance near zero or below it


class ScalingConstants(NamedTuple):
    """Center and deviation of each column, and what releasing them cost."""

    center: np.ndarray
    deviation: np.ndarray
    privacy_statement: PrivacyStatement


def scale_rows(values: Any, center: Any, deviation: Any, bounds: Any) -> np.ndarray:
    """Clip to bounds, shift and scale, with constants that are fixed before the data are seen or released privately.

    Every row is transformed by itself, so data sets that differ in one row do so afterwards.

    Parameters
    ----------
    values : array of shape (n, columns)
        Rows; `Fraction` entries stay exact.
    center, deviation : array of shape (columns,)
        Constants; deviations above 0.
    bounds : array of shape (columns, 2)
        Lower and upper bound of each column.

    Returns
    -------
    ndarray of shape (n, columns)
        (clipped value − center) / deviation.

    Raises
    ------
    ValueError
        If the shapes do not go together, a bound is infinite or not below the other, a value is missing, or a
        deviation is not above 0.
    """
    rows, limits = _bounded(values, bounds)
    scales = np.asarray(deviation)
    if scales.shape != limits.shape[:1] or np.shape(center) != scales.shape:
        raise ValueError(
            f"center, deviation: found shapes {np.shape(center)}, {scales.shape}, expected {limits.shape[:1]} for both"
        )
    if not (scales > 0).all():
        raise ValueError("deviation: found a value that is not above 0, expected positive numbers")
    return (rows - np.asarray(center)) / scales


def unit_moments(values: Any, bounds: Any) -> np.ndarray:
    """Return mean and mean square of every column, in units of its range: first all means, then all squares.

    Parameters
    ----------
    values, bounds
        As in `scale_rows`; values are clipped to the bounds first.

    Returns
    -------
    ndarray of shape (2 · columns,)
        Each in [0, 1].
    """
    return _unit_sums(values, bounds) / len(values)


def unit_moments_sensitivity(n: int, columns: int) -> Fraction:
    """Return how far `unit_moments` can move in ℓ1 when one of n rows is replaced: 2 · columns / n, attained.

    A replaced row moves each sum by at most 1, and both sums of a column by 1 if it goes from bound to bound.
    """
    return Fraction(2 * columns, n)


def private_constants(
    values: Any, bounds: Any, epsilon: float, *, noise: Noise = "secure", rng: np.random.Generator | None = None
) -> ScalingConstants:  # fmt: skip
    """Release center and deviation of every column with Laplace noise.

    Parameters
    ----------
    values : array of shape (n, columns)
        Rows.
    bounds : array of shape (columns, 2)
        Public bounds, chosen without looking at the data; values beyond are clipped.
    epsilon : float
        ε of all constants together, for one row replaced and n public.
    noise, rng
        As in `add_laplace_noise`.

    Returns
    -------
    ScalingConstants
        Center and deviation in the columns' own units; the deviation is at least 2 % of the range.

    Raises
    ------
    ValueError
        As `scale_rows`; if ε is not a positive finite number, or rng does not go with the noise.
    """
    epsilon, source = positive(epsilon, "epsilon"), NoiseSource(noise, rng)
    sums = _unit_sums(values, bounds).astype(float)
    limits, n = np.asarray(bounds, dtype=float), len(values)
    columns = len(limits)
    statement = source.mark(PrivacyStatement(
        epsilon, 0.0, "replace-one", public=("number of rows", "bounds of the columns"),
        note="means and deviations for scaling", mechanism=(Mechanism("laplace", epsilon),),
    ))  # fmt: skip
    # the sums get the noise, since their quotients by n are rounded
    scale = noise_scale(n * unit_moments_sensitivity(n, columns), epsilon)
    noisy = (source.add_laplace(sums, scale) / n).clip(0, 1)
    mean, square = noisy[:columns], noisy[columns:]
    deviation = np.sqrt(np.maximum(square - mean**2, SMALLEST_DEVIATION**2))
    width = limits[:, 1] - limits[:, 0]
    return ScalingConstants(limits[:, 0] + width * mean, width * deviation, statement)


def clipped_gradients(features: Any, labels: Any, coefficients: Any, clip: float) -> np.ndarray:
    """Return every row's gradient of the logistic loss, clipped to a norm.

    Parameters
    ----------
    features : array of shape (n, d)
        Rows as the model sees them.
    labels : array of shape (n,)
        0 and 1.
    coefficients : array of shape (d,)
        The model, without intercept.
    clip : float
        C > 0.

    Returns
    -------
    ndarray of shape (n, d)
        Rows of norm at most C.

    Raises
    ------
    ValueError
        If the shapes do not go together, a label is neither 0 nor 1, or C is not positive.
    """
    x, w, y = (
        np.asarray(features, dtype=float),
        np.asarray(coefficients, dtype=float),
        as_binary(labels, "labels"),
    )
    clip = positive(clip, "clip")
    if x.ndim != 2 or w.shape != x.shape[1:] or len(y) != len(x):
        raise ValueError(
            f"features: found shape {x.shape} beside {w.shape} coefficients and {len(y)} labels, "
            "expected (labels, coefficients)"
        )
    gradients = (expit(x @ w) - y)[:, None] * x
    norms = np.sqrt((gradients**2).sum(axis=1))
    return gradients * (clip / np.maximum(norms, clip))[:, None]


def _unit_sums(values: Any, bounds: Any) -> np.ndarray:
    """Return the sums behind `unit_moments`, exactly those of numbers in [0, 1], one for each row.

    Sums of floats are rounded, and by how much depends on all rows, so that one row could move them by more than 1.
    So floats are first put on a lattice, one by one, on which every partial sum is a float.
    """
    rows, limits = _bounded(values, bounds)
    unit = (rows - limits[:, 0]) / (limits[:, 1] - limits[:, 0])
    both = np.hstack([unit, unit**2])
    if both.dtype != object:
        step = 2.0 ** (len(both).bit_length() - 52)
        both = np.round(both.astype(float) / step) * step
    return both.sum(axis=0)


def _bounded(values: Any, bounds: Any) -> tuple[np.ndarray, np.ndarray]:
    rows, limits = np.asarray(values), np.asarray(bounds)
    if rows.ndim != 2 or not len(rows) or limits.shape != (rows.shape[1], 2):
        raise ValueError(
            f"bounds: found shape {limits.shape} for values of shape {rows.shape}, expected "
            "(columns, 2), and one row or more"
        )
    if not (limits[:, 0] < limits[:, 1]).all() or not np.isfinite(limits.astype(float)).all():
        raise ValueError("bounds: found a pair that is not two finite numbers, the lower one first")
    if not (rows == rows).all():
        raise ValueError("values: found a missing value, expected numbers")
    return np.minimum(np.maximum(rows, limits[:, 0]), limits[:, 1]), limits
