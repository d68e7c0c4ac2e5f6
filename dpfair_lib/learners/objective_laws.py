"""What objective perturbation costs on two data sets: from the exact distribution of its minimiser."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpfair_lib.learners.losses import Loss, curvature, descent


def noise_of(weights: np.ndarray, signed: Any, modulus: float, loss: Loss = "logistic") -> np.ndarray:
    """Return the noise b with which some weights minimise the perturbed objective.

    Parameters
    ----------
    weights : ndarray of shape (..., p)
        w.
    signed : array of shape (n, p)
        Each row times its label −1 or 1.
    modulus : float
        μn: the regulariser is μn‖w‖²/2 beside the sum of the losses.
    loss : {"logistic", "huberised-hinge"}
        The loss.

    Returns
    -------
    ndarray of shape (..., p)
        b = ∑ dᵢyᵢxᵢ − μnw, with −dᵢ the slope of the loss. Each w belongs to one b.
    """
    rows = np.asarray(signed, dtype=float)
    return np.asarray(descent(weights @ rows.T, loss) @ rows - modulus * weights)


def log_density(
    weights: np.ndarray, signed: Any, modulus: float, sigma: float, loss: Loss = "logistic"
) -> np.ndarray:
    """Return the logarithm of the density of the minimiser under Gaussian b, up to a constant of p and σ.

    Parameters
    ----------
    weights, signed, modulus, loss
        As in `noise_of`.
    sigma : float
        Standard deviation of each coordinate of b.

    Returns
    -------
    ndarray of shape (...)
        −‖b‖²/(2σ²) + ln det(∑ ℓ″ᵢxᵢxᵢᵀ + μn).
    """
    rows = np.asarray(signed, dtype=float)
    b = noise_of(weights, rows, modulus, loss)
    return np.asarray(
        -(b * b).sum(axis=-1) / (2 * sigma**2) + np.linalg.slogdet(_hessian(weights, rows, modulus, loss))[1]
    )


def _hessian(weights: np.ndarray, rows: np.ndarray, modulus: float, loss: Loss) -> np.ndarray:
    """Return the second derivative of the objective, of shape (..., p, p)."""
    p = rows.shape[1]
    products = (rows[:, :, None] * rows[:, None, :]).reshape(-1, p * p)
    bends = curvature(weights @ rows.T, loss) @ products
    return np.asarray(bends.reshape(*weights.shape[:-1], p, p) + modulus * np.eye(p))


def delta_on_a_line(
    first: Any, second: Any, epsilon: float, sigma: float, modulus: float, *, loss: Loss = "logistic",
    cells: int = 4000,
) -> float:  # fmt: skip
    """Return a lower bound on δ(ε) of objective perturbation with one weight, for two data sets.

    The line of all w is cut into intervals. The probability of each is exact, since b falls as w rises.

    Parameters
    ----------
    first, second : array of shape (n,) or (n, 1)
        The two data sets, each number times its label −1 or 1.
    epsilon : float
        ε ≥ 0.
    sigma, modulus, loss
        As in `log_density`.
    cells : int, default=4000
        Number of intervals; more of them come nearer to δ(ε).

    Returns
    -------
    float
        The sum over the intervals of the positive parts of P(D) − e^ε P(D′).
    """
    from scipy.special import ndtr

    both = [np.asarray(rows, dtype=float).reshape(-1, 1) for rows in (first, second)]
    furthest = (max(abs(rows).sum() for rows in both) + 9 * sigma) / modulus
    edges = np.sinh(np.linspace(-1, 1, cells + 1) * np.arcsinh(100.0)) / 100 * furthest
    found = []
    for rows in both:
        z = noise_of(edges[:, None], rows, modulus, loss)[:, 0] / sigma
        # use the nearer tail, so that small probabilities are not lost in the difference
        found.append(np.where(z[1:] > 0, ndtr(-z[1:]) - ndtr(-z[:-1]), ndtr(z[:-1]) - ndtr(z[1:])))
    return float(np.maximum(found[0] - np.exp(epsilon) * found[1], 0).sum())


def delta_by_noise(
    first: Any, second: Any, epsilon: float, sigma: float, modulus: float, *, loss: Loss = "logistic",
    points: int = 200,
) -> float:  # fmt: skip
    """Return δ(ε) of objective perturbation with one weight or two, for two data sets, by a sum over a grid of b.

    Parameters
    ----------
    first, second : array of shape (n, p)
        The two data sets, each row times its label −1 or 1; p is 1 or 2.
    epsilon, sigma, modulus, loss
        As in `delta_on_a_line`.
    points : int, default=200
        Points along each axis, from −8σ to 8σ.

    Returns
    -------
    float
        The mean of (1 − e^(ε − L))₊ over the noise b of the first data set, where L is the logarithm of the ratio of
        the two densities at the minimiser. The sum converges to δ(ε) as points are added.
    """
    rows = np.asarray(first, dtype=float)
    axis, step = np.linspace(-8, 8, points, retstep=True)
    noise = np.stack(np.meshgrid(*[axis] * rows.shape[1], indexing="ij"), axis=-1)
    chances = np.exp(-(noise**2).sum(axis=-1) / 2) * (step / np.sqrt(2 * np.pi)) ** rows.shape[1]
    weights = minimisers(sigma * noise, rows, modulus, loss)
    loss_there = log_density(weights, rows, modulus, sigma, loss) - log_density(
        weights, second, modulus, sigma, loss
    )
    return float((chances * np.maximum(-np.expm1(epsilon - loss_there), 0)).sum())


def minimisers(
    perturbations: np.ndarray, signed: Any, modulus: float, loss: Loss = "logistic", steps: int = 200
) -> np.ndarray:
    """Return the minimiser of the perturbed objective for each of many perturbations, by vectorised Newton steps.

    Parameters
    ----------
    perturbations : ndarray of shape (..., p)
        b.
    signed, modulus, loss
        As in `noise_of`.
    steps : int, default=200
        Most steps.

    Returns
    -------
    ndarray of shape (..., p)
        w with `noise_of` (w) = b, to a relative accuracy of 1e-10.

    Raises
    ------
    ArithmeticError
        If that accuracy is not reached.
    """
    rows = np.asarray(signed, dtype=float)
    weights = -perturbations / modulus
    gap = noise_of(weights, rows, modulus, loss) - perturbations
    for _ in range(steps):
        size = np.linalg.norm(gap, axis=-1)
        if (size <= 1e-10 * (1 + np.linalg.norm(perturbations, axis=-1))).all():
            return weights
        step = np.linalg.solve(_hessian(weights, rows, modulus, loss), gap[..., None])[..., 0]
        length = np.ones(size.shape)
        for _ in range(
            60
        ):  # shorter until the slope along the step has not changed its sign, as in `minimise`
            trial = weights + length[..., None] * step
            after = noise_of(trial, rows, modulus, loss) - perturbations
            over = (after * step).sum(axis=-1) < -1e-12 * size * np.linalg.norm(step, axis=-1)
            over &= 2 * np.linalg.norm(after, axis=-1) > size
            if not over.any():
                break
            length = np.where(over, length / 2, length)
        weights, gap = trial, after
    raise ArithmeticError(f"found a gradient of {size.max():.3g}, expected at most 1e-10 of the noise")
