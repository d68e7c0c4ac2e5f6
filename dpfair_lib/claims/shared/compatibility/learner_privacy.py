"""Data sets on which the exponential learner of CGKM's Theorem 2 is judged."""

from __future__ import annotations

import itertools
import math

from scipy.integrate import quad

from dpfair_lib.compatibility.private_learner.choice_law import learner_delta, printed_delta
from dpfair_lib.compatibility.private_learner.neighbouring_losses import changing_places, largest_moves

shapes = largest_moves


def privacy_slack(n: int, epsilon: float) -> float:
    """Return δ less the smallest δ′ with which the printed learner is (2ε, δ′) between the samples of `example`."""
    first, second = changing_places(n)
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
            changing_places(n),
            (2, 1),
            n,
            at=2 * epsilon,
            epsilon=epsilon,
            delta=printed_delta(n),
            rule="printed",
        )
    )


_SHOWN = """\
import numpy as np
n, epsilon = {n}, 1.0  # two positives in each group; one of group 0 becomes one of group 1
noise = np.linspace(-40, 40, 99998)  # of the count, Lap(1)
def second(gap, smallest):  # chance of the second of two hypotheses, whose loss is larger by the gap
    count = smallest + noise - np.sqrt(n) / epsilon
    exponent = epsilon * gap / 2 / (2 / (count - 1) + 1 / n)
    return np.average(1 / (1 + np.exp(np.clip(exponent, -700, 700))), weights=np.exp(-abs(noise)))
p, q = second(1 / 2 - 1 / n, 2), second(-2 / 3 - 2 / n, 1)
assert max(p - np.e**2 * q, 1 - p - np.e**2 * (1 - q)) > {delta} > np.exp(-np.sqrt(n))
"""


def shown_loss(n: int, delta: float) -> str:
    """Return the lines that show how little δ suffices for a sample of n people with two positives in each group."""
    return _SHOWN.format(n=n, delta=delta)
