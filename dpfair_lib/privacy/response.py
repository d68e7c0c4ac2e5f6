"""Randomised response, binary and k-ary, with its exact privacy profile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfair_lib._arguments import elementwise, inside_unit, positive, positive_integer
from dpfair_lib.privacy.rounding import raised, two_levels


def pure_profile(epsilon: float, at: Any) -> Any:
    """Return the largest δ that any purely ε-private mechanism can have at another ε: (e^ε − e^at)/(1 + e^ε).

    Parameters
    ----------
    epsilon : float
        The pure guarantee, ε > 0.
    at : float or array
        Where the profile is asked for, at least 0.

    Returns
    -------
    float or ndarray
        δ, which is 0 from ε on; binary randomised response attains it.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Kairouz, Oh and Viswanath (2015), Theorem 3.3 with one release.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> round(float(privacy.pure_profile(1.0, 0.0)), 4), float(privacy.pure_profile(1.0, 1.0))
    (0.4621, 0.0)
    """
    return RandomizedResponse(epsilon, 2).delta(at)


@dataclass(frozen=True)
class RandomizedResponse:
    """Report one's own value of k with probability e^ε / (e^ε + k − 1), else one of the others at random.

    Parameters
    ----------
    epsilon : float
        ε > 0: the pure guarantee, under the relation "local".
    k : int
        How many values there are, at least 2.

    Raises
    ------
    ValueError
        If ε is not positive and finite or k is not an integer of at least 2.

    References
    ----------
    Warner (1965) for k = 2; Kairouz, Oh and Viswanath (2014) for all k. The profile is ours, in `delta`.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> import math
    >>> response = privacy.RandomizedResponse(epsilon=math.log(3), k=3)
    >>> round(response.truth_probability, 3)
    0.6
    >>> response.matrix().round(3)
    array([[0.6, 0.2, 0.2],
           [0.2, 0.6, 0.2],
           [0.2, 0.2, 0.6]])
    """

    epsilon: float
    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        if positive_integer(self.k, "k") < 2:
            raise ValueError(f"k: found {self.k}, expected an integer of at least 2")

    @property
    def truth_probability(self) -> float:
        """The probability of reporting one's own value, rounded down."""
        return two_levels(self.epsilon, 1, self.k - 1)[0]

    @property
    def lie_probability(self) -> float:
        """The probability of reporting any one of the other values, rounded up: by e^ε the rarer, or by less."""
        return two_levels(self.epsilon, 1, self.k - 1)[1]

    def matrix(self) -> np.ndarray:
        """Return the k × k matrix of P(report = column | value = row)."""
        matrix = np.full((self.k, self.k), self.lie_probability)
        np.fill_diagonal(matrix, self.truth_probability)
        return matrix

    def delta(self, epsilon: Any) -> Any:
        """Return the smallest δ of (ε′, δ): (e^ε − e^ε′) / (e^ε + k − 1), and 0 from ε on.

        Of two values only the report of the first is likelier under the first; the reports that lie about
        both are equally likely under both, and add nothing at ε′ ≥ 0.

        Parameters
        ----------
        epsilon : float or array
            ε′ ≥ 0.

        Returns
        -------
        float or ndarray
            The hockey-stick divergence between any two values, rounded up.

        Raises
        ------
        ValueError
            If ε′ is negative or not a number.
        """
        truth = 1 / (1 + (self.k - 1) * math.exp(-self.epsilon))

        def at(e: float) -> float:
            return 0.0 if e >= self.epsilon else min(raised(-math.expm1(e - self.epsilon) * truth), 1.0)

        return elementwise(at, epsilon, "epsilon")

    def error_pmf(self, n: int) -> np.ndarray:
        """Return the exact law of the number of wrong reports among n people: entry j is P(j wrong)."""
        from scipy.stats import binom

        people = positive_integer(n, "n")
        return binom.pmf(np.arange(people + 1), people, (self.k - 1) * self.lie_probability)

    def cdf(self, x: Any, n: int) -> Any:
        """Return P(at most x of n reports are wrong)."""
        from scipy.stats import binom

        return binom.cdf(x, positive_integer(n, "n"), (self.k - 1) * self.lie_probability)

    def tail(self, t: Any, n: int) -> Any:
        """Return P(more than t of n reports are wrong)."""
        from scipy.stats import binom

        return binom.sf(t, positive_integer(n, "n"), (self.k - 1) * self.lie_probability)

    def quantile(self, probability: float, n: int) -> int:
        """Return the smallest x with P(at most x of n reports are wrong) ≥ probability."""
        from scipy.stats import binom

        p = inside_unit(probability, "probability")
        return int(binom.ppf(p, positive_integer(n, "n"), (self.k - 1) * self.lie_probability))
