"""Laplace noise, continuous and on the integers: exact privacy profile and exact distribution of the error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._arguments import elementwise, inside_unit, positive, positive_integer
from dpfair_lib.privacy.rounding import quotient_above


def _shrunk(exponent: Fraction) -> float:
    # 1 − e^(−x), which is 1 in floats long before x = 1000, and x may be too large for a float
    return -math.expm1(-float(min(exponent, Fraction(1000))))


@dataclass(frozen=True)
class LaplaceMechanism:
    """One number released with Laplace noise: density e^(−|x|/b) / (2b).

    Parameters
    ----------
    scale : float
        b > 0; the standard deviation is b√2.
    sensitivity : float
        Δ > 0: how far the number may move between neighbours.

    Raises
    ------
    ValueError
        If an argument is not a positive finite number.

    References
    ----------
    Dwork, McSherry, Nissim and Smith (2006). The profile is Theorem 3 of Balle, Barthe and Gaboardi (2018).

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> mechanism = privacy.LaplaceMechanism(scale=2.0, sensitivity=1.0)
    >>> mechanism.epsilon, round(mechanism.error_bound(0.05), 2), round(float(mechanism.delta(0.25)), 3)
    (0.5, 5.99, 0.118)
    """

    scale: float
    sensitivity: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))
        object.__setattr__(self, "sensitivity", positive(self.sensitivity, "sensitivity"))

    @property
    def epsilon(self) -> float:
        """The pure ε, Δ/b rounded up: the smallest float with δ(ε) = 0."""
        return quotient_above(self.sensitivity, self.scale)

    def delta(self, epsilon: Any) -> Any:
        """Return the smallest δ of (ε, δ): 1 − e^((ε − Δ/b)/2), and 0 from Δ/b on.

        Parameters
        ----------
        epsilon : float or array
            ε ≥ 0.

        Returns
        -------
        float or ndarray
            The hockey-stick divergence between neighbours that are Δ apart; closer ones have a smaller one.

        Raises
        ------
        ValueError
            If ε is negative or not a number.
        """
        # the difference of two nearly equal numbers, formed exactly, loses no digits
        pure = Fraction(self.sensitivity) / Fraction(self.scale)
        return elementwise(
            lambda e: 0.0 if e >= pure else _shrunk((pure - Fraction(e)) / 2), epsilon, "epsilon"
        )

    def cdf(self, x: Any) -> Any:
        """Return P(error ≤ x)."""
        x = np.asarray(x, dtype=float) / self.scale
        return np.where(x < 0, np.exp(-abs(x)) / 2, 1 - np.exp(-abs(x)) / 2)[()]

    def tail(self, t: Any) -> Any:
        """Return P(|error| > t), which is e^(−t/b) for t ≥ 0."""
        return np.exp(-np.maximum(np.asarray(t, dtype=float), 0) / self.scale)[()]

    def quantile(self, probability: float) -> float:
        """Return the x with P(error ≤ x) = probability, for a probability in (0, 1)."""
        p = inside_unit(probability, "probability")
        return self.scale * (math.log(2 * p) if p < 0.5 else -math.log(2 * (1 - p)))

    def error_bound(self, failure: float) -> float:
        """Return the t with P(|error| > t) = failure, for a failure probability in (0, 1)."""
        return -self.scale * math.log(inside_unit(failure, "failure"))


@dataclass(frozen=True)
class DiscreteLaplaceMechanism:
    """One count released with discrete Laplace (two-sided geometric) noise: P(k) ∝ e^(−|k|/b), k an integer.

    Parameters
    ----------
    scale : float
        b > 0.
    sensitivity : int
        Δ ≥ 1: how far the count may move between neighbours.

    Raises
    ------
    ValueError
        If the scale is not positive and finite or the sensitivity is not an integer of at least 1.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan (2012). The profile is ours, derived in `delta`.

    Examples
    --------
    A count with ε = 1: how often the noise is 0, and how large it may be in 95 of 100 releases.

    >>> from dpfair_lib import privacy
    >>> mechanism = privacy.DiscreteLaplaceMechanism(scale=1.0, sensitivity=1)
    >>> mechanism.epsilon, round(float(mechanism.pmf(0)), 3), mechanism.error_bound(0.05)
    (1.0, 0.462, 3)
    """

    scale: float
    sensitivity: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))
        object.__setattr__(self, "sensitivity", positive_integer(self.sensitivity, "sensitivity"))

    @property
    def epsilon(self) -> float:
        """The pure ε, Δ/b rounded up: the smallest float with δ(ε) = 0."""
        return quotient_above(self.sensitivity, self.scale)

    def delta(self, epsilon: Any) -> Any:
        """Return the smallest δ of (ε, δ).

        Between noise around 0 and noise around Δ the privacy loss at k is Δ/b for k ≤ 0 and (Δ − 2k)/b for
        0 ≤ k ≤ Δ, so it exceeds ε exactly for k ≤ m, where m = ⌈(Δ − εb)/2⌉ − 1. Write r = e^(−1/b). Then
        δ = P(k ≤ m) − e^ε P(k ≤ m − Δ) = [1 − r^(m+1) + r − e^ε r^(Δ−m)] / (1 + r).

        Parameters
        ----------
        epsilon : float or array
            ε ≥ 0.

        Returns
        -------
        float or ndarray
            The hockey-stick divergence between neighbours that are Δ apart; closer ones have a smaller one.

        Raises
        ------
        ValueError
            If ε is negative or not a number.
        """
        return elementwise(self._delta, epsilon, "epsilon")

    def _delta(self, epsilon: float) -> float:
        if epsilon == math.inf:
            return 0.0
        step = 1 / Fraction(self.scale)
        gap = self.sensitivity - Fraction(epsilon) / step  # Δ − εb, exactly
        if gap <= 0:
            return 0.0
        m = math.ceil(gap / 2) - 1
        ratio = math.exp(-1 / self.scale)
        if m == 0:
            return _shrunk(gap * step) / (1 + ratio)
        # 1 − r^(m+1) and r − e^ε r^(Δ−m), both positive: nothing cancels
        second = ratio * _shrunk((self.sensitivity - m - 1) * step - Fraction(epsilon))
        return (_shrunk((m + 1) * step) + second) / (1 + ratio)

    def _check_resolution(self) -> None:
        if self.scale > 1e12:
            raise ValueError(f"scale: found {self.scale}, expected at most 1e12 for an exact integer")

    def pmf(self, k: Any) -> Any:
        """Return P(error = k) for integers k."""
        return np.tanh(0.5 / self.scale) * np.exp(-abs(np.asarray(k, dtype=float)) / self.scale)[()]

    def cdf(self, x: Any) -> Any:
        """Return P(error ≤ x)."""
        k = np.floor(np.asarray(x, dtype=float))
        low = np.exp(-abs(k) / self.scale)
        high = np.exp(-(abs(k) + 1) / self.scale)
        ratio = math.exp(-1 / self.scale)
        return np.where(k < 0, low / (1 + ratio), 1 - high / (1 + ratio))[()]

    def tail(self, t: Any) -> Any:
        """Return P(|error| > t)."""
        t = np.asarray(t, dtype=float)
        beyond = 2 * np.exp(-(np.floor(np.maximum(t, 0)) + 1) / self.scale) / (1 + math.exp(-1 / self.scale))
        return np.where(t < 0, 1.0, beyond)[()]

    def quantile(self, probability: float) -> int:
        """Return the smallest integer k with P(error ≤ k) ≥ probability, for a probability in (0, 1).

        Raises
        ------
        ValueError
            If the probability is out of its range, or b > 1e12: the floats near P(error ≤ k) are then too far
            apart to distinguish neighbouring integers.
        """
        self._check_resolution()
        p = inside_unit(probability, "probability")
        ratio = math.exp(-1 / self.scale)
        if p <= ratio / (1 + ratio):
            k = math.ceil(self.scale * math.log(p * (1 + ratio)))
        else:
            k = math.ceil(-self.scale * math.log((1 - p) * (1 + ratio))) - 1
        while self.cdf(k) < p:  # the logarithm may be off by one rounding, and then k by one
            k += 1
        while self.cdf(k - 1) >= p:
            k -= 1
        return k

    def error_bound(self, failure: float) -> int:
        """Return the smallest integer t ≥ 0 with P(|error| > t) ≤ failure; raises as `quantile`."""
        self._check_resolution()
        f = inside_unit(failure, "failure")
        ratio = math.exp(-1 / self.scale)
        t = max(math.ceil(-self.scale * math.log(f * (1 + ratio) / 2)) - 1, 0)
        while self.tail(t) > f:
            t += 1
        while t > 0 and self.tail(t - 1) <= f:
            t -= 1
        return t
