"""No-regret dynamics for subgroup fairness: as printed, without privacy, and with noise on every access to the data."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpfair_lib._progress import Progress
from dpfair_lib.compatibility.subgroup_fairness.subgroup_game import SubgroupGame
from dpfair_lib.privacy import composed_zcdp, zcdp_delta, zcdp_from_pure
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import lowered, noise_scale, product_above, raised
from dpfair_lib.privacy.sampling import Noise


def printed_scale(
    epsilon: float, delta: float, n: int, *, dual_bound: float, rounds: int, samples: int
) -> float:
    """Return the printed 1/ε′ = (2 + C)√(mT ln(1/δ))/(nε), the scale of the noise on every record's cost.

    References
    ----------
    CGKM, Algorithm 3.
    """
    return (2 + dual_bound) * math.sqrt(rounds * samples * math.log(1 / delta)) / (n * epsilon)


def best_response(game: SubgroupGame, selected: np.ndarray) -> tuple[int, float]:
    """Return the subgroup with the largest violation and the sign of it; the first of several."""
    found = game.violations(selected)
    at = int(np.argmax(abs(found)))
    return at, float(np.sign(found[at]))


def printed_dynamics(
    game: SubgroupGame, sizes: np.ndarray, *, rounds: int, samples: int, dual_bound: float, scale: float,
    rng: np.random.Generator,
) -> np.ndarray:  # fmt: skip
    """Run the printed algorithm with all classifiers on the grid, and return the selection by cell of every round.

    In each round the costs LC(Σλ) get fresh Laplace noise for every record, m times; the cost of a cell is that of
    its records together. The auditor sees the data. Ties, in cells without records, go to 0.

    Parameters
    ----------
    game : SubgroupGame
        The game on the data.
    sizes : array of shape (cells,)
        Number of records in each cell.
    rounds, samples : int
        T and m.
    dual_bound : float
        C.
    scale : float
        1/ε′.
    rng : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    ndarray of shape (rounds, cells)
        P(Ŷ = 1) under ĥ¹, …, ĥᵀ.

    References
    ----------
    CGKM, Algorithm 3.
    """
    weights = np.zeros(len(game.violation))
    played, progress = np.empty((rounds, len(sizes))), Progress("rounds", rounds)
    for t in range(rounds):
        # a sum of k Laplace variables is the difference of two gamma variables of shape k
        up, down = rng.gamma(sizes, scale, size=(2, samples, len(sizes)))
        played[t] = (game.costs(weights) + up - down < 0).mean(axis=0)
        at, sign = best_response(game, played[t])
        weights[at] += dual_bound * sign  # the running sum, while the error in the costs is counted once
        progress.add()
    return played


@dataclass(frozen=True)
class RoundNoise:
    """What the private dynamics add in every round, so that all rounds together are (ε, δ)-DP.

    Attributes
    ----------
    sigma : float
        Standard deviation of the Gaussian noise on every cell of a round's loss vector.
    audit_scale : float
        Scale of the Laplace noise on every score of the auditor's noisy maximum.
    rho : float
        Zero-concentrated cost of all rounds, rounded up.
    """

    sigma: float
    audit_scale: float
    rho: float


@functools.lru_cache(maxsize=64)
def rho_for(epsilon: float, delta: float) -> float:
    """Return the largest ρ, to ten digits, that converts to at most ε at δ."""
    low, high = 0.0, 1.0
    while zcdp_delta(high, epsilon) <= delta:
        low, high = high, 2 * high
        if math.isinf(high):
            raise ValueError(f"epsilon: found {epsilon}, expected a smaller one: its zCDP budget overflows")
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if zcdp_delta(middle, epsilon) <= delta else (low, middle)
    return low


def loss_sensitivity(dual_bound: float, n: int) -> float:
    """Return (2 + √2·C)/n: further a replaced record cannot move the loss vector of a round, in Euclidean norm.

    A positive that becomes a negative of its cell moves it by nearly √((2 + C)² + C²)/n, which is little less.
    The auditor's subgroup is held fixed: it was released before. Derived in the chapter; the printed (2 + C)/n is
    smaller than what the sum of the absolute changes can be, (2 + 2C)/n.
    """
    return (2 + math.sqrt(2) * dual_bound) / n


def round_noise(epsilon: float, delta: float, n: int, *, rounds: int, dual_bound: float) -> RoundNoise:
    """Divide one zero-concentrated budget among all rounds, half for the losses and half for the auditor.

    Parameters
    ----------
    epsilon, delta : float
        The whole guarantee, for a replaced record.
    n : int
        Number of records, public.
    rounds : int
        T.
    dual_bound : float
        C.

    Returns
    -------
    RoundNoise
        A round costs Δ²/(2σ²) for the loss, with Δ of `loss_sensitivity`, and ε₀²/2 for the noisy maximum, which is
        ε₀-DP with Laplace noise of scale 2/(nε₀) on scores that move by at most 1/n.
    """
    share = rho_for(epsilon, delta) / (2 * rounds)
    sigma = raised(loss_sensitivity(dual_bound, n) / math.sqrt(2 * share))
    audit_epsilon = lowered(math.sqrt(2 * share))
    spent = composed_zcdp(
        raised(rounds * (loss_sensitivity(dual_bound, n) / sigma) ** 2 / 2),
        product_above(rounds, zcdp_from_pure(audit_epsilon)),
    )
    return RoundNoise(sigma, noise_scale(Fraction(2, n), audit_epsilon), spent)


def no_regret_dynamics(
    game: SubgroupGame, *, rounds: int, samples: int, dual_bound: float, tolerance: float,
    rng: np.random.Generator, private: RoundNoise | None = None, noise: Noise = "study",
) -> np.ndarray:  # fmt: skip
    """Run the game for T rounds: the learner follows the perturbed leader, the auditor responds.

    The learner draws m classifiers in each round; a cell is selected if its total loss so far, perturbed by logistic
    noise, is negative. That noise is for regret and is not counted as privacy. The auditor then names the subgroup
    and sign with the largest violation above the tolerance, or none. The loss of the round is the error and C times
    the named violation, and enters the learner's total.

    Parameters
    ----------
    game : SubgroupGame
        The game on the data, or on noisy counts.
    rounds, samples : int
        T and m.
    dual_bound : float
        C.
    tolerance : float
        Violations up to it cost nothing.
    rng : numpy.random.Generator
        Source of the perturbations, and of study noise.
    private : RoundNoise, optional
        Noise for the auditor's scores and, once, for the loss of each round; the data are used nowhere else.
    noise : {"secure", "study"}
        Sampler of that noise.

    Returns
    -------
    ndarray of shape (cells,)
        P(Ŷ = 1) by cell, averaged over all rounds and draws.
    """
    groups, cells = game.violation.shape
    # √(T/(8 ln 2)) times the size of a cell's losses is best for its regret; taken as about a quarter of 1/cells
    spread = 0.1 * math.sqrt(rounds) / cells
    source = NoiseSource.sharing(noise, rng)
    total, average, progress = np.zeros(cells), np.zeros(cells), Progress("rounds", rounds)
    for _ in range(rounds):
        chance = _logistic(-total / spread)
        selected = rng.binomial(samples, chance) / samples
        average += selected
        found = game.violations(selected) - tolerance
        scores = np.concatenate([found, -found - 2 * tolerance, [0.0]])
        if private is not None:
            scores = source.add_laplace(scores, private.audit_scale)
        at = int(np.argmax(scores))
        loss = game.error
        if at < 2 * groups:
            loss = loss + (dual_bound if at < groups else -dual_bound) * game.violation[at % groups]
        if private is not None:
            loss = source.add_gaussian(loss, private.sigma)
        total += loss
        progress.add()
    return average / rounds


def _logistic(odds: np.ndarray) -> np.ndarray:
    from scipy.special import expit

    return np.asarray(expit(odds))
