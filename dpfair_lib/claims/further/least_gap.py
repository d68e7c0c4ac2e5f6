"""Random priors for `ours.least-gap`: a best private test of each step, among all corners of the private tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpfair_lib.central.least_gap_exact import least_gap_of_prior, noisy_count_law, worst_gap_of_centres
from dpfair_lib.central.least_gap_sharp import sharp_least_gap, shrunk_gap
from dpfair_lib.claims.search import Search

PRIORS = 1000  # for each number of records, ε and δ
CENTRES = 5
EXACT = 1e-10


def search_on(
    *,
    prior: Callable[..., Any] = least_gap_of_prior,
    centres: Callable[..., Any] = worst_gap_of_centres,
    sharp: Callable[..., float] = sharp_least_gap,
    shrunk: Callable[..., float] = shrunk_gap,
    draws: int,
    search: Search,
) -> None:
    """Compare the bound of a prior with all private mechanisms, and the closed bounds with it and with each other."""
    for _ in range(max(draws // PRIORS, 4)):
        n, epsilon = int(search.rng.integers(1, 5)), float(search.rng.exponential())
        delta = float(search.rng.choice([0.0, 0.01, 0.1, 0.3]) * search.rng.random())
        _of_priors(prior, shrunk, (n, epsilon, delta), min(draws, PRIORS), search)
        _of_centres(centres, sharp, (n, epsilon, delta), search)
    search.part("closed bounds anywhere")
    for _ in range(draws):
        n, epsilon = int(10 ** search.rng.uniform(0, 8)), float(10 ** search.rng.uniform(-8, 1.6))
        delta = float(10 ** search.rng.uniform(-9, 0) * 0.999 * (search.rng.random() < 0.7))
        case = {"n": n, "epsilon": epsilon, "δ": delta, "κ": float(search.rng.uniform(0.01, 0.5))}
        low = sharp(n, epsilon, delta, response=case["κ"])
        high = shrunk(n, epsilon, delta, response=case["κ"])
        search.observe(min((3 if n < 300 else 2.5) * low - high, high - low), case, tolerance=1e-12)


def _of_priors(
    prior: Callable[..., Any],
    shrunk: Callable[..., float],
    setting: tuple[int, float, float],
    draws: int,
    search: Search,
) -> None:
    """The mean of |p − c| adds up, over the steps from a rate to the next, their length times a test's mean error."""
    search.part("random priors, all private tests")
    n, epsilon, delta = setting
    odds, count = math.exp(epsilon), int(search.rng.integers(2, 6))
    rates = np.sort(search.rng.random((draws, count)), axis=1)
    rates[:, 0] *= search.rng.integers(0, 2, size=draws)  # a rate of 0 in half of the priors
    weights = search.rng.dirichlet(np.full(count, 0.7), size=draws)
    mass = weights[:, :, None] * np.stack(
        [math.comb(n, k) * rates**k * (1 - rates) ** (n - k) for k in range(n + 1)], axis=2
    )
    tests, least = _private_tests(n, odds, delta), np.zeros(draws)
    for at in range(1, count):
        # a test says "at most this rate" with its chance
        low, high = mass[:, :at].sum(axis=1), mass[:, at:].sum(axis=1)
        least += (rates[:, at] - rates[:, at - 1]) * (low.sum(axis=1) + _least(high - low, *tests))
    top = shrunk(n, epsilon, delta, response=0.5) / 0.5
    for p, w, best in zip(rates.tolist(), weights.tolist(), least.tolist(), strict=True):
        case = {"n": n, "epsilon": epsilon, "δ": delta, "rates": p, "weights": w}
        found = prior(p, w, n, odds, delta)
        search.equal(found, best, case, tolerance=EXACT)
        search.observe(top - best, case, tolerance=EXACT)


def _private_tests(n: int, odds: float, delta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all chances that a corner of the private tests may have, and the range that each allows its neighbour.

    A test has a chance in [0, 1] for each count, and two neighbours' are bound from both sides by two lines each. At a
    corner of these tests some chance is 0 or 1, or two neighbours' are where two lines meet. Each other one follows
    from a neighbour's by an equation, in at most n steps.
    """

    def above(t: np.ndarray) -> np.ndarray:
        return np.minimum(odds * t + delta, 1 - (1 - t - delta) / odds)

    def below(t: np.ndarray) -> np.ndarray:
        return np.maximum((t - delta) / odds, 1 - odds * (1 - t) - delta)

    meet = (1 - delta) / (odds + 1)
    chances = np.array([0.0, meet, 1 - meet, 1.0])
    for _ in range(n):
        every = np.concatenate(
            [
                chances,
                odds * chances + delta,
                (chances - delta) / odds,
                1 - odds * (1 - chances) - delta,
                1 - (1 - chances - delta) / odds,
            ]
        )
        # one number may be reached on several ways
        chances = np.unique(np.round(every[(every >= 0) & (every <= 1)], 13))
    low = np.searchsorted(chances, below(chances) - 1e-12)
    high = np.searchsorted(chances, above(chances) + 1e-12, side="right")
    return chances, low, high


def _least(gains: np.ndarray, chances: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the least Σ gain · chance over all private tests, for each row of gains."""
    value = gains[:, -1:] * chances
    for at in range(gains.shape[1] - 2, -1, -1):
        ahead = np.stack(
            [value[:, first:last].min(axis=1) for first, last in zip(low, high, strict=True)], axis=1
        )
        value = ahead + gains[:, at : at + 1] * chances
    return value.min(axis=1)


def _of_centres(
    centres: Callable[..., Any],
    sharp: Callable[..., float],
    setting: tuple[int, float, float],
    search: Search,
) -> None:
    """The bound of random centres is above their risk at random rates, near to the worst, and above the lower bound."""
    search.part("random centres")
    n, epsilon, delta = setting
    odds = math.exp(epsilon)
    law = noisy_count_law(n, odds, delta)
    for _ in range(CENTRES):
        at = np.sort(search.rng.random(law.shape[1])) * search.rng.random()
        rates = np.union1d(np.linspace(0, 1, 301), at)
        counts = np.stack([math.comb(n, k) * rates**k * (1 - rates) ** (n - k) for k in range(n + 1)], axis=1)
        risk = float((counts @ law * abs(rates[:, None] - at)).sum(axis=1).max())
        case = {"n": n, "epsilon": epsilon, "δ": delta, "centres": at.tolist()}
        bound = centres(at.tolist(), n, odds, delta)
        search.observe(bound - risk, case, tolerance=EXACT)
        search.observe(1.01 * risk - bound, case)
        search.observe(risk * (1 + 1e-3) - 2 * sharp(n, epsilon, delta), case)
