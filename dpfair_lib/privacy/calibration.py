"""The least noise whose accounted ε is at most a number asked for."""

from __future__ import annotations

import math
from collections.abc import Callable


def calibrated(
    epsilon_of: Callable[[float], float], target: float, guess: float, slope: float, slack: float
) -> tuple[float, float]:
    """Return a σ with ε(σ) in [(1 − slack) target, target], and the slope of ln ε over ln σ there.

    Bisection on the logarithms, which are nearly linear in one another: the line through the last two points
    is followed where it stays inside the bracket.
    """
    aim = math.log(target * (1 - slack / 2))
    ends = math.log(1e-2), math.log(1e4)  # ε is too large at the one, small enough at the other
    low, high = ends
    x = min(max(math.log(guess), low), high)
    previous: tuple[float, float] | None = None
    tries = 0
    while high - low > 1e-9:
        tries += 1
        value = epsilon_of(math.exp(x))
        y = math.log(max(value, 1e-300))
        if previous is not None:
            slope = min(max((y - previous[1]) / (x - previous[0]), -4.0), -0.25)
        if target * (1 - slack) <= value <= target:
            return math.exp(x), slope
        low, high = (x, high) if value > target else (low, x)
        previous = (x, y)
        step = min(max((aim - y) / slope, -1.0), 1.0)
        x = x + step if low < x + step < high and tries < 15 else (low + high) / 2
    if low == ends[0] or high == ends[1]:
        raise ValueError(
            f"epsilon: found {target}, expected a value that a noise multiplier between 1e-2 and 1e4 reaches"
        )
    return math.exp(high), slope
