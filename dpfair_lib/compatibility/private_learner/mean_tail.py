"""Tail bounds for the mean of bounded random numbers."""

from __future__ import annotations

import numpy as np

from dpfair_lib._arguments import number, positive_integer


def mean_tail_bound(deviation: float, n: int, spread: float, *, sides: int = 2) -> float:
    """Return Hoeffding's bound, sides · exp(−2nρ²/(b − a)²), on the tail of a mean of n independent numbers.

    Parameters
    ----------
    deviation : float
        ρ ≥ 0: how far the mean is from its expectation.
    n : int
        How many numbers.
    spread : float
        b − a ≥ 0 where all of them lie in [a, b]; with 0 they are constants and only ρ = 0 occurs.
    sides : {1, 2}
        2 for a distance of at least ρ, 1 for a distance of at least ρ in one direction.

    Returns
    -------
    float
        The bound; it may exceed 1.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Hoeffding (1963), Theorem 2; CGKM, Theorem 7.
    """
    rho, n = number(deviation, "deviation", "a number of at least 0"), positive_integer(n, "n")
    width = number(spread, "spread", "a number of at least 0")
    if rho < 0 or width < 0:
        raise ValueError(f"deviation, spread: found {rho} and {width}, expected numbers of at least 0")
    if sides not in (1, 2):
        raise ValueError(f"sides: found {sides!r}, expected 1 or 2")
    if width == 0:
        return 0.0 if rho > 0 else float(sides)
    return sides * float(np.exp(-2 * n * (rho / width) ** 2))
