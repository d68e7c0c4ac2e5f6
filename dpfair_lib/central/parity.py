"""The parity gap and the excess changes after post-processing with noisy rates: published bounds and exact values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpfair_lib._arguments import inside_unit, number, one_of
from dpfair_lib._validation import as_count, as_single_rate, as_vector
from dpfair_lib.central.gap_law import (
    Mechanism,
    RateLaw,
    excess_probability,
    expected_gap,
    violation_probability,
)
from dpfair_lib.privacy import DiscreteLaplaceMechanism

MECHANISMS: dict[str, str] = {
    "laplace": "Laplace noise on the group's mean, of scale 1/(nε)",
    "geometric": "two-sided geometric noise on the group's count, P(k) ∝ e^(−ε|k|)",
}

LEAST_RATE = 1e-100  # smaller rates count as 0: their squares would underflow


MOST_ROWS = 10_000_000  # more rows take minutes, and gigabytes
LARGEST_EPSILON = 1e4  # finite ε of Laplace noise, for the exact law


def parity_bound(
    n: Any, epsilon: Any, eta: float, *, mechanism: Mechanism = "laplace", gamma: float = 0.0
) -> float:
    """Return a number that the parity gap of `PrivateFairPostprocessor` exceeds with probability at most η.

    The bound holds for all selection rates and every choice of the common rate. It assumes that the rows given to `fit`
    are independent draws from the population, and that the classifier was not trained on them. If the rates are known,
    `dpfair_lib.central.gap_quantile` gives a smaller number.

    Parameters
    ----------
    n : int or sequence of int
        Number of rows of each group given to `fit`. Two groups, unless this or ``epsilon`` says how many.
    epsilon : float or sequence of float
        ε of the noise on each group's count; infinity for no noise.
    eta : float
        Failure probability η in (0, 1).
    mechanism : {"laplace", "geometric"}
        Distribution of the noise. The published bound is for "laplace".
    gamma : float
        Width of the band, as in `PrivateFairPostprocessor`.

    Returns
    -------
    float
        γ plus the sum of the two largest of log(2k/η)/(n_a ε_a) + √(log(4k/η)/(2 n_a)), where k is the number of groups.
        For "geometric" the first term is the smallest t/n_a with P(|noise| > t) ≤ η/(2k). If a group is small, the
        number is above 1 and says nothing.

    Raises
    ------
    ValueError
        If a number of rows is not positive, an ε is not above 0, η is not in (0, 1), or γ is not in [0, 1].

    References
    ----------
    Ghoukasian and Asoodeh (ISIT 2024), Theorem 3 (fairness); Ghoukasian (thesis, 2024), Theorem 8, for two groups. More
    groups and the band are ours.

    Examples
    --------
    With 1,000 and 2,000 rows and ε = 1, the gap is at most 0.093 with probability 95 %; with a third group of 500 rows,
    at most 0.128.

    >>> import dpfair_lib as dpf
    >>> round(dpf.parity_bound((1000, 2000), 1.0, eta=0.05), 3)
    0.093
    >>> round(dpf.parity_bound((1000, 2000, 500), 1.0, eta=0.05), 3)
    0.128
    """
    counts, epsilons = groups_of(n, epsilon)
    eta, k = inside_unit(eta, "eta"), len(counts)
    one_of(mechanism, "mechanism", MECHANISMS)
    # every change is too large or too small by less than the rate's error: two groups' errors make the gap
    errors = sorted(
        _noise_tail(e, eta / (2 * k), mechanism) / size + math.sqrt(math.log(4 * k / eta) / (2 * size))
        for size, e in zip(counts, epsilons, strict=True)
    )
    return checked_gamma(gamma) + errors[-2] + errors[-1]


def _noise_tail(epsilon: float, failure: float, mechanism: Mechanism) -> float:
    """Return the t that the noise on a count exceeds in size with probability at most ``failure``."""
    if math.isinf(epsilon):
        return 0.0
    if mechanism == "laplace":
        return -math.log(failure) / epsilon
    return DiscreteLaplaceMechanism(1 / epsilon, 1).error_bound(failure)


def expected_parity_bound(
    n: Any, epsilon: Any, *, mechanism: Mechanism = "laplace", gamma: float = 0.0
) -> float:
    """Return a bound on the expected parity gap of `PrivateFairPostprocessor`, for all selection rates.

    Parameters
    ----------
    n, epsilon, mechanism, gamma
        As in `parity_bound`.

    Returns
    -------
    float
        For two groups γ + Σ_a E|noise_a|/n_a + √(1/(4 n_a)), where E|noise| is 1/ε for "laplace" and 1/sinh ε for
        "geometric". For more groups these two sums are replaced by smaller numbers, of order log k and √log k.

    Raises
    ------
    ValueError
        If a number of rows is not positive, an ε is not above 0, or γ is not in [0, 1].

    References
    ----------
    Ghoukasian and Asoodeh (ISIT 2024), Proposition 4 (fairness); Ghoukasian (thesis, 2024), Proposition 9, for two
    groups. More groups and the band are ours.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> round(dpf.expected_parity_bound((1000, 2000), 1.0), 4)
    0.0285
    """
    counts, epsilons = groups_of(n, epsilon)
    one_of(mechanism, "mechanism", MECHANISMS)
    means = [mean_noise(e, mechanism) / k for k, e in zip(counts, epsilons, strict=True)]
    deviations = [math.sqrt(1 / (4 * k)) for k in counts]
    noise, sampling = sum(means), sum(deviations)
    if len(counts) > 2:
        tails = [
            noise_excess(e, k, mechanism) for k, e in zip(counts, epsilons, strict=True) if not math.isinf(e)
        ]
        noise = min(noise, expected_range(tails, means))
        sampling = min(sampling, expected_range([sampling_excess(k) for k in counts], deviations))
    return checked_gamma(gamma) + noise + sampling


def mean_noise(epsilon: float, mechanism: Mechanism) -> float:
    """Return the mean size of the noise on a count: 1/ε for Laplace noise, 1/sinh ε for geometric noise."""
    if mechanism == "laplace":
        return 1 / epsilon
    return 1 / math.sinh(epsilon) if epsilon < 700 else 0.0


def parity_violation_probability(
    gap: Any, *, rates: Any, n: Any, epsilon: Any, mechanism: Mechanism = "laplace"
) -> Any:
    """Return the exact probability that the parity gap of `PrivateFairPostprocessor` exceeds a value.

    The gap is that of the fitted rule in the population: the expected difference over people and flips. It is random
    because the rows given to `fit` and the noise are. The probability is computed by convolution and one numerical
    integral, to a relative accuracy of 1e-10.

    Parameters
    ----------
    gap : float or array
        Value or values in [0, 1].
    rates : (float, float)
        Selection rates (α, β) of the two groups in the population, before the flips. Rates below 1e-100 count as 0.
    n, epsilon, mechanism
        As in `parity_bound`.

    Returns
    -------
    float or ndarray
        P(parity gap > gap).

    Raises
    ------
    ValueError
        If a gap or a rate is outside [0, 1], if a number of rows is not positive, or if an ε is not above 0.

    Examples
    --------
    `parity_bound` says that the gap exceeds 0.093 with probability at most 5 %. It exceeds even 0.05 only in about 2 of
    1,000 cases.

    >>> import dpfair_lib as dpf
    >>> print(round(dpf.parity_violation_probability(0.05, rates=(0.6, 0.4), n=(1000, 2000), epsilon=1.0), 4))
    0.0018
    """
    return _at_each(gap, "gap", violation_probability, _rates(rates), _laws(rates, n, epsilon, mechanism))


def excess_change_probability(
    excess: Any, *, rates: Any, n: Any, epsilon: Any, mechanism: Mechanism = "laplace"
) -> Any:
    """Return the exact probability that Algorithm 2 changes more than the least by over a given amount.

    The least is the smallest sum of the groups' change rates among all classifiers, randomised ones included,
    whose parity gap is at most that of the result.

    Parameters
    ----------
    excess : float or array
        Value or values in [0, 1].
    rates, n, epsilon, mechanism
        As in `parity_violation_probability`.

    Returns
    -------
    float or ndarray
        P(summed changes − least > excess), to a relative accuracy of 1e-10.

    Raises
    ------
    ValueError
        As `parity_violation_probability`.

    References
    ----------
    ISIT, Theorem 3 (utility): the printed bound on the excess is 5/2 times `parity_bound`.
    """
    return _at_each(excess, "excess", excess_probability, _rates(rates), _laws(rates, n, epsilon, mechanism))


def _at_each(
    values: Any,
    name: str,
    chance: Callable[..., float],
    rates: tuple[float, float],
    laws: tuple[RateLaw, RateLaw],
) -> Any:
    # sums of several terms may pass 1 by a rounding
    if np.ndim(values) == 0:
        return min(chance(rates, laws, float(as_single_rate(values, name))), 1.0)
    numbers = [float(as_single_rate(value, name)) for value in as_vector(values, name)]
    return np.array([min(chance(rates, laws, value), 1.0) for value in numbers])


def expected_parity_gap(*, rates: Any, n: Any, epsilon: Any, mechanism: Mechanism = "laplace") -> float:
    """Return the exact expectation of the parity gap of Algorithm 2, to nine digits.

    Parameters
    ----------
    rates, n, epsilon, mechanism
        As in `parity_violation_probability`.

    Returns
    -------
    float
        E[gap], over the sample and the noise.

    Raises
    ------
    ValueError
        As `parity_violation_probability`.
    """
    return expected_gap(_rates(rates), _laws(rates, n, epsilon, mechanism))


def gap_quantile(eta: float, *, rates: Any, n: Any, epsilon: Any, mechanism: Mechanism = "laplace") -> float:
    """Return the smallest value that the parity gap exceeds with probability at most η, given the rates.

    Parameters
    ----------
    eta : float
        Failure probability in (0, 1).
    rates, n, epsilon, mechanism
        As in `parity_violation_probability`.

    Returns
    -------
    float
        The quantile, to 1e-12.

    Raises
    ------
    ValueError
        As `parity_violation_probability`; if η is not in (0, 1).
    """
    eta = inside_unit(eta, "eta")
    laws, pair = _laws(rates, n, epsilon, mechanism), _rates(rates)
    low, high = 0.0, 1.0
    if violation_probability(pair, laws, low) <= eta:
        return low
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (low, middle) if violation_probability(pair, laws, middle) <= eta else (middle, high)
    # the law counts gaps within 1e-12 of the value as not exceeding it; stay on the safe side of that
    return min(high + 2e-12, 1.0)


def sizes(n: Any, groups: int = 2) -> tuple[int, ...]:
    """Return one row count per group from one number or a sequence."""
    return tuple(as_count(value, "n", 1) for value in _each(n, "n", groups))


def noise_levels(epsilon: Any, groups: int = 2) -> tuple[float, ...]:
    """Return one ε per group from one number or a sequence; infinity stands for no noise."""
    found = tuple(
        number(value, "epsilon", "a number above 0") for value in _each(epsilon, "epsilon", groups)
    )
    if min(found) <= 0:
        raise ValueError(f"epsilon: found {epsilon}, expected a number above 0, or one per group")
    return found


def number_of_groups(*given: Any) -> int:
    """Return the length of the first argument that is a sequence of at least two; two if all are numbers."""
    return next((len(value) for value in given if _is_listed(value) and len(value) > 1), 2)


def _rates(rates: Any) -> tuple[float, float]:
    first, second = (float(as_single_rate(rate, "rates")) for rate in _pair(rates, "rates"))
    return first * (first >= LEAST_RATE), second * (second >= LEAST_RATE)


def _laws(rates: Any, n: Any, epsilon: Any, mechanism: Mechanism) -> tuple[RateLaw, RateLaw]:
    one_of(mechanism, "mechanism", MECHANISMS)
    counts, epsilons = sizes(n), noise_levels(epsilon)
    if max(counts) > MOST_ROWS:
        raise ValueError(f"n: found {max(counts)}, expected at most {MOST_ROWS} for the exact law")
    for value in epsilons:
        if mechanism == "laplace" and LARGEST_EPSILON < value < math.inf:
            raise ValueError(
                f"epsilon: found {value:g}, expected at most {LARGEST_EPSILON:g}, or infinity, for the exact law: "
                "a density so narrow is not resolved"
            )
    first, second = zip(_rates(rates), counts, epsilons, strict=True)
    return RateLaw.of(*first, mechanism), RateLaw.of(*second, mechanism)


def _each(value: Any, name: str, groups: int) -> tuple[Any, ...]:
    if not _is_listed(value):
        return (value,) * groups
    if len(value) != groups:
        raise ValueError(f"{name}: found {len(value)} values, expected one number, or one per group")
    return tuple(value)


def _is_listed(value: Any) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) and np.ndim(value) > 0
