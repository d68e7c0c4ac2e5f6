"""Noise in the objective: how much of it makes the minimiser of a regularised loss private."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpfair_lib._arguments import inside_unit, nonnegative, positive, positive_integer
from dpfair_lib.privacy.gaussian import gaussian_delta, gaussian_sigma
from dpfair_lib.privacy.rounding import log_above, lowered, noise_scale, quotient_above, raised


def curvature_cost(
    epsilon: float, *, lipschitz: float, strong_convexity: float, n: int, curvature: float | None = None
) -> float:
    """Return how much of ε the curvature of the replaced record's loss costs in objective perturbation.

    The density of the minimiser has a determinant, which the record's curvature changes by a factor of at most
    1 + κℓ″, with κ = Λ²/(μn). If ℓ″ is only known to be at most L, that costs ln(1 + κL). The logistic loss of slope
    −d has ℓ″ = d(1 − d), which vanishes where the noise alone loses most, at d = 1. There the cost c is the least
    number of at least 0 for which ln(1 + κu) ≤ c + u(ε − c)/2 for all u in [0, ¼]. It is 0 for κ ≤ ε/2.

    Parameters
    ----------
    epsilon : float
        ε > 0 of the whole.
    lipschitz : float
        Λ: largest norm of a row, with the 1 of an intercept.
    strong_convexity : float
        μ: the coefficient of ‖w‖²/2 beside the mean loss.
    n : int
        Number of records, public.
    curvature : float, optional
        L ≥ 0, the largest ℓ″ of a convex loss of the margin whose slope is between −1 and 0. None means the logistic
        loss.

    Returns
    -------
    float
        The cost, rounded up. Objective perturbation needs an ε above it.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Proof: the chapter on objective perturbation (ours). Chaudhuri, Monteleoni and Sarwate (2011), Theorem 9, subtract
    2 ln(1 + κ/4) for the logistic loss.
    """
    epsilon, kappa = positive(epsilon, "epsilon"), _kappa(lipschitz, strong_convexity, n)
    if kappa == math.inf:
        return math.inf
    if curvature is not None:
        factor = raised(kappa * nonnegative(curvature, "curvature"))
        # floats may lose it beside the 1
        return math.inf if factor == math.inf else log_above(1 + Fraction(factor))
    low, high = 0.0, log_above(1 + raised(kappa / 4))
    if kappa <= epsilon / 2:
        return low
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if _excess(kappa, (epsilon - middle) / 2) <= middle else (middle, high)
    return raised(high, 1.0)


def _excess(kappa: float, slope: float) -> float:
    """Return the largest ln(1 + κu) − su for u in [0, ¼], up to rounding."""
    u = min(max(1 / slope - 1 / kappa, 0.0), 0.25) if slope > 0 else 0.25
    return math.log1p(kappa * u) - slope * u


def objective_perturbation_delta(
    epsilon: float,
    sigma: float,
    *,
    lipschitz: float,
    strong_convexity: float,
    n: int,
    curvature: float | None = None,
) -> float:
    """Return a δ for which the minimiser of a perturbed objective is (ε, δ)-differentially private, replace-one.

    The objective is ∑ℓ(yᵢ⟨w, xᵢ⟩) + μn‖w‖²/2 + ⟨b, w⟩ over all w, with Gaussian b. Its minimiser is released.

    Parameters
    ----------
    epsilon : float
        ε > 0.
    sigma : float
        Standard deviation of each coordinate of b.
    lipschitz, strong_convexity, n, curvature
        As in `curvature_cost`.

    Returns
    -------
    float
        δ of Gaussian noise σ and sensitivity 2Λ, at ε less `curvature_cost`. It is 1 where the theorem says nothing:
        where σ is below `least_deviation` or the curvature costs more than ε.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Proof: the chapter on objective perturbation (ours).
    """
    sigma, lipschitz = positive(sigma, "sigma"), positive(lipschitz, "lipschitz")
    constants: dict[str, Any] = {
        "lipschitz": lipschitz,
        "strong_convexity": strong_convexity,
        "n": n,
        "curvature": curvature,
    }
    left = lowered(epsilon - curvature_cost(epsilon, **constants), epsilon)
    if left <= 0 or sigma < least_deviation(epsilon, **constants):
        return 1.0
    return float(gaussian_delta(left, sigma, 2 * lipschitz))


def least_deviation(
    epsilon: float, *, lipschitz: float, strong_convexity: float, n: int, curvature: float | None = None
) -> float:
    """Return the least σ of which the theorem on objective perturbation speaks.

    Parameters
    ----------
    epsilon, lipschitz, strong_convexity, n, curvature
        As in `curvature_cost`.

    Returns
    -------
    float
        With c of `curvature_cost`, Λ√(2/(ε − c)) for the logistic loss and Λ/√(ε − c) for others; infinite if c is not
        below ε. Calibration to a δ below 0.05 asks for more unless ε − c is below 0.01.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    left = lowered(
        epsilon
        - curvature_cost(
            epsilon, lipschitz=lipschitz, strong_convexity=strong_convexity, n=n, curvature=curvature
        ),
        epsilon,
    )
    factor = 2 if curvature is None else 1
    return raised(positive(lipschitz, "lipschitz") * math.sqrt(factor / left)) if left > 0 else math.inf


