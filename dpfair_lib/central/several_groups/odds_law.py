"""The law of the gap that private equalized odds leaves for γ = 0, a bound for γ > 0, and limits without slack.

`EqualizedOddsPostprocessor` then moves all groups to one pair of rates. Whatever their number, that is one of three
points: everybody is rejected, everybody is selected, or the corner of what all groups can reach, where a line through
(0, 0) of slope min T/F meets one through (1, 1) of slope max (1 − T)/(1 − F). At the corner (f, t) the true rates of a
group miss it by κ (F − F̃) and κ (T − T̃), with κ = (t − f)/(T̃ − F̃) in [0, 1] and F̃, T̃ its noisy rates.

For two groups the law is an integral along the edge of a square (`meeting_lines`). For more groups κ ≤ 1 gives an upper
bound whose labels are independent, and the two groups that decide give a lower one. For every γ, and where noise may
turn a group round, the sizes of the two largest errors of rates give an upper bound.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpfair_lib._arguments import inside_unit, one_of, positive
from dpfair_lib._validation import as_count, as_single_rate
from dpfair_lib.central.gap_law import Mechanism
from dpfair_lib.central.several_groups.noisy_labels import NoisyLabel
from dpfair_lib.central.several_groups.odds_gaps import OddsLaw, law_of_lists
from dpfair_lib.central.several_groups.per_group import (
    LEAST_RATE,
    MECHANISMS,
    at_each,
    check_resolved,
    each_group,
    noise_levels,
)
from dpfair_lib.central.several_groups.targets import checked_gamma

LEFT_OUT = (
    1e-9,
    1e-7,
    1e-5,
    1e-4,
    1e-3,
)  # of each group and label; the best one is taken, or the first good one
GOOD = 0.02  # how much of a usual gap, and of probability, may be open
RARE = (1e-9, 1e-6, 1e-4, 1e-3)  # probability of noisy rows outside of bounds; the best one is taken
MOST_ROWS = 1_000_000
LEAST_LAPLACE = 1e-3  # smaller ε was not tried
FIRST = 64  # rows that are tried first


def odds_violation_bounds(
    gap: Any, *, false_positive: Any, true_positive: Any, negatives: Any, positives: Any, epsilon: Any,
    population: bool = True, mechanism: Mechanism = "geometric", gamma: float = 0.0,
) -> tuple[Any, Any]:  # fmt: skip
    """Bound the probability that the gap of private equalized odds exceeds a value, from both sides.

    It is for `EqualizedOddsPostprocessor` with ``relaxed=False`` and without ``reference``. The gap is the largest
    difference of two groups' true or false positive rates under the fitted rule, over flips. It is random because the
    noise is, and the predicted labels too if it is that of the population. It needs the true rates, so it is for
    planning; the post-processor's ``gap_bound_`` needs only what is released.

    Parameters
    ----------
    gap : float or array
        Value or values in [0, 1].
    false_positive, true_positive : sequence of float
        Rates of the groups before the flips, in the population or on the rows: one for each of at least two groups.
    negatives, positives : int or sequence of int
        Number of rows of true label 0, and of 1, of each group in `fit`, at most a million.
    epsilon : float or sequence of float
        ε of the noise on each count; infinity for no noise. It is half of the post-processor's ε, and all of it for the
        relation "add-remove". For geometric noise at least 0.015; for Laplace noise at least 0.001, and at most 10,000
        where it is finite.
    population : bool
        Whether the predicted labels of `fit` are independent draws and the gap is that of the population; else the rows
        are as given, and the gap is that on them.
    mechanism : {"geometric", "laplace"}
        The noise on the counts.
    gamma : float
        γ of the post-processor, in [0, 1].

    Returns
    -------
    lower, upper : float or ndarray
        For two groups with many rows they lie about a hundredth apart where the gap is usual. They lie far apart in
        the tail, and where noise may give everybody one label; both may then say nearly nothing. For more groups the
        upper one comes from larger errors than occur, and the lower one from two groups, or is 0. For γ above 0, and
        where noise often turns a group's labels round, the lower one is 0, and the upper one is the probability that γ
        and the two largest errors of the noisy rates of one label exceed the gap together. A gap that is reached
        exactly counts as not exceeded only up to 1e-7, as the solver of the rule knows it no better.

    Raises
    ------
    ValueError
        If a gap or a rate is outside [0, 1], a number of rows is below 1 or too large, an ε is not above 0 or too small
        to list its noise, or a number of selected rows is not whole.

    Examples
    --------
    >>> from dpfair_lib.central import odds_violation_bounds
    >>> rates = {"false_positive": (0.1, 0.2), "true_positive": (0.7, 0.6)}
    >>> lower, upper = odds_violation_bounds(0.04, **rates, negatives=2000, positives=1000, epsilon=0.5)
    >>> print(round(lower, 3), round(upper, 3))
    0.03 0.031
    """
    law = _law(
        false_positive, true_positive, negatives, positives, epsilon,
        population=population, mechanism=mechanism, gamma=gamma,
    )  # fmt: skip
    return at_each(gap, "gap", law.exceeds_at_least), at_each(gap, "gap", law.exceeds_at_most)


def expected_odds_gap_bounds(
    *, false_positive: Any, true_positive: Any, negatives: Any, positives: Any, epsilon: Any, population: bool = True,
    mechanism: Mechanism = "geometric",
) -> tuple[float, float]:  # fmt: skip
    """Bound the expected gap of private equalized odds with γ = 0 for two groups, from both sides.

    Parameters
    ----------
    false_positive, true_positive, negatives, positives, epsilon, population, mechanism
        As in `odds_violation_bounds`.

    Returns
    -------
    lower, upper : float
        By quadrature of the probability over the gap. Where few noisy rates are likely, the probability has jumps, and
        both are right to about 1 %.

    Raises
    ------
    ValueError
        As `odds_violation_bounds`; if there are not two groups, or noise may turn a group's labels round.

    Examples
    --------
    >>> from dpfair_lib.central import expected_odds_gap_bounds
    >>> rates = {"false_positive": (0.1, 0.2), "true_positive": (0.7, 0.6)}
    >>> lower, upper = expected_odds_gap_bounds(**rates, negatives=2000, positives=1000, epsilon=0.5)
    >>> print(round(lower, 4), round(upper, 4))
    0.0167 0.0169
    """
    given = false_positive, true_positive, negatives, positives, epsilon
    law = _law(*given, population=population, mechanism=mechanism, gamma=0.0)
    if len(law.false) == 2 and law.turned >= 1:
        raise ValueError(
            f"true_positive: found {true_positive} beside false_positive={false_positive}, negatives={negatives} and "
            f"positives={positives}, where noise may turn the labels of a group round, so the expected gap is not "
            "bounded here; expected more rows, a larger ε, or rates that are farther apart"
        )
    return law.mean()


def odds_gap_quantile(
    eta: float, *, false_positive: Any, true_positive: Any, negatives: Any, positives: Any, epsilon: Any,
    population: bool = True, mechanism: Mechanism = "geometric", gamma: float = 0.0,
) -> float:  # fmt: skip
    """Return a value that the gap of private equalized odds exceeds with probability at most η.

    Parameters
    ----------
    eta : float
        Failure probability in (0, 1).
    false_positive, true_positive, negatives, positives, epsilon, population, mechanism, gamma
        As in `odds_violation_bounds`.

    Returns
    -------
    float
        The smallest one at which the upper bound is at most η, to 1e-6 and not below it; 1 if there is none.

    Raises
    ------
    ValueError
        As `odds_violation_bounds`; if η is not in (0, 1).

    Examples
    --------
    >>> from dpfair_lib.central import odds_gap_quantile
    >>> rates = {"false_positive": (0.1, 0.2), "true_positive": (0.7, 0.6)}
    >>> print(round(odds_gap_quantile(0.05, **rates, negatives=2000, positives=1000, epsilon=0.5), 3))
    0.036
    """
    chance = inside_unit(eta, "eta")
    given = false_positive, true_positive, negatives, positives, epsilon
    return _law(*given, population=population, mechanism=mechanism, gamma=gamma).quantile(chance)


def odds_records_needed(
    gap: float, eta: float, *, false_positive: Any, true_positive: Any, negatives: Any, positives: Any, epsilon: Any,
    mechanism: Mechanism = "geometric", gamma: float = 0.0,
) -> tuple[tuple[int, ...], tuple[int, ...]]:  # fmt: skip
    """Return how many rows are enough for the gap of private equalized odds in the population to be small.

    Parameters
    ----------
    gap, eta : float
        The gap, in (0, 1), that may be exceeded with probability at most η in (0, 1).
    false_positive, true_positive, epsilon, mechanism, gamma
        As in `odds_violation_bounds`.
    negatives, positives : float or sequence of float
        In which proportion the rows of true label 0, and of 1, of each group are: numbers above 0.

    Returns
    -------
    negatives, positives : tuple of int
        Rows of each group, for the least multiple of these numbers, to 1 %, that halving finds to be enough.

    Raises
    ------
    ValueError
        If an argument is out of its range, or if a million rows of one kind are not enough.

    Examples
    --------
    >>> from dpfair_lib.central import odds_records_needed
    >>> rates = {"false_positive": (0.1, 0.2), "true_positive": (0.7, 0.6)}
    >>> print(odds_records_needed(0.05, 0.05, **rates, negatives=2, positives=1, epsilon=0.5))
    ((1084, 1084), (542, 542))
    """
    allowed, chance = inside_unit(gap, "gap"), inside_unit(eta, "eta")
    k = len(_rates(false_positive, true_positive)[0])
    shares = [
        [positive(one, name) for one in each_group(value, name, k)]
        for name, value in (("negatives", negatives), ("positives", positives))
    ]
    largest = max(map(max, shares))

    def rows(most: float) -> tuple[tuple[int, ...], tuple[int, ...]]:
        found = [tuple(max(math.ceil(one / largest * most), 1) for one in label) for label in shares]
        return found[0], found[1]

    def enough(most: float) -> bool:
        given = false_positive, true_positive, *rows(most), epsilon
        law = _law(*given, population=True, mechanism=mechanism, gamma=gamma)
        return law.exceeds_at_most(allowed) <= chance

    low, high = 0.0, float(FIRST)
    while not enough(high):
        if high >= MOST_ROWS:
            raise ValueError(
                f"gap: found {gap} with eta={eta}, for which {MOST_ROWS} rows of one kind are not enough"
            )
        low, high = high, min(4 * high, MOST_ROWS)
    while high - low > max(0.01 * high, 1):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return rows(high)


def _law(
    false_positive: Any, true_positive: Any, negatives: Any, positives: Any, epsilon: Any, *, population: bool,
    mechanism: Mechanism, gamma: float,
) -> OddsLaw:  # fmt: skip
    rates = _rates(false_positive, true_positive)
    k = len(rates[0])
    if not isinstance(population, bool):
        raise ValueError(f"population: found {population!r}, expected True or False")
    one_of(mechanism, "mechanism", MECHANISMS)
    band = checked_gamma(gamma)
    counts = [
        [as_count(one, name, 1) for one in each_group(value, name, k)]
        for name, value in (("negatives", negatives), ("positives", positives))
    ]
    for name, rows in zip(("negatives", "positives"), counts, strict=True):
        if max(rows) > MOST_ROWS:
            raise ValueError(f"{name}: found {max(rows)}, expected at most {MOST_ROWS} for the exact law")
    epsilons = noise_levels(epsilon, k)
    check_resolved(epsilons, mechanism)
    if mechanism == "laplace" and min(epsilons) < LEAST_LAPLACE:
        raise ValueError(
            f"epsilon: found {min(epsilons):g}, expected at least {LEAST_LAPLACE:g} for the exact law"
        )
    if not population:
        _check_whole(rates, counts)
    for a in range(k):
        if rates[1][a] < rates[0][a]:  # the same rates can be reached with the predictions turned round
            rates[0][a], rates[1][a] = 1 - rates[0][a], 1 - rates[1][a]
    noisy = [
        [
            NoisyLabel(*each, population=population, mechanism=mechanism)
            for each in zip(one, rows, epsilons, strict=True)
        ]
        for one, rows in zip(rates, counts, strict=True)
    ]
    totals = [(2 * k * rare, _total(noisy[0], rare), _total(noisy[1], rare)) for rare in RARE]
    apart = all(low < high for low, high in zip(*rates, strict=True))
    best, doubt, moving = None, math.inf, 1.0
    for left_out in LEFT_OUT:
        labels = tuple(tuple(law.listed(left_out) for law in label) for label in noisy)
        law = law_of_lists(tuple(rates[0]), tuple(rates[1]), (labels[0], labels[1]), totals, band)
        law = law if apart else law._replace(turned=1.0)  # the bound for every rule is left
        # a gap that is off by a share of its usual size changes probabilities by about as much
        here = law.missing + (
            law.moved() / law.scale() if law.turned < 1 and law.moved() else law.turned >= 1
        )
        moving = min(moving, law.moving)
        if here < doubt:
            best, doubt = law, here
        if doubt <= GOOD:
            break
    assert best is not None
    return best._replace(moving=moving)


def _rates(false_positive: Any, true_positive: Any) -> list[list[float]]:
    """Return the rates of all groups; the smallest count as 0."""
    found = []
    for name, given in (("false_positive", false_positive), ("true_positive", true_positive)):
        if np.ndim(given) != 1 or isinstance(given, str):
            raise ValueError(f"{name}: found {given!r}, expected a sequence of one rate for each group")
        each = [float(as_single_rate(rate, name)) for rate in given]
        found.append([rate * (rate >= LEAST_RATE) for rate in each])
    if len(found[0]) < 2:
        raise ValueError(f"false_positive: found {len(found[0])} rate, expected those of at least 2 groups")
    if len(found[0]) != len(found[1]):
        raise ValueError(
            f"true_positive: found {len(found[1])} rates beside {len(found[0])} of false_positive, expected as many"
        )
    return found


def _total(label: list[NoisyLabel], rare: float) -> tuple[int, int]:
    each = [one.rows(rare) for one in label]
    return sum(fewest for fewest, _ in each), sum(most for _, most in each)


def _check_whole(rates: list[list[float]], counts: list[list[int]]) -> None:
    for name, one, rows in zip(("false_positive", "true_positive"), rates, counts, strict=True):
        for rate, m in zip(one, rows, strict=True):
            if abs(rate * m - round(rate * m)) > 1e-6:
                raise ValueError(f"{name}: found {rate} of {m} rows, expected a whole number of them")
