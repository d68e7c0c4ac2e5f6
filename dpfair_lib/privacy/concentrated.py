"""Zero-concentrated differential privacy: ρ adds up, and converts to (ε, δ)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

from dpfair_lib._arguments import inside_unit, nonnegative, one_of, positive
from dpfair_lib.privacy.rounding import above, exp_above, log_below, raised, sum_above


def zcdp_from_pure(epsilon: float) -> float:
    """Return the ρ = ε²/2 of a purely ε-private mechanism.

    Parameters
    ----------
    epsilon : float
        ε > 0.

    Returns
    -------
    float
        ρ, rounded up; several ρ add up under adaptive composition, and Gaussian noise has ρ = Δ²/(2σ²)
        (`GaussianMechanism.rho`).

    Raises
    ------
    ValueError
        If ε is not positive and finite.

    References
    ----------
    Bun and Steinke (2016), Proposition 1.4.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> privacy.zcdp_from_pure(0.5)
    0.125
    """
    return above(Fraction(positive(epsilon, "epsilon")) ** 2 / 2)


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Return a δ for which every ρ-zCDP mechanism is (ε, δ)-DP.

    It is the least, over the orders α > 1, of e^((α−1)(αρ−ε)) (1 − 1/α)^α / (α − 1), and at most 1.

    Parameters
    ----------
    rho : float
        ρ > 0.
    epsilon : float
        ε ≥ 0.

    Returns
    -------
    float
        δ, rounded up; sound at whichever order the search stops. It is 0 at ε = ∞ only.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Canonne, Kamath and Steinke (2020), Proposition 12 and Corollary 13.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> f"{privacy.zcdp_delta(0.1, 2.5):.1e}"
    '1.6e-08'
    """
    rho, epsilon = positive(rho, "rho"), nonnegative(epsilon, "epsilon")
    return min(1.0, exp_above(_zcdp_log_delta(rho, epsilon)))


def _zcdp_log_delta(rho: float, epsilon: float) -> float:
    """Return the logarithm of that δ, rounded up."""
    if epsilon == math.inf:
        return -math.inf
    # The logarithm has the derivative (2α − 1)ρ − ε + ln(1 − 1/α), increasing in α. In x = α − 1 its root is
    # below (ε + 1)/ρ + 1, where it is positive. Where it is positive at e^−600 too, the least is the limit at
    # x = 0, up to 1e-257; where the root is beyond e^600, any order is sound, and that one is taken.
    from scipy.optimize import brentq

    def slope(log_x: float) -> float:
        x = math.exp(log_x)
        return (2 * x + 1) * rho - epsilon - math.log1p(1 / x)

    if slope(-600.0) >= 0:
        return 0.0
    high = min(math.log(epsilon + 1 + rho) - math.log(rho), 600.0)
    while slope(high) < 0 and high < 600:
        high += 1
    x = math.exp(brentq(slope, -600.0, high, maxiter=1000) if slope(high) > 0 else high)
    # The first term cancels and is exact; the others, written so that both are negative, do not.
    first = Fraction(x) * ((Fraction(x) + 1) * Fraction(rho) - Fraction(epsilon))
    a, b = (x * math.log(x), math.log1p(x)) if x < 1 else (-math.log(x), math.log1p(1 / x))
    return above(first + Fraction(raised(a - (1 + x) * b)))


def zcdp_epsilon(rho: float, delta: float, kind: Literal["printed", "tight"]) -> float:
    """Return an ε for which every ρ-zCDP mechanism is (ε, δ)-DP.

    Parameters
    ----------
    rho : float
        As in `zcdp_delta`.
    delta : float
        δ in (0, 1).
    kind : {"printed", "tight"}
        ρ + 2√(ρ ln(1/δ)), or the inverse of `zcdp_delta`, which is smaller.

    Returns
    -------
    float
        ε ≥ 0, rounded up.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Bun and Steinke (2016), Proposition 1.3; Canonne, Kamath and Steinke (2020), Proposition 12.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> [round(privacy.zcdp_epsilon(0.1, 1e-6, kind), 3) for kind in ("printed", "tight")]
    [2.451, 2.142]
    """
    rho, target = positive(rho, "rho"), log_below(inside_unit(delta, "delta"))
    printed = raised(rho + 2 * math.sqrt(rho) * math.sqrt(-target))  # one root of the product could underflow
    if one_of(kind, "kind", ("printed", "tight")) == "printed":
        return printed
    # the tight δ is at most the printed one, so that the upper end of the bracket is sound
    low, high = 0.0, printed
    if _zcdp_log_delta(rho, low) <= target:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _zcdp_log_delta(rho, middle) <= target else (middle, high)
    return high


def composed_zcdp(*rhos: Any) -> float:
    """Return the ρ of several releases together, Σρ, chosen adaptively.

    Parameters
    ----------
    *rhos : float
        ρ > 0 of each release.

    Returns
    -------
    float
        Their sum, rounded up.

    Raises
    ------
    ValueError
        If there is none, or one is not positive and finite.

    References
    ----------
    Bun and Steinke (2016), Lemma 1.7.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> privacy.composed_zcdp(0.125, 0.125, 0.25)
    0.5
    """
    if not rhos:
        raise ValueError("rhos: found none, expected at least one")
    return sum_above(positive(rho, "rhos") for rho in rhos)
