"""Laplace noise on several numbers at once: privacy loss, and the distribution of the largest error."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from dpfair_lib._arguments import inside_unit, nonnegative, one_of, positive, positive_integer
from dpfair_lib._validation import same_rows


@same_rows
def laplace_vector_loss(output: Any, first: Any, second: Any, scale: Any) -> Any:
    """Return the privacy loss of one output, (‖y − f′‖₁ − ‖y − f‖₁) / b.

    Parameters
    ----------
    output : array of shape (..., k)
        y, what was released.
    first, second : array of shape (..., k)
        f and f′: the true vectors of two neighbours.
    scale : float or Fraction
        b > 0 of the noise on every coordinate.

    Returns
    -------
    number or ndarray of shape (...)
        The logarithm of the ratio of the two densities at y; at most ‖f − f′‖₁/b, which y = f attains.

    Raises
    ------
    ValueError
        If the scale is not positive.

    References
    ----------
    Dwork, McSherry, Nissim and Smith (2006), Proposition 1; CGKM, Theorem 4.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> float(privacy.laplace_vector_loss([0, 0], first=[0, 0], second=[1, 0], scale=2.0))
    0.5
    """
    if not scale > 0:
        raise ValueError(f"scale: found {scale}, expected a positive number")
    y, f, g = np.asarray(output), np.asarray(first), np.asarray(second)
    return (abs(y - g).sum(axis=-1) - abs(y - f).sum(axis=-1)) / scale


def largest_error_tail(t: float, scale: float, coordinates: int) -> float:
    """Return P(the largest of k errors is at least t) = 1 − (1 − e^(−t/b))^k.

    Parameters
    ----------
    t : float
        At least 0.
    scale : float
        b > 0 of the Laplace noise.
    coordinates : int
        k ≥ 1.

    Returns
    -------
    float
        The probability.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    CGKM, Theorem 5, where a union bound stands for it.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> round(privacy.largest_error_tail(5.0, scale=1.0, coordinates=10), 4)
    0.0654
    """
    t, b, k = nonnegative(t, "t"), positive(scale, "scale"), positive_integer(coordinates, "coordinates")
    inside = -math.expm1(-t / b)
    return -math.expm1(k * math.log(inside)) if inside > 0 else 1.0


def largest_error_bound(
    failure: float, scale: float, coordinates: int, kind: Literal["printed", "exact"]
) -> float:
    """Return a t that the largest of k errors reaches with probability at most `failure`.

    Parameters
    ----------
    failure : float
        β in (0, 1).
    scale, coordinates
        As in `largest_error_tail`.
    kind : {"printed", "exact"}
        b ln(k/β), or the t of probability exactly β, −b ln(1 − (1 − β)^(1/k)); equal for k = 1.

    Returns
    -------
    float
        The threshold.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    CGKM, Theorem 5.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> [round(privacy.largest_error_bound(0.05, 1.0, 10, kind), 4) for kind in ("printed", "exact")]
    [5.2983, 5.2753]
    """
    beta, b = inside_unit(failure, "failure"), positive(scale, "scale")
    k = positive_integer(coordinates, "coordinates")
    if one_of(kind, "kind", ("printed", "exact")) == "printed":
        return b * math.log(k / beta)
    # (1 − β)^(1/k) is 1 − β/k, up to roundings, where no float distinguishes that from 1
    inside = -math.expm1(math.log1p(-beta) / k)
    return -b * (math.log(inside) if inside else math.log(beta) - math.log(k))
