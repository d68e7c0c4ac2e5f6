"""Which hypotheses are acceptable on which distribution, and which distributions are neighbours."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._validation import as_count, even
from dpfair_lib.compatibility.impossibility.criteria import Criterion
from dpfair_lib.populations import Population

_SMALL = 2**12  # whole numbers up to this: three of them and a small factor make a product that 64 bits hold


def hypothesis_grid(n_x: int, n_groups: int = 2, *, levels: Iterable[Fraction | int] = (0, 1)) -> np.ndarray:
    """Return every hypothesis on n_x points and n_groups groups whose values are among the levels.

    Parameters
    ----------
    n_x, n_groups : int
        Numbers of feature values and of groups.
    levels : iterable of exact numbers in [0, 1]
        (0, 1) for the deterministic hypotheses.

    Returns
    -------
    ndarray of shape (len(levels) ** (n_x · n_groups), n_x, n_groups)
    """
    n_x, n_groups = as_count(n_x, "n_x", 1), as_count(n_groups, "n_groups", 1)
    values = list(itertools.product(list(levels), repeat=n_x * n_groups))
    whole = all(isinstance(value, int) for value in values[0]) and all(
        isinstance(value, int) for row in values for value in row
    )
    return np.array(values, dtype=np.int64 if whole else object).reshape(-1, n_x, n_groups)


def acceptable_hypotheses(
    population: Population, hypotheses: Any, fair: Criterion | None, accurate: Criterion | None
) -> np.ndarray:
    """Return which hypotheses are fair enough and accurate enough on a population, in exact arithmetic.

    Parameters
    ----------
    population : Population
        With exact (`Fraction`) probabilities.
    hypotheses : array of shape (m, n_x, k)
        For each hypothesis, the probability of predicting 1 at each point and for each group of the population: whole
        numbers or `Fraction`.
    fair, accurate : Criterion or None
        What a hypothesis must satisfy, such as `fair_within` and `beats_constants` of `dpfair_lib.compatibility`; None
        requires nothing.

    Returns
    -------
    ndarray of bool, shape (m,)
        Whether each hypothesis satisfies both criteria.

    Raises
    ------
    ValueError
        If the population is not exact, if the hypotheses have another shape or values outside [0, 1], or if a criterion
        compares a rate that is not defined because a group has nobody with that label.

    References
    ----------
    Cummings et al. (2019), § 3.

    Examples
    --------
    Label and feature agree. The first hypothesis predicts the feature, the second always predicts 1.

    >>> from fractions import Fraction
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.compatibility import beats_constants, fair_within
    >>> population = dpf.Population([Fraction(1, 4)] * 4, x=[0, 1, 0, 1], a=[0, 0, 1, 1], y=[0, 1, 0, 1])
    >>> hypotheses = [[[0, 0], [1, 1]], [[1, 1], [1, 1]]]
    >>> dpf.acceptable_hypotheses(population, hypotheses, fair_within("opportunity"), beats_constants())
    array([ True, False])
    """
    if not isinstance(population, Population):
        raise ValueError(f"population: found {population!r}, expected a Population")
    return acceptable_table([population], hypotheses, fair, accurate)[0]


def acceptable_table(
    populations: Sequence[Population], hypotheses: Any, fair: Criterion | None, accurate: Criterion | None
) -> np.ndarray:
    """Return `acceptable_hypotheses` of each population, shape (len(populations), m)."""
    for name, criterion in (("fair", fair), ("accurate", accurate)):
        if criterion is not None and not callable(criterion):
            raise ValueError(
                f"{name}: found {criterion!r}, expected a criterion, such as fair_within(…), or None"
            )
    tables = weight_tables(populations)
    h, one = _whole_hypotheses(hypotheses, tables.shape[1:3])
    met = np.ones((len(tables), len(h)), dtype=bool)
    for criterion in (fair, accurate):
        if criterion is not None:
            met &= criterion(tables[:, None], h[None], one)
    return met


def weight_tables(populations: Sequence[Population]) -> np.ndarray:
    """Return the tables of several exact populations as whole numbers with one common denominator.

    Returns
    -------
    ndarray of shape (len(populations), n_x, k, 2)
        Every table has the same sum, the denominator.

    Raises
    ------
    ValueError
        If there is none, one is not exact, or they do not share points and groups.
    """
    if not isinstance(populations, Sequence) or not all(isinstance(each, Population) for each in populations):
        raise ValueError(f"populations: found {populations!r}, expected a sequence of Population objects")
    if not populations:
        raise ValueError("populations: found none, expected at least one")
    first = populations[0]
    for population in populations:
        if not population.exact:
            raise ValueError(
                "populations: found floating-point probabilities, expected exact ones (Fraction): "
                "rounding would decide whether two rates are equal"
            )
        if not (
            np.array_equal(population.points, first.points)
            and np.array_equal(population.groups, first.groups)
        ):
            raise ValueError("populations: found different points or groups, expected the same in all")
    stacked = np.stack([population.table for population in populations])
    values = [(int(value.numerator), int(value.denominator)) for value in stacked.flat]
    common = math.lcm(*{below for _, below in values})
    whole = np.array([above * (common // below) for above, below in values], dtype=object)
    whole = whole.reshape(stacked.shape)
    return whole.astype(np.int64) if common <= _SMALL else whole


def statistical_distance(population: Population, other: Population) -> Fraction:
    """Return half of the sum of the absolute differences of two exact populations' probabilities.

    Raises
    ------
    ValueError
        As `weight_tables`.

    References
    ----------
    CGKM, Definition 2.
    """
    doubled, total = _doubled_distances([population, other])
    return Fraction(int(doubled[0, 1]), 2 * total)


def neighbor_table(populations: Sequence[Population], zeta: Fraction) -> np.ndarray:
    """Return which different populations are at most ζ apart.

    Parameters
    ----------
    populations : sequence of Population
        Exact.
    zeta : Fraction
        The largest statistical distance of neighbours.

    Returns
    -------
    ndarray of bool, shape (n, n)
        Symmetric; False on the diagonal.

    Raises
    ------
    ValueError
        If ζ is not a positive exact number, or as `weight_tables`.

    References
    ----------
    CGKM, Definition 2.
    """
    if isinstance(zeta, bool) or not isinstance(zeta, int | Fraction) or not zeta > 0:
        raise ValueError(f"zeta: found {zeta!r}, expected a positive whole number or Fraction")
    doubled, total = _doubled_distances(populations)
    near = np.asarray(doubled <= math.floor(2 * total * zeta), dtype=bool)  # whole numbers on the left
    np.fill_diagonal(near, False)
    return near


def _doubled_distances(populations: Sequence[Population]) -> tuple[np.ndarray, int]:
    """Return the sums of absolute differences of whole-number tables, and what each table sums to."""
    tables = weight_tables(populations)
    rows = tables.reshape(len(tables), -1)
    doubled = np.array([abs(rows - row).sum(axis=-1) for row in rows])
    return doubled, int(rows[0].sum())


def _whole_hypotheses(hypotheses: Any, shape: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """Return the hypotheses as whole numbers in units of 1/one, and one."""
    h = even(hypotheses, "hypotheses")
    if not h.size:
        raise ValueError("hypotheses: found none, expected at least one")
    if h.ndim != 3 or h.shape[1:] != shape:
        points, groups = shape
        raise ValueError(
            f"hypotheses: found shape {h.shape}, expected (m, {points}, {groups}): m hypotheses on {points} points and "
            f"{groups} groups"
        )
    if h.dtype.kind == "b":
        h = h.astype(np.int64)
    if h.dtype.kind not in "iu" and not (
        h.dtype == object and all(isinstance(value, int | Fraction | np.integer) for value in h.flat)
    ):
        raise ValueError(f"hypotheses: found entries of type {h.dtype}, expected whole numbers or Fraction")
    if not ((h >= 0) & (h <= 1)).all():
        raise ValueError("hypotheses: found a value outside [0, 1], expected probabilities of a 1")
    if h.dtype != object:
        return h.astype(np.int64), 1
    one = math.lcm(*{Fraction(value).denominator for value in h.flat})
    whole = np.array([int(value * one) for value in h.flat], dtype=object).reshape(h.shape)
    return (whole.astype(np.int64) if one <= _SMALL else whole), one
