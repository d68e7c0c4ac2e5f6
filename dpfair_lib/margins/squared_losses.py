"""How far replacing one record moves the minimiser of a regularised squared loss, or squared hinge loss."""

from __future__ import annotations

import math

from dpfair_lib._arguments import nonnegative, positive
from dpfair_lib.privacy.minimisers import output_perturbation_sensitivity


def squared_perturbation_sensitivity(*, lipschitz: float, strong_convexity: float, n: int) -> float:
    """Return how far the minimiser of a regularised mean squared loss, or squared hinge loss, moves.

    The mean of (1 − y⟨h, x⟩)², or of max(0, 1 − y⟨h, x⟩)², over n records with ‖x‖ ≤ Λ, plus μ‖h‖²/2, is minimised.
    These losses are not Lipschitz. But only their gradients at one of the two minimisers count, and there the residual
    is at most 1 + R with R = `squared_reach` (Λ²/μ). So no gradient is longer than 2Λ(1 + R).

    Parameters
    ----------
    lipschitz : float
        Λ: largest norm of a row, with the entry of an intercept that is regularised like the other weights.
    strong_convexity : float
        μ: the coefficient of ‖h‖²/2.
    n : int
        Number of records, public.

    Returns
    -------
    float
        4Λ(1 + R)/(μn).

    Raises
    ------
    ValueError
        If an argument is not positive.

    References
    ----------
    Proof: the chapter on certificates for a model of one's own, "Squared losses" (ours).
    """
    norm, modulus = positive(lipschitz, "lipschitz"), positive(strong_convexity, "strong_convexity")
    gradient = 2 * norm * (1 + squared_reach(norm * (norm / modulus)))
    return output_perturbation_sensitivity(lipschitz=gradient, strong_convexity=modulus, n=n)


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
