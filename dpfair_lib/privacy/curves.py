"""What a privacy statement promises at every ε, and the errors of every test for one record; both with plots."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from dpfair_lib._arguments import one_of
from dpfair_lib.privacy.mechanisms import total_epsilon

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpfair_lib.privacy.statements import PrivacyStatement

Kind = Literal["profile", "trade-off"]
POINTS = 200
DRAWN_DELTAS = 30  # of a mechanism: each takes an accountant's search
LEAST_DELTA = 1e-12


class Drawn:
    """Gives a privacy statement its pictures."""

    def plot(self, ax: Axes | None = None, *, kind: Kind = "profile") -> Axes:
        """Draw what the statement implies at every ε, or for every test; needs matplotlib (extra ``figures``).

        Where the statement knows its mechanism, the curves are the mechanism's. Otherwise they follow from ε and δ
        alone, and no smaller ones do.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.
        kind : {"profile", "trade-off"}
            "profile" draws δ over ε. "trade-off" draws the least error of the second kind over the error of the first
            kind, for a test of which of two neighbours was used.

        Returns
        -------
        matplotlib.axes.Axes
            The axes, with the curve as its first line.

        Raises
        ------
        ValueError
            If ε is infinite, or if the kind is unknown.

        Examples
        --------
        >>> import dpfair_lib as dpf
        >>> ax = dpf.PrivacyStatement(1.0, 1e-5, "replace-one").plot()
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('ε', 'least δ implied')
        """
        from dpfair_lib import plots

        statement = cast("PrivacyStatement", self)
        one_of(kind, "kind", ("profile", "trade-off"))
        epsilons, deltas = profile(statement)
        if ax is None:
            _, ax = plots.axes()
        assert ax is not None
        said = "" if statement.guarantee else "NO GUARANTEE: "
        title = f"{said}ε = {statement.epsilon:.3g}, δ = {statement.delta:.3g}, {statement.relation}"
        if kind == "profile":
            ax.plot(epsilons, deltas)
            ax.plot(statement.epsilon, statement.delta, "o", color=plots.ORANGE, label="stated")
            plots.label(ax, x="ε", y="least δ implied", title=title)
            ax.set_ylim(bottom=0)
        else:
            first = np.linspace(0, 1, POINTS)
            ax.plot(first, least_second_error(first, epsilons, deltas))
            draw_errors(ax, title)
        ax.legend(fontsize=plots.SMALL)
        return ax


def draw_errors(ax: Axes, title: str) -> None:
    """Name the axes of a trade-off, and draw that of a guess.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where the curve is drawn.
    title : str
        Of the panel.
    """
    from dpfair_lib import plots

    ax.plot([0, 1], [1, 0], ls=":", color=plots.BLACK, lw=1, label="a guess")
    x, y = "error of the first kind (probability)", "least error of the second kind (probability)"
    plots.label(ax, x=x, y=y, title=title)
    ax.legend(fontsize=plots.SMALL)


def profile(statement: PrivacyStatement) -> tuple[np.ndarray, np.ndarray]:
    """Return points (ε, δ) that a statement implies, by rising ε.

    Parameters
    ----------
    statement : PrivacyStatement
        The statement.

    Returns
    -------
    epsilons, deltas : ndarray
        Points of the mechanism's profile, or of that of ε and δ alone.

    Raises
    ------
    ValueError
        If ε is infinite: nothing is promised.
    """
    if math.isinf(statement.epsilon):
        raise ValueError("epsilon: found inf, expected a finite number: there is nothing to draw")
    known = [one for one in statement.mechanism if one.kind != "stated"]
    if not known:
        epsilons = np.append(np.linspace(0, statement.epsilon, POINTS), 1.25 * max(statement.epsilon, 0.1))
        return epsilons, stated_delta(epsilons, statement.epsilon, statement.delta)
    low, high = 0.0, 1 - 2.0**-20
    while high - low > 1e-3 * high and high > LEAST_DELTA:  # δ at ε = 0, from above
        middle = (low + high) / 2
        low, high = (low, middle) if total_epsilon(statement.mechanism, middle) == 0 else (middle, high)
    least = min(max(min(statement.delta / 10, 1e-3), LEAST_DELTA), high / 10)
    deltas = np.geomspace(high, least, DRAWN_DELTAS)
    epsilons = np.array([total_epsilon(statement.mechanism, delta) for delta in deltas])
    kept = np.isfinite(epsilons)
    return epsilons[kept], deltas[kept]


def stated_delta(at: Any, epsilon: float, delta: float) -> np.ndarray:
    """Return the least δ′ at each ε′ that every (ε, δ)-private release has.

    Parameters
    ----------
    at : array
        ε′ of at least 0.
    epsilon, delta : float
        As stated.

    Returns
    -------
    ndarray
        δ + (1 − δ)(e^ε − e^ε′)/(1 + e^ε) below ε, and δ from there on. Randomised response that fails openly with
        probability δ attains it.

    References
    ----------
    Kairouz, Oh and Viswanath (2015), for the worst release.
    """
    below = np.minimum(np.asarray(at, dtype=float) - epsilon, 0.0)
    return np.asarray(delta + (1 - delta) * -np.expm1(below) / (1 + math.exp(-epsilon)))


def least_second_error(first: Any, epsilons: np.ndarray, deltas: np.ndarray) -> np.ndarray:
    """Return the least error of the second kind of any test, given its error of the first kind.

    Parameters
    ----------
    first : array
        Errors α of the first kind.
    epsilons, deltas : ndarray
        Points (ε, δ) that the release has.

    Returns
    -------
    ndarray
        The largest of 0, 1 − δ − e^ε α and e^(−ε)(1 − δ − α) over the points.

    References
    ----------
    Wasserman and Zhou (2010); Dong, Roth and Su (2022), Proposition 2.5.
    """
    alpha = np.asarray(first, dtype=float)[..., None]
    with np.errstate(over="ignore"):
        lines = np.maximum(1 - deltas - np.exp(epsilons) * alpha, np.exp(-epsilons) * (1 - deltas - alpha))
    return np.asarray(np.maximum(lines.max(axis=-1), 0))
