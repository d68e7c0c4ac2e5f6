"""Distributions that show when fairness, accuracy and pure privacy exclude one another; exact arithmetic.

Tables have shape (n_x, 2, 2), entry P(X = x, A = a, Y = y). Hypotheses have shape (n_x, 2).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.compatibility.impossibility.criteria import cell_rates, opportunity_gap
from dpfair_lib.populations import Population


def four_atoms(zeta: Fraction = Fraction(0)) -> Population:
    """Return the proof's law of four atoms (x₀, 0, 0), (x₁, 0, 1), (x₂, 1, 0), (x₃, 1, 1), with ζ moved.

    Parameters
    ----------
    zeta : Fraction
        Mass taken from (x₁, 0, 1) and given to (x₃, 1, 1); 0 for the uniform D, below ¼ for the neighbour D′.

    Raises
    ------
    ValueError
        If ζ is not in [0, ¼): at ¼ a group has no positives.

    References
    ----------
    CGKM, proof of Theorem 1.
    """
    if not 0 <= zeta < Fraction(1, 4):
        raise ValueError(f"zeta: found {zeta}, expected a number in [0, 1/4)")
    quarter = Fraction(1, 4)
    table = zero_table(4)
    for x, (a, y) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
        table[x, a, y] = quarter + (zeta if (a, y) == (1, 1) else -zeta if (a, y) == (0, 1) else 0)
    return Population.from_table(table)


def sign_pair(zeta: Fraction) -> tuple[Population, Population]:
    """Return two laws ζ apart on which no hypothesis at all, randomised or not, beats every constant on both.

    X is a fair coin, independent of the group; Y agrees with it with probability (1 ± ζ)/2. On the first law
    h = x is fair, by every notion, and beats the constants; on the second h = 1 − x does. Their tables of
    P(Y = 1) − P(Y = 0) are each other's negatives.
    """
    laws = []
    for sign in (1, -1):
        table = zero_table(2)
        for x, a, y in np.ndindex(2, 2, 2):
            table[x, a, y] = (1 + sign * (zeta if x == y else -zeta)) / 8
        laws.append(Population.from_table(table))
    return laws[0], laws[1]


def cell_pair(zeta: Fraction) -> tuple[Population, Population]:
    """Return two laws ζ apart: what is fair on both beats no constant on the first, randomised or not.

    On the first, group 0 is pure noise and group 1 has its negatives mostly at x = 0; on the second, ζ of the positives
    of group 1 have moved from x = 0 to x = 1, so that fairness on both wants h(0, 1) = h(1, 1), all that could help.

    Raises
    ------
    ValueError
        If ζ is not in (0, ⅛].
    """
    if not 0 < zeta <= Fraction(1, 8):
        raise ValueError(f"zeta: found {zeta}, expected a number in (0, 1/8]")
    table = zero_table(2) + Fraction(1, 8)
    table[0, 1, 0] += Fraction(1, 16)
    table[1, 1, 0] -= Fraction(1, 16)
    moved = table.copy()
    moved[0, 1, 1] -= zeta
    moved[1, 1, 1] += zeta
    return Population.from_table(table), Population.from_table(moved)


def hopeless_law(universe: np.ndarray) -> Population | None:
    """Return a law on a universe of people on which no hypothesis, randomised or not, is fair and beats the constants.

    There is one if and only if some (x, a) occurs with both labels: then its negatives may outweigh all positives, who,
    in equal measure, are to be found at one point of each group.

    Parameters
    ----------
    universe : array of bool, shape (n_x, 2, 2)
        Which (x, a, y) there are; each (a, y) occurs.

    Returns
    -------
    Population or None
        None if (x, a) determines the label: then the hypothesis that equals the label is fair and never errs.

    Raises
    ------
    ValueError
        If some (a, y) does not occur.
    """
    universe = np.asarray(universe)
    if not universe.any(axis=0).all():
        raise ValueError("universe: found a group without one of the labels, expected all four (a, y)")
    both = np.argwhere(universe.all(axis=-1))
    if not len(both):
        return None
    x, a = both[0]
    table = zero_table(len(universe))
    table[x, a, 1] += Fraction(1, 6)
    table[x, a, 0] += Fraction(3, 6)
    for y in (0, 1):
        table[np.flatnonzero(universe[:, 1 - a, y])[0], 1 - a, y] += Fraction(1, 6)
    return Population.from_table(table)


def floor_pair() -> np.ndarray:
    """Return two hypotheses on two points that select group 0 wholly, and in group 1 one point each.

    Either is fair only where the positives of group 1 are all at its point. While they have more mass than ζ, no chain
    of neighbours leads from one to the other, and a private algorithm may choose.
    """
    return np.array([[[1, 0], [1, 1]], [[1, 1], [1, 0]]])


def softened(population: Population, g: np.ndarray, alpha: Fraction) -> np.ndarray:
    """Return a randomised hypothesis whose gap is at most α on every law, and that beats the constants where g does.

    It follows g with probability α and else gives the better constant: α·g, or 1 − α·(1 − g).

    Parameters
    ----------
    population : Population
        Exact; it determines which constant is better.
    g : array of shape (n_x, 2)
        A hypothesis.
    alpha : Fraction
        In (0, 1].

    Returns
    -------
    ndarray of Fraction, shape (n_x, 2)
    """
    positive = population.table[..., 1].sum()
    return alpha * g if 2 * positive <= 1 else 1 - alpha * (1 - g)


def levelled_down(table: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Return a randomised hypothesis of equal true positive rates: h, drawn less often in the group it serves better.

    Its error is larger by at most P(Y = 1, A = a)·Γ(h), a being that group. So for randomised hypotheses an optimum of
    w·Γ + err is exactly fair for every w ≥ max_a P(Y = 1, A = a).

    Parameters
    ----------
    table : array of Fraction, shape (..., n_x, 2, 2)
    h : array of shape (..., n_x, 2)

    Returns
    -------
    ndarray of Fraction, shape (..., n_x, 2)
    """
    selected, everyone = cell_rates(table, h, (1,))
    rates = selected / everyone
    lower = rates.min(axis=-1, keepdims=True)
    no_one = rates == 0
    scale = (lower + no_one) / (rates + no_one)  # 1 where nobody is selected
    return h * scale[..., None, :]


