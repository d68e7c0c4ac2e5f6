"""When an (ε, δ)-DP learner can serve distributions that want different answers, and how near such distributions are.

Let two distributions reject different ones of two hypotheses, and m steps between neighbours lead from one to the
other. With S(j) = 1 + t + … + t^(j−1), t = e^ε, some (ε, δ)-DP learner returns an accepted hypothesis on every
distribution, but for a probability β, if and only if β(t^j + t^k) + δ(S(j) + S(k)) ≥ 1 for j = ⌊m/2⌋ and k = ⌈m/2⌉.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._validation import as_count
from dpfair_lib.compatibility.impossibility.acceptable import weight_tables
from dpfair_lib.compatibility.impossibility.criteria import fair_within
from dpfair_lib.compatibility.impossibility.ladder import checked_factor, climbed


def climb(start: Any, steps: int, *, factor: Any, delta: Any) -> list[Any]:
    """Return the largest probabilities that (ε, δ)-DP allows so many steps from where it is at most `start`.

    Parameters
    ----------
    start : number
        In [0, 1].
    steps : int
        At least 0.
    factor, delta : number
        e^ε, at least 1, and δ in [0, 1]; exact numbers stay exact.

    Returns
    -------
    list of length steps + 1
        `mass_ladder` is the case start = 0.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    steps = as_count(steps, "steps", 0)
    factor = checked_factor(factor, delta)
    rungs = [_probability(start, "start") + 0 * factor]
    for _ in range(steps):
        rungs.append(climbed(rungs[-1], factor, delta))
    return rungs


def served(steps: int, *, factor: Any, delta: Any, failure: Any = 0) -> bool:
    """Return whether an (ε, δ)-DP learner can serve two answers whose distributions are so many steps apart.

    Parameters
    ----------
    steps : int
        At least 1: the least number of steps from a distribution that rejects one answer to one that rejects the other.
    factor, delta : number
        e^ε, at least 1, and δ in [0, 1].
    failure : number
        β in [0, 1]: the probability with which a rejected answer may be returned.
    """
    factor = checked_factor(factor, delta)
    powers, sums = _halves(steps, factor)
    return bool(_probability(failure, "failure") * powers + delta * sums >= 1)


def least_delta(steps: int, *, factor: Any, failure: Any = 0) -> Any:
    """Return the least δ for which `served` is true; 0 if the failure alone is enough."""
    factor = checked_factor(factor, 0)
    powers, sums = _halves(steps, factor)
    left = 1 - _probability(failure, "failure") * powers
    return left / sums if left > 0 else 0 * factor


def star_served(answers: int, steps: int, *, factor: Any, delta: Any, failure: Any = 0) -> bool:
    """Return whether an (ε, δ)-DP learner can serve several distributions, so many steps from one in their midst.

    Each accepts one answer of its own. Between them nothing is asked.

    Parameters
    ----------
    answers : int
        At least 1.
    steps : int
        At least 0.
    factor, delta, failure : number
        As in `served`.
    """
    answers = as_count(answers, "answers", 1)
    return bool(answers * (1 - climb(failure, steps, factor=factor, delta=delta)[-1]) <= 1)


def two_answers(steps_away: Any, *, factor: Any, delta: Any, failure: Any = 0) -> np.ndarray:
    """Return a learner for two answers: for each distribution the probabilities of the first and of the second.

    Parameters
    ----------
    steps_away : array of int, shape (n,)
        Steps to the nearest distribution that rejects the first answer; negative if there is none.
    factor, delta, failure : number
        As in `served`.

    Returns
    -------
    ndarray of shape (n, 2)
        It is (ε, δ)-DP. The first answer has at most the probability `failure` where it is rejected, and so has the
        second if `served` says so.
    """
    away = np.asarray(steps_away)
    rungs = climb(failure, max(int(away.max(initial=0)), 0), factor=factor, delta=delta)
    first = [rungs[int(k)] if k >= 0 else 1 + 0 * rungs[0] for k in away]
    return np.array([[q, 1 - q] for q in first], dtype=object)


def accepted(
    populations: Any, hypotheses: Any, *, threshold: Fraction, slack: Fraction, tolerance: Fraction
) -> np.ndarray:
    """Return which hypotheses are fair and accurate enough, both within a slack, on exact populations.

    A hypothesis is accepted if its gap of true positive rates is at most threshold + slack, and its error exceeds by
    at most the tolerance that of each hypothesis with a gap of at most the threshold.

    Parameters
    ----------
    populations : sequence of Population
        Exact, with positives in both groups.
    hypotheses : array of shape (m, n_x, 2)
        Zeros and ones.
    threshold, slack, tolerance : Fraction
        α ≥ 0, s ≥ 0 and τ ≥ 0.

    Returns
    -------
    ndarray of bool, shape (n, m)
    """
    weights, h = weight_tables(populations)[:, None], np.asarray(hypotheses)[None]
    total = int(weights[0].sum())
    fair, allowed = (
        fair_within("opportunity", min(Fraction(most), Fraction(1)))(weights, h, 1)
        for most in (threshold, threshold + slack)
    )
    tables = weights.astype(object)  # whole numbers of any size
    wrong = (tables[..., 1] * (1 - h) + tables[..., 0] * h).sum(axis=(-2, -1))
    least = np.where(fair, wrong, total).min(axis=1, keepdims=True)  # no error is larger than 1
    close = (wrong - least) * tolerance.denominator <= tolerance.numerator * total
    return np.asarray(allowed & close, dtype=bool)


def _halves(steps: int, factor: Any) -> tuple[Any, Any]:
    """Return t^j + t^k and S(j) + S(k) for the halves j and k of a number of steps."""
    steps = as_count(steps, "steps", 1)
    low, high = steps // 2, steps - steps // 2
    sums = [sum((factor**i for i in range(length)), 0 * factor) for length in (low, high)]
    return factor**low + factor**high, sums[0] + sums[1]


def _probability(value: Any, name: str) -> Any:
    if not 0 <= value <= 1:
        raise ValueError(f"{name}: found {value}, expected a number in [0, 1]")
    return value
