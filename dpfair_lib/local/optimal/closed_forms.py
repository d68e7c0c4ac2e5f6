"""Channels with closed formulas: the most truthful one, one without unfairness, and mixtures of the two."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpfair_lib.local.levels import as_epsilon
from dpfair_lib.local.optimal.linear_program import completed
from dpfair_lib.local.optimal.program import Program, as_group_shares, most_truthful, privacy_ratio


def smallest_error(p: Any, epsilon: Any) -> float:
    """Return the smallest probability of a false report, P(Z ≠ A), among truthful ε-locally private channels.

    The thesis calls it ζ_min. Truthful means that q_ii and q_jj are at least q_ij for all i and j, where
    q_ij = Pr(Z = j | A = i).

    Parameters
    ----------
    p : array of shape (k,)
        P(A = i), all above 0; k ≥ 2.
    epsilon : float
        ε ≥ 0, or infinity, for which the error is 0.

    Returns
    -------
    float
        ζ_min.

    Raises
    ------
    ValueError
        If ``p`` is not a distribution over at least two groups, if it has an entry 0, or if ε is below 0.

    References
    ----------
    Ghoukasian (thesis, 2024), § 5.7.3.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> print(round(dpf.smallest_error([0.5, 0.3, 0.2], epsilon=1.0), 2))
    0.42
    """
    truth = most_truthful(as_group_shares(p), privacy_ratio(as_epsilon(epsilon)))[0]
    return max(0.0, float(1 - truth))  # shares that add up to a little more than 1 would give less than 0


def most_truthful_channel(program: Program) -> np.ndarray:
    """Return a truthful ε-LDP channel of the least error."""
    return completed(program, program.truthful_diagonal, np.zeros((program.k, program.k)))


def perfect_truth(k: int, x: Any) -> Any:
    """Return 1/(2 + x·(k − 2)), the truth probability of `perfect_channel` in every group."""
    return 1 / (2 + x * (k - 2))


def perfect_channel(program: Program) -> np.ndarray:
    """Return a truthful ε-LDP channel whose reports have no unfairness at all.

    Its diagonal is constant, M. With any coupling f of the positive excesses with the negative ones, each of the
    two lets the other explain it: T_ij = f_ij/|excess_i|, and q_ij = x·M + (1 − x)·M·T_ij.
    """
    k, excess = program.k, program.excess
    coupling = north_west(excess)
    coupling = coupling + coupling.T
    mass = coupling.sum(axis=1)
    rest = 1 / (k - 1 + 0 * excess[0])  # groups without excess may report anything
    shares = np.where((mass > 0)[:, None], coupling / np.where(mass > 0, mass, 1)[:, None], rest)
    truth = perfect_truth(k, program.x)
    matrix = program.x * truth + (1 - program.x) * truth * shares
    matrix[np.arange(k), np.arange(k)] = truth
    return matrix


def north_west(excess: np.ndarray) -> np.ndarray:
    """Return a coupling f of the positive excesses (rows) with the negative ones (columns), north-west corner."""
    flow = np.zeros_like(np.multiply.outer(excess, excess))
    over, under = np.flatnonzero(excess > 0), np.flatnonzero(excess < 0)
    have, need = excess[over], -excess[under]
    a = b = 0
    while a < len(over) and b < len(under):
        moved = min(have[a], need[b])
        flow[over[a], under[b]] += moved
        have[a], need[b] = have[a] - moved, need[b] - moved
        a, b = (a + 1, b) if have[a] <= need[b] else (a, b + 1)
    return flow


def first_channel(program: Program) -> np.ndarray:
    """Return the fairest channel in closed form that keeps the error budget.

    Without unfairness if the budget is large enough, else the better one of the most truthful channel and its
    mixture with `perfect_channel` that spends the budget.
    """
    truthful, fair = most_truthful_channel(program), perfect_channel(program)
    least, most = program.mistakes(truthful), 1 - perfect_truth(program.k, program.x)
    if program.error >= most - 1e-14:
        return fair
    share = max((program.error - least) / (most - least), 0.0)
    mixed = (1 - share) * truthful + share * fair
    return mixed if program.ratio(mixed) < program.ratio(truthful) else truthful
