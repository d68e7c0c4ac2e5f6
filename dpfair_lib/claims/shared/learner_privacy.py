"""Data sets on which the exponential learner of CGKM's Theorem 2 is judged."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.integrate import quad

from dpfair_lib.compatibility.private_learner.choice_law import learner_delta, printed_delta
from dpfair_lib.compatibility.private_learner.sensitivity import Counts, utility_sensitivity

SHARES = (-1.0, 0.0, 1.0)


def shapes(n: int, counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Return losses of two kinds of hypotheses on two neighbouring samples: each moves as far as u can, either way.

    The first kind moves by ±Δu times a share, the second by ∓Δu; they start equal, or as far apart as they move.
    """
    most = float(utility_sensitivity(counts, n))
    first, second = [], []
    for share in SHARES:
        for sign in (1.0, -1.0):
            for start in (0.0, -sign * most):
                first.append((start, 0.0))
                second.append((start + sign * share * most, -sign * most))
    return np.array(first), np.array(second)


def example_losses(n: int) -> tuple[list[float], list[float]]:
    """Return the losses of the two hypotheses on the two samples of `example`, for any n."""
    return [2 / n, 1 / 2 + 1 / n], [2 / 3 + 2 / n, 0.0]


def privacy_slack(n: int, epsilon: float) -> float:
    """Return δ less the smallest δ′ with which the printed learner is (2ε, δ′) between the samples of `example`."""
    first, second = example_losses(n)
    p = _chance_of_second(first[1] - first[0], 2, n, epsilon)
    q = _chance_of_second(second[1] - second[0], 1, n, epsilon)
    factor = math.exp(2 * epsilon)
    return math.exp(-math.sqrt(n)) - (max(p - factor * q, 0) + max((1 - p) - factor * (1 - q), 0))


def _chance_of_second(gap: float, smallest: int, n: int, epsilon: float) -> float:
    """Integrate the chance of the second of two hypotheses over the noisy count, from the printed formulas."""
    center = smallest - math.sqrt(n) / epsilon

    def integrand(noisy: float) -> float:
        scale = 2 / (noisy - 1) + 1 / n
        exponent = min(max(epsilon * gap / (2 * scale), -700), 700) if scale else 0.0
        return epsilon / 2 * math.exp(-epsilon * abs(noisy - center)) / (1 + math.exp(exponent))

    low, high = center - 40 / epsilon, center + 40 / epsilon
    cuts = sorted({low, high, center, *(at for at in (1.0, 1.0 - 2 * n) if low < at < high)})
    return sum(quad(integrand, a, b, limit=200)[0] for a, b in itertools.pairwise(cuts))


def printed_loss(n: int, epsilon: float) -> float:
    """Return the smallest δ′ with which the printed learner is (2ε, δ′) between the samples of `example`."""
    return float(
        learner_delta(
            example_losses(n),
            (2, 1),
            n,
            at=2 * epsilon,
            epsilon=epsilon,
            delta=printed_delta(n),
            rule="printed",
        )
    )
