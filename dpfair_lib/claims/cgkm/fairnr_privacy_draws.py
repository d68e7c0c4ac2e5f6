"""Draws of the repaired dynamics' noise, held against its law: of counts, the auditor's scores, the losses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logit
from scipy.stats import binom, chi2

from dpfair_lib.claims.search import Search
from dpfair_lib.compat.fair_dynamics import RoundNoise

FAILURE = (
    1e-9  # chance that a right mechanism is found wrong in one of these parts, for a seed drawn at random
)
ROUNDS = 3000
CELLS = 8000


def judge_counts(noisy_counts: Callable[..., np.ndarray], search: Search) -> None:
    """Counts get Gaussian noise of variance 1/ρ each: the sum of squares follows a chi-square law."""
    search.part("counts noised")
    for rho in (0.02, 4.0):
        exact = np.arange(2000.0).reshape(50, 20, 2)
        found = noisy_counts(exact, rho, noise="study", rng=search.rng)
        squares = float(((found - exact) ** 2).sum() * rho)
        case = {"rho": rho, "squares": squares}
        search.observe(squares - chi2.ppf(FAILURE / 4, exact.size), case)
        search.observe(chi2.isf(FAILURE / 4, exact.size) - squares, case)


class _Probe:
    """A game of one subgroup whose losses are all 0; it counts how often the subgroup is named."""

    def __init__(self, cells: int = 1) -> None:
        self.named, self.error, self.violation, self.shape = 0, np.zeros(cells), self, (1, cells)

    def __getitem__(self, _: int) -> np.ndarray:
        self.named += 1
        return np.zeros(self.shape[1])

    def violations(self, _: np.ndarray) -> np.ndarray:
        return np.zeros(1)


def judge_rounds(dynamics: Callable[..., np.ndarray], search: Search) -> None:
    """The auditor names nobody as often as Laplace noise on its three scores says; the losses are noised too."""
    search.part("auditor noised")
    for scale in (0.3, 1.0):
        game = _Probe()
        dynamics(
            game, rounds=ROUNDS, samples=1, dual_bound=1.0, tolerance=1.0, rng=search.rng, noise="study",
            private=RoundNoise(sigma=1e-9, audit_scale=scale, rho=1.0),
        )  # fmt: skip
        chance = named_chance(1 / scale)
        case = {"scale": scale, "named": game.named, "chance": chance}
        search.observe(game.named - float(binom.ppf(FAILURE / 4, ROUNDS, chance)), case)
        search.observe(float(binom.isf(FAILURE / 4, ROUNDS, chance)) - game.named, case)
    search.part("losses noised")
    # after the first loss, 0 but for its noise, a cell is selected with the chance expit(−noise/spread); at a spread of
    # σ the logit of that chance, which so many draws tell to two digits or more, is a standard normal variable
    sigma = 0.1 * math.sqrt(2) / CELLS
    played = dynamics(
        _Probe(CELLS), rounds=2, samples=10**10, dual_bound=1.0, tolerance=1.0, rng=search.rng, noise="study",
        private=RoundNoise(sigma=sigma, audit_scale=1e-9, rho=1.0),
    )  # fmt: skip
    squares = float((logit(np.clip(2 * played - 0.5, 1e-9, 1 - 1e-9)) ** 2).sum())
    search.observe(squares - chi2.ppf(FAILURE / 4, CELLS), {"squares": squares})
    search.observe(chi2.isf(FAILURE / 4, CELLS) - squares, {"squares": squares})


def named_chance(gap: float) -> float:
    """Return the chance that one of two scores is the largest, of −gap, −gap and 0 with Laplace noise of scale 1.

    The integral of the density at t times P(noise < t + gap)² is the chance of the third; by the midpoint rule.
    """
    step = 1e-3
    t = (np.arange(-40_000, 40_000) + 0.5) * step

    def below(x: np.ndarray) -> Any:
        return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)

    return 1 - math.fsum(np.exp(-abs(t)) / 2 * below(t + gap) ** 2) * step
