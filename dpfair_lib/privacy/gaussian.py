"""Gaussian noise: exact privacy profile and its inverses, and the distribution of the error."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from dpfair_lib._arguments import elementwise, inside_unit, one_of, positive
from dpfair_lib.privacy.rounding import above, exp_above, log_below, raised

_BEYOND = -4e299  # above every logarithm that is not computed, because a float could not hold it


def gaussian_delta(epsilon: Any, sigma: float, sensitivity: float) -> Any:
    """Return the smallest δ for which Gaussian noise is (ε, δ)-differentially private.

    With μ = Δ/σ it is Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), to about 12 digits even where it is tiny.

    Parameters
    ----------
    epsilon : float or array
        ε ≥ 0.
    sigma : float
        Standard deviation of the noise in each coordinate.
    sensitivity : float
        Δ: the largest Euclidean distance between the values on two neighbouring data sets.

    Returns
    -------
    float or ndarray
        δ(ε), rounded up. It is 0 only at ε = ∞.

    Raises
    ------
    ValueError
        If ε is negative, or if another argument is not a positive finite number.

    References
    ----------
    Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> print(round(dpf.gaussian_delta(1.0, sigma=2.0, sensitivity=1.0), 5))
    0.00683
    """
    sigma, sensitivity = positive(sigma, "sigma"), positive(sensitivity, "sensitivity")
    return elementwise(lambda e: min(exp_above(_log_delta(e, sigma, sensitivity)), 1.0), epsilon, "epsilon")


def gaussian_log_delta(epsilon: Any, sigma: float, sensitivity: float) -> Any:
    """Return ln δ(ε) of `gaussian_delta`, finite also where δ(ε) is no longer a positive float.

    Parameters
    ----------
    epsilon, sigma, sensitivity : float
        As in `gaussian_delta`.

    Returns
    -------
    float or ndarray
        ln δ(ε), rounded up; −∞ at ε = ∞ only.

    Raises
    ------
    ValueError
        As `gaussian_delta`.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> round(float(privacy.gaussian_log_delta(60.0, sigma=1.0, sensitivity=1.0)), 1)
    -1779.2
    """
    sigma, sensitivity = positive(sigma, "sigma"), positive(sensitivity, "sensitivity")
    return elementwise(lambda e: _log_delta(e, sigma, sensitivity), epsilon, "epsilon")


def _log_delta(epsilon: float, sigma: float, sensitivity: float) -> float:
    """Return a float that is at least ln δ, and at most 0."""
    near = _near_log_delta(epsilon, sigma, sensitivity)
    # It is rounded three times as a sum, and SciPy's functions err: ten roundings of 1 are the most that was seen.
    return near if near <= _BEYOND else min(near + 2.0**-51 * (abs(near) + 5), 0.0)


def _near_log_delta(epsilon: float, sigma: float, sensitivity: float) -> float:
    # With a = ε/μ − μ/2 and b = a + μ the densities satisfy φ(a) = e^ε φ(b), so δ = φ(a) [R(a) − R(b)],
    # R(x) = Φ(−x)/φ(x) being Mills' ratio: no e^ε is left, and the magnitude sits in φ(a) alone.
    from scipy.special import erfcx, ndtr

    if epsilon == math.inf:
        return -math.inf
    mu = sensitivity / sigma
    ratio = Fraction(sensitivity) / Fraction(sigma)
    # exact, since ε/μ and μ/2 may be nearly equal and a² is then exponentiated
    exact = Fraction(epsilon) / ratio - ratio / 2
    try:
        a, b = float(exact), float(exact + ratio)
    except OverflowError:
        return _BEYOND if Fraction(epsilon) > ratio * ratio / 2 else 0.0
    if abs(a) > 1e150:  # a² could be beyond all floats
        return _BEYOND if a > 0 else 0.0
    root = math.sqrt(math.pi / 2)
    log_density = -float(exact * exact) / 2 - math.log(2 * math.pi) / 2
    if a < -1:  # δ is then at least a half, and what is subtracted at most 0.16
        return math.log(float(ndtr(-a)) - math.exp(log_density) * root * float(erfcx(b / math.sqrt(2))))
    reach = 90 / (a + math.sqrt(a * a + 90))  # where as + s²/2 = 45
    if mu * reach > 45:  # R(b) is well below R(a)
        return log_density + math.log(root * float(erfcx(a / math.sqrt(2)) - erfcx(b / math.sqrt(2))))
    # R(a) − R(a + μ) = ∫ e^(−as − s²/2) (1 − e^(−μs)) ds over s > 0: a positive integrand, nothing cancels
    nodes, weights = _legendre()
    s = reach * nodes
    return log_density + math.log(reach * float(weights @ (np.exp(-a * s - s * s / 2) * -np.expm1(-mu * s))))


@functools.lru_cache(maxsize=1)
def _legendre() -> tuple[np.ndarray, np.ndarray]:
    # Gauss–Legendre on (0, 1); the integrand is entire and spans e^−45, for which 80 nodes are ample
    nodes, weights = np.polynomial.legendre.leggauss(80)
    return (nodes + 1) / 2, weights / 2


def gaussian_sigma(
    epsilon: float, delta: float, sensitivity: float, kind: Literal["classical", "analytic"]
) -> float:
    """Return a standard deviation for which Gaussian noise is (ε, δ)-differentially private.

    Parameters
    ----------
    epsilon : float
        ε > 0. For the classical formula ε < 1, because the formula is wrong for large ε.
    delta : float
        δ in (0, 1).
    sensitivity : float
        Δ > 0: the largest Euclidean distance between the values on two neighbouring data sets.
    kind : {"classical", "analytic"}
        "classical" is Δ √(2 ln(1.25/δ)) / ε. "analytic" is the smallest standard deviation that suffices.

    Returns
    -------
    float
        σ, rounded up: for this very number `gaussian_delta` is at most δ.

    Raises
    ------
    ValueError
        If an argument is out of its range, including ε ≥ 1 for the classical formula.

    References
    ----------
    Dwork and Roth (2014), Theorem A.1; Balle and Wang (2018), Theorem 9.

    Examples
    --------
    The exact calibration needs about a quarter less noise.

    >>> import dpfair_lib as dpf
    >>> round(dpf.gaussian_sigma(0.5, 1e-5, 1.0, "classical"), 2)
    9.69
    >>> round(dpf.gaussian_sigma(0.5, 1e-5, 1.0, "analytic"), 2)
    7.03
    """
    epsilon, delta = positive(epsilon, "epsilon"), inside_unit(delta, "delta")
    sensitivity = positive(sensitivity, "sensitivity")
    if one_of(kind, "kind", ("classical", "analytic")) == "classical":
        if epsilon >= 1:
            raise ValueError(
                f"epsilon: found {epsilon}, expected a number below 1, where the classical formula is proved; "
                "use kind='analytic', or classical_sigma_formula to study the formula outside its range"
            )
        return raised(classical_sigma_formula(epsilon, delta, sensitivity))
    if not 1e-100 <= epsilon <= 1e100 or not 1e-100 <= sensitivity <= 1e100:
        name, found = ("sensitivity", sensitivity) if 1e-100 <= epsilon <= 1e100 else ("epsilon", epsilon)
        raise ValueError(f"{name}: found {found}, expected a number from 1e-100 to 1e100 for kind='analytic'")
    # in units of the sensitivity: zero-concentrated privacy gives a σ that suffices, 1/μ with μ²/2 + μL = ε
    level = math.sqrt(-2 * math.log(delta))
    enough = (level + math.sqrt(level * level + 2 * epsilon)) / (2 * epsilon)
    too_small = enough / 2
    target = log_below(delta)
    while _log_delta(epsilon, too_small, 1.0) <= target:
        too_small /= 2
    return _smallest(
        lambda x: _log_delta(epsilon, x, sensitivity), target,
        sensitivity * too_small, sensitivity * enough, margin=2e-15,
    )  # fmt: skip


def classical_sigma_formula(epsilon: float, delta: float, sensitivity: float) -> float:
    """Return Δ √(2 ln(1.25/δ)) / ε at any ε > 0, as papers print it; from ε = 1 on it promises nothing.

    Parameters
    ----------
    epsilon, delta, sensitivity : float
        As in `gaussian_sigma`.

    Returns
    -------
    float
        The value of the formula.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Dwork and Roth (2014), Theorem A.1, which states it for ε in (0, 1).

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.privacy import classical_sigma_formula
    >>> printed = classical_sigma_formula(0.5, 1e-6, 1.0)
    >>> round(printed, 2), round(dpf.gaussian_sigma(0.5, 1e-6, 1.0, "analytic"), 2)
    (10.6, 8.06)
    """
    epsilon, delta = positive(epsilon, "epsilon"), inside_unit(delta, "delta")
    return positive(sensitivity, "sensitivity") * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def gaussian_epsilon(delta: float, sigma: float, sensitivity: float) -> float:
    """Return the smallest ε ≥ 0 for which Gaussian noise is (ε, δ)-DP.

    Parameters
    ----------
    delta : float
        δ in (0, 1).
    sigma, sensitivity : float
        As in `gaussian_delta`.

    Returns
    -------
    float
        ε, rounded up: at this very number the exact profile is at most δ.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    The inverse of Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> round(privacy.gaussian_epsilon(1e-6, sigma=5.0, sensitivity=1.0), 3)
    0.834
    """
    delta, sigma = inside_unit(delta, "delta"), positive(sigma, "sigma")
    sensitivity = positive(sensitivity, "sensitivity")
    target = log_below(delta)
    if _log_delta(0.0, sigma, sensitivity) <= target:
        return 0.0
    mu = sensitivity / sigma
    enough = mu * mu / 2 + mu * math.sqrt(-2 * target)  # by zero-concentrated privacy
    return _smallest(lambda x: _log_delta(x, sigma, sensitivity), target, 0.0, enough, margin=2e-15)


def _smallest(
    function: Callable[[float], float], target: float, low: float, high: float, *, margin: float
) -> float:
    """Return the least x in [low, high], up to rounding, at which a decreasing function is at most target."""
    from scipy.optimize import brentq

    while function(high) > target:  # the bracket is exact only up to rounding
        high *= 1 + margin
    x = high
    if function(high) < target:
        x = brentq(lambda x: function(x) - target, low, high, xtol=1e-300, rtol=1e-15)
    while function(x) > target:
        x, margin = x * (1 + margin), 2 * margin
    return float(x)


@dataclass(frozen=True)
class GaussianMechanism:
    """A vector released with independent Gaussian noise in each coordinate.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise.
    sensitivity : float
        Δ > 0: how far, in Euclidean norm, the value may move between neighbours.

    Raises
    ------
    ValueError
        If an argument is not a positive finite number.

    References
    ----------
    Balle and Wang (2018).

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> mechanism = privacy.GaussianMechanism(sigma=4.0, sensitivity=1.0)
    >>> round(mechanism.epsilon(1e-6), 3), mechanism.rho
    (1.061, 0.03125)
    """

    sigma: float
    sensitivity: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive(self.sigma, "sigma"))
        object.__setattr__(self, "sensitivity", positive(self.sensitivity, "sensitivity"))

    def delta(self, epsilon: Any) -> Any:
        """Return the smallest δ at ε ≥ 0 (a number or an array); see `gaussian_delta`."""
        return gaussian_delta(epsilon, self.sigma, self.sensitivity)

    def epsilon(self, delta: float) -> float:
        """Return the smallest ε at δ in (0, 1); no ε has δ = 0. See `gaussian_epsilon`."""
        return gaussian_epsilon(delta, self.sigma, self.sensitivity)

    @property
    def rho(self) -> float:
        """The zero-concentrated parameter, Δ²/(2σ²), rounded up."""
        return above((Fraction(self.sensitivity) / Fraction(self.sigma)) ** 2 / 2)

    def cdf(self, x: Any) -> Any:
        """Return P(error ≤ x) in one coordinate."""
        from scipy.special import ndtr

        return ndtr(np.asarray(x, dtype=float) / self.sigma)

    def tail(self, t: Any) -> Any:
        """Return P(|error| > t) in one coordinate."""
        from scipy.special import erfc

        return erfc(np.maximum(np.asarray(t, dtype=float), 0) / (self.sigma * math.sqrt(2)))

    def quantile(self, probability: float) -> float:
        """Return the x with P(error ≤ x) = probability, for a probability in (0, 1)."""
        from scipy.special import ndtri

        return self.sigma * float(ndtri(inside_unit(probability, "probability")))

    def error_bound(self, failure: float) -> float:
        """Return the t with P(|error| > t) = failure in one coordinate."""
        from scipy.special import ndtri

        return -self.sigma * float(ndtri(inside_unit(failure, "failure") / 2))
