"""The expected distance between the result of noisy gradient descent and the minimiser."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpfair_lib._arguments import positive, positive_integer
from dpfair_lib.privacy.gaussian import gaussian_sigma

ROUNDING = 1e-12  # of a step at its limit


def stochastic_descent_bound(
    p: int, *, initial: Any, step: Any, modulus: Any, steps: int, gradient_variance: Any, sigma_squared: Any
) -> Any:
    """Return a bound on E‖h_T − h*‖² of projected descent along one record's gradient plus N(0, σ²I_p).

    It holds for losses that are convex and β-smooth one by one and have a μ-strongly convex mean, at steps γ ≤ 1/(2β):
    k‖h_0 − h*‖² + (1 − k)γ(2σ*² + pσ²)/μ with k = (1 − γμ)^T. The noise has mean 0 and is independent of the record
    drawn, so that its square adds up without a factor; that term is exact in a first step from h*. Fractions stay
    exact.

    Parameters
    ----------
    p : int
        Dimension.
    initial : number
        ‖h_0 − h*‖².
    step : number
        γ, at most 1/(2β).
    modulus : number
        μ.
    steps : int
        T.
    gradient_variance : number
        σ*²: mean squared norm of the records' gradients at h*.
    sigma_squared : number
        σ².

    Returns
    -------
    number
        The bound.

    Raises
    ------
    ValueError
        If the dimension or the number of steps is not a positive integer, the modulus not positive, or the step not
        above 0 and at most 1/(2μ), which 1/(2β) never exceeds.

    References
    ----------
    MPBT, Appendix F, (20) and (23)–(33), with the noise of all p coordinates.
    """
    positive_integer(p, "p")
    positive_integer(steps, "steps")
    if not np.all(modulus > 0):
        raise ValueError(f"modulus: found {modulus}, expected positive numbers")
    if not np.all((step > 0) & (2 * step * modulus <= 1 + ROUNDING)):
        raise ValueError(
            f"step: found {step}, expected a number above 0, at most 1/(2β) ≤ {1 / (2 * modulus)}"
        )
    contraction = (1 - step * modulus) ** steps
    floor = step * (2 * gradient_variance + p * sigma_squared) / modulus
    return contraction * initial + (1 - contraction) * floor


def full_batch_descent_bound(
    p: int, *, lipschitz: float, strong_convexity: float, smoothness: float, n: int, epsilon: float, delta: float,
    steps: int, initial: float,
) -> tuple[float, float]:  # fmt: skip
    """Return the noise of private full-batch descent, and a bound on E‖h_T − h*‖².

    T steps of length γ = 1/β along the mean gradient plus N(0, σ²I_p), projected on a convex set. All T noisy
    gradients together are one Gaussian mechanism of sensitivity 2Λ√T/n, so that the analytic σ for it is exact.

    Parameters
    ----------
    p : int
        Dimension.
    lipschitz : float
        Λ: bound on the norm of a record's gradient, without the common regulariser.
    strong_convexity, smoothness : float
        μ and β ≥ μ, of the mean loss.
    n : int
        Number of records, public.
    epsilon, delta : float
        The guarantee, under replace-one.
    steps : int
        T.
    initial : float
        ‖h_0 − h*‖².

    Returns
    -------
    tuple of float
        σ, and (1 − μ/β)^(2T) ‖h_0 − h*‖² + pσ²/(β²(1 − (1 − μ/β)²)).

    Raises
    ------
    ValueError
        If an argument is out of its range, or the smoothness is below the modulus.
    """
    modulus, beta = positive(strong_convexity, "strong_convexity"), positive(smoothness, "smoothness")
    if beta < modulus:
        raise ValueError(f"smoothness: found {smoothness}, expected at least strong_convexity = {modulus}")
    count = positive_integer(steps, "steps")
    sensitivity = 2 * positive(lipschitz, "lipschitz") * math.sqrt(count) / positive_integer(n, "n")
    sigma = gaussian_sigma(epsilon, delta, sensitivity, "analytic")
    contraction = (1 - modulus / beta) ** 2
    floor = positive_integer(p, "p") * (sigma / beta) ** 2 / (1 - contraction)
    return sigma, contraction**count * positive(initial, "initial") + floor
