"""The least parity gap of private classifiers with k groups whose rates are unknown, and for equal opportunity.

The gap of k groups is the largest selection rate less the smallest. Each group has its own records; a neighbour
replaces one of them within its group. Two groups of n records are as hard as one of 2n, twice; many groups make the gap
larger by √log k where sampling decides, and by log k where ε does, or by log(1 + ε/δ) if less.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpfair_lib._arguments import below_one, inside_unit, nonnegative, positive_integer
from dpfair_lib._validation import as_single_rate
from dpfair_lib.central.least_gap import checked_response, least_expected_gap
from dpfair_lib.central.least_gap_sharp import (
    MOST_LEVEL,
    best_length,
    near_one_half,
    noise_variance,
    privacy_least_gap,
    sampling_least_gap,
    sharp_least_gap,
    shrunk_gap,
    two_rates_apart,
)

FEW = 10**4
POINTS = 65  # shifts that are tried; each of them gives a bound


def least_groups_gap(sizes: Sequence[Any], epsilon: Any, delta: Any = 0.0, *, response: float = 0.5) -> float:
    """Return a lower bound of the worst expected gap of k groups, for every private classifier with a response.

    Parameters
    ----------
    sizes : sequence of int
        Records of each group, for two groups or more.
    epsilon, delta : float
        ε ≥ 0 and δ in [0, 1) of the whole algorithm, for one record replaced within its group.
    response : float, default=0.5
        κ in (0, 1]: the least response in a group.

    Returns
    -------
    float
        The largest of three: from the two smallest groups; from random signs that the samples leave undecided; and from
        random signs that privacy leaves undecided.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    counts, kappa, delta = _sizes(sizes), checked_response(response), below_one(delta, "delta")
    level = nonnegative(epsilon, "epsilon")
    first, second = counts[:2]
    found = [
        _gap_of_one(first, level, delta),
        2 * _gap_of_one(first + second, level, delta),
        _signs_left_by_samples(tuple(counts)),
        _signs_left_by_privacy(np.array(counts), min(level, MOST_LEVEL), delta),
    ]
    return kappa * max(found)


@functools.lru_cache(maxsize=256)  # many numbers of groups share their smallest sizes
def _gap_of_one(n: int, level: float, delta: float) -> float:
    """Return the lower bound for one group beside a known rate, per unit of response."""
    spread = sharp_least_gap(n, level, delta, response=1)
    # two populations are better for few records only, and their bound takes as long as there are records
    return max(spread, least_expected_gap(n, level, delta, response=1)) if n <= FEW else spread


@functools.lru_cache(maxsize=32)  # the same groups are asked about at many levels of privacy
def _signs_left_by_samples(counts: tuple[int, ...]) -> float:
    width = min(4 * math.sqrt(math.log(len(counts) + 1)) / math.sqrt(counts[0]), 1.0)
    shifts = width * np.arange(1, POINTS + 1) / POINTS
    return float(_undecided_by_samples(counts, shifts).max())


