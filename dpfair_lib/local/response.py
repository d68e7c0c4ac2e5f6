"""Generalised randomised response: report the true value, or any other with equal probability; what follows from it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._arguments import positive_integer
from dpfair_lib._arrays import Space, space_of
from dpfair_lib.local.levels import TwoLevels, as_epsilon
from dpfair_lib.local.randomizer import Randomizer, as_channel, as_values, wide_integers
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import log_above, two_levels

MOST_VALUES = 1 << 13
"""Their channel takes half a gigabyte."""
ROUNDED = 1e-12
"""An entry that is negative by less is zero but for rounding."""
BLOCK = 1 << 15
"""People drawn at a time, so that what is computed of them stays in the processor's cache."""


def response_matrix(k: int, x: Any) -> np.ndarray:
    """Return the channel of generalised randomised response: 1/(1 + (k − 1)x) on the diagonal, x times that elsewhere.

    Parameters
    ----------
    k : int
        How many values there are, at least 1.
    x : number
        e^(−ε) in [0, 1]; a `Fraction` gives exact entries.

    Returns
    -------
    ndarray of shape (k, k)
        Row: value, column: report.

    References
    ----------
    Thesis, § 5.2.3.
    """
    k, truth = positive_integer(k, "k"), 1 / (1 + (k - 1) * x)
    matrix = np.full((k, k), x * truth, dtype=object if isinstance(truth, Fraction) else float)
    np.fill_diagonal(matrix, truth)
    return matrix


class GeneralizedRandomizedResponse(Randomizer):
    """Generalised randomised response with a fast `apply`; made by `generalized_randomized_response`."""

    def __init__(self, k: int, epsilon: float) -> None:
        truth, lie = two_levels(epsilon, 1, k - 1)
        matrix = np.full((k, k), lie)
        np.fill_diagonal(matrix, truth)
        super().__init__(matrix)
        self._epsilon = epsilon
        self._law = TwoLevels(epsilon, 1, k - 1)

    @property
    def epsilon(self) -> float:
        """The least ε for which the channel is ε-locally private, a few roundings up, and never above the one given."""
        return min(super().epsilon, self._epsilon)

    def apply(self, a: Any, rng: np.random.Generator | None = None) -> Any:
        """Draw a report for each person, from a channel of the same form with an ε′ ≤ ε, see `realized`.

        Parameters
        ----------
        a : array of shape (n,)
            Each person's value, an integer in 0, …, k − 1. Small dtypes (int8) are fastest.
        rng : numpy.random.Generator, optional
            Source of randomness for a study, which protects no real data; by default the operating system's.

        Returns
        -------
        array of shape (n,)
            The reports, of the dtype of ``a`` and where it is, as `Randomizer.apply`.

        Raises
        ------
        ValueError
            If a value is not one of the k, or ``rng`` is something else.
        """
        space = space_of(a=a)
        a, rng = as_values(a, self.k, space), NoiseSource.given(rng).generator
        if not space.host:
            return self._apply_elsewhere(a, rng, space)
        # wide enough for a value and a shift together, both below k or equal to it
        dtype = np.uint8 if self.k <= 128 else np.uint16 if self.k <= 1 << 15 else np.uint64
        k, reports = dtype(self.k), np.empty_like(a)
        for start in range(0, len(a), BLOCK):
            values = a[start : start + BLOCK].astype(dtype)
            # the lies are the shifts by 1, …, k − 1; a shift by k is the truth
            values += self._law.draw(len(values), rng).astype(dtype)
            values += dtype(1)
            # unsigned: what is below k becomes huge, and the smaller of the two is the remainder
            reports[start : start + BLOCK] = np.minimum(values, values - k)
        return reports

    def _apply_elsewhere(self, a: Any, rng: np.random.Generator | None, space: Space) -> Any:
        """Draw the shifts on the host, which do not depend on the values, and add them where the values are."""
        wide, n = wide_integers(space), a.shape[0]
        shifts = [self._law.draw(min(BLOCK, n - start), rng) for start in range(0, n, BLOCK)]
        moved = space.astype(a, wide) + space.put(np.concatenate(shifts).astype(np.int64) + 1)
        return space.astype(moved - self.k * space.astype(moved >= self.k, wide), a.dtype)

    def realized(self) -> Randomizer:
        """Return the channel that `apply` really draws from: generalised randomised response at ε′ ≤ ε, exactly.

        Up to ε = 22 every lie is likelier than it should be by a factor of at most 1 + 2^(−30); from there on ε′
        stays at about 22, and a lie has the probability 2^(−32).
        """
        ratio = self._law.ratio
        return Randomizer(response_matrix(self.k, Fraction(0) if ratio == math.inf else 1 / ratio))

    @property
    def realized_epsilon(self) -> float:
        """ε′ of `realized`, not below it; 0 where there is one value only."""
        return self._law.epsilon if self.k > 1 else log_above(1)