def gap_steps(population: Population, h: np.ndarray, alpha: Fraction, zeta: Fraction) -> int:
    """Return a number of steps of ζ such that in fewer of them Γ(h) cannot come to exceed α.

    Moving mass t changes Γ by at most 2t/min_a P(Y = 1, A = a): with γ′ the new rate of group a, P·(γ′ − γ) is
    (1 − γ′)·(change of its true positives) − γ′·(change of its false negatives), and what is taken somewhere is put
    somewhere.

    Parameters
    ----------
    population : Population
        Exact.
    h : array of shape (n_x, 2)
    alpha, zeta : Fraction
        The threshold and the distance of neighbours.

    Returns
    -------
    int
        0 where Γ(h) ≥ α.
    """
    room = alpha - opportunity_gap(population.table, h)
    least = population.table[..., 1].sum(axis=0).min()
    return max(math.ceil(room * least / (2 * zeta)), 0)


def unfair_neighbor(population: Population, h: np.ndarray, zeta: Fraction) -> Population:
    """Return a law within ζ on which a non-constant h violates equal opportunity.

    If h is fair on the population itself, it differs at two points of one group; positives of that group move from one
    to the other. That changes γ of this group by (mass moved)/P(Y = 1, A = a)·(difference of h) and of the other not at
    all.

    Parameters
    ----------
    population : Population
        Exact, with positives in both of its groups.
    h : array of shape (n_x, 2)
        Not constant; deterministic or randomised.
    zeta : Fraction
        Above 0, however small.

    Returns
    -------
    Population

    Raises
    ------
    ValueError
        If h is constant: it is fair on every law.
    """
    if opportunity_gap(population.table, h) != 0:
        return population
    for a in (0, 1):
        for x in np.flatnonzero(population.table[:, a, 1] > 0):
            others = np.flatnonzero(h[:, a] != h[x, a])
            if len(others):
                table = population.table.copy()
                moved = min(zeta, table[x, a, 1])
                table[x, a, 1] -= moved
                table[others[0], a, 1] += moved
                return Population.from_table(table)
    raise ValueError("h: found a constant hypothesis, expected one with two values: it is fair on every law")


def curve_family(population: Population, zeta: Fraction, count: int) -> list[Population]:
    """Return laws within ζ of one; each non-constant h, randomised or not, is fair on at most 2·n_x − 2 of them.

    The laws of X among the positives of either group move along a curve (t, t², …): the signed gap of h is a polynomial
    in t of degree 2·n_x − 2 at most, and it is the zero polynomial only for a constant h.

    Parameters
    ----------
    population : Population
        Exact, with mass on every (x, a, 1).
    zeta : Fraction
        Above 0.
    count : int
        How many.

    Raises
    ------
    ValueError
        If some (x, a, 1) has no mass.
    """
    if not (population.table[..., 1] > 0).all():
        raise ValueError("population: found a point without positives, expected mass on every (x, a, 1)")
    n_x = len(population.points)
    step = min(Fraction(zeta), population.table[..., 1].min()) / (2 * n_x)
    family = []
    for number in range(1, count + 1):
        t = Fraction(number, count)
        table = population.table.copy()
        for a in (0, 1):
            for x in range(1, n_x):
                moved = step * t ** (x + a * (n_x - 1))
                table[x, a, 1] += moved
                table[0, a, 1] -= moved
        family.append(Population.from_table(table))
    return family


def zero_table(n_x: int) -> Any:
    """Return a table of zeros."""
    return np.full((n_x, 2, 2), Fraction(0), dtype=object)
