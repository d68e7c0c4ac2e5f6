"""Planning a release: how many rows a wanted parity gap needs, and how to divide a privacy budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib._arguments import inside_unit, number, positive
from dpfair_lib.central.gap_law import Mechanism
from dpfair_lib.central.parity import parity_bound, rate_errors
from dpfair_lib.central.several_groups.per_group import noise_levels, number_of_groups, sizes
from dpfair_lib.central.several_groups.targets import checked_gamma


def records_needed(
    gap: float, eta: float, epsilon: Any, *, share: Any = 0.5, mechanism: Mechanism = "laplace"
) -> int:
    """Return how many rows are needed for `parity_bound` to be at most a wanted gap.

    The two groups with the largest errors of `rate_errors` decide; with one ε for all, the two smallest groups.

    Parameters
    ----------
    gap : float
        The wanted gap, in (0, 1).
    eta : float
        Failure probability in (0, 1).
    epsilon : float or sequence of float
        As in `parity_bound`.
    share : float or sequence of float
        Share of the first of two groups among the rows, in (0, 1), or the share of each of several groups, which add
        up to 1. A group of fewer than one row in expectation is counted as one.
    mechanism : {"laplace", "geometric"}
        As in `parity_bound`.

    Returns
    -------
    int
        The smallest n that suffices, and with it every larger one.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the shares do not add up to 1.

    Examples
    --------
    >>> from dpfair_lib.central import records_needed
    >>> records_needed(0.1, 0.05, 1.0, share=(0.6, 0.3, 0.1))
    8050
    """
    gap, shares = inside_unit(gap, "gap"), _shares(share)

    def enough(n: int) -> bool:
        return parity_bound(_divide(n, shares), epsilon, eta, mechanism=mechanism) <= gap

    high = 2
    while not enough(high):
        high *= 2
        if high > 2**62:
            raise ValueError(f"gap: found {gap}, expected a gap that fewer than 2**62 rows can promise")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _shares(share: Any) -> tuple[float, ...]:
    if np.ndim(share) == 0:
        first = inside_unit(share, "share")
        return first, 1 - first
    shares = tuple(inside_unit(one, "share") for one in share)
    if len(shares) < 2 or abs(math.fsum(shares) - 1) > 1e-9:
        raise ValueError(
            f"share: found {len(shares)} shares that add up to {math.fsum(shares):.10g}, expected at least two and 1"
        )
    return shares


def _divide(n: int, shares: tuple[float, ...]) -> tuple[int, ...]:
    # floors, so that no group is counted larger than it is and the bound falls with n
    return tuple(max(math.floor(n * share), 1) for share in shares)


class BudgetSplit(NamedTuple):
    """Parts of a total ε: for the classifier, and for the noise on each group's rate.

    Examples
    --------
    >>> from dpfair_lib.central import split_budget
    >>> split_budget(1.0, (1000, 2000), gap=0.3, eta=0.05)._fields
    ('classifier', 'groups')
    """

    classifier: float
    groups: tuple[float, ...]


def split_budget(epsilon: float, n: Any, gap: float, eta: float, *, parallel: bool = False) -> BudgetSplit:
    """Divide a total ε: the groups get what a wanted gap needs, the classifier all the rest.

    The gap's bound depends on the groups' parts alone, and the classifier's accuracy on its own. If the two
    largest parts add up, Σ 1/(n_a ε_a) over the two smallest groups is least for a given sum where ε_a is in proportion
    to 1/√n_a (Cauchy–Schwarz). All other groups get as much as the second smallest: that costs nothing, and no division
    is better, as the sum of any two parts is at most the cost. If only the largest part counts, all get the same.

    Parameters
    ----------
    epsilon : float
        The total: ε of the classifier plus that of the rates. Where they use disjoint rows the larger of the
        two is enough, and nothing has to be divided between them.
    n : int or sequence of int
        Rows of each group from which the rates are estimated; a single number is that of each of two groups.
    gap, eta : float
        The wanted `parity_bound` and its failure probability, in (0, 1).
    parallel : bool
        Whether the groups' parts cost their maximum (a record is replaced within its group) or the sum of the two
        largest.

    Returns
    -------
    BudgetSplit
        With `parity_bound` (Laplace) equal to the wanted gap.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the gap cannot be had: because sampling alone exceeds it, or
        because nothing would be left for the classifier.

    Examples
    --------
    Two groups of a total ε = 1: as much for the counts as a gap of 0.3 needs, and the rest for the classifier.

    >>> from dpfair_lib.central import split_budget
    >>> parts = split_budget(1.0, (1000, 2000), gap=0.3, eta=0.05)
    >>> round(parts.classifier, 3), [round(part, 3) for part in parts.groups]
    (0.94, [0.035, 0.025])
    """
    total, counts = positive(epsilon, "epsilon"), sizes(n, number_of_groups(n))
    gap, eta = inside_unit(gap, "gap"), inside_unit(eta, "eta")
    room = gap - parity_bound(counts, math.inf, eta)
    if room <= 0:
        raise ValueError(
            f"gap: found {gap}, expected more than {gap - room:.6g}, the bound without any noise at {counts} rows"
        )
    log = math.log(2 * len(counts) / eta)
    smallest, second = sorted(range(len(counts)), key=counts.__getitem__)[:2]
    two = counts[smallest], counts[second]
    if parallel:
        groups = (log * sum(1 / k for k in two) / room,) * len(counts)
    else:
        scale = log * sum(1 / math.sqrt(k) for k in two) / room
        parts = [scale / math.sqrt(counts[second])] * len(counts)
        parts[smallest] = scale / math.sqrt(counts[smallest])
        groups = tuple(parts)
    spent = max(groups) if parallel else sum(sorted(groups)[-2:])
    if spent >= total:
        raise ValueError(
            f"epsilon: found {total}, expected more than {spent:.6g}, which the rates need alone"
        )
    return BudgetSplit(total - spent, groups)


def adjustment_share(n: Any, epsilon: float, *, moved: int = 1, inflation: float = 0.1) -> float:
    """Return which share of a total ε the noisy rates need, if the classifier is trained on the same rows.

    The parity gap is about |Δ₀ − Δ₁|, where Δ_a is the error of a group's rate; of more groups, a difference of two of
    the errors. Sampling gives it a variance of at most
    Σ 1/(4n_a), and noise adds at most Σ 2/(n_a ε_a)². The share is the least with which the noise lengthens the
    standard deviation by the factor 1 + ``inflation``, but at most one half: if noise dominates, both releases err in
    proportion to one over their ε.

    Parameters
    ----------
    n : int or sequence of int
        Rows of each group; a single number is that of each of two groups.
    epsilon : float
        The total ε.
    moved : {1, 2}
        How many of the counts one record can move; each of them gets as large a part of the rates' ε.
    inflation : float
        How much of the gap noise may cause, relative to sampling; above 0.

    Returns
    -------
    float
        In (0, ½].

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> from dpfair_lib.central import adjustment_share
    >>> round(adjustment_share((10_000, 20_000), 1.0), 3)
    0.056
    """
    counts, total = sizes(n, number_of_groups(n)), positive(epsilon, "epsilon")
    if moved not in (1, 2):
        raise ValueError(f"moved: found {moved!r}, expected 1 or 2")
    room = (1 + positive(inflation, "inflation")) ** 2 - 1
    noise = sum(2 / k**2 for k in counts)
    sampling = sum(1 / (4 * k) for k in counts)
    return min(moved * math.sqrt(noise / (sampling * room)) / total, 0.5)


def groups_too_small(
    n: Any, epsilon: Any, eta: float, *, mechanism: Mechanism = "laplace"
) -> tuple[int, ...]:
    """Return the places of the groups whose noisy rates say nothing: the guess ½ is as good.

    Parameters
    ----------
    n, epsilon, eta, mechanism
        As in `parity_bound`.

    Returns
    -------
    tuple of int
        Where `rate_errors` is ½ or more. It depends on public numbers only.

    Raises
    ------
    ValueError
        As `parity_bound`.

    Examples
    --------
    >>> from dpfair_lib.central import groups_too_small
    >>> groups_too_small((5000, 400, 12), 1.0, eta=0.05)
    (2,)
    """
    errors = rate_errors(n, epsilon, eta, mechanism=mechanism)
    return tuple(place for place, error in enumerate(errors) if error >= 0.5)


def merged_parity_bound(
    n: Any, epsilon: Any, eta: float, *, merge: Sequence[int], difference: float, mechanism: Mechanism = "laplace",
    gamma: float = 0.0,
) -> float:  # fmt: skip
    """Return `parity_bound` if some groups are counted as one, for the gap between all groups, the merged ones too.

    The merged group has more rows, so its noisy rate is better, but its members keep their difference. Compare the
    number with `parity_bound` of the groups as they are.

    Parameters
    ----------
    n, epsilon, eta, mechanism, gamma
        As in `parity_bound`. The merged group has the smallest ε of its members.
    merge : sequence of int
        Places of the groups to merge: at least two, and not all.
    difference : float
        How far apart the selection rates of the merged groups are, at most, in [0, 1]. It has to be known otherwise:
        no noisy rate tells it afterwards.

    Returns
    -------
    float
        γ plus the largest of ``difference``, the two largest errors of the unmerged groups, and the largest of these
        plus that of the merged group, which has ``difference`` times 1 − (its smallest member's share) added to it.

    Raises
    ------
    ValueError
        As `parity_bound`; if the groups to merge are not at least two places, or are all, or the difference is not in
        [0, 1].

    Examples
    --------
    Two groups of 100 rows whose rates are at most 0.05 apart are better merged; if they may be 0.6 apart, they are not.

    >>> from dpfair_lib.central import merged_parity_bound, parity_bound
    >>> round(parity_bound((5000, 100, 100), 1.0, eta=0.05), 3)
    0.427
    >>> given = {"n": (5000, 100, 100), "epsilon": 1.0, "eta": 0.05, "merge": (1, 2)}
    >>> [round(merged_parity_bound(**given, difference=apart), 3) for apart in (0.05, 0.2, 0.6)]
    [0.183, 0.258, 0.6]
    """
    k = number_of_groups(n, epsilon)
    counts, epsilons, gamma = sizes(n, k), noise_levels(epsilon, k), checked_gamma(gamma)
    chosen = sorted(set(merge))
    if not 2 <= len(chosen) < k or len(chosen) != len(merge) or not set(chosen) <= set(range(k)):
        raise ValueError(
            f"merge: found {merge!r}, expected at least two of the places 0 to {k - 1}, and not all"
        )
    apart = number(difference, "difference", "a number in [0, 1]")
    if not 0 <= apart <= 1:
        raise ValueError(f"difference: found {difference}, expected a number in [0, 1]")
    others = [place for place in range(k) if place not in chosen]
    rows = [counts[place] for place in chosen]
    merged, *rest = rate_errors(
        (sum(rows), *(counts[place] for place in others)),
        (min(epsilons[place] for place in chosen), *(epsilons[place] for place in others)),
        eta,
        mechanism=mechanism,
    )
    far = merged + apart * (1 - min(rows) / sum(rows))
    return gamma + max(apart, sum(sorted(rest)[-2:]) if len(rest) > 1 else 0.0, far + max(rest))
