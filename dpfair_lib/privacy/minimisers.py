"""Sensitivity of regularised minimisers: how far replacing one record moves them."""

from __future__ import annotations

import math
from collections.abc import Callable

from dpfair_lib._arguments import nonnegative, positive, positive_integer

LARGEST_PULL = 0.2784645427610738
"""W = W₀(1/e), the largest aσ(−a) with σ(a) = 1/(1 + e^(−a)); it is attained at a = 1 + W."""


def output_perturbation_sensitivity(*, lipschitz: float, strong_convexity: float, n: int) -> float:
    """Return how far the minimiser of a mean of n losses moves, in Euclidean norm, if one record is replaced.

    Parameters
    ----------
    lipschitz : float
        Λ: Euclidean Lipschitz constant, in the parameters, of the losses without the common regulariser.
    strong_convexity : float
        μ: modulus of the mean loss plus regulariser; `dpfair_lib.strong_convexity` has scikit-learn's.
    n : int
        Number of records, public.

    Returns
    -------
    float
        2Λ/(μn).

    Raises
    ------
    ValueError
        If an argument is not positive.

    References
    ----------
    MPBT, § 4.1 and Appendix E; Chaudhuri, Monteleoni and Sarwate (2011).
    """
    modulus = positive(strong_convexity, "strong_convexity")
    return 2 * positive(lipschitz, "lipschitz") / (modulus * positive_integer(n, "n"))


def logistic_perturbation_sensitivity(*, lipschitz: float, strong_convexity: float, n: int) -> float:
    """Return how far the minimiser of a regularised mean logistic loss moves, if one record is replaced.

    The mean of log(1 + e^(−y⟨h, x⟩)) over n records with ‖x‖ ≤ Λ, plus μ‖h‖²/2, is minimised over all h. As for every
    loss, the replaced record's two gradients yσ(−y⟨h, x⟩)x at one minimiser h count. But the minimiser is short, and at
    a short h no two gradients are 2Λ apart: both lie in one ball of radius `gradient_radius` · Λ.

    Parameters
    ----------
    lipschitz : float
        Λ: largest norm of a row, with the 1 of an intercept that is regularised like the other weights.
    strong_convexity : float
        μ: the coefficient of ‖h‖²/2.
    n : int
        Number of records, public.

    Returns
    -------
    float
        2Λm/(μn) with m = `gradient_radius` (`minimiser_reach` (Λ²/μ)), which is between ½ and 1. From two dimensions
        on no smaller m serves all n.

    Raises
    ------
    ValueError
        If an argument is not positive.

    References
    ----------
    Proof: the chapter on output perturbation, "Logistic regression moves less" (ours).
    """
    norm, modulus = positive(lipschitz, "lipschitz"), positive(strong_convexity, "strong_convexity")
    classical = output_perturbation_sensitivity(lipschitz=norm, strong_convexity=modulus, n=n)
    return classical * gradient_radius(minimiser_reach(norm * (norm / modulus)))


def minimiser_reach(ratio: float) -> float:
    """Return the largest Λ‖h‖ of a minimiser h of the mean logistic loss of rows of norm at most Λ, plus μ‖h‖²/2.

    Parameters
    ----------
    ratio : float
        κ = Λ²/μ, at least 0.

    Returns
    -------
    float
        R: the root of R = κσ(−R) if that is at most 1 + W, and √(κW) otherwise, W being `LARGEST_PULL`.

    Raises
    ------
    ValueError
        If the ratio is negative.

    References
    ----------
    As for `logistic_perturbation_sensitivity`.
    """
    kappa = nonnegative(ratio, "ratio")
    root = _least_above(lambda r: r * (1 + math.exp(r)), kappa)
    return root if root <= 1 + LARGEST_PULL else math.sqrt(kappa * LARGEST_PULL)


def gradient_radius(reach: float) -> float:
    """Return m = max σ(Rs)√(1 − s²) over s: the logistic gradients lie in a ball of radius mΛ at ‖h‖ ≤ R/Λ.

    Parameters
    ----------
    reach : float
        R, at least 0.

    Returns
    -------
    float
        σ(a)/√(1 + aσ(−a)) with a² + a(1 + e^a) = R², where a = Rs at the maximum.

    Raises
    ------
    ValueError
        If the reach is negative.

    References
    ----------
    As for `logistic_perturbation_sensitivity`.
    """
    largest = nonnegative(reach, "reach")
    a = _least_above(lambda a: a * (a + 1 + math.exp(a)), largest * largest)
    return 1 / ((1 + math.exp(-a)) * math.sqrt(1 + a / (1 + math.exp(a))))


def _least_above(increasing: Callable[[float], float], level: float) -> float:
    """Return the least argument of at least 0 with the level or more, from above, or 700 where e^a ends."""
    low, high = 0.0, 700.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if increasing(middle) < level else (low, middle)
    return high
