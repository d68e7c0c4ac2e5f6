"""The audit of a channel that is known: its exact ε, all its (ε, δ), and the inputs that it protects least."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpfair_lib._arguments import below_one, elementwise, nonnegative, one_of
from dpfair_lib.local.inverse import confused_shares, in_words, rank_and_condition
from dpfair_lib.local.randomizer import Randomizer, as_channel, worst_report
from dpfair_lib.privacy.curves import POINTS, Kind, draw_errors
from dpfair_lib.privacy.finite_laws import hockey_stick, least_second_errors
from dpfair_lib.privacy.rounding import above, exp_below, log_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNBOUNDED = 4.0
"""How far a plot goes where no ε is enough."""
LARGEST_FINITE = 709.0
"""The largest whole ε with a float e^ε."""


@dataclass(frozen=True, eq=False)
class ChannelAudit:
    """The result of `audit_channel`; `print` shows what it says.

    Attributes
    ----------
    matrix : ndarray of shape (k, m)
        The channel, read-only.
    epsilon : float
        The smallest ε at δ = 0, rounded up; infinite if a report is possible for one input and impossible for another.
    ratio : Fraction or float
        e^ε, exactly; infinity as a float.
    pair : (int, int) or None
        The inputs that a report tells apart best: it is ``ratio`` times as likely under the first as under the second.
        None if all rows are equal.
    report : int or None
        That report.
    rank : int
        Rank of the channel.
    condition : float
        Its condition number: how much solving with the channel can enlarge errors; infinite if the rows are dependent.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> found = dpf.audit_channel([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])
    >>> found.epsilon, found.pair, found.report
    (inf, (1, 0), 2)
    >>> round(found.delta(1.0), 6)
    0.5
    """

    matrix: np.ndarray
    epsilon: float
    ratio: Any
    pair: tuple[int, int] | None
    report: int | None
    rank: int
    condition: float

    @property
    def invertible(self) -> bool:
        """Whether the shares of the inputs follow from those of the reports."""
        return self.rank == len(self.matrix)

    @property
    def confused(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Two distributions of inputs with the same reports, so that no number of reports tells them apart; or None."""
        return confused_shares(self.matrix)

    def delta(self, epsilon: Any) -> Any:
        """Return the smallest δ with which the channel is (ε, δ)-private, rounded up.

        Parameters
        ----------
        epsilon : float or array
            ε ≥ 0. At 0, δ is the total variation distance of the two rows farthest apart; at infinity, the probability
            of reports that rule another input out.

        Returns
        -------
        float or ndarray
            δ: exact up to one rounding upwards of e^ε and one of δ for a channel of `Fraction`, and otherwise above
            the exact one by less than 10⁻¹⁵ and m·10⁻¹⁶ of it, for m reports. It is 0 from the channel's ε on.

        Raises
        ------
        ValueError
            If ε is negative or not a number.
        """

        def at(e: float) -> float:
            if self.epsilon <= e and self.epsilon < math.inf:
                return 0.0  # also at infinity, where the table would be rounded up from 0
            return above(Fraction(self.delta_from_odds(_odds(e))))

        return elementwise(at, epsilon, "epsilon")

    def delta_from_odds(self, odds: Any) -> Any:
        """Return `delta` at ε = ln(odds), as an exact `Fraction` if the channel is exact.

        Parameters
        ----------
        odds : number
            e^ε ≥ 1; infinity is allowed.

        Returns
        -------
        Fraction or float
            δ.

        Raises
        ------
        ValueError
            If the odds are below 1.
        """
        table = self._table(odds)
        if self.matrix.dtype == object:
            return table.max()
        # Each product and each difference rounds once, relatively to a probability. The sum of positive terms rounds
        # fewer than m times, relatively to itself.
        return min(float(table.max()) * (1 + (self.matrix.shape[1] + 4) * 2.0**-53) + 2.0**-51, 1.0)

    def pair_at(self, epsilon: float) -> tuple[int, int]:
        """Return the inputs that need the δ of `delta` at an ε: events of the first are too likely for the second.

        Parameters
        ----------
        epsilon : float
            ε ≥ 0.

        Returns
        -------
        (int, int)
            The first such pair, if several are equally bad up to rounding.
        """
        table = self._table(_odds(nonnegative(epsilon, "epsilon")))
        first, second = np.unravel_index(int(table.argmax()), table.shape)
        return int(first), int(second)

    def epsilon_at(self, delta: float) -> float:
        """Return the smallest ε with which the channel is (ε, δ)-private, rounded up.

        Parameters
        ----------
        delta : float
            δ in [0, 1).

        Returns
        -------
        float
            An ε ≥ 0 with ``delta(ε)`` of at most δ, and at most 10⁻¹² of it above the smallest one; infinite if none is
            below 709.

        Raises
        ------
        ValueError
            If δ is not in [0, 1).
        """
        level = below_one(delta, "delta")
        low, high = 0.0, self.epsilon
        if high == math.inf:
            high = LARGEST_FINITE
            if self.delta(high) > level:
                return math.inf
        if level == 0:
            return high
        if self.delta(low) <= level:
            return low
        while high - low > 1e-12 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= level else (middle, high)
        return high

    def second_error(self, first: Any) -> Any:
        """Return the trade-off: the least error of the second kind of a test for one input against another.

        Parameters
        ----------
        first : float or array
            Error of the first kind in [0, 1].

        Returns
        -------
        float or ndarray
            The least error over all pairs of inputs, up to rounding. For two inputs δ at ε is the largest
            1 − β − e^ε α over its points (α, β) and those of the exchanged inputs.

        Raises
        ------
        ValueError
            If an error is not in [0, 1].

        References
        ----------
        Neyman and Pearson (1933); Dong, Roth and Su (2022), Proposition 2.13, for how δ follows.
        """

        def at(error: float) -> float:
            if not error <= 1:
                raise ValueError(f"first: found {error}, expected a number in [0, 1]")
            return float(least_second_errors(self.matrix, np.array(error)))

        return elementwise(at, first, "first")

    def plot(self, ax: Axes | None = None, *, kind: Kind = "profile") -> Axes:
        """Draw the channel's profile or its trade-off; needs matplotlib (extra ``figures``).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.
        kind : {"profile", "trade-off"}
            "profile" draws the least δ at each ε, from 0 to the channel's ε. "trade-off" draws `second_error`, beside
            that of a guess.

        Returns
        -------
        matplotlib.axes.Axes
            The axes, with the curve as its first line.

        Raises
        ------
        ValueError
            If the kind is unknown.
        """
        from dpfair_lib import plots

        one_of(kind, "kind", ("profile", "trade-off"))
        if ax is None:
            _, ax = plots.axes()
        assert ax is not None
        if kind == "trade-off":
            first = np.linspace(0, 1, POINTS)
            ax.plot(first, least_second_errors(self.matrix, first))
            draw_errors(ax, f"ε = {self.epsilon:.3g} at δ = 0")
            return ax
        last = self.epsilon if 0 < self.epsilon < math.inf else UNBOUNDED
        levels = np.linspace(0, 1.05 * last, 200)
        ax.plot(levels, self.delta(levels))
        told = f"ε = {self.epsilon:.3g} at δ = 0"
        if self.epsilon < math.inf:
            ax.axvline(self.epsilon, ls=":", color=plots.BLACK, lw=1)
        plots.label(ax, x="ε", y="least δ", title=told)
        ax.set_ylim(bottom=0)
        return ax

    def _table(self, odds: Any) -> np.ndarray:
        """δ of each input (row) against each other one (column), at e^ε = odds; exact or as floats come."""
        if odds == math.inf:
            rows = self.matrix
            return np.array([np.where(rows == 0, row, 0 * row).sum(axis=1) for row in rows])
        if self.matrix.dtype != object:
            return _against_all(self.matrix, self.matrix, float(odds))
        # whole numbers over one denominator are many times as fast as fractions
        odds, parts = Fraction(odds), math.lcm(*(q.denominator for q in self.matrix.flat))
        if odds < 1:
            raise ValueError(f"odds: found {odds}, expected a number of at least 1")
        whole = np.array([[int(q * parts) for q in row] for row in self.matrix], dtype=object)
        table = _against_all(whole * odds.denominator, whole * odds.numerator, 1)
        return table * Fraction(1, parts * odds.denominator)

    def __str__(self) -> str:
        k, m = self.matrix.shape
        return "\n".join(
            [
                f"channel of {k} input{'s' * (k > 1)} and {m} report{'s' * (m > 1)}",
                *self._privacy_in_words(),
                self._inverse_in_words(),
            ]
        )

    def _privacy_in_words(self) -> list[str]:
        if self.pair is None:
            return ["ε = 0: the report does not depend on the input"]
        first, second = self.pair
        if self.epsilon == math.inf:
            never = above(Fraction(self.delta_from_odds(math.inf)))
            said = f"report {self.report} is possible for input {first} and impossible for input {second}"
            told = [f"ε = inf at δ = 0: {said}", f"δ ≥ {never:.6g} at every ε"]
        else:
            short = self.matrix.dtype == object and self.ratio.denominator < 10**6
            exact = f" = ln({self.ratio})" if short else ""
            told = [
                f"ε = {self.epsilon:.6g}{exact}: report {self.report} is {float(self.ratio):.6g} times as likely for "
                f"input {first} as for input {second}"
            ]
        apart = self.pair_at(0.0)
        return [*told, f"δ = {self.delta(0.0):.6g} at ε = 0: inputs {apart[0]} and {apart[1]} differ most"]

    def _inverse_in_words(self) -> str:
        if self.confused is None:
            return f"shares of the inputs can be estimated: condition number {self.condition:.4g}"
        one, other = map(in_words, self.confused)
        return f"shares of the inputs cannot be estimated: {one} gives the same distribution of reports as {other}"


