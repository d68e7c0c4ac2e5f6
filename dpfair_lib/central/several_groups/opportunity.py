"""True positive rates from noisy counts: what they cost, how far they may be off, and the gap that is left.

Of each group two cells are counted: the true positives t and the false negatives f. They make up the m = t + f rows of
true label 1. With noises u and v the noisy rate is x = (t + u)/(m + u + v), and for every number ρ

    x − ρ = ((t − ρ m) + (1 − ρ) u − ρ v) / (m + u + v) .

The divisor on the right is released. With ρ = t/m the first term is 0; with the rate of the population it is the
sampling error of m rows. The other two terms are a weighted mean of two noises, up to a sign; a mean of two Laplace
noises exceeds no value more often than one of them does.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dpfair_lib._arguments import inside_unit, one_of
from dpfair_lib._arrays import space_of
from dpfair_lib._validation import as_numbers, as_single_rate
from dpfair_lib.central.flips import flip_probabilities
from dpfair_lib.central.gap_law import Mechanism
from dpfair_lib.central.released_rates import release_epsilon
from dpfair_lib.central.several_groups.per_group import MECHANISMS, noise_levels
from dpfair_lib.privacy import DiscreteLaplaceMechanism

PUBLIC = {
    "replace-within-group": "group sizes of the rows given to fit, the two group labels",
    "add-remove": "the two group labels",
    "replace-one": "number of rows, the two group labels",
    "sensitive-attribute": "everything but who is in which group",
}
"""Relation → what is known to everyone."""


def count_positives(y_pred: Any, truth: Any, codes: Any, groups: int) -> np.ndarray:
    """Return each group's numbers of true positives and of false negatives.

    Parameters
    ----------
    y_pred, truth : array of shape (n,)
        Predicted and true labels, 0 and 1.
    codes : array of shape (n,)
        Each row's place among the groups; all three in one place.
    groups : int
        How many there are.

    Returns
    -------
    ndarray of shape (groups, 2)
        Whole numbers.
    """
    space = space_of(y_pred=y_pred, truth=truth, codes=codes)
    return space.counts_where(2 * codes + (1 - y_pred), truth == 1, 2 * groups).reshape(groups, 2)


def true_positive_rate(found: Any, missed: Any) -> Any:
    """Return the rate that noisy counts of true positives and false negatives say.

    Parameters
    ----------
    found, missed : float or Fraction
        The two noisy counts. A negative one counts as 0.

    Returns
    -------
    float or Fraction
        In [0, 1]; one half if both are 0, which is never off by more than one half.
    """
    # halves, so that their sum is finite
    found, missed = max(found, 0) / 2, max(missed, 0) / 2
    return found / (found + missed) if found + missed > 0 else 0.5


def opportunity_epsilon(epsilons: Sequence[Any], relation: str) -> Any:
    """Return the smallest ε with which the noisy counts of all groups together are (ε, 0)-DP.

    A record that is added or removed moves one cell. One that changes its group moves the same cell of two groups. One
    that is replaced may move both cells of one group, also where its group stays.

    Parameters
    ----------
    epsilons : sequence of float or Fraction
        ε_a > 0 of the noise on both cells of each group, for two groups or more.
    relation : str
        As in `release_epsilon`.

    Returns
    -------
    float or Fraction
        The largest ε_a for "add-remove", the sum of the two largest for "sensitive-attribute", and else twice the
        largest. The same for both mechanisms; rounded upwards.

    Raises
    ------
    ValueError
        If an ε is not positive or the relation is unknown.
    """
    if relation in ("replace-within-group", "replace-one"):
        return release_epsilon([each for each in epsilons for _ in range(2)], "replace-one")
    return release_epsilon(epsilons, relation)


def noise_reach(epsilon: float, failure: float, mechanism: Mechanism) -> float:
    """Return a number that a weighted mean of two noises exceeds in size with probability at most ``failure``.

    Parameters
    ----------
    epsilon : float
        Of each of the two independent noises; infinity for none.
    failure : float
        In (0, 1).
    mechanism : {"laplace", "geometric"}
        Their law.

    Returns
    -------
    float
        It holds for all weights, and for (1 − ρ) u − ρ v. For "laplace" it is what one noise exceeds with just this
        probability. For "geometric" it is the smaller of two: what one of two noises exceeds with half the probability,
        and 1 more than the number for "laplace", since geometric noise is Laplace noise rounded.
    """
    if math.isinf(epsilon):
        return 0.0
    laplace = -math.log(failure) / epsilon
    if mechanism == "laplace":
        return laplace
    return min(DiscreteLaplaceMechanism(1 / epsilon, 1).error_bound(failure / 2), laplace + 1)


def opportunity_errors(
    counts: Any, epsilon: Any, eta: float, *, mechanism: Mechanism = "laplace", population: bool = True
) -> tuple[float, ...]:
    """Return how far each group's noisy true positive rate may be off, all of them at once with probability 1 − η.

    Parameters
    ----------
    counts : sequence of pairs
        The noisy numbers of true positives and false negatives of each group, as released; negative ones count as 0.
        For planning, a guess.
    epsilon : float or sequence of float
        ε of the noise on both counts of each group; infinity for no noise.
    eta : float
        Failure probability η in (0, 1).
    mechanism : {"laplace", "geometric"}
        Distribution of the noise.
    population : bool
        Whether the true rates are those of the population, from which the rows given to `fit` were drawn independently,
        or else those of these rows.

    Returns
    -------
    tuple of float
        For the rows of `fit`, q/m for each group, where m is the sum of its noisy counts and q is `noise_reach` at η/k.
        For the population (q + √((m + 2q) ln(2/β)/2))/m, with β = η/(3k) and q at β. Infinite if m is 0.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> from dpfair_lib.central import opportunity_errors
    >>> [round(error, 3) for error in opportunity_errors([(600, 400), (60, 40)], 1.0, eta=0.05)]
    [0.057, 0.221]
    """
    return _errors(_checked_counts(counts), epsilon, eta, mechanism, population)


def _errors(
    table: np.ndarray, epsilon: Any, eta: float, mechanism: Mechanism, population: bool
) -> tuple[float, ...]:
    epsilons = noise_levels(epsilon, len(table))
    failure = inside_unit(eta, "eta") / len(table)
    one_of(mechanism, "mechanism", MECHANISMS)

    @functools.cache
    def reach(each: float) -> float:
        return noise_reach(each, failure / 3 if population else failure, mechanism)

    errors = []
    for positives, each in zip(table.sum(axis=1).tolist(), epsilons, strict=True):
        if not 0 < positives < math.inf:
            errors.append(math.inf)
            continue
        noise = reach(each)
        drawn = math.sqrt((positives + 2 * noise) * math.log(6 / failure) / 2) if population else 0.0
        errors.append((noise + drawn) / positives)
    return tuple(errors)


def opportunity_bound(
    counts: Any, epsilon: Any, eta: float, *, band: tuple[Any, Any], mechanism: Mechanism = "laplace",
    population: bool = True,
) -> float:  # fmt: skip
    """Return a number that the gap of true positive rates exceeds with probability at most η.

    It is for `PrivateFairPostprocessor` with ``notion="equal_opportunity"``, and depends on what that releases alone:
    it may be published. The gap is that of the fitted rule, over all draws of its flips. A group without a row of true
    label 1 has no true positive rate, and does not count.

    Parameters
    ----------
    counts, epsilon, eta, mechanism, population
        As in `opportunity_errors`. For the population the classifier must not have been trained on the same rows.
    band : (float, float)
        The lowest and the highest rate aimed at, `band_` of the post-processor.

    Returns
    -------
    float
        In [0, 1]. Each true rate is in an interval around its noisy rate, of the size of `opportunity_errors`, and the
        rule takes this interval to one of new rates. The number is the largest distance from an upper to a lower end of
        two groups' intervals; it is at most the band's width plus the two largest errors.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.central import opportunity_bound
    >>> adult = dpf.synthetic("adult", n=5000, random_state=0)
    >>> y_pred = (adult.X["education-num"] > 11).astype(int)
    >>> fair = dpf.PrivateFairPostprocessor(
    ...     epsilon=1.0, notion="equal_opportunity", noise="study", random_state=0
    ... )
    >>> fair = fair.fit(y_pred, adult.y, sensitive_features=adult.sensitive_features)
    >>> counts = list(fair.noisy_counts_.values())
    >>> round(opportunity_bound(counts, 1.0, eta=0.05, band=fair.band_), 2)
    0.2
    >>> round(opportunity_bound(counts, 1.0, eta=0.05, band=fair.band_, population=False), 3)
    0.022
    """
    table = _checked_counts(counts)
    low, high = (as_single_rate(end, "band") for end in _checked_band(band))
    errors = _errors(table, epsilon, eta, mechanism, population)
    lowest, highest = [], []
    for (found, missed), error in zip(table.tolist(), errors, strict=True):
        rate = true_positive_rate(found, missed)
        down, up = flip_probabilities(rate, min(max(rate, low), high))
        ends = max(rate - error, 0.0), min(rate + error, 1.0)
        first, last = (end * (1 - down) + (1 - end) * up for end in ends)
        lowest.append(first)
        highest.append(last)
    pairs = itertools.permutations(range(len(table)), 2)
    return float(min(max(highest[a] - lowest[b] for a, b in pairs), 1.0))


def _checked_counts(counts: Any) -> np.ndarray:
    """Return counts of at least two groups, none of them negative."""
    pairs = list(counts) if isinstance(counts, Iterable) else []
    if len(pairs) < 2 or any(np.shape(pair) != (2,) for pair in pairs):
        raise ValueError(f"counts: found {counts!r}, expected two numbers for each of at least two groups")
    numbers = as_numbers([one for pair in pairs for one in pair], "counts")
    return np.maximum(numbers.astype(float), 0.0).reshape(-1, 2)


def _checked_band(band: Any) -> tuple[Any, Any]:
    if not isinstance(band, Sequence) or len(band) != 2 or not band[0] <= band[1]:
        raise ValueError(f"band: found {band!r}, expected its lower and its upper end, in [0, 1]")
    return band[0], band[1]
