"""Randomizers: channels that replace a person's value of an attribute by a random report."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpfair_lib._arrays import HOST, Space, space_of
from dpfair_lib._validation import as_numbers, as_vector, even, same_rows
from dpfair_lib.local.words import words
from dpfair_lib.privacy.noise_source import NoiseSource, mark_noise
from dpfair_lib.privacy.rounding import log_above
from dpfair_lib.privacy.sampling import Noise
from dpfair_lib.privacy.statements import PrivacyStatement

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WHAT_A_REPORT_PROMISES = (
    "one report of {attribute} is protected against everyone, its collector included; a second, independent report of "
    "the same person adds its own epsilon; nothing else of the person is protected, and where the rest tells "
    "{attribute}, the noise does not hide it; that a person takes part, and what many reports together say about a "
    "group, also about people who gave none, is not protected"
)


class Randomizer:
    """A channel: a person with the value i reports the value j with probability ``matrix[i, j]``.

    **A row belongs to a true value A = i, a column to a report Z = j**: q_ij = Pr(Z = j | A = i), numbered from 0.

    Parameters
    ----------
    matrix : array of shape (k, m)
        The probabilities q_ij. `Fraction` entries stay exact. m is k unless reports are of another kind than values.
    value : number, optional
        For a channel that was optimised: the unfairness of its reports.
    certificate : object, optional
        The proof that no channel has a lower value.

    Attributes
    ----------
    matrix : ndarray of shape (k, m)
        The probabilities, read-only.
    value, certificate
        As given.

    Raises
    ------
    ValueError
        If an entry is outside [0, 1], or if a row does not sum to 1 (exactly, if all entries are `Fraction`).

    References
    ----------
    Ghoukasian (thesis, 2024), § 5.5; equation (5.4.1) for k = 2.

    Examples
    --------
    Each person reports the truth with probability ¾, which gives ε = ln 3.

    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> channel = dpf.Randomizer([[0.75, 0.25], [0.25, 0.75]])
    >>> round(channel.epsilon, 4)
    1.0986
    >>> channel.apply([0, 1, 1, 0], rng=np.random.default_rng(0))  # without rng: secure noise
    array([0, 1, 0, 0])
    """

    def __init__(self, matrix: Any, *, value: Any = None, certificate: Any = None) -> None:
        self.matrix = as_channel(matrix)
        self.value = value
        self.certificate = certificate

    def __repr__(self) -> str:
        return f"{type(self).__name__}(k={self.k}, epsilon={self.epsilon:.6g})"

    @property
    def k(self) -> int:
        """How many values the attribute has."""
        return len(self.matrix)

    @property
    def exact(self) -> bool:
        """Whether the probabilities are `Fraction`."""
        return self.matrix.dtype == object

    @property
    def likelihood_ratio(self) -> Any:
        """The largest ratio of two entries of one column, e^ε; `Fraction` if the channel is exact, or inf.

        A report that is possible for one value and impossible for another has the ratio infinity. A report that is
        impossible for every value is ignored.
        """
        high, low = self.matrix.max(axis=0), self.matrix.min(axis=0)
        possible = high > 0
        if (low[possible] == 0).any():
            return math.inf
        with np.errstate(over="ignore"):  # a ratio beyond every float is infinite as a float; ε is not
            return max(high[possible] / low[possible])

    @property
    def epsilon(self) -> float:
        """The smallest ε ≥ 0 for which the channel is ε-locally private, rounded up; inf if there is none.

        It is computed from the entries as they are; floating-point entries are exact numbers too.
        """
        ratio, _, _ = worst_report(self.matrix)
        return log_above(ratio) if ratio > 1 else 0.0

    @same_rows
    def pushforward(self, p: Any, p1: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the distribution of (Z, Y), given that of (A, Y): the reports together with unchanged labels.

        Parameters
        ----------
        p : array of shape (k,)
            P(A = i).
        p1 : array of shape (k,)
            P(Y = 1 | A = i). Where ``p`` is 0, any number or NaN.

        Returns
        -------
        pz : ndarray of shape (m,)
            P(Z = j).
        p1z : ndarray of shape (m,)
            P(Y = 1 | Z = j). For a report of probability 0 it is P(Y = 1), which lies between the other rates.

        Raises
        ------
        ValueError
            If ``p`` is not a distribution over the k values, or if a rate is outside [0, 1].

        References
        ----------
        Ghoukasian (thesis, 2024), Appendix B, proof of Lemma 13.
        """
        p, p1 = as_shares(p, p1, self.k)
        pz, joint = p @ self.matrix, (p * p1) @ self.matrix
        occurs = pz > 0
        p1z = np.where(occurs, joint, (p * p1).sum()) / np.where(occurs, pz, 1)
        return pz, p1z

    def truth_probability(self, p: Any) -> Any:
        """Return the probability of a true report, Pr(Z = A) = Σ p_i q_ii.

        Parameters
        ----------
        p : array of shape (k,)
            P(A = i).

        Returns
        -------
        float or Fraction
            Pr(Z = A).

        Raises
        ------
        ValueError
            If ``p`` is not a distribution over the k values, or if the reports are of another kind than the values.

        References
        ----------
        Ghoukasian (thesis, 2024), equation (5.5.6).
        """
        if self.matrix.shape[1] != self.k:
            raise ValueError(
                f"matrix: found shape {self.matrix.shape}, expected a square one: no report is a value itself"
            )
        p, _ = as_shares(p, np.full(self.k, Fraction(0)), self.k)  # exact zeros, which keep fractions
        return (p * np.diagonal(self.matrix)).sum()

    def apply(self, a: Any, rng: np.random.Generator | None = None) -> Any:
        """Draw a report for each person.

        The draw compares a uniform number of b = 62 − ⌈log₂ k⌉ bits with cumulated weights in units of 2^(−b). So the
        reports follow a channel with slightly other entries, which `realized` returns exactly. Every entry differs by
        less than m·2^(−b); entries 0 stay 0; only the largest entry of a row can be smaller than it should be.

        Parameters
        ----------
        a : array of shape (n,)
            Each person's value, an integer in 0, …, k − 1.
        rng : numpy.random.Generator, optional
            For an experiment, which protects nobody. By default the operating system's secure source.

        Returns
        -------
        array of shape (n,)
            The reports, numbered from 0. They have the dtype of ``a`` if it can hold them; otherwise 64-bit integers.
            They are where ``a`` is: the noise is drawn on the host and goes there, and no value comes back.

        Raises
        ------
        ValueError
            If a value is not one of the k, ``rng`` is no generator, or the device of ``a`` has no 64-bit integers.
        """
        space = space_of(a=a)
        a, rng = as_values(a, self.k, space), NoiseSource.given(rng).generator
        wide = wide_integers(space)
        bits = _word_bits(self.k)
        rows = np.arange(self.k, dtype=np.int64)[:, None] << bits
        edges = (rows + self._weights(bits).cumsum(axis=1)).ravel()
        drawn = space.put(words(a.shape[0], bits, rng))
        drawn += space.astype(a, wide) << bits
        outputs = self.matrix.shape[1]
        z = space.xp.searchsorted(space.put(edges), drawn, side="right") - space.astype(a, wide) * outputs
        return space.astype(z, a.dtype if outputs - 1 <= space.xp.iinfo(a.dtype).max else wide)

    def realized(self) -> Randomizer:
        """Return the channel from which `apply` really draws, in exact fractions."""
        bits = _word_bits(self.k)
        weights = self._weights(bits)
        entries = [Fraction(int(weight), 1 << bits) for weight in weights.ravel()]
        return Randomizer(np.array(entries, dtype=object).reshape(weights.shape))

    @property
    def realized_epsilon(self) -> float:
        """ε of the channel from which `apply` really draws, rounded up."""
        return log_above(self.realized().likelihood_ratio)

    def privacy_statement(
        self, *, attribute: str = "the attribute", noise: Noise = "secure"
    ) -> PrivacyStatement:
        """Return what one report costs the person who gives it, for the channel from which `apply` really draws.

        Parameters
        ----------
        attribute : str
            Name of the attribute that is reported.
        noise : {"secure", "study"}
            "study" if the reports were drawn with a seeded generator. Nothing is guaranteed then.

        Returns
        -------
        PrivacyStatement
            Under the relation "local", for one report; ε is `realized_epsilon`.

        Raises
        ------
        ValueError
            If the attribute has no name, or if the noise is unknown.
        """
        if not isinstance(attribute, str) or not attribute:
            raise ValueError(f"attribute: found {attribute!r}, expected the name of what is reported")
        epsilon = self.realized_epsilon
        public = ("the channel", "who reports", f"all that is known of a person beside {attribute}")
        if epsilon == math.inf:
            return PrivacyStatement(
                epsilon, 0.0, "local", unit="sensitive attribute", public=public, guarantee=False,
                note=f"some report tells values of {attribute} apart for certain",
            )  # fmt: skip
        return mark_noise(
            PrivacyStatement(
                epsilon, 0.0, "local", unit="sensitive attribute", public=public,
                note=WHAT_A_REPORT_PROMISES.format(attribute=attribute),
            ),
            noise,
        )  # fmt: skip

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the probability of each report (column) given each input (row); needs matplotlib (extra ``figures``).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.

        Returns
        -------
        matplotlib.axes.Axes
            The axes, with one image. `audit_channel` draws ε and δ.
        """
        from dpfair_lib.local.channel_plot import draw_channel

        return draw_channel(ax, self.matrix.astype(float), self.epsilon)

    def _weights(self, bits: int) -> np.ndarray:
        """Whole weights of 2^(−bits): each row sums to 1, and an entry is 0 only where the probability is."""
        total = 1 << bits
        # upwards: a rare report becomes likelier by the larger factor, which costs no privacy
        weights = np.array(
            [[math.ceil(Fraction(q) * total) for q in row] for row in self.matrix], dtype=np.int64
        )
        rows = np.arange(self.k)
        # the likeliest report makes up for it, as it notices it least
        weights[rows, self.matrix.argmax(axis=1)] += total - weights.sum(axis=1)
        return weights


def _word_bits(k: int) -> int:
    """How many random bits fit into a signed 64-bit integer together with the number of the row."""
    return 62 - max(k - 1, 0).bit_length()


def worst_report(matrix: np.ndarray) -> tuple[Any, tuple[int, int] | None, int | None]:
    """Return the largest ratio of two entries of one column, the two rows, and the column: the first of the worst.

    Parameters
    ----------
    matrix : ndarray of shape (k, m)
        A channel. Floats are exact numbers too.

    Returns
    -------
    ratio : Fraction or float
        Exact; infinity as a float; 1 for a channel of equal rows, which has no worst report.
    pair : (int, int) or None
        The row of the larger entry, and that of the smaller.
    report : int or None
        The column.
    """
    high, low = matrix.max(axis=0), matrix.min(axis=0)
    columns = np.flatnonzero((high > low) & (low == 0))
    ratio: Any = math.inf
    if len(columns):
        # of several reports that rule a value out, the likeliest
        report = int(columns[high[columns].argmax()])
    else:
        columns = np.flatnonzero(high > low)
        if not len(columns):
            return Fraction(1), None, None
        with np.errstate(over="ignore"):  # a ratio beyond every float is infinite as a float
            near = (high[columns] / low[columns]).astype(float) if matrix.dtype != object else None
        if near is not None:  # only what is largest up to rounding is compared exactly
            columns = columns[near >= near.max() * (1 - 2.0**-50)]
        ratios = [Fraction(high[j]) / Fraction(low[j]) for j in columns]
        ratio = max(ratios)
        report = int(columns[ratios.index(ratio)])
    column = matrix[:, report]
    return ratio, (int(column.argmax()), int(column.argmin())), report


def as_channel(matrix: Any, name: str = "matrix") -> np.ndarray:
    """Return a read-only array of shape (k, m) whose rows are distributions; `Fraction` entries stay exact."""
    array = even(matrix, name)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(
            f"{name}: found shape {array.shape}, expected one row per value and one column per report"
        )
    array = as_numbers(array.reshape(-1), name).reshape(array.shape).copy()
    if array.dtype == object:
        array = array + Fraction(0)  # an int divided by an int would be a float
    bad = (array < 0) | (array > 1)
    if bad.any():
        raise ValueError(f"{name}: found the entry {array[bad][0]}, expected probabilities in [0, 1]")
    totals = array.sum(axis=1)
    wrong = totals != 1 if array.dtype == object else abs(totals - 1) > 1e-9
    if wrong.any():
        at, within = int(np.argmax(wrong)), "" if array.dtype == object else " within 1e-9"
        raise ValueError(
            f"{name}: found a sum of {totals[at]} in row {at}, expected 1{within}: a row is one "
            "input's reports"
        )
    array.flags.writeable = False
    return array


def as_shares(p: Any, p1: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return P(A = i), and P(Y = 1 | A = i) with 0 in place of the rates of values that do not occur."""
    p, p1 = as_numbers(p, "p"), as_vector(p1, "p1")
    for name, array in (("p", p), ("p1", p1)):
        if len(array) != k:
            raise ValueError(f"{name}: found {len(array)} entries, expected {k}, one for each value")
    total = p.sum()
    if (p < 0).any() or (total != 1 if p.dtype == object else abs(total - 1) > 1e-9):
        raise ValueError(
            f"p: found shares below 0 or a sum of {total}, expected a distribution over the values"
        )
    p1 = as_numbers(np.where(p > 0, p1, 0), "p1")
    bad = (p1 < 0) | (p1 > 1)
    if bad.any():
        raise ValueError(f"p1: found {p1[bad][0]}, expected numbers in [0, 1]")
    if p.dtype == p1.dtype == object:
        return p + Fraction(0), p1 + Fraction(0)
    return p.astype(float), p1.astype(float)


def as_values(a: Any, k: int, space: Space = HOST, name: str = "a") -> Any:
    """Return values, or reports, as a 1-D array of integers in 0, …, k − 1, in the dtype they came in."""
    array, wanted = as_vector(a, name, space), f"integers in 0, …, {k - 1}"
    if not space.is_kind(array, "integral"):
        kind = "words" if space.host and array.dtype.kind in "US" else f"entries of type {array.dtype}"
        raise ValueError(f"{name}: found {kind}, expected {wanted}")
    low, high = int(space.xp.min(array)), int(space.xp.max(array))
    if low < 0 or high >= k:
        raise ValueError(f"{name}: found {low if low < 0 else high}, expected {wanted}")
    return array


def wide_integers(space: Space) -> Any:
    """Return the type of 64-bit integers; raise where a device has none, as a draw would not fit into others."""
    if not space.host and space.whole != space.xp.int64:
        raise ValueError(
            f"a: found an array of {space.name}, which has no 64-bit integers, expected one that has them"
        )
    return space.xp.int64
