"""Draws of the repaired dynamics held against their law: noisy counts, the auditor's scores, the losses."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logit
from scipy.stats import binom, chi2

from dpfair_lib.claims.search import Search
from dpfair_lib.compatibility.subgroup_fairness.fair_dynamics import RoundNoise
from dpfair_lib.compatibility.subgroup_fairness.subgroup_game import SubgroupGame

FAILURE = (
    1e-9  # chance that a right mechanism is found wrong in one of these parts, for a seed drawn at random
)
ROUNDS = 600
CELLS = 8000
AUDITS = (
    {"scale": 0.3, "tolerance": 1.5, "violation": 0.0, "subgroups": 100},
    {"scale": 1.0, "tolerance": 6.5, "violation": 1.0, "subgroups": 100},
    {"scale": 0.5, "tolerance": 0.8, "violation": -0.5, "subgroups": 7},
)
TABLES = (
    np.arange(2000.0).reshape(50, 20, 2),
    np.zeros((5, 200, 2)),
    np.full((1000, 1, 2), 1e5) * np.array([0.0, 1.0]),
)


def judge_counts(noisy_counts: Callable[..., np.ndarray], search: Search) -> None:
    """Counts, whatever they are, get Gaussian noise of variance 1/ρ each, every one its own."""
    search.part("counts noised")
    for rho, (number, exact) in itertools.product((0.02, 4.0), enumerate(TABLES)):
        found = noisy_counts(exact, rho, noise="study", rng=search.rng)
        noise = ((found - exact) * math.sqrt(rho)).ravel()
        case = {"rho": rho, "table": number}
        _within(float((noise**2).sum()), chi2(exact.size), case | {"of": "squares"}, search)
        # the square of the sum: one noise that all counts share would add up
        _within(float(noise.sum()) ** 2 / exact.size, chi2(1), case | {"of": "sum"}, search)


def _within(found: float, law: Any, case: dict[str, Any], search: Search) -> None:
    """Judge that a number lies between the quantiles of its law that leave FAILURE/24 on either side."""
    search.observe(found - float(law.ppf(FAILURE / 24)), case | {"found": found})
    search.observe(float(law.isf(FAILURE / 24)) - found, case | {"found": found})


class _Probe:
    """A game whose losses are all 0, and all violations one number; it counts how often a subgroup is named."""

    def __init__(self, cells: int = 1, subgroups: int = 1, violation: float = 0.0) -> None:
        self.named, self.error, self.violation, self.shape = 0, np.zeros(cells), self, (subgroups, cells)
        self._violations = np.full(subgroups, violation)

    def __getitem__(self, _: int) -> np.ndarray:
        self.named += 1
        return np.zeros(self.shape[1])

    def violations(self, _: np.ndarray) -> np.ndarray:
        return self._violations


def judge_rounds(dynamics: Callable[..., np.ndarray], search: Search) -> None:
    """The auditor names nobody as often as Laplace noise on all of its scores says; the losses are noised too."""
    played = _played(dynamics, int(search.rng.integers(2**63)))
    search.part("auditor noised")
    for audit, named in zip(AUDITS, played[:-1], strict=True):
        law = binom(ROUNDS, named_chance(**audit))
        _within(named, law, audit | {"chance": float(law.mean()) / ROUNDS}, search)
    search.part("losses noised")
    _within(played[-1], chi2(CELLS), {"of": "squares of the losses' noise"}, search)


@functools.cache  # by what is examined, and a seed that nothing examined enters
def _played(dynamics: Callable[..., np.ndarray], seed: int) -> tuple[float, ...]:
    """Return how often somebody was named in each of AUDITS, and the sum of squares of the losses' noise."""
    rng = np.random.default_rng(seed)
    named: list[float] = []
    for number, audit in enumerate(AUDITS):
        game = _Probe(1, int(audit["subgroups"]), audit["violation"])
        dynamics(
            game, rounds=ROUNDS, samples=1, dual_bound=1.0 + number, tolerance=audit["tolerance"], rng=rng,
            noise="study", private=RoundNoise(sigma=1e-9, audit_scale=audit["scale"], rho=1.0),
        )  # fmt: skip
        named.append(game.named)
    # after the first loss, 0 but for its noise, a cell is selected with the chance expit(−noise/spread); at a spread of
    # σ the logit of that chance, known from so many draws to two digits or more, is a standard normal variable
    sigma = 0.1 * math.sqrt(2) / CELLS
    average = dynamics(
        _Probe(CELLS), rounds=2, samples=10**10, dual_bound=7.0, tolerance=1.0, rng=rng, noise="study",
        private=RoundNoise(sigma=sigma, audit_scale=1e-9, rho=1.0),
    )  # fmt: skip
    return *named, float((logit(np.clip(2 * average - 0.5, 1e-9, 1 - 1e-9)) ** 2).sum())


@functools.cache
def named_chance(scale: float, tolerance: float, violation: float, subgroups: int) -> float:
    """Return the chance that a noisy violation, of either sign and less the tolerance, is above the noise of no one.

    The integral of the Laplace density at t times the chance that all others are below t, by the midpoint rule.
    """
    step = 1e-3
    t = (np.arange(-40_000, 40_000) + 0.5) * step

    def below(x: np.ndarray) -> Any:
        return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)

    others = below(t + (tolerance - violation) / scale) * below(t + (tolerance + violation) / scale)
    return 1 - math.fsum(np.exp(-abs(t)) / 2 * others**subgroups) * step


def judge_losses(
    dynamics: Callable[..., np.ndarray], noises: tuple[RoundNoise | None, ...], search: Search
) -> None:
    """The second of two rounds reveals the loss of the first: the error, and C times the violation that was named.

    A cell is selected with the chance expit(−loss/spread), the spread being a tenth of √2 over the number of cells, and
    so many draws give the probability to five digits. In the first round it is ½.
    """
    search.part("losses of a round")
    error = np.array([-0.02, 0.01, 0.03])
    small, large = np.array([0.01, 0.0, -0.02]), np.array([-0.05, 0.02, -0.03])
    spread = 0.1 * math.sqrt(2) / 3
    for (sign, bound, tolerance), private in itertools.product(
        itertools.product((1, -1), (0.5, 1.0, 3.0), (0.0, 0.02, 0.04)), noises
    ):
        game = SubgroupGame(0.4, error, sign * np.stack([small, large]))
        average = dynamics(
            game, rounds=2, samples=10**10, dual_bound=bound, tolerance=tolerance, rng=search.rng, noise="study",
            private=private,
        )  # fmt: skip
        # at ½ each, the violations are −0.005 and −0.03, times the sign
        named = -sign * bound * game.violation[1] if tolerance < 0.03 else 0 * error
        case = {"sign": sign, "dual_bound": bound, "tolerance": tolerance, "private": private is not None}
        found = -spread * logit(np.clip(2 * average - 0.5, 1e-9, 1 - 1e-9))
        search.observe(1e-4 - abs(found - error - named), case)
