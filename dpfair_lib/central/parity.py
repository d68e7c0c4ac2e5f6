"""The parity gap and the excess changes after post-processing with noisy rates: published bounds and exact values."""

from __future__ import annotations

import math
from typing import Any

from dpfair_lib._arguments import inside_unit, one_of
from dpfair_lib.central.gap_law import Mechanism, excess_probability
from dpfair_lib.central.several_groups.expected_range import expected_range, noise_excess, sampling_excess
from dpfair_lib.central.several_groups.per_group import (
    MECHANISMS,
    at_each,
    noise_levels,
    number_of_groups,
    rate_laws,
    selection_rates,
    sizes,
)
from dpfair_lib.central.several_groups.rule_law import GapLaw
from dpfair_lib.central.several_groups.targets import checked_gamma
from dpfair_lib.privacy import DiscreteLaplaceMechanism


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
        Number of rows of each group given to `fit`. Two groups, unless this or ``epsilon`` says how many. Counts are
        divided by these numbers: with other ``group_sizes`` the bound does not hold. A divisor twice the number of
        rows halves a rate, however many rows there are.
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
        γ plus the sum of the two largest of log(2k/η)/(n_a ε_a) + √(log(4k/η)/(2 n_a)), with k groups. For "geometric"
        the first term is the smallest t/n_a with P(|noise| > t) ≤ η/(2k). If a group is small, the number is above 1
        and says nothing.

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
    at most 0.141.

    >>> import dpfair_lib as dpf
    >>> round(dpf.parity_bound((1000, 2000), 1.0, eta=0.05), 3)
    0.093
    >>> round(dpf.parity_bound((1000, 2000, 500), 1.0, eta=0.05), 3)
    0.141
    """
    # every group's change errs by less than its rate does: the two worst errors make the gap
    return checked_gamma(gamma) + sum(sorted(rate_errors(n, epsilon, eta, mechanism=mechanism))[-2:])


def rate_errors(n: Any, epsilon: Any, eta: float, *, mechanism: Mechanism = "laplace") -> tuple[float, ...]:
    """Return how far each group's noisy rate may be off, all of them at once with probability at least 1 − η.

    `parity_bound` is γ plus the two largest of these numbers. Each depends on public numbers only. Where one is ½ or
    more, the noisy rate says nothing: the guess ½ is never off by more.

    Parameters
    ----------
    n, epsilon, eta, mechanism
        As in `parity_bound`.

    Returns
    -------
    tuple of float
        One bound for each group, for all selection rates.

    Raises
    ------
    ValueError
        As `parity_bound`.

    Examples
    --------
    >>> from dpfair_lib.central import rate_errors
    >>> [round(error, 3) for error in rate_errors((5000, 400, 12), 1.0, eta=0.05)]
    [0.024, 0.095, 0.877]
    """
    k = number_of_groups(n, epsilon)
    counts, epsilons = sizes(n, k), noise_levels(epsilon, k)
    eta = inside_unit(eta, "eta")
    one_of(mechanism, "mechanism", MECHANISMS)
    return tuple(
        _noise_tail(e, eta / (2 * k), mechanism) / size + math.sqrt(math.log(4 * k / eta) / (2 * size))
        for size, e in zip(counts, epsilons, strict=True)
    )


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
    k = number_of_groups(n, epsilon)
    counts, epsilons = sizes(n, k), noise_levels(epsilon, k)
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
    gap: Any, *, rates: Any, n: Any, epsilon: Any, mechanism: Mechanism = "laplace", rate: str | float = "midpoint",
    gamma: float = 0.0,
) -> Any:  # fmt: skip
    """Return the exact probability that the parity gap of `PrivateFairPostprocessor` exceeds a value.

    The gap is that of the fitted rule in the population: the expected difference over people and flips. It is
    random because the rows given to `fit` and the noise are. For two groups, the midpoint and γ = 0 the probability is
    computed by convolution and one numerical integral, to a relative accuracy of 1e-10; else by sums over the groups'
    exact laws. These leave nothing out where noise is geometric, or none, and the groups are small or the rate is a
    number. Else they take points of these laws. For Laplace noise errors up to 3e-5 were seen, and somewhat more where
    rates are smaller than the noise. For geometric noise errors up to 4e-4 were seen, up to 2e-3 for more than 30
    groups of about 100 rows, or at a gap that is the difference of two rates, and up to 8e-3 where a band lies between
    rates near 0 and near 1, so that the gap varies by less than a thousandth. Where two noisy rates decide, errors up
    to 1e-3 were seen; for geometric noise and rates smaller than the noise up to 3e-3, and up to 0.03 at a gap of
    positive probability.

    Parameters
    ----------
    gap : float or array
        Value or values in [0, 1].
    rates : sequence of float
        Selection rates of the groups in the population, before the flips. Rates below 1e-100 count as 0.
    n, epsilon, mechanism
        As in `parity_bound`.
    rate, gamma
        As in `PrivateFairPostprocessor`. The midpoint of a band, and that of four groups or a larger even number, lies
        between two noisy rates, and the sum goes over all pairs of groups that may have these. Ten groups of 10,000
        rows take a fraction of a second where few groups are near the middle, and seconds where all are (for a band,
        ten or more).

    Returns
    -------
    float or ndarray
        P(parity gap > gap).

    Raises
    ------
    ValueError
        If a gap or a rate is outside [0, 1], if a number of rows is not positive, if an ε is not above 0, or if γ or
        the rule is out of its range.

    Examples
    --------
    `parity_bound` says that the gap exceeds 0.093 with probability at most 5 %. It exceeds even 0.05 only in about 2 of
    1,000 cases.

    >>> import dpfair_lib as dpf
    >>> print(round(dpf.parity_violation_probability(0.05, rates=(0.6, 0.4), n=(1000, 2000), epsilon=1.0), 4))
    0.0018
    """
    law = GapLaw.of(rates, n, epsilon, mechanism, rate, gamma)
    return at_each(gap, "gap", law.exceeds)


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

    Examples
    --------
    >>> from dpfair_lib.central import excess_change_probability
    >>> given = {"rates": (0.3, 0.5), "n": (1000, 2000), "epsilon": 0.1}
    >>> print(round(excess_change_probability(0.02, **given), 3))
    0.305
    """
    alpha, beta = selection_rates(rates, 2)
    first, second = rate_laws((alpha, beta), sizes(n, 2), noise_levels(epsilon, 2), mechanism)
    return at_each(excess, "excess", lambda value: excess_probability((alpha, beta), (first, second), value))