def generalized_randomized_response(k: int, epsilon: float) -> GeneralizedRandomizedResponse:
    """Return the channel that reports the truth with probability e^ε/(e^ε + k − 1), and otherwise a random other value.

    Parameters
    ----------
    k : int
        Number of values of the attribute, from 1 to 2¹³. The channel's matrix has k² entries.
    epsilon : float
        ε in [0, 700], or infinity. With 0 the report does not depend on the value; with infinity it is always true.

    Returns
    -------
    Randomizer
        The channel, with a fast ``apply``.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Ghoukasian (thesis, 2024), § 5.2.3, after Warner (1965) and Kairouz, Oh and Viswanath (2014).

    Examples
    --------
    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> channel = dpf.generalized_randomized_response(3, epsilon=np.log(2))
    >>> channel.matrix.round(2)
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.5 , 0.25],
           [0.25, 0.25, 0.5 ]])
    """
    return GeneralizedRandomizedResponse(positive_integer(k, "k", most=MOST_VALUES), as_epsilon(epsilon))


def garbling(channel: Any, epsilon: float) -> Randomizer:
    """Return how to change the reports of plain response at ε so that they become those of another channel.

    Plain response at ε, followed by what is returned, is the channel. So reports can be collected plainly first, and
    the channel be chosen afterwards: ``garbling(channel, epsilon).apply(reports)``.

    Parameters
    ----------
    channel : Randomizer or array of shape (k, m)
        The channel, row: value, column: report.
    epsilon : float
        ε of the plain response, in [0, 700] or infinity.

    Returns
    -------
    Randomizer
        Its rows are the k plain reports, its columns the m reports of ``channel``. It is the only one unless ε is 0.

    Raises
    ------
    ValueError
        If there is none, up to rounding (10⁻¹²): if ε is below `garbling_epsilon`. For two groups: if ``channel`` is
        not ε-private.

    References
    ----------
    Ours; the chapter "Collect plain reports first". Known for two groups: Kairouz, Oh and Viswanath (2014).

    Examples
    --------
    The thesis's channel for two groups, from plain reports at the same ε: a report of the smaller group is kept.

    >>> import numpy as np
    >>> from dpfair_lib.local import binary_optimum, garbling
    >>> optimum = binary_optimum([0.3, 0.7], [0.5, 0.6], epsilon=np.log(2))
    >>> garbling(optimum, epsilon=np.log(2)).matrix.round(4)
    array([[1.  , 0.  ],
           [0.25, 0.75]])
    """
    matrix = as_channel(getattr(channel, "matrix", channel), "channel")
    x = math.exp(-as_epsilon(epsilon))
    found = garbling_matrix(matrix.astype(float), x)
    if found is None or found.min() < -ROUNDED:
        raise ValueError(
            f"epsilon: this channel cannot be made from plain response at ε = {epsilon:g}, expected at least "
            f"garbling_epsilon(channel) = {garbling_epsilon(matrix):.6g}"
        )
    found = np.clip(found, 0, None)
    return Randomizer(found / found.sum(axis=1, keepdims=True))


def garbling_epsilon(channel: Any) -> float:
    """Return the least ε of plain response from which a channel can be made.

    With r the smallest share that an entry has in the sum of its column it is ln(1/r − k + 1). For two groups it is the
    channel's own ε. For k groups it is at most ln(1 + (k − 1)(e^ε − 1)), which the question "is it value i?" needs.

    Parameters
    ----------
    channel : Randomizer or array of shape (k, m)
        The channel, row: value, column: report.

    Returns
    -------
    float
        ε, or infinity if a report is possible for some values only.

    Raises
    ------
    ValueError
        If ``channel`` is none.

    References
    ----------
    Ours; the chapter "Collect plain reports first".

    Examples
    --------
    >>> import numpy as np
    >>> from dpfair_lib.local import garbling_epsilon
    >>> is_it_the_first = [[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]]  # ln 3-private
    >>> float(round(np.exp(garbling_epsilon(is_it_the_first)), 4))
    5.0
    """
    ratio = garbling_ratio(as_channel(getattr(channel, "matrix", channel), "channel"))
    return math.log(max(float(ratio), 1.0))


def garbling_matrix(matrix: np.ndarray, x: Any) -> np.ndarray | None:
    """Return W with R·W = Q, for plain response R; it may have negative entries, and then there is no garbling.

    Parameters
    ----------
    matrix : ndarray of shape (k, m)
        Q, a channel; `Fraction` entries stay exact.
    x : number
        e^(−ε) of R, in [0, 1].

    Returns
    -------
    ndarray of shape (k, m) or None
        ((1 + (k − 1)x) Q − x S) / (1 − x) with S the sums of the columns; its rows sum to 1. None if ε = 0 and the rows
        of Q differ: then no W has R·W = Q. If they do not, Q itself.
    """
    k = len(matrix)
    if x == 1:
        return matrix if (matrix == matrix[0]).all() else None
    return np.asarray(((1 + (k - 1) * x) * matrix - x * matrix.sum(axis=0)) / (1 - x))


def garbling_ratio(matrix: np.ndarray) -> Any:
    """Return e^ε of `garbling_epsilon`: 1/r − k + 1, exact if the channel is; columns of zeros are left out."""
    sums, least = matrix.sum(axis=0), matrix.min(axis=0)
    possible = sums > 0
    if (least[possible] == 0).any():
        return math.inf
    return max(sums[possible] / least[possible]) - len(matrix) + 1


def collecting_ratio(k: int, ratio: Any) -> Any:
    """Return e^ε′ of the plain response from which every ε-private channel with k values can be made.

    Parameters
    ----------
    k : int
        Number of values, at least 2.
    ratio : number
        e^ε, at least 1.

    Returns
    -------
    number
        1 + (k − 1)(e^ε − 1), exact if ``ratio`` is.
    """
    return 1 + (k - 1) * (ratio - 1)
