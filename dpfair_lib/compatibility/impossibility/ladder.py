"""How fast the output distribution of an (ε, δ)-DP algorithm can change along a chain of neighbours.

A quantity k that neighbouring inputs change by at most 1 may decide between two outputs. With factor = e^ε,
the first output's probability can grow from 0 at k = 0 to 1, but only along the ladder
q(k + 1) = min(factor·q(k) + δ, 1 − (1 − q(k) − δ)/factor, 1).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpfair_lib._validation import as_count


def mass_ladder(steps: int, *, factor: Any, delta: Any) -> list[Any]:
    """Return the largest probabilities q(0) = 0, q(1), …, q(steps) that (ε, δ)-DP allows.

    Parameters
    ----------
    steps : int
        At least 0.
    factor : float or Fraction
        e^ε, at least 1; exact numbers stay exact.
    delta : float or Fraction
        In [0, 1].

    Returns
    -------
    list of length steps + 1

    Raises
    ------
    ValueError
        If the factor is below 1 or δ is outside [0, 1].
    """
    steps = as_count(steps, "steps", 0)
    factor = checked_factor(factor, delta)
    ladder = [0 * factor]
    for _ in range(steps):
        ladder.append(climbed(ladder[-1], factor, delta))
    return ladder


def climbed(q: Any, factor: Any, delta: Any) -> Any:
    """Return the largest probability that (ε, δ)-DP allows a step from where it is q."""
    return min(factor * q + delta, 1 - (1 - q - delta) / factor, 1 + 0 * factor)


def least_chain_delta(steps: int, *, factor: Any) -> Any:
    """Return the least δ with which the probability can climb from 0 to 1 in so many steps.

    With S(j) = 1 + factor + … + factor^(j−1) it is 1/(S(⌊m/2⌋) + S(⌈m/2⌉)) for m steps: 1 for m = 1, ½ for m = 2, and
    it falls like e^(−mε/2).

    Parameters
    ----------
    steps : int
        At least 1.
    factor : float or Fraction
        e^ε, at least 1.

    Raises
    ------
    ValueError
        As `mass_ladder`.
    """
    steps = as_count(steps, "steps", 1)
    factor = checked_factor(factor, 0)
    half = steps // 2
    sums = [sum((factor**j for j in range(length)), 0 * factor) for length in (half, steps - half)]
    return 1 / (sums[0] + sums[1])


def checked_factor(factor: Any, delta: Any) -> Any:
    """Return the factor, exactly if it is a whole number; refuse it, or δ, if out of range."""
    if not factor >= 1:
        raise ValueError(f"factor: found {factor}, expected e^ε, a number of at least 1")
    if not 0 <= delta <= 1:
        raise ValueError(f"delta: found {delta}, expected a number in [0, 1]")
    return Fraction(factor) if isinstance(factor, int) else factor
