"""Missing values: filled with declared constants, or with means and frequent values released privately."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from dpfair_lib._arguments import one_of, positive
from dpfair_lib.learners.linear import LEFT_OUT
from dpfair_lib.preparation.cells import (
    Cells,
    Preparation,
    as_floats,
    checked_bounds,
    checked_mapping,
    in_order,
    without_cost,
)
from dpfair_lib.preparation.choices import choose_largest
from dpfair_lib.preparation.encoding import category_places, checked_categories
from dpfair_lib.preparation.moments import moments_mechanism, noisy_moments
from dpfair_lib.preparation.scaling import Relation
from dpfair_lib.privacy import PrivacyStatement
from dpfair_lib.privacy.mechanisms import Mechanism
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import below
from dpfair_lib.privacy.sampling import Noise


@dataclass(frozen=True)
class Filled:
    """The value, or a fixed one where it is missing; for a fixed number, also where it is no number."""

    value: Any

    def names(self, column: Any) -> list[Any]:
        """Return the column's own name."""
        return [column]

    def apply(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the column without missing values."""
        if isinstance(self.value, Real) and not isinstance(self.value, bool):
            found = as_floats(values)
            return [np.where(found == found, found, float(self.value))]
        import pandas as pd

        filled = values.astype(object)
        filled[pd.isna(filled)] = self.value
        return [filled]


class PublicImputer(Preparation):
    """Fill missing values with constants that were chosen without looking at the rows.

    Columns that are not named stay as they are.

    Parameters
    ----------
    values : mapping
        Column → what stands for a missing value. For a number, whatever is no number counts as missing too, and the
        column becomes one of floats.

    Attributes
    ----------
    cells_ : dict
        Column → the function of its cells.
    privacy_statement_ : PrivacyStatement
        ε = 0: no row is looked at. It names the constants as public.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> dpf.PublicImputer({0: 40, 1: "none"}).fit_transform([[31, "job"], [None, None]]).tolist()
    [[31.0, 'job'], [40.0, 'none']]
    """

    def __init__(self, values: Mapping[Any, Any]) -> None:
        self.values = values

    def _learn(self, _: dict[Any, np.ndarray]) -> tuple[dict[Any, Cells], PrivacyStatement]:
        given = checked_mapping(self.values, "values", "what stands for a missing value")
        for column, value in given.items():
            if np.ndim(value) or value is None or not _equals_itself(value):
                raise ValueError(
                    f"values: found {value!r} for {column!r}, expected one value that is not missing"
                )
        cells: dict[Any, Cells] = {column: Filled(value) for column, value in given.items()}
        return cells, without_cost("constants for missing values")


def _equals_itself(value: Any) -> bool:
    try:
        return bool(value == value)
    except TypeError:  # a kind of missing value
        return False


class PrivateImputer(Preparation):
    """Fill missing values with a column's mean or its most frequent category, released privately.

    Columns that are not named stay as they are.

    Parameters
    ----------
    bounds : mapping, optional
        Column of numbers → (low, high), chosen without looking at the rows. The mean is that of the values that are
        present, cut off at the bounds. What is no number counts as missing.
    categories : mapping, optional
        Column → its categories, chosen without looking at the rows. A frequent one of them is chosen.
    epsilon : float
        ε > 0 of all columns together; each gets an equal share.
    relation : {"replace-one", "add-remove"}, default="replace-one"
        What the statement speaks of.
    noise : {"secure", "study"}, default="secure"
        "secure" uses OpenDP's samplers. "study" uses seeded floating-point noise, for experiments; it protects nobody.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Seed of study noise. Must be None for secure noise.

    Attributes
    ----------
    values_ : dict
        Column → what stands for a missing value.
    cells_ : dict
        Column → the function of its cells.
    privacy_statement_ : PrivacyStatement
        What the release costs; without guarantee for study noise.

    Notes
    -----
    Means come from noisy sums, as in `PrivateScaler`, without squares. A category is chosen by the exponential
    mechanism on how often each occurs: a replaced row may raise one count and lower another, a row more or less moves
    one.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> rows = [[20.0, "a"], [40.0, "a"], [None, None]] * 1000
    >>> imputer = dpf.PrivateImputer({0: (0, 100)}, {1: ["a", "b"]}, epsilon=1.0).fit(rows)
    >>> abs(imputer.values_[0] - 30) < 2, imputer.values_[1]
    (True, 'a')
    """

    def __init__(
        self, bounds: Mapping[Any, tuple[float, float]] | None = None,
        categories: Mapping[Any, Sequence[Any]] | None = None, *, epsilon: float, relation: Relation = "replace-one",
        noise: Noise = "secure", random_state: Any = None,
    ) -> None:  # fmt: skip
        self.bounds = bounds
        self.categories = categories
        self.epsilon = epsilon
        self.relation = relation
        self.noise = noise
        self.random_state = random_state

    def _learn(self, columns: dict[Any, np.ndarray]) -> tuple[dict[Any, Cells], PrivacyStatement]:
        if self.bounds is None and self.categories is None:
            raise ValueError("bounds, categories: found none of them, expected at least one")
        limits = {} if self.bounds is None else checked_bounds(self.bounds)
        listed = {} if self.categories is None else checked_categories(self.categories)
        if twice := sorted(map(str, limits.keys() & listed.keys())):
            raise ValueError(f"bounds, categories: found {twice[0]} in both, expected each column once")
        epsilon = positive(self.epsilon, "epsilon")
        one_of(self.relation, "relation", ("replace-one", "add-remove"))
        source = NoiseSource.of(self.noise, self.random_state)
        limits, listed = in_order(limits, columns), in_order(listed, columns)
        share = Fraction(epsilon) / (len(limits) + len(listed))
        each = below(share)
        if each == 0:
            raise ValueError(f"epsilon: found {self.epsilon}, expected a number whose shares are above 0")
        mechanism: tuple[Mechanism, ...] = (
            (moments_mechanism(len(limits), below(share * len(limits))),) if limits else ()
        )
        mechanism += (Mechanism("stated", each),) * len(listed)
        public = ["the columns"]
        public += ["bounds of the filled columns"] if limits else []
        public += ["categories of the filled columns"] if listed else []
        statement = source.mark(
            PrivacyStatement(
                epsilon, 0.0, self.relation, public=tuple(public), note=LEFT_OUT, mechanism=mechanism
            )
        )
        self.values_: dict[Any, Any] = {}
        if limits:
            numbers = [(columns[column], low, high) for column, (low, high) in limits.items()]
            moments = noisy_moments(numbers, below(share * len(limits)), source, squares=False)
            for (column, (low, high)), (mean, _) in zip(limits.items(), moments, strict=True):
                self.values_[column] = low + (high - low) * (0.5 + mean)
        for column, categories in listed.items():
            places = category_places(columns[column], categories)
            counts = np.array([(places == at).sum() for at in range(len(categories))])
            at = choose_largest(counts, each, source, one_way=self.relation == "add-remove")
            self.values_[column] = categories[at]
        return {column: Filled(value) for column, value in self.values_.items()}, statement
