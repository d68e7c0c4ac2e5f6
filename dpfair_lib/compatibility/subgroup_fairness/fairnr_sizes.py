"""The sample sizes and rounds that Theorem 3 of CGKM requires, and those of the repaired algorithm."""

from __future__ import annotations

import math


def printed_rounds(n: float, alpha: float, beta: float) -> float:
    """Return the printed T = 4√n ln(2/β)/α⁴, which need not be whole.

    References
    ----------
    CGKM, Algorithm 3.
    """
    return 4 * math.sqrt(n) * math.log(2 / beta) / alpha**4


def printed_samples(
    n: float, alpha: float, beta: float, *, dimension: float = 1, constant: float = 1
) -> float:
    """Return the printed m = ln(2T/β) d ln(n) C² c₀ T/(√n (1 + C)² ln(2/β)) at C = 1/α, which need not be whole.

    Parameters
    ----------
    n : float
        Number of records.
    alpha, beta : float
        Accuracy and failure probability.
    dimension : float
        d, the Vapnik–Chervonenkis dimension of the subgroups.
    constant : float
        c₀, an absolute constant without a printed value.

    References
    ----------
    CGKM, Algorithm 3.
    """
    rounds, bound = printed_rounds(n, alpha, beta), 1 / alpha
    top = math.log(2 * rounds / beta) * dimension * math.log(n) * bound**2 * constant * rounds
    return top / (math.sqrt(n) * (1 + bound) ** 2 * math.log(2 / beta))


def side_condition(
    n: float, alpha: float, beta: float, delta: float, *, dimension: float = 1, constant: float = 1,
    derived: bool = False,
) -> float:  # fmt: skip
    """Return the least ε that the side condition (2) allows.

    Parameters
    ----------
    n, alpha, beta, dimension, constant
        As for `printed_samples`.
    delta : float
        δ of the guarantee.
    derived : bool
        What the lines before (2) give instead: 2(1 + ln n)(2 + C)√(m ln(1/δ))/√T at most α/4, with the printed m and
        T. There 1 + ln n stands outside the root; in (2) it has slipped under it.

    References
    ----------
    CGKM, proof of Theorem 3, (2).
    """
    private = math.sqrt(math.log(1 / delta))
    rounds = printed_rounds(n, alpha, beta)
    if derived:
        samples = printed_samples(n, alpha, beta, dimension=dimension, constant=constant)
        return 2 * (1 + math.log(n)) * (2 + 1 / alpha) * math.sqrt(samples / rounds) * private * 4 / alpha
    under = math.log(2 * rounds / beta) * dimension * math.log(n) * constant * (1 + math.log(n))
    return 24 * math.sqrt(under) * private / (alpha**2 * math.sqrt(math.sqrt(n) * math.log(2 / beta)))


def smallest_sample(
    epsilon: float, alpha: float, beta: float, delta: float, *, dimension: float = 1, constant: float = 1,
    derived: bool = False,
) -> float:  # fmt: skip
    """Return the n from which on the side condition holds, to nine digits.

    Parameters
    ----------
    epsilon : float
        ε of the guarantee.
    alpha, beta, delta, dimension, constant, derived
        As for `side_condition`, which falls in n from n = e⁸ on; a smaller n is not looked for.
    """
    low, high = 8.0, 16.0

    def holds(logarithm: float) -> bool:
        least = side_condition(
            math.exp(logarithm), alpha, beta, delta, dimension=dimension, constant=constant, derived=derived
        )
        return least <= epsilon

    if holds(low):
        return math.exp(low)
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return math.exp(high)


def count_noise_bound(
    sigma: float, *, cells: int, profiles: int, subgroups: int, n: float, failure: float
) -> float:
    """Return b for which, but for a chance of ``failure``, noisy counts move no error and no violation by more than b.

    The noise on a sum over selected cells is at most the sum of the absolute noises of the cells, which is at most √K
    times their Euclidean norm, and that exceeds √(profiles)·σ(√K + t) with probability at most e^(−t²/2). The error
    needs two such sums, negatives and positives; a violation needs that of the subgroup and that of all negatives, each
    twice, once by selected cells and once in the subgroup's share.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise on each count.
    cells, profiles, subgroups : int
        Size of the grid, and how many subgroups.
    n : float
        Number of records.
    failure : float
        In (0, 1).
    """
    sums = subgroups + 2
    norm = math.sqrt(cells) + math.sqrt(2 * math.log(sums / failure))
    return 4 * math.sqrt(cells * profiles) * sigma * norm / n
