"""The exact δ of many Laplace releases together, between an upper and a lower bound."""

from __future__ import annotations

import math

import numpy as np

from dpfair_lib._arguments import nonnegative, positive, positive_integer


def laplace_composition_delta(
    epsilon: float, releases: int, at: float, *, cells: int = 400
) -> tuple[float, float]:
    """Return bounds on the smallest δ at which T Laplace releases are together (at, δ)-DP.

    The loss of one release is ε with probability ½, −ε with probability e^(−ε)/2, and has density
    e^((u − ε)/2)/4 between. All that lies between two points of a lattice is moved to the lower or to the upper
    one; δ grows with the loss, so that the two results enclose it.

    Parameters
    ----------
    epsilon : float
        ε > 0 of each release: sensitivity over scale, the sensitivity reached in every release.
    releases : int
        T ≥ 1.
    at : float
        The ε of all releases together, at least 0.
    cells : int
        Lattice points from 0 to ε.

    Returns
    -------
    low, high : float
        Up to rounding, about 1e-15.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Koskela, Jälkö and Honkela (2020) for privacy losses on a lattice; the law of the loss is ours.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> [round(bound, 4) for bound in privacy.laplace_composition_delta(0.5, 4, at=1.0)]
    [0.0886, 0.0887]
    """
    step, total = positive(epsilon, "epsilon"), nonnegative(at, "at")
    n, cells = positive_integer(releases, "releases"), positive_integer(cells, "cells")
    edges = np.linspace(-step, step, 2 * cells + 1)
    between = np.diff(np.exp((edges - step) / 2)) / 2
    found = []
    for ends in (slice(None, -1), slice(1, None)):  # moved to the lower point, then to the upper one
        law = np.zeros(2 * cells + 1)
        law[0], law[-1] = math.exp(-step) / 2, 0.5
        law[ends] += between
        together = _power(law, n)
        losses = np.linspace(-n * step, n * step, len(together))
        found.append(float(together @ -np.expm1(np.minimum(total - losses, 0))))
    return found[0], found[1]


def _power(law: np.ndarray, n: int) -> np.ndarray:
    """Return the law of a sum of n independent copies, by repeated squaring."""
    from scipy.signal import fftconvolve

    result = np.ones(1)
    while n:
        if n & 1:
            result = np.clip(fftconvolve(result, law), 0, None)
        n >>= 1
        if n:
            law = np.clip(fftconvolve(law, law), 0, None)
    return result