def expected_parity_gap(
    *, rates: Any, n: Any, epsilon: Any, mechanism: Mechanism = "laplace", rate: str | float = "midpoint",
    gamma: float = 0.0,
) -> float:  # fmt: skip
    """Return the exact expectation of the parity gap of `PrivateFairPostprocessor`.

    For two groups, the midpoint and γ = 0 nine digits are right. Where two noisy rates decide, it takes seconds, and
    where noise is often cut to 0 or 1, up to minutes.

    Parameters
    ----------
    rates, n, epsilon, mechanism, rate, gamma
        As in `parity_violation_probability`.

    Returns
    -------
    float
        E[gap], over the sample and the noise.

    Raises
    ------
    ValueError
        As `parity_violation_probability`.

    Examples
    --------
    >>> from dpfair_lib.central import expected_parity_gap
    >>> print(round(expected_parity_gap(rates=(0.3, 0.5), n=(1000, 2000), epsilon=0.1), 4))
    0.016
    """
    return GapLaw.of(rates, n, epsilon, mechanism, rate, gamma).mean()


def gap_quantile(
    eta: float, *, rates: Any, n: Any, epsilon: Any, mechanism: Mechanism = "laplace", rate: str | float = "midpoint",
    gamma: float = 0.0,
) -> float:  # fmt: skip
    """Return the smallest value that the parity gap exceeds with probability at most η, given the rates.

    Parameters
    ----------
    eta : float
        Failure probability in (0, 1).
    rates, n, epsilon, mechanism, rate, gamma
        As in `parity_violation_probability`.

    Returns
    -------
    float
        The quantile, to 1e-12 for two groups, the midpoint and γ = 0, else to 1e-6, and not below it.

    Raises
    ------
    ValueError
        As `parity_violation_probability`; if η is not in (0, 1).

    Examples
    --------
    In 95 of 100 runs the gap is at most

    >>> from dpfair_lib.central import gap_quantile
    >>> print(round(gap_quantile(0.05, rates=(0.3, 0.5), n=(1000, 2000), epsilon=0.1), 4))
    0.0402
    """
    return GapLaw.of(rates, n, epsilon, mechanism, rate, gamma).quantile(inside_unit(eta, "eta"))
