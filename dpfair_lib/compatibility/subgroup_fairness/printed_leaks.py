"""What the printed Private-FairNR reveals of one record: exact output distributions on neighbouring data sets."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from dpfair_lib.compatibility.subgroup_fairness.fair_dynamics import best_response, printed_scale
from dpfair_lib.compatibility.subgroup_fairness.subgroup_game import game_from_counts


def laplace_sum_tail(count: int, x: float) -> float:
    """Return P(S > x) for the sum S of independent Laplace variables of scale 1.

    On x > 0 the law of S is a mixture: with probability C(k − 1 + j, j)/2^(k + j), j < k, a gamma variable of shape
    k − j; these probabilities add up to ½.

    Parameters
    ----------
    count : int
        k ≥ 1.
    x : float
        Any number.
    """
    from scipy.special import gammaincc
    from scipy.stats import nbinom

    if x < 0:
        return 1 - laplace_sum_tail(count, -x)
    j = np.arange(count)
    return float(nbinom.pmf(j, count, 0.5) @ gammaincc(count - j, x))


def feature_leak(epsilon: float, *, delta: float, dual_bound: float, rounds: int, samples: int) -> float:
    """Return the chance that one draw of the printed output selects the cell of the only record that is there.

    A positive record is alone in its cell, which is one of several that one classifier each selects; all other records
    lie outside of these, where every classifier rejects. Its cost is −1/n in every round, whatever the auditor plays,
    and with the noise of scale 1/ε′ the oracle selects the cell if Lap(1/ε′) < 1/n: with probability
    1 − e^(−ε′/n)/2 > ½. If the record has other features instead, the cell is empty, and nothing about the cell enters
    the oracle's sum. The number n of records cancels.

    References
    ----------
    CGKM, Algorithm 3, with ε′ = nε/((2 + C)√(mT ln(1/δ))).
    """
    per_record = epsilon / ((2 + dual_bound) * math.sqrt(rounds * samples * math.log(1 / delta)))
    return 1 - math.exp(-per_record) / 2


MEMBERS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])  # profiles × subgroups


def flip_counts(size: int, *, neighbour: bool) -> np.ndarray:
    """Return counts of (cell, profile, label) for one of two neighbours on which the printed auditor differs.

    Cells of 100f, 100f and 400f records, all negative but one or two. Classifier 1 selects the first cell,
    classifier 2 the second. But for one record, the violations of the two classifiers are (v, −v) in the first
    subgroup and (v, 3v) in the second, with v = 25f/n: which subgroup is the worse for classifier 1 hangs on the
    label of one record of the third cell, which no classifier selects. Features are the same in both.

    Parameters
    ----------
    size : int
        f ≥ 1.
    neighbour : bool
        Which of the two.

    Returns
    -------
    ndarray of shape (3, 4, 2)
        Whole numbers; profiles in the order of `MEMBERS`.
    """
    table = np.zeros((3, 4, 2), dtype=object)
    # by profile: in neither subgroup, in the second only, in the first only, in both
    table[0, :, 0] = [50 * size, 25 * size, 0, 25 * size]
    table[1, :, 0] = [25 * size, 0, 75 * size, 0]
    table[2, :, 0] = [0, 200 * size, 0, 200 * size]
    for profile in (3,) if neighbour else (3, 1):
        table[2, profile] += np.array([-1, 1])
    return table


def play_law(
    second_chance: Callable[[int, int], float], answers: tuple[int, int], *, rounds: int
) -> np.ndarray:
    """Return the law of how often classifier 2 is played in T rounds of one draw each.

    Parameters
    ----------
    second_chance : callable
        P(classifier 2) after the auditor has named the first and the second subgroup so many times.
    answers : (int, int)
        Which subgroup, 0 or 1, the auditor names after classifier 1, and after classifier 2.
    rounds : int
        T.

    Returns
    -------
    ndarray of shape (rounds + 1,)
        Probabilities.
    """
    law = {(0, 0): 1.0}  # (times that the first subgroup was named, times that classifier 2 was played)
    for t in range(rounds):
        moved: dict[tuple[int, int], float] = {}
        for (named, played), chance in law.items():
            second = second_chance(named, t - named)
            for which, share in ((0, 1 - second), (1, second)):
                at = (named + (answers[which] == 0), played + which)
                moved[at] = moved.get(at, 0.0) + chance * share
        law = moved
    total = np.zeros(rounds + 1)
    for (_, played), chance in law.items():
        total[played] += chance
    return total


def flip_law(
    size: int, *, neighbour: bool, epsilon: float, delta: float, dual_bound: float, rounds: int
) -> np.ndarray:
    """Return the exact law of the printed output on `flip_counts`, two classifiers, m = 1.

    The released mixture is determined by how often classifier 2 was played. It is the better one for the perturbed
    costs if a sum of 200f Laplace variables is below the difference of the two costs.

    Parameters
    ----------
    size, neighbour
        As for `flip_counts`.
    epsilon, delta : float
        What the noise is calibrated to.
    dual_bound : float
        C.
    rounds : int
        T.

    Returns
    -------
    ndarray of shape (rounds + 1,)
        Probabilities.
    """
    counts = flip_counts(size, neighbour=neighbour)
    n = int(counts.sum())
    game = game_from_counts(counts.astype(float), MEMBERS.astype(float))
    classifiers = np.eye(3)[:2]
    scale = printed_scale(epsilon, delta, n, dual_bound=dual_bound, rounds=rounds, samples=1)
    differing = int(counts[:2].sum())
    answers = [best_response(game, h) for h in classifiers]

    @functools.cache
    def second_chance(first: int, second: int) -> float:
        named = {0: first, 1: second}
        signs = dict(answers)
        weights = np.array([dual_bound * signs.get(group, 0.0) * named[group] for group in (0, 1)])
        costs = classifiers @ game.costs(weights)
        # S < x as often as S > −x: small chances keep their digits
        return laplace_sum_tail(differing, (costs[1] - costs[0]) / scale)

    return play_law(second_chance, (answers[0][0], answers[1][0]), rounds=rounds)
