"""The worst that releases chosen one after another can do, exactly, for randomised response of several strengths."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

from dpfair_lib._arguments import nonnegative, positive, positive_integer

Counts = tuple[int, ...]


def adaptive_delta(
    menu: Sequence[tuple[int, float]],
    epsilon: float,
    allowed: Callable[[Counts], bool],
    *,
    unit: float,
    most: int,
) -> float:
    """Return the largest δ at ε over all ways to choose the next release by the results so far.

    A release reveals everything with probability δ_i and is otherwise randomised response of ε_i = m_i times the unit,
    which is the worst release of these numbers. So the losses are whole multiples of the unit, and the best choice at
    each loss and each list of past releases follows from those one release later.

    Parameters
    ----------
    menu : sequence of (int, float)
        m_i ≥ 1 and δ_i of the releases that may be chosen, each any number of times.
    epsilon : float
        ε ≥ 0 of all together.
    allowed : callable
        Takes how often each release of the menu was chosen, and returns whether that is within the budget.
    unit : float
        Of the ε_i.
    most : int
        How many releases there may be at most.

    Returns
    -------
    float
        δ, up to the rounding of sums of products.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    epsilon, unit = nonnegative(epsilon, "epsilon"), positive(unit, "unit")
    most = positive_integer(most, "most")
    steps = [(positive_integer(m, "menu"), nonnegative(fails, "menu")) for m, fails in menu]
    permitted = functools.cache(allowed)

    @functools.cache
    def worst(loss: int, counts: Counts) -> float:
        values = [max(-math.expm1(epsilon - loss * unit), 0.0)]
        if sum(counts) < most:
            for at, (m, fails) in enumerate(steps):
                after = tuple(count + (place == at) for place, count in enumerate(counts))
                if permitted(after):
                    rises = 1 / (1 + math.exp(-m * unit))
                    mean = rises * worst(loss + m, after) + (1 - rises) * worst(loss - m, after)
                    values.append(fails + (1 - fails) * mean)
        return max(values)

    return worst(0, (0,) * len(steps))
