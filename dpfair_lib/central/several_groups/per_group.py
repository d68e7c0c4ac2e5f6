"""One number for each group: rows, ε and rates, from one number for all or a sequence; and the laws of noisy rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpfair_lib._arguments import number, one_of
from dpfair_lib._validation import as_count, as_single_rate, as_vector
from dpfair_lib.central.gap_law import Mechanism, RateLaw

MECHANISMS: dict[str, str] = {
    "laplace": "Laplace noise on the group's mean, of scale 1/(nε)",
    "geometric": "two-sided geometric noise on the group's count, P(k) ∝ e^(−ε|k|)",
}

LEAST_RATE = 1e-100  # smaller rates count as 0: their squares would underflow
MOST_ROWS = 10_000_000  # more rows take minutes, and gigabytes
LARGEST_EPSILON = 1e4  # finite ε of Laplace noise, for the exact law


def number_of_groups(*given: Any) -> int:
    """Return the length of the first argument that is a sequence of at least two; two if there is none."""
    return next((len(value) for value in given if _is_listed(value) and len(value) > 1), 2)


def sizes(n: Any, groups: int) -> tuple[int, ...]:
    """Return one row count per group from one number or a sequence."""
    return tuple(as_count(value, "n", 1) for value in each_group(n, "n", groups))


def noise_levels(epsilon: Any, groups: int) -> tuple[float, ...]:
    """Return one ε per group from one number or a sequence; infinity stands for no noise."""
    found = tuple(
        number(value, "epsilon", "a number above 0") for value in each_group(epsilon, "epsilon", groups)
    )
    if min(found) <= 0:
        raise ValueError(f"epsilon: found {epsilon}, expected a number above 0, or one per group")
    return found


def selection_rates(rates: Any, groups: int) -> tuple[float, ...]:
    """Return one rate per group from one number or a sequence; the smallest count as 0."""
    found = (float(as_single_rate(rate, "rates")) for rate in each_group(rates, "rates", groups))
    return tuple(rate * (rate >= LEAST_RATE) for rate in found)


def rate_laws(
    rates: Sequence[float], counts: Sequence[int], epsilons: Sequence[float], mechanism: Mechanism
) -> tuple[RateLaw, ...]:
    """Return the law of each group's noisy rate; refuse what would not be resolved."""
    one_of(mechanism, "mechanism", MECHANISMS)
    if max(counts) > MOST_ROWS:
        raise ValueError(f"n: found {max(counts)}, expected at most {MOST_ROWS} for the exact law")
    check_resolved(epsilons, mechanism)
    return tuple(RateLaw.of(*each, mechanism) for each in zip(rates, counts, epsilons, strict=True))


def check_resolved(epsilons: Sequence[float], mechanism: Mechanism) -> None:
    """Refuse Laplace noise whose density is too narrow."""
    for value in epsilons:
        if mechanism == "laplace" and LARGEST_EPSILON < value < math.inf:
            raise ValueError(
                f"epsilon: found {value:g}, expected at most {LARGEST_EPSILON:g}, or infinity, for the exact law: "
                "a density so narrow is not resolved"
            )


def at_each(values: Any, name: str, chance: Callable[[float], float]) -> Any:
    """Return a probability for a number in [0, 1], or for each of a vector; sums may pass 1 by a rounding."""
    if np.ndim(values) == 0:
        return min(chance(float(as_single_rate(values, name))), 1.0)
    numbers = [float(as_single_rate(value, name)) for value in as_vector(values, name)]
    return np.array([min(chance(value), 1.0) for value in numbers])


def each_group(value: Any, name: str, groups: int) -> tuple[Any, ...]:
    """Return one value per group from one value or a sequence."""
    if not _is_listed(value):
        return (value,) * groups
    if len(value) != groups:
        raise ValueError(
            f"{name}: found {len(value)} values beside {groups} groups, expected one number, or one per group"
        )
    return tuple(value)


def _is_listed(value: Any) -> bool:
    return (
        isinstance(value, Sequence | np.ndarray)
        and not isinstance(value, str)
        and getattr(value, "ndim", 1) > 0
    )