def undecided_by_samples(sizes: Sequence[Any], shift: float) -> float:
    """Return a lower bound of the mean gap over all populations whose rates are (1 ± τ)/2, per unit of response.

    Parameters
    ----------
    sizes : sequence of int
        Records of each group, for two groups or more.
    shift : float
        τ in [0, 1].

    Returns
    -------
    float
        τ·E(1 − 2^(1 − J)) over J ≥ 1: the samples leave the sign of group a undecided with chance
        2 · `least_confusion`, independently of the other groups, and J signs are left.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    return float(_undecided_by_samples(_sizes(sizes), np.array([float(as_single_rate(shift, "shift"))]))[0])


def _undecided_by_samples(counts: Sequence[int], shifts: np.ndarray) -> np.ndarray:
    from scipy.stats import binom

    groups, times = np.unique(counts, return_counts=True)
    odd = groups - 1 + groups % 2  # with an even number of records no test errs less than without the last
    errors = binom.cdf(odd // 2, odd, (1 + shifts[:, None]) / 2)
    left = 1 + ((1 - 2 * errors) ** times).prod(axis=1) - 2 * ((1 - errors) ** times).prod(axis=1)
    return np.asarray(shifts * left)


def _signs_left_by_privacy(counts: np.ndarray, level: float, delta: float) -> float:
    if delta == 0:
        return _signs_of_all(counts, level, 0.0)
    # δ counts once for each group, so fewer groups may give more: the smallest ones, since they reveal least
    least = {min(2**power, len(counts)) for power in range(1, len(counts).bit_length() + 1)}
    return max(_signs_of_all(counts[:few], level, delta) for few in least)


def _signs_of_all(counts: np.ndarray, level: float, delta: float) -> float:
    eta, k = math.tanh(level / 2), len(counts)
    aparts = (2 * math.log(k) + 3) * np.arange(1, POINTS + 1) / POINTS  # n ln R
    ends = np.array([[counts[0]], [counts[-1]]])
    shifts = np.ones(1) if eta == 0 else np.minimum(np.tanh(aparts / (2 * ends)) / eta, 1.0).ravel()
    if eta == 0 and delta > 0:
        shifts = np.arange(1, POINTS + 1) / POINTS
    return float(_undecided_by_privacy(counts, shifts, level, delta).max())


def _undecided_by_privacy(
    counts: Sequence[int] | np.ndarray, shifts: np.ndarray, level: float, delta: float
) -> np.ndarray:
    groups, times = np.unique(counts, return_counts=True)
    apart = 2 * np.arctanh(np.minimum(shifts * math.tanh(level / 2), 1 - 1e-16))[:, None] * groups
    chances = 1 / (1 + np.exp(np.minimum(apart, 700)))
    left = 1 + ((1 - 2 * chances) ** times).prod(axis=1) - 2 * ((1 - chances) ** times).prod(axis=1)
    if delta > 0:
        # β_a δ_a of each group, over δ; its limit where ε is 0
        failing = np.tanh(apart / 2) / math.expm1(level) if level > 0 else shifts[:, None] * groups / 2
        left = np.maximum(left - delta * (failing * times).sum(axis=1), 0.0)
    return np.asarray(shifts * left)


def undecided_by_privacy(sizes: Sequence[Any], shift: float, epsilon: Any, delta: Any = 0.0) -> float:
    """Return a lower bound of the mean gap over all populations whose rates are (1 ± τ)/2, by privacy.

    Parameters
    ----------
    sizes, shift
        As in `undecided_by_samples`.
    epsilon, delta : float
        ε ≥ 0 and δ in [0, 1) of the whole algorithm.

    Returns
    -------
    float
        τ(1 + Π(1 − 2β_a) − 2Π(1 − β_a) − Σβ_a δ_a), or 0 if that is negative, with β_a = 1/(1 + R^n_a),
        R = (1 + τη)/(1 − τη), η = tanh(ε/2) and δ_a = δ(R^n_a − 1)/(e^ε − 1). Whatever is released, each sign has both
        values with chance β_a or more, given the others, but for β_a δ_a on average; so it is a fair coin with chance
        2β_a, and is turned with chance β_a δ_a at most.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    counts, tau = _sizes(sizes), np.array([float(as_single_rate(shift, "shift"))])
    level = min(nonnegative(epsilon, "epsilon"), MOST_LEVEL)
    return float(_undecided_by_privacy(counts, tau, level, below_one(delta, "delta"))[0])


