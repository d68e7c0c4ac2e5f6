"""Training steps of DP-FERMI, descent in the weights and ascent in W: private, and as published."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dpfair_lib._progress import Progress
from dpfair_lib.learners.fermi_penalty import clipped_w_sum, residuals

Data = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Features of shape (n, d) with a column of ones for an intercept; labels 0 and 1; groups 0 to k − 1."""
Gradients = tuple[np.ndarray, np.ndarray]
"""By the weights, of shape (models, d), and by W, of shape (models, k, 2)."""


@dataclass(frozen=True)
class FermiSteps:
    """How often, how fast, how much noise.

    Parameters
    ----------
    strengths : ndarray of shape (models,)
        λ of each model.
    count : int
        Number of steps.
    batch_size : int
        Rows of a batch, or their expected number under Poisson sampling.
    learning_rate, w_learning_rate : float
        Step lengths, of the weights downhill and of W uphill.
    clip, w_clip : float
        Norms to which gradients are clipped, by the weights and by W.
    w_radius : float
        W is scaled back to this Frobenius norm when it is longer.
    noise_multiplier : float
        Private training: noise over the sensitivity of both clipped sums together.
    deviation, w_deviation : float
        Training as run: standard deviations of the noise on the two means.
    """

    strengths: np.ndarray
    count: int
    batch_size: int
    learning_rate: float
    w_learning_rate: float
    clip: float
    w_radius: float
    w_clip: float = math.inf
    noise_multiplier: float = 0.0
    deviation: float = 0.0
    w_deviation: float = 0.0


def train_private(
    data: Data, frequencies: np.ndarray, steps: FermiSteps, seed: np.random.SeedSequence
) -> tuple[np.ndarray, np.ndarray]:
    """Train one model for each λ by private stochastic gradient descent and ascent.

    Each record enters a batch with probability batch_size / n. Its gradient by the weights is clipped to C, that
    of ψ by W to C_W; both sums are released. Divided by C and C_W, the pair of sums moves by a vector of length at
    most √(1 + 1) = √2 when a record is added or removed, so noise of √2 σ C and √2 σ C_W on all entries makes one
    Gaussian mechanism of multiplier σ, and the step is one of DP-SGD. The step of W is λ times the released sum
    over the expected batch size. Where λ = 0 nothing depends on W, its sum is not released, and the noise is σ C.

    The weights start at 0, where all predictions are independent of the group, and W at the maximum of Ψ for
    such predictions, √P_s in both columns. All λ share batches and noise.

    Parameters
    ----------
    data : Data
        Features, labels, groups.
    frequencies : ndarray of shape (k,)
        P_s, positive: public, or private already.
    steps : FermiSteps
        The numbers.
    seed : SeedSequence
        Source of batches and noise.

    Returns
    -------
    weights : ndarray of shape (models, d)
        Weights after the last step.
    W : ndarray of shape (models, k, 2)
        The matrices after the last step.
    """
    X, _, groups = data
    (n, d), k = X.shape, len(frequencies)
    lengths = np.linalg.norm(X, axis=1)
    spread = steps.noise_multiplier * np.where(steps.strengths > 0, math.sqrt(2), 1)
    draws, noise = (np.random.default_rng(part) for part in seed.spawn(2))
    weights = np.zeros((len(steps.strengths), d))
    W = np.tile(np.sqrt(frequencies)[:, None], (len(weights), 1, 2))

    def batches() -> Iterator[np.ndarray]:
        for _ in range(steps.count):
            # a binomial number of rows without replacement: Poisson sampling, without n coins
            yield draws.choice(n, draws.binomial(n, steps.batch_size / n), replace=False, shuffle=False)

    def means(
        rows: np.ndarray, features: np.ndarray, p: np.ndarray, factors: np.ndarray, W: np.ndarray
    ) -> Gradients:
        norms = abs(factors) * lengths[rows]
        factors *= steps.clip / np.maximum(norms, steps.clip)
        gradient = factors @ features + (spread * steps.clip)[:, None] * noise.standard_normal(d)
        w_gradient = clipped_w_sum(p, groups[rows], frequencies, W, steps.w_clip)
        w_gradient += (spread * steps.w_clip)[:, None, None] * noise.standard_normal((k, 2))
        return gradient / steps.batch_size, w_gradient / steps.batch_size

    return _descend(data, frequencies, steps, weights, W, batches(), means)


