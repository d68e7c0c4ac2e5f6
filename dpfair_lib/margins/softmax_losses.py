"""How far replacing one record moves a regularised softmax regression of K classes."""

from __future__ import annotations

import math
from collections.abc import Callable

from dpfair_lib._arguments import nonnegative, positive, positive_integer
from dpfair_lib.privacy.minimisers import logistic_perturbation_sensitivity, output_perturbation_sensitivity
from dpfair_lib.privacy.rounding import raised


def softmax_perturbation_sensitivity(
    *, lipschitz: float, strong_convexity: float, n: int, classes: int
) -> float:
    """Return a bound of how far the minimiser of a regularised mean softmax loss moves, in Frobenius norm.

    The mean of −log softmax(Hx)_y over n records with ‖x‖ ≤ Λ, plus μ‖H‖²/2, is minimised over all matrices H with one
    row for each of the K classes.

    Parameters
    ----------
    lipschitz : float
        Λ: largest norm of a record's features, with the 1 of an intercept that is regularised like the other weights.
    strong_convexity : float
        μ: the coefficient of ‖H‖²/2, the sum of all squares.
    n : int
        Number of records, public.
    classes : int
        K, at least 2.

    Returns
    -------
    float
        For two classes the sharp constant, that of logistic regression with rows √2 as long. For more 2Λφ/(μn) with φ =
        `softmax_gradient_length`, which is at most √2, the length that is usually assumed.

    Raises
    ------
    ValueError
        If an argument is not positive, or there are fewer than two classes.

    References
    ----------
    Proof: the chapter on sharp constants of other losses (ours).
    """
    norm, modulus = positive(lipschitz, "lipschitz"), positive(strong_convexity, "strong_convexity")
    count = _classes(classes)
    if count == 2:
        return logistic_perturbation_sensitivity(
            lipschitz=raised(math.sqrt(2) * norm), strong_convexity=modulus, n=n
        )
    reach = softmax_reach(norm * (norm / modulus), count)
    gradient = norm * softmax_gradient_length(reach, count)
    return output_perturbation_sensitivity(lipschitz=gradient, strong_convexity=modulus, n=n)


def softmax_reach(ratio: float, classes: int) -> float:
    """Return the largest Λ‖H‖ of a minimiser H of the mean softmax loss of rows of norm at most Λ, plus μ‖H‖²/2.

    Parameters
    ----------
    ratio : float
        κ = Λ²/μ, at least 0.
    classes : int
        K, at least 2.

    Returns
    -------
    float
        With W the root of W e^W = (K − 1)/e, and T the root of T(e^T + K − 1) = Kκ: T√(1 − 1/K) if T is at most 1 + W,
        and √(κW) otherwise. It is attained.

    Raises
    ------
    ValueError
        If the ratio is negative, or there are fewer than two classes.

    References
    ----------
    As for `softmax_perturbation_sensitivity`.
    """
    kappa, count = nonnegative(ratio, "ratio"), _classes(classes)
    pull = largest_pull(count)
    root = _least_above(lambda t: t * (math.exp(t) + count - 1), count * kappa)
    return raised(root * math.sqrt(1 - 1 / count) if root <= 1 + pull else math.sqrt(kappa * pull))


def largest_pull(classes: int) -> float:
    """Return W: the most that ⟨e_y − softmax(a), a⟩ can be, which is the root of W e^W = (K − 1)/e.

    Parameters
    ----------
    classes : int
        K, at least 2.
    """
    return _least_above(lambda w: w * math.exp(w), (_classes(classes) - 1) / math.e)


def softmax_gradient_length(reach: float, classes: int) -> float:
    """Return φ: no gradient of one record is longer than φΛ at ‖H‖ ≤ R/Λ.

    Parameters
    ----------
    reach : float
        R, at least 0.
    classes : int
        K, at least 2.

    Returns
    -------
    float
        √(p(p + q)) with p = (K − 1)/(K − 1 + t), q = 1/(1 + (K − 1)t) and t = e^(−√2 R). It is √(1 − 1/K) at R = 0,
        and never above √2 as a float.

    Raises
    ------
    ValueError
        If the reach is negative, or there are fewer than two classes.

    References
    ----------
    As for `softmax_perturbation_sensitivity`.
    """
    rest, t = _classes(classes) - 1, math.exp(-math.sqrt(2) * nonnegative(reach, "reach"))
    p, q = rest / (rest + t), 1 / (1 + rest * t)
    return min(
        raised(math.sqrt(p * (p + q))), math.sqrt(2)
    )  # no length is above √2, and √2 as a float is above it


def _classes(classes: int) -> int:
    count = positive_integer(classes, "classes")
    if count < 2:
        raise ValueError(f"classes: found {classes}, expected at least 2")
    return count


def _least_above(increasing: Callable[[float], float], level: float) -> float:
    """Return the least argument of at least 0 with the level or more, from above, or 700 where e^a ends."""
    low, high = 0.0, 700.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if increasing(middle) < level else (low, middle)
    return high