def _odds(epsilon: float) -> float:
    """Return e^ε rounded down, but not below 1."""
    return math.inf if epsilon == math.inf else max(exp_below(epsilon), 1.0)


def _against_all(first: np.ndarray, second: np.ndarray, odds: Any) -> np.ndarray:
    return np.array([hockey_stick(np.broadcast_to(row, second.shape), second, odds) for row in first])


def audit_channel(channel: Any) -> ChannelAudit:
    """Return the exact privacy of a channel that is known: ε, every (ε, δ), and the worst pair of inputs.

    `audit` is for a mechanism that can only be run: it finds a lower bound. Here the probabilities are given.

    Parameters
    ----------
    channel : array of shape (k, m), or Randomizer
        One row for each input and one column for each report: the probability of the report given the input. An input
        may be a person's value, or a whole data set. `Fraction` entries are taken exactly. Floats are taken as the
        exact numbers that they are, and results are rounded up: 0.3/0.1 is slightly below 3. Of a `Randomizer` the
        entries of ``matrix`` are examined; `Randomizer.realized` returns those that it draws from.

    Returns
    -------
    ChannelAudit
        The result.

    Raises
    ------
    ValueError
        If an entry is not in [0, 1], or if a row does not sum to 1: exactly for `Fraction`, up to 10⁻⁹ for floats.

    References
    ----------
    Dwork and Roth (2014), Definition 2.4, with one row for each data set; the worst pair and the profile are ours.

    Examples
    --------
    A program reports the truth with probability 1 − e^(−ε)/2 and calls that ε = ln 2. It has ln 3.

    >>> from fractions import Fraction
    >>> import dpfair_lib as dpf
    >>> truth = 1 - Fraction(1, 2) / 2
    >>> print(dpf.audit_channel([[truth, 1 - truth], [1 - truth, truth]]))
    channel of 2 inputs and 2 reports
    ε = 1.09861 = ln(3): report 0 is 3 times as likely for input 0 as for input 1
    δ = 0.5 at ε = 0: inputs 0 and 1 differ most
    shares of the inputs can be estimated: condition number 2
    """
    matrix = channel.matrix if isinstance(channel, Randomizer) else as_channel(channel, "channel")
    ratio, pair, report = worst_report(matrix)
    return ChannelAudit(
        matrix, log_above(ratio) if ratio > 1 else 0.0, ratio, pair, report, *rank_and_condition(matrix)
    )
