"""The exponential mechanism: sampling, exact probabilities, and exact privacy."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfair_lib._arguments import elementwise, inside_unit, nonnegative, positive, positive_integer
from dpfair_lib._extras import extra
from dpfair_lib._validation import as_numbers, check_lengths, same_rows
from dpfair_lib.privacy.sampling import Noise, checked_sampler


@dataclass(frozen=True)
class ExponentialMechanism:
    """Choose outcome r with probability proportional to exp(ε u(r) / (2Δ)).

    Parameters
    ----------
    epsilon : float
        ε > 0: the pure guarantee.
    sensitivity : float
        Δ > 0: how far any one utility may move between neighbours.

    Raises
    ------
    ValueError
        If an argument is not a positive finite number.

    References
    ----------
    McSherry and Talwar (2007); Dwork and Roth (2014), Theorem 3.10.

    Examples
    --------
    Three candidates, the last of which has the most votes.

    >>> from dpfair_lib import privacy
    >>> mechanism = privacy.ExponentialMechanism(epsilon=1.0, sensitivity=1.0)
    >>> mechanism.probabilities([2, 3, 8]).round(3)
    array([0.044, 0.073, 0.883])
    """

    epsilon: float
    sensitivity: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", positive(self.sensitivity, "sensitivity"))

    def probabilities(self, utilities: Any) -> np.ndarray:
        """Return the exact probability of every outcome.

        Parameters
        ----------
        utilities : array of shape (k,)
            u(r) of each outcome.

        Returns
        -------
        ndarray of shape (k,)
            Probabilities, which add up to 1.

        Raises
        ------
        ValueError
            If the utilities are not finite numbers.
        """
        return np.exp(self._log_probabilities(as_numbers(utilities, "utilities").astype(float)))

    def _log_probabilities(self, utilities: np.ndarray) -> np.ndarray:
        exponents = (utilities - utilities.max()) * (self.epsilon / (2 * self.sensitivity))
        return exponents - math.log(float(np.exp(exponents).sum()))

    @same_rows
    def losses(self, utilities: Any, neighbour: Any) -> np.ndarray:
        """Return the privacy loss ln(P(r)/P′(r)) of every outcome, between two data sets.

        Parameters
        ----------
        utilities, neighbour : array of shape (k,)
            u(r) on the one data set and on the other.

        Returns
        -------
        ndarray of shape (k,)
            The losses; the larger of their extremes in absolute value is the ε of this pair.

        Raises
        ------
        ValueError
            If the arrays are malformed, or differ somewhere by more than the sensitivity.
        """
        first = as_numbers(utilities, "utilities").astype(float)
        second = as_numbers(neighbour, "neighbour").astype(float)
        check_lengths(utilities=first, neighbour=second)
        moved = abs(first - second).max()
        if moved > self.sensitivity * (1 + 1e-12):
            raise ValueError(
                f"neighbour: found a utility that moves by {moved}, expected at most the sensitivity "
                f"{self.sensitivity}"
            )
        return self._losses(first, second)

    def _losses(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        # ln(P/P′) = s(u − u′) − ln Σ P′ e^(s(u − u′)): by differences, so that small losses stay accurate
        moves = (first - second) * (self.epsilon / (2 * self.sensitivity))
        if abs(moves).max() > 1:  # large losses are accurate as they stand, and e^(s(u − u′)) may overflow
            return self._log_probabilities(first) - self._log_probabilities(second)
        weights = np.exp(self._log_probabilities(second))
        return moves - math.log1p(float(weights @ np.expm1(moves)))

    @same_rows
    def delta_between(self, utilities: Any, neighbour: Any, epsilon: Any) -> Any:
        """Return the smallest δ of P(S) ≤ e^ε′ P′(S) + δ for one ordered pair of data sets, exactly.

        Parameters
        ----------
        utilities, neighbour : array of shape (k,)
            u(r) on the first data set and on the second.
        epsilon : float or array
            ε′ ≥ 0.

        Returns
        -------
        float or ndarray
            The hockey-stick divergence of the first from the second; the order matters.

        Raises
        ------
        ValueError
            As `losses`; if ε′ is negative.
        """
        losses, chances = self.losses(utilities, neighbour), self.probabilities(utilities)
        return elementwise(
            lambda e: float(chances @ -np.expm1(np.minimum(e - losses, 0))), epsilon, "epsilon"
        )

    def delta(self, epsilon: Any) -> Any:
        """Return the largest δ that any pair of utilities can have: (1 − e^(−(ε − ε′)/2))² / (1 − e^(−ε)).

        Every utility moves by at most Δ, so the losses of all outcomes lie in some interval [t − ε, t], and
        their exponentials have mean 1 under P′. The mean of a convex function is largest when only the two
        ends are taken: the mass of the upper one is then (1 − e^(t−ε)) / (e^t − e^(t−ε)), which gives
        (1 − e^(t−ε)) (1 − e^(ε′−t)) / (1 − e^(−ε)), largest at t = (ε + ε′)/2. Two outcomes attain it. The
        bound for all pure mechanisms, `pure_profile`, is larger.

        Parameters
        ----------
        epsilon : float or array
            ε′ ≥ 0.

        Returns
        -------
        float or ndarray
            δ, which is 0 from ε on.

        Raises
        ------
        ValueError
            If ε′ is negative or not a number.

        References
        ----------
        Dong, Durfee and Rogers (2020), with one release.
        """
        return elementwise(
            lambda e: math.expm1(min(e - self.epsilon, 0) / 2) ** 2 / -math.expm1(-self.epsilon),
            epsilon,
            "epsilon",
        )

    def tail(self, utilities: Any, t: float) -> float:
        """Return P(the chosen utility is more than t below the best), exactly.

        Parameters
        ----------
        utilities : array of shape (k,)
            u(r) of each outcome.
        t : float
            At least 0.

        Returns
        -------
        float
            The probability.

        Raises
        ------
        ValueError
            If the utilities are not finite numbers or t is negative.
        """
        chances, short = self._shortfalls(utilities)
        return float(chances[short > nonnegative(t, "t")].sum())

    def cdf(self, utilities: Any, t: float) -> float:
        """Return P(the chosen utility is at most t below the best), exactly; see `tail`."""
        chances, short = self._shortfalls(utilities)
        return float(chances[short <= nonnegative(t, "t")].sum())

    def quantile(self, utilities: Any, probability: float) -> float:
        """Return the smallest t with P(the chosen utility is at most t below the best) ≥ probability."""
        chances, short = self._shortfalls(utilities)
        order = np.argsort(short)
        reached = np.cumsum(chances[order]) >= inside_unit(probability, "probability") * (1 - 1e-15)
        return float(short[order][np.argmax(reached)]) if reached.any() else float(short.max())

    def _shortfalls(self, utilities: Any) -> tuple[np.ndarray, np.ndarray]:
        values = as_numbers(utilities, "utilities").astype(float)
        return self.probabilities(values), values.max() - values

    def error_bound(self, outcomes: int, failure: float) -> float:
        """Return the t = (2Δ/ε) ln(k/failure) for which the tail at t is at most failure, whatever the utilities.

        Parameters
        ----------
        outcomes : int
            k, how many outcomes there are.
        failure : float
            In (0, 1).

        Returns
        -------
        float
            The bound.

        Raises
        ------
        ValueError
            If an argument is out of its range.

        References
        ----------
        Dwork and Roth (2014), Corollary 3.12.
        """
        count = positive_integer(outcomes, "outcomes")
        return 2 * self.sensitivity / self.epsilon * math.log(count / inside_unit(failure, "failure"))


def exponential_choice(
    scores: Any, *, noise: Noise = "secure", rng: np.random.Generator | None = None
) -> int:
    """Draw an index with probability proportional to e^score: the largest score after Gumbel noise on each.

    Parameters
    ----------
    scores : array of shape (k,)
        ε u(r)/(2Δ) for the exponential mechanism of utility u.
    noise : {"secure", "study"}
        OpenDP's sampler, or NumPy's.
    rng : numpy.random.Generator, optional
        Needed for study noise; refused for secure noise, which must not be reproducible.

    Returns
    -------
    int
        The index.

    Raises
    ------
    ValueError
        If the scores are not finite numbers, or rng does not go with the noise.

    References
    ----------
    McSherry and Talwar (2007).
    """
    generator = checked_sampler(noise, rng)
    values = as_numbers(scores, "scores").astype(float)
    if generator is not None:
        return int(np.argmax(values + generator.gumbel(size=len(values))))
    return int(_secure_choice()(values.tolist()))


@functools.lru_cache(maxsize=1)
def _secure_choice() -> Any:
    with extra("secure"):
        import opendp.prelude as dp

    dp.enable_features("contrib")
    scores = dp.vector_domain(dp.atom_domain(T="f64", nan=False))
    # with this measure OpenDP adds Gumbel noise, which is the exponential mechanism
    return dp.m.make_noisy_max(
        scores, dp.linf_distance(T="f64"), dp.zero_concentrated_divergence(), scale=1.0
    )
