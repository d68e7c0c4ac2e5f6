"""What releases of support vectors reveal, computed exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._arguments import nonnegative, positive, positive_integer


def list_change(first: Any, second: Any) -> Any:
    """Return ‖f − f′‖₁ between two lists of support vectors of the same number and dimension.

    Parameters
    ----------
    first, second : array of shape (k,) or (k, d)
        The vectors in the order in which they are released.

    Returns
    -------
    number
        Sum of all absolute differences; exact where the vectors are.

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    f, g = np.asarray(first), np.asarray(second)
    if f.shape != g.shape:
        raise ValueError(f"second: found shape {g.shape}, expected {f.shape}")
    return abs(f - g).sum()


def noisy_list_epsilon(first: Any, second: Any, epsilon: Any) -> Any:
    """Return the real ε between two lists of support vectors, each coordinate with its own Lap(2/(kε)).

    Parameters
    ----------
    first, second : array of shape (k,) or (k, d)
        The true lists of two neighbours, in the order of release.
    epsilon : number
        The ε that the noise is made for.

    Returns
    -------
    number
        ‖f − f′‖₁·kε/2, which is attained; infinity where the lists differ in shape, since what is released shows it.

    Raises
    ------
    ValueError
        If epsilon is not positive.

    References
    ----------
    SK, Algorithm 1.
    """
    positive(epsilon, "epsilon")
    if np.shape(first) != np.shape(second):
        return math.inf
    return list_change(first, second) * len(np.asarray(first)) * epsilon / 2


def scale_delta(odds: Any, k: int, neighbour_k: int) -> Any:
    """Return the least δ at ε = ln(odds) between one number with Lap(2/(kε′)) and the same with Lap(2/(k′ε′)).

    The number is the same in both, and k is not shown: what is left is that the noise has another scale. With k > k′
    the density with k′ is more than `odds` times the other wherever |noise| is large, for all odds; the excess there is
    (1 − k′/k)(odds·k/k′)^(−k′/(k − k′)). The other way round there is an excess near 0 for odds below k/k′, which is
    never the larger one: the first less the second is concave in odds, 0 at odds 1 and positive at odds k/k′.

    Parameters
    ----------
    odds : number
        e^ε ≥ 1.
    k, neighbour_k : int
        Different positive numbers of support vectors of two neighbours.

    Returns
    -------
    number
        δ, of either order the larger; whatever ε′ is. Exact for exact odds if k′ is a multiple of k − k′ for k > k′.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    more, fewer = sorted((positive_integer(k, "k"), positive_integer(neighbour_k, "neighbour_k")))[::-1]
    if not odds >= 1:
        raise ValueError(f"odds: found {odds}, expected a number of at least 1")
    if more == fewer:
        raise ValueError(f"neighbour_k: found {fewer}, equal to k, expected a different number")
    ratio = Fraction(more, fewer)
    return _power(odds * ratio, fewer, more - fewer) * (1 - 1 / ratio)


def _power(base: Any, over: int, under: int) -> Any:
    """Return base^(−over/under), exactly where that is rational by sight."""
    if over % under == 0:
        return 1 / base ** (over // under)
    return float(base) ** (-over / under)


def gap_noise_tail(t: float, scale: float) -> float:
    """Return P(V − V′ ≥ t) for two independent Laplace numbers of one scale b: (1 + t/(2b)) e^(−t/b) / 2.

    With one support vector of each class, α their dual coefficient, the noise moves the score at x by α(V − V′)x on the
    line; so it changes the prediction with this probability at t = |score|/(α|x|).

    Parameters
    ----------
    t : float
        At least 0.
    scale : float
        b > 0.

    Returns
    -------
    float
        The probability, at most ½.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    ratio = nonnegative(t, "t") / positive(scale, "scale")
    return (1 + ratio / 2) * math.exp(-ratio) / 2
