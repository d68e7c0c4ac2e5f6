"""Finite distributions of features, group and label, with known (where wanted, exact) probabilities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import NoneType
from typing import Any

import numpy as np

from dpfair_lib._validation import (
    as_count,
    as_generator,
    as_levels,
    as_numbers,
    check_lengths,
    even,
    same_rows,
)

Classifier = Callable[[Any, Any], Any] | np.ndarray
"""P(Ŷ = 1 | x, a): a function of (x, a), or a table of shape (points, groups) in their sorted order."""


def _checked(table: np.ndarray, groups: np.ndarray, name: str = "prob") -> np.ndarray:
    """Return a table of probabilities, or raise if it is none or has an empty group."""
    weights, one, slack = table, 1, 1e-9
    if table.dtype == object:  # compared as whole numbers
        one, slack = math.lcm(*(value.denominator for value in table.flat)), 0
        whole = [value.numerator * (one // value.denominator) for value in table.flat]
        weights = np.array(whole, dtype=object).reshape(table.shape)
    if (weights < 0).any():
        raise ValueError(f"{name}: found {table.min()}, expected probabilities of at least 0")
    masses = weights.sum(axis=(0, 2))
    if abs(masses.sum() - one) > slack:
        raise ValueError(f"{name}: found a sum of {table.sum()}, expected 1")
    if not (masses > 0).all():
        group = groups[int(np.argmin(masses > 0))].item()
        raise ValueError(f"a: found group {group!r} with probability 0, expected mass in every group")
    return table


class Population:
    """A distribution of features X, group A and label Y that takes finitely many values.

    All probabilities are known, so the rates of a classifier are computed instead of estimated. Give `Fraction`
    probabilities to compute them exactly.

    Parameters
    ----------
    prob : array of shape (m,)
        Probability of each combination (x, a, y). They sum to 1, exactly so if they are `Fraction`.
    x, a : array of shape (m,)
        Feature and group of each combination. Any type that can be sorted.
    y : array of shape (m,)
        Label of each combination, 0 or 1.

    Attributes
    ----------
    points, groups : ndarray
        The distinct features and groups, sorted.
    table : ndarray of shape (len(points), len(groups), 2)
        The joint probabilities P(X = x, A = a, Y = y). Entries are `Fraction` if the population is exact.

    Raises
    ------
    ValueError
        If a probability is negative, if the probabilities do not sum to 1, if a label is not 0 or 1, or if a group has
        probability 0.

    Examples
    --------
    Four equally likely people. The classifier selects everyone whose feature is 1.

    >>> from fractions import Fraction
    >>> import dpfair_lib as dpf
    >>> quarter = Fraction(1, 4)
    >>> population = dpf.Population(prob=[quarter] * 4, x=[0, 1, 0, 1], a=["f", "f", "m", "m"], y=[0, 1, 1, 1])
    >>> population.rate(lambda x, a: x, "f")
    Fraction(1, 2)
    >>> population.accuracy(lambda x, a: x)
    Fraction(3, 4)
    """

    @same_rows
    def __init__(self, prob: Any, x: Any, a: Any, y: Any) -> None:
        prob = as_numbers(prob, "prob")
        points, at_x = as_levels(x, "x")
        groups, at_a = as_levels(a, "a")
        labels = as_numbers(y, "y")
        check_lengths(prob=prob, x=at_x, a=at_a, y=labels)
        if not np.isin(labels.astype(float), (0.0, 1.0)).all():
            raise ValueError(f"y: found labels {sorted(set(labels.tolist()))}, expected 0 and 1")
        if (prob < 0).any():
            raise ValueError(f"prob: found {prob.min()}, expected probabilities of at least 0")
        table = np.full((len(points), len(groups), 2), Fraction(0) if prob.dtype == object else 0.0)
        np.add.at(table, (at_x, at_a, labels.astype(int)), prob)
        self.points, self.groups, self.table = points, groups, _checked(table, groups)

    @property
    def exact(self) -> bool:
        """Whether the probabilities are `Fraction`."""
        return self.table.dtype == object

    @classmethod
    def from_table(cls, table: Any) -> Population:
        """Build a population from a table of joint probabilities.

        Parameters
        ----------
        table : array of shape (n_x, n_groups, 2)
            Probabilities of (x, a, y). Features and groups are numbered from 0.

        Returns
        -------
        Population
            The population with these probabilities.

        Raises
        ------
        ValueError
            If the table has another shape, or for the same reasons as the constructor.
        """
        table = even(table, "table")
        if table.ndim != 3 or table.shape[2] != 2:
            raise ValueError(f"table: found shape {table.shape}, expected (n_x, n_groups, 2)")
        values = as_numbers(table.reshape(-1), "table")
        if values.dtype == object:
            values = np.array([value if type(value) is Fraction else Fraction(value) for value in values])
        population = cls.__new__(cls)
        population.points, population.groups = np.arange(table.shape[0]), np.arange(table.shape[1])
        population.table = _checked(values.reshape(table.shape).copy(), population.groups, "table")
        return population

    @classmethod
    def random(cls, rng: np.random.Generator, n_x: int, n_groups: int, exact: bool = False) -> Population:
        """Draw a random population, for tests. About one cell (x, a, y) in five has probability 0.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of randomness.
        n_x, n_groups : int
            Numbers of feature values and of groups.
        exact : bool
            Whether the probabilities are `Fraction`.

        Returns
        -------
        Population
            The population drawn.
        """
        rng = as_generator(rng, "rng")
        n_x, n_groups = as_count(n_x, "n_x", 1), as_count(n_groups, "n_groups", 1)
        weights = rng.integers(1, 13, size=(n_x, n_groups, 2)) * (rng.random((n_x, n_groups, 2)) > 0.2)
        empty = weights.sum(axis=(0, 2)) == 0
        weights[0, empty, :] = 1
        if not exact:
            noisy = weights * rng.gamma(1.0, size=weights.shape)
            return cls.from_table(noisy / noisy.sum())
        total = int(weights.sum())
        fractions = [Fraction(int(weight), total) for weight in weights.reshape(-1)]
        return cls.from_table(np.array(fractions, dtype=object).reshape(weights.shape))

    @classmethod
    def exhaustive(cls, n_x: int, n_groups: int, denominator: int) -> Iterator[Population]:
        """Yield every exact population whose probabilities are multiples of 1/denominator.

        Every group has a positive probability. The number of populations grows like
        denominator^(2·n_x·n_groups − 1), so use small numbers.
        """
        n_x, n_groups = as_count(n_x, "n_x", 1), as_count(n_groups, "n_groups", 1)
        denominator = as_count(denominator, "denominator", 1)
        cells = 2 * n_x * n_groups
        units = np.array([Fraction(part, denominator) for part in range(denominator + 1)], dtype=object)
        for bars in itertools.combinations(range(denominator + cells - 1), cells - 1):
            edges = (-1, *bars, denominator + cells - 1)
            parts = np.array([right - left - 1 for left, right in itertools.pairwise(edges)])
            if (parts.reshape(n_x, n_groups, 2).sum(axis=(0, 2)) > 0).all():
                yield cls.from_table(units[parts].reshape(n_x, n_groups, 2))

    def classifier(self, h: Classifier) -> np.ndarray:
        """Return P(Ŷ = 1 | x, a) as a table of shape (points, groups).

        Raises
        ------
        ValueError
            If a table has another shape or a value is outside [0, 1].
        """
        shape = self.table.shape[:2]
        if callable(h):
            pairs = itertools.product(self.points.tolist(), self.groups.tolist())
            values = np.array([h(x, a) for x, a in pairs], dtype=object if self.exact else float)
            values = values.reshape(shape)
        else:
            values = np.asarray(h)
            if values.shape != shape:
                raise ValueError(
                    f"h: found a table of shape {values.shape}, expected (points, groups) {shape}"
                )
        if values.dtype.kind not in "biufO" or any(
            isinstance(value, str | NoneType) for value in values.flat
        ):
            raise ValueError(
                "h: found entries that are not numbers, expected probabilities of a positive prediction"
            )
        if not all(0 <= value <= 1 for value in values.flat):  # NaN fails this too
            raise ValueError(
                "h: found a value outside [0, 1], expected probabilities of a positive prediction"
            )
        return values

    def conditional(self, a: Any) -> np.ndarray:
        """Return P(X = x | A = a) for every point x.

        Raises
        ------
        ValueError
            If there is no such group.
        """
        mass = self.table[:, self._group(a), :].sum(axis=1)
        return mass / mass.sum()

    def rate(self, h: Classifier, a: Any) -> Any:
        """Return the selection rate P(Ŷ = 1 | A = a). It is exact if the population and the classifier are."""
        return (self.conditional(a) * self.classifier(h)[:, self._group(a)]).sum()

    def change(self, h: Classifier, other: Classifier, a: Any) -> Any:
        """Return the least possible P(Ŷ ≠ Ŷ′ | A = a) of two classifiers.

        If both are randomised, their draws are coupled such that they differ as rarely as possible.
        """
        column = self._group(a)
        distance = abs(self.classifier(h)[:, column] - self.classifier(other)[:, column])
        return (self.conditional(a) * distance).sum()

    def accuracy(self, h: Classifier) -> Any:
        """Return P(Ŷ = Y)."""
        values = self.classifier(h)
        return (self.table[:, :, 1] * values + self.table[:, :, 0] * (1 - values)).sum()

    def sample(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw n independent rows.

        Returns
        -------
        x, a, y : ndarray of shape (n,)
            Features, groups and labels.
        """
        n, rng = as_count(n, "n", 0), as_generator(rng, "rng")
        prob = self.table.astype(float).reshape(-1)
        at = np.unravel_index(rng.choice(prob.size, size=n, p=prob / prob.sum()), self.table.shape)
        return self.points[at[0]], self.groups[at[1]], at[2]

    def _group(self, a: Any) -> int:
        found = np.flatnonzero(self.groups == a)
        if found.size != 1:
            raise ValueError(f"a: found {a!r}, expected one of the groups {self.groups.tolist()}")
        return int(found[0])
