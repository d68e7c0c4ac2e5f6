"""Bounds on how often the exponential learner misses the best hypothesis by more than α, and sample sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy.stats import binom

from dpfair_lib.compatibility.private_learner.choice_law import (
    Rule,
    choice_probabilities,
    inverse_scale,
    pure_slope,
    shift,
)
from dpfair_lib.compatibility.private_learner.loss_concentration import utility_bound

Positives = tuple[float, float]
_SHARES = np.linspace(0.2, 0.95, 16)
_PARTS = np.linspace(0.05, 0.48, 44)
_TAILS = 10.0 ** -np.arange(1, 13)


def choice_bound(gap: Any, smallest: Any, n: int, size: int, epsilon: float, delta: float) -> Any:
    """Return our bound on the chance that the repaired learner's choice is more than a gap worse on the sample.

    M ≥ m − 2s with probability at least 1 − δ, where s = ln(1/(2δ))/ε is the shift, and Δ(M) falls in M. So the chance
    is at most |H| exp(−ε gap/(2Δ(m − 2s))) + δ. The scale that enters is the learner's, not the sensitivity: a scale
    above the sensitivity protects privacy and costs accuracy.

    Parameters
    ----------
    gap : float or array
        How much larger the chosen loss u(Z, h) may be than the smallest.
    smallest : float or array
        m = min_a |Z₁ₐ|.
    n, size : int
        Records and hypotheses.
    epsilon, delta : float
        Of the learner.

    Returns
    -------
    float or ndarray
        The bound.

    References
    ----------
    CGKM, proof of Theorem 2, with the scale corrected.
    """
    low = np.asarray(smallest, dtype=float) - 2 * shift(epsilon, delta)
    return (size * np.exp(-epsilon * np.asarray(gap) / 2 * inverse_scale(low, n)) + delta)[()]


def failure_bound(
    n: int, positives: Positives, size: int, alpha: float, epsilon: float, delta: float
) -> float:
    """Return our bound on Pr[u(D, h) > OPT + α] of the repaired learner on n i.i.d. examples.

    The losses of all hypotheses are within ρ of their population values but for |H| times `utility_bound`, the smaller
    count is at least m but for two binomial tails, and `choice_bound` with the gap α − 2ρ does the rest. ρ, its split
    between Γ and err, and m are chosen for the smallest sum; any choice is valid.

    Parameters
    ----------
    n : int
        Examples.
    positives : pair of float
        P₁₀ and P₁₁.
    size : int
        Hypotheses.
    alpha : float
        α > 0.
    epsilon, delta : float
        Of the learner, whose release costs (2ε, δ).

    Returns
    -------
    float
        The bound, which may exceed 1.
    """
    rho = alpha * _PARTS[:, None]
    counts = np.min([binom.ppf(_TAILS, n, p) for p in positives], axis=0)
    low = np.sum([binom.cdf(counts - 1, n, p) for p in positives], axis=0)
    choice = low + choice_bound(alpha - 2 * rho, counts, n, size, epsilon, delta)
    sample = size * utility_bound(rho, n, positives, _SHARES)
    return float((sample.min(axis=1) + choice.min(axis=1)).min())


def pure_failure_bound(n: int, positives: Positives, size: int, alpha: float, epsilon: float) -> float:
    """Return our bound on Pr[u(D, h) > OPT + α] of the pure learner, whose release costs (2ε, 0), in closed form.

    Given m = min_a N_a the choice fails with probability at most |H| e^(−t m), t = 2ε(α − 2ρ)/5; the expectation over
    the counts is at most |H| Σ_a (1 − P₁ₐ(1 − e^(−t)))ⁿ. The sample's part is as in `failure_bound`.
    """
    rho = alpha * _PARTS
    sample = utility_bound(rho[:, None], n, positives, _SHARES).min(axis=1)
    fall = np.expm1(-pure_slope(1, epsilon) * (alpha - 2 * rho))
    return float((size * (sample + np.sum([(1 + p * fall) ** n for p in positives], axis=0))).min())


def simulated_failure(
    table: np.ndarray, hypotheses: np.ndarray, n: int, *, alpha: float, epsilon: float, delta: float,
    rng: np.random.Generator, samples: int = 200, rule: Rule | Literal["pure"] = "repaired",
) -> float:  # fmt: skip
    """Return the chance to miss the best hypothesis by more than α: samples drawn, the choice integrated exactly.

    Parameters
    ----------
    table : ndarray of shape (points, 2, 2)
        The probability of each (x, a, y).
    hypotheses : ndarray of shape (k, points, 2)
        h(x, a) of each hypothesis.
    n, samples : int
        Size and number of the samples.
    alpha, epsilon, delta : float
        α, and ε and δ of the learner; δ is not used by the pure one.
    rng : numpy.random.Generator
        Draws the samples.
    rule : {"printed", "repaired", "pure"}
        Which learner.

    Returns
    -------
    float
        The mean over the samples of the exact probability of a bad choice.
    """
    bad = _losses(table, hypotheses)
    bad = bad > bad.min() + alpha + 1e-12
    missed = []
    for counts in rng.multinomial(n, table.ravel(), size=samples):
        share = counts.reshape(table.shape) / n
        smallest, u = int(counts.reshape(table.shape)[:, :, 1].sum(axis=0).min()), _losses(share, hypotheses)
        if rule == "pure":
            weights = np.exp(-pure_slope(smallest, epsilon) * (u - u.min()))
            chances = weights / weights.sum()
        else:
            chances = choice_probabilities(u, smallest, n, epsilon=epsilon, delta=delta, rule=rule)
        missed.append(chances[bad].sum())
    return float(np.mean(missed))


def _losses(table: np.ndarray, hypotheses: np.ndarray) -> np.ndarray:
    """Return u of each hypothesis under a law of (x, a, y); Γ is 0 where a group has no positives."""
    positive, negative = table[:, :, 1], table[:, :, 0]
    error = ((1 - hypotheses) * positive + hypotheses * negative).sum(axis=(1, 2))
    mass = positive.sum(axis=0)
    rates = (hypotheses * positive).sum(axis=1) / np.where(mass > 0, mass, 1)
    return error + (abs(rates[:, 0] - rates[:, 1]) if mass.all() else 0)


def printed_terms(
    n: int, positives: Positives, size: int, alpha: float, beta: float, epsilon: float
) -> dict[str, float]:
    """Return each term of Theorem 2's maximum at n, with |Z₁ₐ| = P₁ₐ n and k = min_a P₁ₐ.

    Returns
    -------
    dict
        ``sample``, ``choice`` and ``noise``, the three inner terms times 144 ln(20|H|/β), and ``count``, 2/(kε)². The
        second is negative where √n/ε exceeds |Z₁ₐ| − 1.
    """
    factor = 144 * (math.log(size) + math.log(1 / beta) + math.log(20))
    excess = [n * p - math.sqrt(n) / epsilon - 1 for p in positives]
    choice = max((2 * n / (e or math.ulp(1.0)) + 1) / (epsilon * alpha) for e in excess)
    return {
        "sample": factor / (alpha**2 * min(positives)),
        "choice": factor * choice,
        "noise": factor * (math.sqrt(n) + math.log(size)) / n,
        "count": 2 / (min(positives) * epsilon) ** 2,
    }


def printed_sample_size(positives: Positives, size: int, alpha: float, beta: float, epsilon: float) -> int:
    """Return the smallest n from which Theorem 2's printed condition holds, with |Z₁ₐ| = P₁ₐ n."""

    def holds(n: int) -> bool:
        return n >= max(printed_terms(n, positives, size, alpha, beta, epsilon).values())

    return _least(holds)


def sample_size(
    positives: Positives, size: int, alpha: float, beta: float, epsilon: float, delta: float
) -> int:
    """Return an n for which `failure_bound` is at most β; ``delta=0`` asks for the pure learner.

    Raises
    ------
    ValueError
        If δ ≥ β > 0, since the bound never falls below δ.
    """
    if delta >= beta:
        raise ValueError(f"delta: found {delta}, expected less than beta = {beta}")

    def holds(n: int) -> bool:
        if delta == 0:
            return pure_failure_bound(n, positives, size, alpha, epsilon) <= beta
        return failure_bound(n, positives, size, alpha, epsilon, delta) <= beta

    return _least(holds)


def _least(holds: Callable[[int], bool]) -> int:
    """The place of the change from false to true that doubling and bisection find."""
    high = 1
    while not holds(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
