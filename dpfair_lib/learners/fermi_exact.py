"""DP-FERMI's private steps on a grid, with exact sums and exactly drawn noise: those with a guarantee.

They are as in `dpfair_lib.learners.exact_steps`. A step releases two sums, over the same batch: of the gradients by the
weights, clipped to C, and by W, clipped to C_W. On grids of √2σC/2⁴⁰ and √2σC_W/2⁴⁰ a record adds two integer vectors
of norm at most 2⁴⁰/(√2σ) each, so together one of norm at most 2⁴⁰/σ. All their entries get discrete Gaussian noise of
scale 2⁴⁰. So the step is one of DP-SGD with noise multiplier σ and as many entries. Where λ = 0 nothing depends on W,
its sum is not released, and the factor √2 is not needed.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy.special import expit

from dpfair_lib._progress import Progress
from dpfair_lib.learners.batches import system_batches
from dpfair_lib.learners.exact_steps import MARGIN, TINY, Rows, column_sums, exact_sum, grid_step, prepared
from dpfair_lib.learners.fermi_penalty import residuals
from dpfair_lib.learners.fermi_training import Data, FermiSteps, inside
from dpfair_lib.learners.linear import HEAVIEST
from dpfair_lib.privacy.grid_noise import FINENESS
from dpfair_lib.privacy.rounding import above
from dpfair_lib.privacy.sampling import add_discrete_gaussian_noise

ROOT = math.nextafter(math.sqrt(2), 2)
WIDEST_SLOPE = 1e150  # beyond, squares and products of what is known from the releases could overflow


def train_exact(data: Data, frequencies: np.ndarray, steps: FermiSteps) -> tuple[np.ndarray, np.ndarray]:
    """Train one model as `train_private` does, with noise and batches that nobody can repeat.

    Parameters
    ----------
    data : Data
        Features, labels, groups.
    frequencies : ndarray of shape (k,)
        P_s, positive: public, or private already.
    steps : FermiSteps
        The numbers; one λ.

    Returns
    -------
    weights : ndarray of shape (1, d)
        Weights after the last step; NaN where numbers that are known from the releases overflowed.
    W : ndarray of shape (1, k, 2)
        The matrix after the last step.

    Raises
    ------
    ValueError
        If a clipping norm is not from 10⁻¹⁰⁰ to 10¹⁰⁰.
    """
    X, y, groups = data
    (n, d), k = X.shape, len(frequencies)
    strength, sigma = float(steps.strengths[0]), Fraction(steps.noise_multiplier)
    multiplier = above(sigma * Fraction(ROOT)) if strength > 0 else steps.noise_multiplier
    units = grid_step(multiplier, steps.clip), grid_step(multiplier, steps.w_clip, "w_max_grad_norm")
    rows, weights, W = prepared(X, steps.clip), np.zeros(d), np.tile(np.sqrt(frequencies)[:, None], (1, 2))
    width = d + 2 * k if strength > 0 else d

    def integers(chosen: np.ndarray) -> np.ndarray:
        return _integers(rows, y, groups, chosen, weights, W, frequencies, steps, units)[:width]

    progress = Progress("steps of training", steps.count)
    for chosen in system_batches(n, steps.batch_size / n, steps.count):
        if not _in_range(weights, W, frequencies, strength):
            return np.full((1, d), np.nan), W[None]
        noisy = add_discrete_gaussian_noise(exact_sum(chosen, integers, width), FINENESS)
        weights = weights - steps.learning_rate / steps.batch_size * units[0] * noisy[:d]
        if strength > 0:
            gradient = units[1] / steps.batch_size * noisy[d:].reshape(k, 2)
            W = inside((W + steps.w_learning_rate * strength * gradient)[None], steps.w_radius)[0]
        progress.add()
    return weights[None], W[None]


def _in_range(weights: np.ndarray, W: np.ndarray, frequencies: np.ndarray, strength: float) -> bool:
    """Return whether nothing that a record adds can overflow; it depends on released numbers only."""
    reach = max(abs(W).max(), float((1 / np.sqrt(frequencies)).max()), 1)
    largest = max(strength, 1) * len(frequencies) * 4 * reach * reach
    return bool((abs(weights) <= HEAVIEST).all() and largest <= WIDEST_SLOPE)  # False for NaN


def _integers(
    rows: Rows, y: np.ndarray, groups: np.ndarray, chosen: np.ndarray, weights: np.ndarray, W: np.ndarray,
    frequencies: np.ndarray, steps: FermiSteps, units: tuple[float, float],
) -> np.ndarray:  # fmt: skip
    """Return both clipped gradients of some records on their grids, of shape (d + 2k, records).

    All is element by element, as in `exact_steps.integer_gradients`. A record's gradient by W has the columns
    2 f_y (e_s / √P_s − W_·y), see `fermi_penalty.clipped_w_sum`.
    """
    entries, members = np.ascontiguousarray(rows.entries[chosen].T), groups[chosen]
    p = expit(column_sums(entries * weights[:, None]))
    slopes = residuals(p[None], y[chosen], members, frequencies, steps.strengths, W[None])[0]
    sizes = np.minimum(abs(slopes), rows.limits[chosen]) / units[0]
    by_weights = entries * np.copysign(sizes, slopes)

    # directions[:, y, s] = e_s / √P_s − W_·y
    directions = np.eye(len(frequencies))[:, None, :] / np.sqrt(frequencies) - W[:, :, None]
    lengths = np.sqrt((directions**2).sum(axis=0))[:, members]
    f = np.stack([1 - p, p])
    norms = 2 * np.sqrt((f[0] * lengths[0]) ** 2 + (f[1] * lengths[1]) ** 2) * MARGIN + TINY
    factors = np.minimum(1, steps.w_clip / norms) / units[1]
    by_w = directions[:, :, members] * (2 * f * factors)
    return np.vstack([by_weights, by_w.reshape(-1, len(chosen))]).astype(np.int64)