def objective_perturbation_sigma(
    epsilon: float,
    delta: float,
    *,
    lipschitz: float,
    strong_convexity: float,
    n: int,
    curvature: float | None = None,
) -> float:
    """Return the standard deviation of b for which objective perturbation is (ε, δ)-differentially private.

    Parameters
    ----------
    epsilon : float
        ε > 0.
    delta : float
        δ in (0, 1).
    lipschitz, strong_convexity, n, curvature
        As in `curvature_cost`.

    Returns
    -------
    float
        The least σ whose `objective_perturbation_delta` is at most δ, up to rounding.

    Raises
    ------
    ValueError
        If an argument is out of its range; if the curvature alone costs ε, with the regularisation that is needed.

    References
    ----------
    As for `objective_perturbation_delta`.
    """
    delta = inside_unit(delta, "delta")
    constants: dict[str, Any] = {
        "lipschitz": lipschitz,
        "strong_convexity": strong_convexity,
        "n": n,
        "curvature": curvature,
    }
    left = _left(epsilon, lipschitz, strong_convexity, n, curvature)
    return max(gaussian_sigma(left, delta, 2 * lipschitz, "analytic"), least_deviation(epsilon, **constants))


def objective_perturbation_scale(
    epsilon: float,
    p: int,
    *,
    lipschitz: float,
    strong_convexity: float,
    n: int,
    curvature: float | None = None,
    absolute: float | None = None,
) -> float:
    """Return the scale of Laplace b for which objective perturbation is ε-differentially private (pure).

    Parameters
    ----------
    epsilon : float
        ε > 0.
    p : int
        Number of weights, the intercept among them.
    lipschitz, strong_convexity, n, curvature
        As in `curvature_cost`.
    absolute : float, optional
        Λ₁: largest sum of absolute values of a row, with the 1 of an intercept. None means √pΛ, which it is at most.

    Returns
    -------
    float
        2 min(Λ₁, √pΛ)/(ε − c), rounded up, with c of `curvature_cost`: in the sum of absolute values a row's gradient
        is at most as long as the row.

    Raises
    ------
    ValueError
        As `objective_perturbation_sigma`.

    References
    ----------
    As for `objective_perturbation_delta`.
    """
    longest = raised(positive(lipschitz, "lipschitz") * math.sqrt(positive_integer(p, "p")))
    if absolute is not None:
        longest = min(longest, positive(absolute, "absolute"))
    return objective_perturbation_norm_scale(
        epsilon, longest, lipschitz=lipschitz, strong_convexity=strong_convexity, n=n, curvature=curvature
    )


def objective_perturbation_norm_scale(
    epsilon: float,
    longest: float,
    *,
    lipschitz: float,
    strong_convexity: float,
    n: int,
    curvature: float | None = None,
) -> float:
    """Return the s for which objective perturbation with b of density ∝ e^(−N(b)/s) is ε-differentially private.

    Parameters
    ----------
    epsilon : float
        ε > 0.
    longest : float
        The largest N of a row, with the 1 of an intercept. N is any norm.
    lipschitz, strong_convexity, n, curvature
        As in `curvature_cost`; Λ is a Euclidean length, whatever N is.

    Returns
    -------
    float
        2 max N/(ε − c), rounded up, with c of `curvature_cost`.

    Raises
    ------
    ValueError
        As `objective_perturbation_sigma`.

    References
    ----------
    As for `objective_perturbation_delta`.
    """
    left = _left(epsilon, lipschitz, strong_convexity, n, curvature)
    return noise_scale(raised(2 * positive(longest, "longest")), left)


def least_strong_convexity(
    epsilon: float, *, lipschitz: float, n: int, curvature: float | None = None
) -> float:
    """Return the μ at which the curvature costs all of ε; objective perturbation needs more.

    Parameters
    ----------
    epsilon, lipschitz, n, curvature
        As in `curvature_cost`.

    Returns
    -------
    float
        Λ²L/(n(e^ε − 1)), rounded up, with L = ¼ for the logistic loss.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    largest = 0.25 if curvature is None else nonnegative(curvature, "curvature")
    norm = positive(lipschitz, "lipschitz")
    enough = math.expm1(min(positive(epsilon, "epsilon"), 700.0)) * positive_integer(n, "n")
    return raised(norm * largest * (norm / enough))


def _kappa(lipschitz: float, strong_convexity: float, n: int) -> float:
    """Return κ = Λ²/(μn), rounded up."""
    norm, modulus = positive(lipschitz, "lipschitz"), positive(strong_convexity, "strong_convexity")
    return raised(norm * quotient_above(norm, modulus) / positive_integer(n, "n"))


def _left(
    epsilon: float, lipschitz: float, strong_convexity: float, n: int, curvature: float | None
) -> float:
    """Return ε less what the curvature costs, rounded down; raise if nothing is left."""
    cost = curvature_cost(
        epsilon, lipschitz=lipschitz, strong_convexity=strong_convexity, n=n, curvature=curvature
    )
    left = lowered(epsilon - cost, epsilon)
    if left <= 0:
        least = least_strong_convexity(epsilon, lipschitz=lipschitz, n=n, curvature=curvature)
        raise ValueError(
            f"strong_convexity: found {strong_convexity}, expected more than {least:.3g}, where the curvature of one "
            f"record's loss costs all of epsilon = {epsilon:.3g} (lipschitz {lipschitz:.3g}, n = {n})"
        )
    return left
