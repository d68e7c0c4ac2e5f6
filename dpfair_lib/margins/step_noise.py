"""Noisy gradient descent whose noise follows the length of the weights, which every earlier release has made public."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from dpfair_lib._arguments import nonnegative, positive, positive_integer
from dpfair_lib.margins.squared_losses import squared_gradient_radius
from dpfair_lib.privacy.minimisers import gradient_radius
from dpfair_lib.privacy.rounding import raised

StepLoss = Literal["logistic", "huberised-hinge", "squared"]


def step_sensitivity(length: float, *, lipschitz: float, n: int, loss: StepLoss = "logistic") -> float:
    """Return how far the gradient of a mean loss moves at weights of that length, if one record is replaced.

    Parameters
    ----------
    length : float
        ‖h‖, public.
    lipschitz : float
        Λ: largest norm of a row, with the 1 of an intercept.
    n : int
        Number of records, public.
    loss : {"logistic", "huberised-hinge", "squared"}
        The loss of a margin y⟨h, x⟩.

    Returns
    -------
    float
        2Λm/n with m = `gradient_radius` (Λ‖h‖), 1, or twice `squared_gradient_radius` (Λ‖h‖). From two dimensions on
        two records attain it, at every length.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the loss is not one of these.

    References
    ----------
    Proof: the chapter on sharp constants of other losses (ours).
    """
    norm = positive(lipschitz, "lipschitz")
    reach = norm * nonnegative(length, "length")
    if loss == "logistic":
        share = gradient_radius(reach)
    elif loss == "squared":
        share = 2 * squared_gradient_radius(reach)
    elif loss == "huberised-hinge":
        share = 1.0
    else:
        raise ValueError(f"loss: found {loss!r}, expected logistic, huberised-hinge or squared")
    return raised(2 * norm * share / positive_integer(n, "n"))


def descent_sigma(
    length: float, rho: float, *, lipschitz: float, n: int, loss: StepLoss = "logistic"
) -> float:
    """Return the standard deviation of Gaussian noise in a gradient at weights of that length, for ρ-zCDP of the step.

    Parameters
    ----------
    length, lipschitz, n, loss
        As in `step_sensitivity`.
    rho : float
        ρ > 0 of this step. The steps of a descent add up, also if each σ depends on the weights released before.

    Returns
    -------
    float
        Δ/√(2ρ) with Δ = `step_sensitivity`.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    As for `step_sensitivity`; Bun and Steinke (2016) for ρ-zCDP.
    """
    return step_sensitivity(length, lipschitz=lipschitz, n=n, loss=loss) / math.sqrt(2 * positive(rho, "rho"))


def noisy_logistic_descent(
    rows: np.ndarray,
    noise: np.ndarray,
    rho: float,
    *,
    lipschitz: float,
    strong_convexity: float,
    radius: float,
    by_length: bool = True,
) -> np.ndarray:
    """Return the last weights of noisy gradient descent of regularised logistic regression, for studies.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
        Features times label −1 or 1, of norm at most Λ.
    noise : ndarray of shape (..., steps, p)
        Standard normal draws; private only if nobody can repeat them. All runs go beside each other.
    rho : float
        ρ of all steps together.
    lipschitz, strong_convexity : float
        Λ and μ.
    radius : float
        After every step weights are projected on ‖h‖ ≤ B.
    by_length : bool
        Whether the noise follows the length of the weights, or is that of the Lipschitz constant.

    Returns
    -------
    ndarray of shape (..., p)
        Weights after all steps, of step size 1/(Λ²/4 + μ).
    """
    n, steps = len(rows), noise.shape[-2]
    h = np.zeros(noise.shape[:-2] + noise.shape[-1:])
    for t in range(steps):
        lengths = np.linalg.norm(h, axis=-1)
        shares = np.vectorize(gradient_radius, otypes=[float])(lipschitz * lengths) if by_length else 1.0
        sigma = 2 * lipschitz * shares / n * math.sqrt(steps / (2 * rho))
        slope = strong_convexity * h - (1 / (1 + np.exp(h @ rows.T))) @ rows / n
        h = h - (slope + np.expand_dims(sigma, -1) * noise[..., t, :]) / (lipschitz**2 / 4 + strong_convexity)
        h = h / np.maximum(1, np.linalg.norm(h, axis=-1, keepdims=True) / radius)
    return np.asarray(h)
