"""How far replacing one record moves the minimiser of a regularised squared loss, or squared hinge loss."""

from __future__ import annotations

import math

from dpfair_lib._arguments import nonnegative, positive
from dpfair_lib.privacy.minimisers import output_perturbation_sensitivity
from dpfair_lib.privacy.rounding import raised


def squared_perturbation_sensitivity(
    *, lipschitz: float, strong_convexity: float, n: int, radius: float = math.inf
) -> float:
    """Return how far the minimiser of a regularised mean squared loss, or squared hinge loss, moves.

    The mean of (1 − y⟨h, x⟩)², or of max(0, 1 − y⟨h, x⟩)², over n records with ‖x‖ ≤ Λ, plus μ‖h‖²/2, is minimised,
    over all h or over a ball. These losses are not Lipschitz. But only their gradients at one of the two minimisers
    count, and these lie in one ball of radius 2Λm with m = `squared_gradient_radius`.

    Parameters
    ----------
    lipschitz : float
        Λ: largest norm of a row, with the entry of an intercept that is regularised like the other weights.
    strong_convexity : float
        μ: the coefficient of ‖h‖²/2.
    n : int
        Number of records, public.
    radius : float, optional
        B: weights are restricted to ‖h‖ ≤ B.

    Returns
    -------
    float
        4Λm/(μn), where m belongs to the smaller one of ΛB and `squared_reach` (Λ²/μ). From two dimensions on no smaller
        m serves all n.

    Raises
    ------
    ValueError
        If an argument is not positive.

    References
    ----------
    Proof: the chapter on sharp constants of other losses (ours).
    """
    norm, modulus = positive(lipschitz, "lipschitz"), positive(strong_convexity, "strong_convexity")
    if not radius > 0:
        raise ValueError(f"radius: found {radius}, expected a positive number")
    reach = min(squared_reach(norm * (norm / modulus)), norm * radius)
    gradient = 2 * norm * squared_gradient_radius(reach)
    return output_perturbation_sensitivity(lipschitz=gradient, strong_convexity=modulus, n=n)


def squared_gradient_radius(reach: float) -> float:
    """Return m = max (1 + Rs)√(1 − s²) over s: the gradients lie in a ball of radius 2Λm at ‖h‖ ≤ R/Λ.

    Parameters
    ----------
    reach : float
        R, at least 0.

    Returns
    -------
    float
        The maximum, which is at s = 2R/(1 + √(1 + 8R²)); rounded up. It is between 1 and 1 + R.

    Raises
    ------
    ValueError
        If the reach is negative.

    References
    ----------
    As for `squared_perturbation_sensitivity`.
    """
    largest = nonnegative(reach, "reach")
    s = 2 * largest / (1 + math.sqrt(1 + 8 * largest * largest))
    return raised((1 + largest * s) * math.sqrt(1 - s * s))


def squared_reach(ratio: float) -> float:
    """Return the largest Λ‖h‖ of a minimiser h of a mean squared (hinge) loss plus μ‖h‖²/2, for rows of norm at most Λ.

    Parameters
    ----------
    ratio : float
        κ = Λ²/μ, at least 0.

    Returns
    -------
    float
        R: 2κ/(1 + 2κ) if κ is at most ½, and √(κ/2) otherwise. It is attained.

    Raises
    ------
    ValueError
        If the ratio is negative.

    References
    ----------
    As for `squared_perturbation_sensitivity`.
    """
    kappa = nonnegative(ratio, "ratio")
    return 2 * kappa / (1 + 2 * kappa) if kappa <= 0.5 else math.sqrt(kappa / 2)
