"""The exact law of the gap of true positive rates, given how many rows of true label 1 each group has.

The noisy true positive rates of the groups are independent, and each moves to the band as for parity. So the law is
that of the parity gap, with other laws of the noisy rates (`share_law`). The numbers of positives are given: for random
ones it is the mean of these laws.

Which group is the most accurate depends on the *noisy* numbers of positives. These are not independent of the noisy
rates, so the product of the groups' laws does not hold given that one of them decides. Where the same group decides but
for a probability below 1e-10, the law is that of this group; else it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpfair_lib._arguments import inside_unit, one_of
from dpfair_lib._validation import as_count
from dpfair_lib.central.gap_law import Mechanism
from dpfair_lib.central.several_groups.opportunity import noise_reach
from dpfair_lib.central.several_groups.per_group import (
    MECHANISMS,
    at_each,
    check_resolved,
    each_group,
    noise_levels,
    number_of_groups,
    selection_rates,
)
from dpfair_lib.central.several_groups.rule_law import GapLaw, rule_for, without_midpoint
from dpfair_lib.central.several_groups.share_law import share_law
from dpfair_lib.central.several_groups.targets import checked_gamma, checked_rate, noise_variance

MOST_POSITIVES = 100_000  # more take minutes
NEVER = 1e-12  # probability that one noise is beyond what is allowed for it


def opportunity_violation_probability(
    gap: Any, *, rates: Any, positives: Any, epsilon: Any, mechanism: Mechanism = "laplace",
    rate: str | float = "midpoint", gamma: float = 0.0,
) -> Any:  # fmt: skip
    """Return the exact probability that the gap of true positive rates exceeds a value, for equal opportunity.

    It is for `PrivateFairPostprocessor` with ``notion="equal_opportunity"``. The gap is that of the fitted rule in the
    population: the expected difference over people of true label 1 and flips. It is random because the predicted labels
    of these people and the noise are. It needs the true rates, so it is for planning; `opportunity_bound` needs only
    what is released.

    Parameters
    ----------
    gap : float or array
        Value or values in [0, 1].
    rates : sequence of float
        True positive rates of the groups in the population, before the flips.
    positives : int or sequence of int
        Number of rows of true label 1 of each group in `fit`, at most 100,000. For random numbers the probability is
        the mean over them.
    epsilon : float or sequence of float
        ε of the noise on both counts of each group; infinity for no noise.
    mechanism : {"laplace", "geometric"}
        Distribution of the noise.
    rate, gamma
        As in `PrivateFairPostprocessor`. The midpoint of a band has no exact law here, nor that of four groups or a
        larger even number. "most-accurate" has one where the numbers of positives differ by so much that noise does not
        decide which group it is.

    Returns
    -------
    float or ndarray
        P(gap > value): exact for geometric noise, or none, where few pairs of noisy counts are likely. Else it is right
        to about 1e-4 for Laplace noise, and to about 0.01 for geometric noise beside few positives.

    Raises
    ------
    ValueError
        If a gap or a rate is outside [0, 1], if a number of positives is negative or too large, if an ε is not above 0,
        if γ or the rule is out of its range, if the rule has no exact law, or if geometric noise of a small ε has too
        many values.

    Examples
    --------
    >>> from dpfair_lib.central import opportunity_violation_probability
    >>> given = {"rates": (0.55, 0.75), "positives": (1000, 2000), "epsilon": 1.0}
    >>> print(round(opportunity_violation_probability(0.04, **given), 4))
    0.0075
    """
    return at_each(gap, "gap", _law(rates, positives, epsilon, mechanism, rate, gamma).exceeds)


def expected_opportunity_gap(
    *, rates: Any, positives: Any, epsilon: Any, mechanism: Mechanism = "laplace", rate: str | float = "midpoint",
    gamma: float = 0.0,
) -> float:  # fmt: skip
    """Return the exact expectation of the gap of true positive rates, for equal opportunity.

    Parameters
    ----------
    rates, positives, epsilon, mechanism, rate, gamma
        As in `opportunity_violation_probability`.

    Returns
    -------
    float
        E[gap], over the predicted labels and the noise, as accurate as the probability.

    Raises
    ------
    ValueError
        As `opportunity_violation_probability`.

    Examples
    --------
    >>> from dpfair_lib.central import expected_opportunity_gap
    >>> print(round(expected_opportunity_gap(rates=(0.55, 0.75), positives=(1000, 2000), epsilon=1.0), 4))
    0.0119
    """
    return _law(rates, positives, epsilon, mechanism, rate, gamma).mean()


def opportunity_gap_quantile(
    eta: float, *, rates: Any, positives: Any, epsilon: Any, mechanism: Mechanism = "laplace",
    rate: str | float = "midpoint", gamma: float = 0.0,
) -> float:  # fmt: skip
    """Return the smallest value that the gap of true positive rates exceeds with probability at most η.

    Parameters
    ----------
    eta : float
        Failure probability in (0, 1).
    rates, positives, epsilon, mechanism, rate, gamma
        As in `opportunity_violation_probability`.

    Returns
    -------
    float
        The quantile of that law, to 1e-6 and not below it.

    Raises
    ------
    ValueError
        As `opportunity_violation_probability`; if η is not in (0, 1).

    Examples
    --------
    >>> from dpfair_lib.central import opportunity_gap_quantile
    >>> given = {"rates": (0.55, 0.75), "positives": (1000, 2000), "epsilon": 1.0}
    >>> print(round(opportunity_gap_quantile(0.05, **given), 4))
    0.0292
    """
    return _law(rates, positives, epsilon, mechanism, rate, gamma).quantile(inside_unit(eta, "eta"))


def _law(rates: Any, positives: Any, epsilon: Any, mechanism: Mechanism, rate: Any, gamma: Any) -> GapLaw:
    k = number_of_groups(rates, positives, epsilon)
    counts = [as_count(one, "positives", 0) for one in each_group(positives, "positives", k)]
    if max(counts) > MOST_POSITIVES:
        raise ValueError(
            f"positives: found {max(counts)}, expected at most {MOST_POSITIVES} for the exact law"
        )
    epsilons, alphas = noise_levels(epsilon, k), selection_rates(rates, k)
    one_of(mechanism, "mechanism", MECHANISMS)
    check_resolved(epsilons, mechanism)
    aim, band = checked_rate(rate), checked_gamma(gamma)
    anchor = surely_most_accurate(counts, epsilons, mechanism) if aim == "most-accurate" else None
    rule = without_midpoint(rule_for(aim, band, k, anchor), k)
    laws = tuple(share_law(*each, mechanism) for each in zip(alphas, counts, epsilons, strict=True))
    return GapLaw(alphas, laws, rule)


def surely_most_accurate(positives: Sequence[int], epsilons: Sequence[float], mechanism: Mechanism) -> int:
    """Return the place of the group that the noisy numbers of positives make the most accurate.

    Parameters
    ----------
    positives : sequence of int
        Numbers of rows of true label 1, without noise.
    epsilons : sequence of float
        ε of the noise on both counts of each group.
    mechanism : {"laplace", "geometric"}
        The noise.

    Returns
    -------
    int
        The same group but for a probability of at most 2e-12 for each group.

    Raises
    ------
    ValueError
        If noise may decide which group it is.
    """
    least, most = [], []
    for size, epsilon in zip(positives, epsilons, strict=True):
        # each of two noises is within the reach; a count that is cut at 0 only comes closer
        reach, variance = noise_reach(epsilon, NEVER, mechanism), noise_variance(epsilon, mechanism)
        # of at least one positive, as the post-processor has it
        smallest, largest = max(size - 2 * reach, 1.0), max(size + 2 * reach, 1.0)
        most.append(1 / (4 * smallest) + variance / smallest**2)
        least.append(1 / (4 * largest) + variance / largest**2)
    best = most.index(min(most))
    if any(
        one < most[best] or (one == most[best] and at < best) for at, one in enumerate(least) if at != best
    ):
        raise ValueError(
            f"rate: found 'most-accurate' with positives={tuple(positives)}, where noise decides which group is the "
            "most accurate, so there is no exact law here; expected 'median' or a number, or other positives"
        )
    return best
