"""Private selection: what the best of a random number of private runs costs.

A mechanism is run K times, each time afresh on the same rows, and the best output by a fixed order is released. K comes
from a law that looks at no row, and neither it nor the other outputs are released. Then tuning costs two or three times
ε, not K times. The order looks at the output alone, for instance at a score in it, so that a run's ε covers it.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpfair_lib._arguments import below_one, inside_unit, nonnegative, number, positive
from dpfair_lib.privacy.rounding import above, log_above

SLACK = 1e-12
"""More than all roundings of the few floating-point operations below, relatively."""
LEAST_SUCCESS = 1e-300
"""Below it the mean number of runs is past the floats even for small η."""


def mean_runs(shape: float, success: float) -> float:
    """Return the mean number of runs under the truncated negative binomial law, to twelve digits.

    The law has P(K = k) in proportion to (1 − γ)^k Γ(k + η)/k! for k ≥ 1. η = 1 is the geometric law, η = 0 the
    logarithmic one.

    Parameters
    ----------
    shape : float
        η > −1, finite.
    success : float
        γ in (0, 1), and at least 10⁻³⁰⁰.

    Returns
    -------
    float
        E K.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> [round(privacy.mean_runs(shape, 0.01), 3) for shape in (1, 0, -0.5)]
    [100.0, 21.498, 5.5]
    """
    shape, success = _shape(shape), _success(success)
    x = shape * math.log(success)  # below the normal numbers it has few digits, x / expm1(x) still has all
    logarithmic = (1 - success) / (success * -math.log(success))
    return logarithmic * (x / math.expm1(x) if x else 1.0)


def stopped_epsilon(epsilon: float, *, shape: float) -> float:
    """Return ε of the best of K runs that are each (ε₀, 0)-DP: (2 + η) ε₀, rounded up.

    K has the truncated negative binomial law of `mean_runs`, for any γ: the number of runs costs nothing more. The
    geometric law costs 3 ε₀, the logarithmic one 2 ε₀.

    Parameters
    ----------
    epsilon : float
        ε₀ ≥ 0 of one run, its score included.
    shape : float
        η > −1, finite.

    Returns
    -------
    float
        ε of the selection.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Liu and Talwar (2019) for the geometric law; Papernot and Steinke (2022) for the others.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> [privacy.stopped_epsilon(0.5, shape=shape) for shape in (1, 0, -0.5)]
    [1.5, 1.0, 0.75]
    """
    epsilon, shape = nonnegative(epsilon, "epsilon"), _shape(shape)
    if math.isinf(epsilon):
        return epsilon
    return above((2 + Fraction(shape)) * Fraction(epsilon))


def stopped_renyi(
    order: float,
    divergence: float,
    *,
    shape: float,
    success: float,
    other_order: float,
    other_divergence: float,
) -> float:
    """Return a bound on the Rényi divergence of the best of K runs, K of the law of `mean_runs`.

    With ρ the divergence of one run at order λ, ρ′ that at order λ′, both between neighbours in both directions:
    ρ + (1 + η)((1 − 1/λ′) ρ′ + ln(1/γ)/λ′) + ln(E K)/(λ − 1), rounded up.

    Parameters
    ----------
    order : float
        λ > 1, finite.
    divergence : float
        ρ ≥ 0.
    shape : float
        η > −1, finite.
    success : float
        γ in (0, 1), and at least 10⁻³⁰⁰.
    other_order : float
        λ′ ≥ 1. Infinity is allowed, then ρ′ is the pure ε.
    other_divergence : float
        ρ′ ≥ 0.

    Returns
    -------
    float
        The bound on the divergence at order λ.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Papernot and Steinke (2022).

    Examples
    --------
    Gaussian noise of multiplier 2 has ρ(λ) = λ/8.

    >>> from dpfair_lib import privacy
    >>> round(privacy.stopped_renyi(20, 20 / 8, shape=0, success=0.01, other_order=5, other_divergence=5 / 8), 3)
    4.083
    """
    order, shape = _order(order), _shape(shape)
    rest, other = nonnegative(divergence, "divergence"), nonnegative(other_divergence, "other_divergence")
    second = number(other_order, "other_order", "a number of at least 1, or infinity")
    if second < 1:
        raise ValueError(f"other_order: found {other_order}, expected a number of at least 1, or infinity")
    runs = mean_runs(shape, success)
    if math.inf in (rest, other, runs):
        return math.inf
    inverse = Fraction(0) if math.isinf(second) else 1 / Fraction(second)
    of_law = Fraction(log_above(1 / Fraction(success))) * inverse
    of_runs = Fraction(log_above(max(runs * (1 + SLACK), 1.0))) / (Fraction(order) - 1)
    return above(
        Fraction(rest) + (1 + Fraction(shape)) * ((1 - inverse) * Fraction(other) + of_law) + of_runs
    )


def poisson_stopped_renyi(
    order: float, divergence: float, *, mean: float, epsilon: float, delta: float
) -> float:
    """Return a bound on the Rényi divergence of the best of K runs, K of a Poisson law of mean μ.

    If K is 0, nothing is released but that. With ρ the divergence of one run at order λ, each run also (ε₀, δ₀)-DP and
    e^ε₀ ≤ 1 + 1/(λ − 1): ln(1 + μ e^(μ(λ − 1)δ₀) (e^((λ − 1)ρ) − 1))/(λ − 1), rounded up.

    Parameters
    ----------
    order : float
        λ > 1, finite.
    divergence : float
        ρ ≥ 0.
    mean : float
        μ > 0, finite.
    epsilon, delta : float
        ε₀ ≥ 0 and δ₀ in [0, 1).

    Returns
    -------
    float
        The bound on the divergence at order λ.

    Raises
    ------
    ValueError
        If an argument is out of its range, or ε₀ is too large for the order.

    Notes
    -----
    For μ ≥ 1 it is at most ρ + μ δ₀ + ln(μ)/(λ − 1), the bound of Papernot and Steinke (2022), and it also holds for
    μ < 1, where that one is false: it would be negative for a mechanism that releases nothing. The chapter on private
    selection derives it.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> round(privacy.poisson_stopped_renyi(5, 0.05, mean=10, epsilon=0.2, delta=1e-6), 4)
    0.2919
    """
    order, rest = _order(order), nonnegative(divergence, "divergence")
    mean, delta = positive(mean, "mean"), below_one(delta, "delta")
    epsilon = nonnegative(epsilon, "epsilon")
    most = math.log1p(1 / (order - 1)) * (1 - SLACK)
    if epsilon > most:
        raise ValueError(f"epsilon: found {epsilon}, expected at most ln(1 + 1/(order − 1)) = {most:.6g}")
    if rest == 0:
        return 0.0
    grown = max((order - 1) * rest, LEAST_SUCCESS)  # below it the product has too few digits
    of_one = math.log(math.expm1(grown)) if grown < 1 else grown + math.log1p(-math.exp(-grown))
    exponent = math.log(mean) + mean * (order - 1) * delta + of_one
    if math.isinf(exponent):
        return math.inf
    found = math.log1p(math.exp(exponent)) if exponent < 0 else exponent + math.log1p(math.exp(-exponent))
    return above(Fraction(max(found, LEAST_SUCCESS)) * (1 + Fraction(SLACK)) / (Fraction(order) - 1))


def _shape(value: float) -> float:
    shape = number(value, "shape", "a finite number above −1")
    if not -1 < shape < math.inf:
        raise ValueError(f"shape: found {value}, expected a finite number above −1")
    return shape


def _success(value: float) -> float:
    success = inside_unit(value, "success")
    if success < LEAST_SUCCESS:
        raise ValueError(f"success: found {value}, expected at least {LEAST_SUCCESS:g}")
    return success


def _order(value: float) -> float:
    order = number(value, "order", "a finite number above 1")
    if not 1 < order < math.inf:
        raise ValueError(f"order: found {value}, expected a finite number above 1")
    return order
