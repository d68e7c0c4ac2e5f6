"""Subset selection: the report is a set of ω values, which contains the true one more often than any other."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._arguments import positive_integer
from dpfair_lib._arrays import Space, space_of
from dpfair_lib.local.levels import TwoLevels, as_epsilon
from dpfair_lib.local.randomizer import Randomizer, as_channel, as_values, wide_integers
from dpfair_lib.local.response import BLOCK
from dpfair_lib.local.words import Source, below
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import log_above, two_levels

LARGEST_MATRIX = 1 << 20
LARGEST_TABLE = 1 << 16
MOST_VALUES = 1 << 20
"""A report has a bit for each, and the exact laws are of 32-bit words."""


def subset_size(k: int, ratio: Any) -> int:
    """Return the printed size ω: k/(e^ε + 1) rounded to the nearest positive integer, halves upwards.

    Parameters
    ----------
    k : int
        How many values there are.
    ratio : number
        e^ε ≥ 1; a `Fraction` is rounded exactly.

    References
    ----------
    Thesis, § 5.2.3 with the rounding of § 5.1; Ye and Barg (2018).
    """
    return max(1, math.floor(k / (ratio + 1) + Fraction(1, 2)))


def least_variance_size(k: int, ratio: Any) -> int:
    """Return the size ω of least total variance: the least ω with ω(ω + 1)·e^(2ε) ≥ (k − ω)(k − ω − 1).

    Parameters
    ----------
    k : int
        How many values there are.
    ratio : number
        e^ε ≥ 1.

    References
    ----------
    Ours, from `subset_variance`; Ye and Barg (2018) show that one of the two neighbours of k/(e^ε + 1) is best.
    """
    sizes = range(1, max(k, 2))
    return next(size for size in sizes if size * (size + 1) * ratio**2 >= (k - size) * (k - size - 1))


def subset_variance(k: int, size: int, ratio: Any) -> Any:
    """Return n times the variance of the estimated shares of the k values, summed over the values.

    A value is in the report of a person who has it with probability p = ωe^ε/(ωe^ε + k − ω), in any other report
    with probability q = (ω − p)/(k − 1). The share (hits/n − q)/(p − q) is unbiased, and for n given people the
    sum of the k variances, [p(1 − p) + (k − 1)q(1 − q)]/(n(p − q)²), does not depend on who has which value. For people
    drawn at random another term is added, which does not depend on ω.

    Parameters
    ----------
    k, size : int
        How many values there are and ω, 1 ≤ ω < k.
    ratio : number
        e^ε > 1; a `Fraction` gives an exact result.

    References
    ----------
    Ye and Barg (2018), whose risk this is.
    """
    p = size * ratio / (size * ratio + k - size)
    q = (size - p) / (k - 1)
    return (p * (1 - p) + (k - 1) * q * (1 - q)) / (p - q) ** 2


def subset_matrix(k: int, size: int, x: Any) -> np.ndarray:
    """Return the channel of subset selection; the columns are the sets in lexicographic order.

    Parameters
    ----------
    k, size : int
        How many values there are and ω, 1 ≤ ω ≤ k.
    x : number
        e^(−ε) in [0, 1]; a `Fraction` gives exact entries.

    Returns
    -------
    ndarray of shape (k, C(k, ω))
        Row: value, column: set. A set that holds the value has 1/(C(k−1, ω−1) + x·C(k−1, ω)), any other x times that.

    References
    ----------
    Thesis, § 5.2.3: the two steps of the procedure multiplied out.
    """
    holds = _members(k, size).T.astype(bool)
    high = 1 / (math.comb(k - 1, size - 1) + x * math.comb(k - 1, size))
    matrix = np.full(holds.shape, x * high, dtype=object if isinstance(high, Fraction) else float)
    matrix[holds] = high
    return matrix


class SubsetSelection(Randomizer):
    """Subset selection; made by `subset_selection`. ``matrix`` is built when it is first asked for.

    Attributes
    ----------
    size : int
        ω, how many values a report holds.
    """

    def __init__(self, k: int, epsilon: float, size: int) -> None:
        self.size, self._k, self._epsilon = size, k, epsilon
        self.value = self.certificate = None
        # of 1 ≤ ω < k values there are at least k sets; no binomial coefficient is needed to know that those are many
        few = size == k or k * k <= LARGEST_TABLE
        sets = (math.comb(k - 1, size - 1), math.comb(k - 1, size)) if few else (0, 0)
        self._tabled = few and k * sum(sets) <= LARGEST_TABLE
        # a table of sets is drawn from at once; else first whether the truth is in, which has the same odds
        self._law = TwoLevels(epsilon, *(sets if self._tabled else (size, k - size)))

    @property
    def k(self) -> int:
        """How many values the attribute has."""
        return self._k

    @functools.cached_property
    def matrix(self) -> np.ndarray:  # type: ignore[override]
        """Row: value, column: set of values, in lexicographic order; refused beyond 2²⁰ entries."""
        many = self.size < self._k and self._k * self._k > LARGEST_MATRIX  # then there are at least k sets
        entries = 0 if many else self._k * math.comb(self._k, self.size)
        if many or entries > LARGEST_MATRIX:
            found = f"at least {self._k**2}" if many else entries
            raise ValueError(
                f"k, size: found a channel of {found} entries, expected at most {LARGEST_MATRIX}"
            )
        sets = math.comb(self._k - 1, self.size - 1), math.comb(self._k - 1, self.size)
        high, low = two_levels(self._epsilon, *sets)
        return as_channel(np.where(_members(self._k, self.size).T == 1, high, low))

    @property
    def exact(self) -> bool:
        """Whether the probabilities are `Fraction`: they are not."""
        return False

    @property
    def likelihood_ratio(self) -> float:
        """e^ε; 1 where the report holds all values, and infinity where e^ε is too large for a float."""
        if self.size == self._k:
            return 1.0
        return math.exp(self._epsilon) if self._epsilon < math.inf else math.inf

    @property
    def epsilon(self) -> float:
        """The least ε for which the channel is ε-locally private: as given, or 0 where it says nothing."""
        return 0.0 if self.size == self._k else self._epsilon

    def truth_probability(self, p: Any) -> Any:
        """Return Pr(Z = A), if every report is a single value.

        Raises
        ------
        ValueError
            If reports hold several values, or as `Randomizer.truth_probability`.
        """
        if self.size > 1:
            raise ValueError(
                f"size: found reports of {self.size} values, expected 1: no other report is a value"
            )
        return super().truth_probability(p)

    def apply(self, a: Any, rng: np.random.Generator | None = None) -> Any:
        """Draw a set for each person, from subset selection with an ε′ ≤ ε, see `realized_ratio`.

        Parameters
        ----------
        a : array of shape (n,)
            Each person's value, an integer in 0, …, k − 1.
        rng : numpy.random.Generator, optional
            Source of randomness for a study, which protects no real data; by default the operating system's.

        Returns
        -------
        array of shape (n, k), uint8
            Bit vectors: 1 where the set holds the value; where ``a`` is, as `Randomizer.apply`.

        Raises
        ------
        ValueError
            If a value is not one of the k, or ``rng`` is something else.
        """
        space = space_of(a=a)
        a, rng = as_values(a, self._k, space), NoiseSource.given(rng).generator
        if not space.host:
            return self._apply_elsewhere(a, rng, space)
        reports = np.empty((len(a), self._k), dtype=np.uint8)
        for start in range(0, len(a), BLOCK):
            values = a[start : start + BLOCK].astype(np.int64)
            drawn = self._law.draw(len(values), rng)
            fill = self._from_table if self._tabled else self._one_by_one
            fill(values, drawn, rng, reports[start : start + BLOCK])
        return reports

    def _apply_elsewhere(self, a: Any, rng: Source, space: Space) -> Any:
        """Draw on the host what does not depend on the values: a place in the table, or a set for the value 0."""
        xp, values, n = space.xp, space.astype(a, wide_integers(space)), a.shape[0]
        parts = [slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]
        if self._tabled:
            drawn = [self._law.draw(part.stop - part.start, rng) for part in parts]
            places = values * math.comb(self._k, self.size) + space.put(
                np.concatenate(drawn).astype(np.int64)
            )
            return xp.take(space.put(self._table), places, axis=0)
        of_zero = np.empty((n, self._k), dtype=np.uint8)
        for part in parts:
            nobody = np.zeros(part.stop - part.start, dtype=np.int64)
            self._one_by_one(nobody, self._law.draw(len(nobody), rng), rng, of_zero[part])
        # the set of a person with the value v is that of the value 0, moved on by v
        shifts = xp.arange(self._k, dtype=values.dtype, device=space.device)[None, :] - values[:, None]
        return xp.take_along_axis(space.put(of_zero), shifts % self._k, axis=1)

    def realized(self) -> Randomizer:
        """Return the channel that `apply` really draws from, subset selection at ε′ ≤ ε, exactly."""
        sets = self.matrix.shape[1]
        if self.size == self._k:
            return Randomizer(np.full((self._k, sets), Fraction(1)))
        ratio = self._law.ratio
        return Randomizer(
            subset_matrix(self._k, self.size, Fraction(0) if ratio == math.inf else 1 / Fraction(ratio))
        )

    @property
    def realized_ratio(self) -> Any:
        """e^(ε′) of the subset selection that `apply` really draws from; ε′ ≤ ε.

        The two differ by less than C(k, ω)·2^(−30) while C(k, ω)·e^ε ≤ 2³¹, if `apply` has a table of all sets (up
        to k·C(k, ω) = 2¹⁶), and else by less than k·2^(−30) while k·e^ε ≤ 2³¹.
        """
        return self._law.ratio

    @property
    def realized_epsilon(self) -> float:
        """ε′ of the law that `apply` really draws from, not below it; 0 where the report says nothing."""
        return self._law.epsilon if self.size < self._k else log_above(1)

    @functools.cached_property
    def _table(self) -> np.ndarray:
        """For each value all sets as bit vectors, those without it first; shape (k·C(k, ω), k)."""
        sets = _members(self._k, self.size)
        return np.concatenate([sets[np.argsort(sets[:, i], kind="stable")] for i in range(self._k)])

    def _from_table(self, values: np.ndarray, drawn: np.ndarray, _: Any, out: np.ndarray) -> None:
        values *= math.comb(self._k, self.size)
        values += drawn
        np.take(self._table, values, axis=0, out=out, mode="clip")  # "raise" would buffer the output

    def _one_by_one(self, values: np.ndarray, drawn: np.ndarray, rng: Source, out: np.ndarray) -> None:
        """Go through the other values: each is taken with probability (still needed) / (still to come)."""
        rows = np.arange(len(values))
        holds = drawn >= self._k - self.size
        out[rows, values] = holds
        needed = self.size - holds.astype(np.int64)
        for place in range(1, self._k):
            taken = below(self._k - place, len(values), rng) < needed
            out[rows, (values + place) % self._k] = taken
            needed -= taken


def subset_selection(k: int, epsilon: float, *, size: int | None = None) -> SubsetSelection:
    """Return the channel that reports a set of ω values: with probability ωe^ε/(ωe^ε + k − ω) the true value is in it.

    Parameters
    ----------
    k : int
        Number of values of the attribute, at most 2²⁰.
    epsilon : float
        ε in [0, 700], or infinity. With 0 the set does not depend on the value; with infinity it always contains it.
    size : int, optional
        ω, at most k. By default the published choice, k/(e^ε + 1) rounded.

    Returns
    -------
    Randomizer
        Reports are vectors of k bits. The columns of the matrix are the sets in lexicographic order.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Ghoukasian (thesis, 2024), § 5.2.3; Ye and Barg (2018).

    Examples
    --------
    Two people, with values 0 and 3, report sets of two of the four values.

    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> channel = dpf.subset_selection(4, epsilon=1.0, size=2)
    >>> channel.apply([0, 3], rng=np.random.default_rng(0))  # without rng: secure noise
    array([[1, 0, 0, 1],
           [0, 1, 0, 1]], dtype=uint8)
    """
    k, epsilon = positive_integer(k, "k", most=MOST_VALUES), as_epsilon(epsilon)
    ratio = math.exp(epsilon) if epsilon < math.inf else math.inf
    omega = subset_size(k, ratio) if size is None else positive_integer(size, "size")
    if omega > k:
        raise ValueError(f"size: found {omega}, expected at most k, {k}")
    return SubsetSelection(k, epsilon, omega)


def _members(k: int, size: int) -> np.ndarray:
    """All sets of the given size as bit vectors, in lexicographic order: shape (C(k, size), k)."""
    sets = np.array(list(itertools.combinations(range(k), size)), dtype=np.int64)
    bits = np.zeros((len(sets), k), dtype=np.uint8)
    np.put_along_axis(bits, sets, 1, axis=1)
    return bits