def groups_gap(sizes: Sequence[Any], epsilon: Any, delta: Any = 0.0, *, response: float = 0.5) -> float:
    """Return an expected gap of k groups that one private classifier of this response never exceeds.

    With two groups it is fair where the rates differ by a noisy, shrunk difference of the two shares: one noise for
    both. With more it is fair at noisy shares, one noise for each group, or takes ½ for all of them.

    Parameters
    ----------
    sizes, epsilon, delta
        As in `least_groups_gap`.
    response : float, default=0.5
        κ in (0, ½].

    Returns
    -------
    float
        For two groups of n records 2 · `shrunk_gap` of 2n; for more κ·min(1, sampling + noise), the first at most
        √(2 ln(k + 1)/n), the second at most 2(1 + ln k)/(nε) and, with δ, (3 + 2 ln(1 + tanh(ε/2)/δ)/ε)/n, n the
        smallest size.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    counts, kappa, delta = _sizes(sizes), checked_response(response), below_one(delta, "delta")
    if kappa > 0.5:
        raise ValueError(f"response: found {response}, expected at most 0.5")
    level, k, least = min(nonnegative(epsilon, "epsilon"), MOST_LEVEL), len(counts), counts[0]
    if k == 2:
        return kappa * _difference(counts, level, delta)
    sampling = min(float((0.5 / np.sqrt(counts)).sum()), math.sqrt(2 * math.log(k + 1) / least))
    noise = min(_largest_noise(k, level), _farthest_noise(level, delta))
    return kappa * min(1.0, sampling + 2 * noise / least)


def _difference(counts: list[int], level: float, delta: float) -> float:
    """Return the root of the worst mean square of a noisy difference of two shares, shrunk towards 0."""
    first, second = counts
    if first == second:
        return 2 * shrunk_gap(2 * first, level, delta, response=0.5) / 0.5
    # n_0 times the difference moves by 1 or less, but not by whole numbers, as geometric noise would need
    noise = noise_variance(level, delta) / first**2
    both, spread = first + second, (1 / first + 1 / second) / 4 + noise
    if spread == math.inf:
        return 1.0
    root, far = math.sqrt(both), spread - 1 / both
    if root / (1 + root) <= 1 / (1 + far):
        return math.sqrt(spread) * root / (1 + root)
    return math.sqrt(far / (1 + far))


def _largest_noise(k: int, level: float) -> float:
    """Return a bound of the mean of the largest of k geometric noises and 0."""
    if level < 1e-150:
        return math.inf
    half = 1 / (1 + math.exp(-level))
    terms = np.arange(1, k + 1)
    return min(k / (2 * math.sinh(level)), float(((1 - (1 - half) ** terms) / terms).sum()) / level)


def _farthest_noise(level: float, delta: float) -> float:
    """Return where the best noise on a count ends: half a unit beyond the steps down to F = 0."""
    if delta < 1e-150:
        return math.inf
    if level < 1e-9 * delta:  # F falls by δ, or a little more, at each step
        return 0.5 + math.ceil((1 - delta) / (2 * delta))
    return 0.5 + math.ceil(math.log1p((1 - delta) * math.tanh(level / 2) / delta) / level * (1 + 1e-12))


def groups_gap_order(k: Any, n: Any, epsilon: Any, delta: Any = 0.0) -> float:
    """Return the order of the least worst expected gap of k groups, per unit of response.

    Parameters
    ----------
    k, n : int
        Groups, at least two, and records of each.
    epsilon, delta : float
        ε > 0 and δ in [0, 1) of the whole algorithm.

    Returns
    -------
    float
        min(1, √(ln k/n) + min(ln k, ln(1 + ε/δ))/(nε)). The least gap is at most 5 times it, and for ε ≤ 1 at least
        1/42 of it.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    groups, records = positive_integer(k, "k"), positive_integer(n, "n")
    if groups < 2:
        raise ValueError(f"k: found {k}, expected at least two groups")
    level, delta = nonnegative(epsilon, "epsilon"), below_one(delta, "delta")
    if level == 0:
        raise ValueError("epsilon: found 0, expected a positive number")
    log = math.log(groups)
    if delta > level * math.exp(-log) / 2:  # else ε/δ ≥ k, and could overflow
        log = min(log, math.log1p(level / delta))
    return min(1.0, math.sqrt(math.log(groups) / records) + log / level / records)