def train_as_run(
    data: Data, frequencies: np.ndarray, steps: FermiSteps, seed: np.random.SeedSequence, penalised: int
) -> tuple[np.ndarray, np.ndarray]:
    """Train one model for each λ as in the published comparison.

    Every epoch shuffles the rows and cuts them into batches, the last of which may be smaller. The gradient of the
    batch's mean by the weights is clipped, not those of the records; that by W is not clipped. Of W there is one
    number only, the entry of one group and the second class; the others are 0. The maximum over it of Ψ is
    P(1, s)² / (P(1) P_s) − 1 = P_s r_s² / r − 1 for selection rates r_s of that group and r of all. This is no
    measure of dependence: it falls with r_s down to −1 at r_s = 0, and under independence it is P_s r − 1.

    Weights start uniform on ±1/√(d − 1), W standard normal. All λ share start, batches and noise, as they did.

    Parameters
    ----------
    data, frequencies, steps, seed
        As in `train_private`; the frequencies are the data's own.
    penalised : int
        The group whose entry of W is used.

    Returns
    -------
    weights, W
        As of `train_private`.
    """
    X, _, groups = data
    n, d = X.shape
    draws, noise = (np.random.default_rng(part) for part in seed.spawn(2))
    weights = np.tile(noise.uniform(-1, 1, d) / math.sqrt(d - 1), (len(steps.strengths), 1))
    W = np.zeros((len(weights), len(frequencies), 2))
    W[:, penalised, 1] = noise.standard_normal()

    def batches() -> Iterator[np.ndarray]:
        per_epoch = -(-n // steps.batch_size)
        for step in range(steps.count):
            at = step % per_epoch
            if at == 0:
                order = draws.permutation(n)
            yield order[at * steps.batch_size : (at + 1) * steps.batch_size]

    def means(
        rows: np.ndarray, features: np.ndarray, p: np.ndarray, factors: np.ndarray, W: np.ndarray
    ) -> Gradients:
        gradient = factors @ features / len(rows)
        gradient /= np.maximum(np.linalg.norm(gradient, axis=1, keepdims=True) / steps.clip, 1)
        gradient += steps.deviation * noise.standard_normal(d)
        of_all = clipped_w_sum(p, groups[rows], frequencies, W, math.inf) / len(rows)
        w_gradient = np.zeros_like(W)
        w_gradient[:, penalised, 1] = of_all[:, penalised, 1] + steps.w_deviation * noise.standard_normal()
        return gradient, w_gradient

    return _descend(data, frequencies, steps, weights, W, batches(), means)


def _descend(
    data: Data, frequencies: np.ndarray, steps: FermiSteps, weights: np.ndarray, W: np.ndarray,
    batches: Iterable[np.ndarray],
    means: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], Gradients],
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Go down in the weights and up in W, by the noisy means that are formed of every batch.

    ``means`` takes the batch's rows, their features, their predictions, the derivatives of their losses by the
    log-odds, and W.
    """
    X, y, groups = data
    X = np.ascontiguousarray(
        X
    )  # a table's columns lie together: then gathering a batch's rows takes ten times as long
    scale = (steps.w_learning_rate * steps.strengths)[:, None, None]
    progress = Progress("steps of training", steps.count)
    for rows in batches:
        features = X[rows]
        p = expit(weights @ features.T)
        factors = residuals(p, y[rows], groups[rows], frequencies, steps.strengths, W)
        gradient, w_gradient = means(rows, features, p, factors, W)
        weights = weights - steps.learning_rate * gradient
        W = inside(W + scale * w_gradient, steps.w_radius)
        progress.add()
    return weights, W


def printed_noise(
    epsilon: float,
    delta: float,
    n: int,
    steps: int,
    rho: float,
    *,
    lipschitz: float = 5.0,
    radius: float = 5.0,
) -> tuple[float, float]:
    """Return the standard deviations of the noise on the two batch means, by the formulas that were run.

    Parameters
    ----------
    epsilon, delta : float
        The privacy that they are meant to give.
    n, steps : int
        Rows and steps.
    rho : float
        (smallest group − 1) / n.
    lipschitz, radius : float
        L, the norm to which the mean's gradient is clipped, and C, the bound on W.

    Returns
    -------
    weights, w : float
        √([64 L²C²/ρ + 128 C⁴L²] T ln(1/δ)) / (εn) and √(32 (C² + 1/ρ) T ln(1/δ)) / (εn).
    """
    common = math.sqrt(steps * math.log(1 / delta)) / (epsilon * n)
    of_weights = 64 * (lipschitz * radius) ** 2 / rho + 128 * (radius**2 * lipschitz) ** 2
    return common * math.sqrt(of_weights), common * math.sqrt(32 * (radius**2 + 1 / rho))


def inside(W: np.ndarray, radius: float) -> np.ndarray:
    """Return matrices of shape (models, k, 2), each scaled back to a Frobenius norm where it is longer."""
    largest = np.maximum(abs(W).max(axis=(1, 2), keepdims=True), 1)  # squares of large entries would overflow
    norms = largest * np.linalg.norm(W / largest, axis=(1, 2), keepdims=True)
    return W / np.maximum(norms / radius, 1)
