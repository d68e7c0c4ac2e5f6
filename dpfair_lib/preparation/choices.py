"""Private choice of the largest of several counts, with scores that no rounding changes."""

from __future__ import annotations

import math

import numpy as np

from dpfair_lib.privacy.noise_source import NoiseSource

DIGITS = 20
"""Binary digits of the weight of one count. A product with a count below 2³³ is then a float, exactly."""


def choose_largest(counts: np.ndarray, epsilon: float, source: NoiseSource, *, one_way: bool = False) -> int:
    """Choose a place with the exponential mechanism, the likelier the larger its count.

    Parameters
    ----------
    counts : ndarray of shape (k,), integers
        Each moves by at most 1 between neighbours.
    epsilon : float
        ε > 0 of the choice, with no δ.
    source : NoiseSource
        Where the noise comes from.
    one_way : bool
        Whether all counts that move do so in one direction, as where a row is added. A weight of ε is then enough for
        each count; else it is ε/2, since one may rise while another falls.

    Returns
    -------
    int
        The place.
    """
    return source.choose(counts.astype(float) * count_weight(epsilon, one_way=one_way))


def count_weight(epsilon: float, *, one_way: bool) -> float:
    """Return what a count is multiplied by: ε, or half of it, rounded down to `DIGITS` binary digits."""
    mantissa, exponent = math.frexp(epsilon if one_way else epsilon / 2)
    return math.ldexp(math.floor(math.ldexp(mantissa, DIGITS)), exponent - DIGITS)