def least_opportunity_gap(
    n: Any, share: Any, epsilon: Any, delta: Any = 0.0, *, response: float = 0.5
) -> float:
    """Return a lower bound of the worst expected gap of true positive rates, if one group's is unknown.

    Among people with y = 1 in the group, x = 1 for an unknown share. Records with y = 0 say nothing about it. The
    bound holds whether the labels are private or not.

    Parameters
    ----------
    n : int
        Records of the group.
    share : float
        Share b in (0, 1] of y = 1 in the population; how many of the n records have y = 1 is random. With b = 1
        this is `sharp_least_gap`, which also is the bound if n positive records are given and their number is public.
    epsilon, delta : float
        ε ≥ 0 and δ in [0, 1) of the whole algorithm.
    response : float, default=0.5
        κ in (0, 1].

    Returns
    -------
    float
        The largest of the mean of `sampling_least_gap` over the number J of positives, the same for rates near ½,
        κ · `two_rates_apart` of nb, `privacy_least_gap` of N times E min(1, N/J) with N = ⌈nb⌉, and `sharp_least_gap`
        of n.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    from scipy.stats import binom

    count = positive_integer(n, "n")
    chance = 1.0 if share == 1 else inside_unit(share, "share")
    kept = math.ceil(count * chance)
    ends = binom.ppf([1e-14, 1 - 1e-14], count, chance)  # what is left out would only add
    j = np.arange(max(int(ends[0]), 0), int(ends[1]) + 1)
    law = binom.pmf(j, count, chance)
    share_left = float(law @ np.minimum(1, kept / np.maximum(j, 1)))
    length = best_length(kept)  # one prior for all J
    found = [
        law @ [sampling_least_gap(int(many), response=response) for many in j],
        law @ [near_one_half(int(many), length) for many in j] * checked_response(response),
        two_rates_apart(count * chance, epsilon, delta) * checked_response(response),
        privacy_least_gap(kept, epsilon, delta, response=response) * share_left,
        sharp_least_gap(count, epsilon, delta, response=response),  # fewer records know less
    ]
    return float(max(found))


def opportunity_gap(n: Any, share: Any, epsilon: Any, delta: Any = 0.0, *, response: float = 0.5) -> float:
    """Return an expected gap of true positive rates that one private classifier of this response never exceeds.

    It knows the share b of positives, so it releases one number: how many more of them have x = 1 than x = 0, halved.
    One record moves it by at most 1, in its label or in x.

    Parameters
    ----------
    n, share, epsilon, delta
        As in `least_opportunity_gap`.
    response : float, default=0.5
        κ in (0, ½].

    Returns
    -------
    float
        κ·min(½, √(1/(4nb) + v)·√n/(1 + √n)), v the noise's variance over (nb)².

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    count, kappa, delta = positive_integer(n, "n"), checked_response(response), below_one(delta, "delta")
    if kappa > 0.5:
        raise ValueError(f"response: found {response}, expected at most 0.5")
    chance = 1.0 if share == 1 else inside_unit(share, "share")
    positives, root = count * chance, math.sqrt(count)
    if positives < 1e-100:  # its square is no number
        return kappa * 0.5
    # the number moves by halves of a step, as geometric noise must not
    v = noise_variance(min(nonnegative(epsilon, "epsilon"), MOST_LEVEL), delta) / positives**2
    return kappa * min(0.5, math.sqrt(0.25 / positives + v) * root / (1 + root))


def _sizes(sizes: Sequence[Any]) -> list[int]:
    given = list(sizes)
    plain = set(map(type, given)) == {int}  # of many equal ones each need not be looked at
    for size in set(given) if plain else given:
        positive_integer(size, "sizes")
    counts = sorted(map(int, given))
    if len(counts) < 2:
        raise ValueError(f"sizes: found {len(counts)}, expected one for each of at least two groups")
    return counts
