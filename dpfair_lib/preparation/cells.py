"""Transformers that map each cell by itself: what they have in common.

A fit decides, for each declared column, one function of a cell. `Preparation.transform` applies these functions and
does nothing else. So each row of the result is a function of the same row before and of what `fit` released, and
neighbouring data sets stay neighbours. No cell makes the functions raise or warn: what is no number counts as
missing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, Protocol, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from dpfair_lib._arguments import number
from dpfair_lib._arrays import host_array
from dpfair_lib._fitting import UnseededIfSecure, whole_or_not_at_all
from dpfair_lib.privacy import PrivacyStatement
from dpfair_lib.privacy.noise_source import check_installed

NARROWEST = 1e-300
"""The least range between two bounds."""


class Cells(Protocol):
    """What is done to each cell of a column."""

    def names(self, column: Any) -> list[Any]:
        """Return the names of the columns that the column becomes."""
        ...

    def apply(self, values: np.ndarray) -> list[np.ndarray]:
        """Return these columns; the entries of a row depend on the same row's value alone."""
        ...


@dataclass(frozen=True)
class Scaled:
    """(value cut off at the bounds − center) / width; a missing value stays missing."""

    low: float
    high: float
    center: float
    width: float

    def names(self, column: Any) -> list[Any]:
        """Return the column's own name."""
        return [column]

    def apply(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the scaled column."""
        return [(np.clip(as_floats(values), self.low, self.high) - self.center) / self.width]


class Preparation(TransformerMixin, UnseededIfSecure, ABC):
    """A transformer that maps the cells of declared columns, one by one, and leaves other columns as they are.

    Attributes
    ----------
    row_wise : bool
        True: each row's result depends on the row alone, and on what `fit` released.
    cells_ : dict
        Column → the function of its cells.
    privacy_statement_ : PrivacyStatement
        What the fit costs.
    """

    row_wise = True
    cells_: dict[Any, Cells]
    privacy_statement_: PrivacyStatement

    @abstractmethod
    def _learn(self, columns: dict[Any, np.ndarray]) -> tuple[dict[Any, Cells], PrivacyStatement]:
        """Return the functions of the declared columns' cells, and what they cost."""

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn passes it
        """Decide what is done to the cells of the declared columns.

        Parameters
        ----------
        X : DataFrame or array of shape (n, d)
            Rows. Columns of a frame have names, those of an array the names 0 to d − 1.
        y : ignored
            There for pipelines.

        Returns
        -------
        Preparation
            The fitted transformer itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range, if X is no table, or if it lacks a declared column. No cell's value
            causes an error.
        """
        check_installed(self)
        found = columns_of(X)
        cells, self.privacy_statement_ = self._learn(found)
        self.cells_ = in_order(cells, found)
        validate_data(self, X, reset=True, skip_check_array=True)
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows with the declared columns' cells mapped.

        Parameters
        ----------
        X : DataFrame or array of shape (n, d)
            Rows with the columns of `fit`.

        Returns
        -------
        DataFrame or ndarray of shape (n, columns)
            A frame for a frame. An array holds floats if X was an array of numbers, and objects otherwise.

        Raises
        ------
        ValueError
            If X is no table, has other columns than in `fit`, or one whose name is that of a column to be made.
        """
        check_is_fitted(self, "cells_")
        columns = columns_of(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        parts: dict[Any, np.ndarray] = {}
        for column, values in columns.items():
            cells = self.cells_.get(column)
            names, made = (cells.names(column), cells.apply(values)) if cells else ([column], [values])
            if twice := parts.keys() & set(names):
                raise ValueError(
                    f"X: found two columns that become {min(twice, key=str)!r}, expected distinct names"
                )
            parts |= zip(names, made, strict=True)
        if hasattr(X, "iloc"):
            return _frame(parts, X, self.cells_)
        numeric = _array_of(X).dtype.kind in "biuf"
        rows = len(next(iter(columns.values())))
        stacked = np.empty((rows, len(parts)), dtype=float if numeric else object)
        for at, part in enumerate(parts.values()):
            stacked[:, at] = part
        return stacked

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that `transform` makes.

        Parameters
        ----------
        input_features : sequence, optional
            Names of the columns in place of those that `fit` saw.

        Returns
        -------
        ndarray of str
            Names.
        """
        check_is_fitted(self, "cells_")
        own = getattr(self, "feature_names_in_", range(self.n_features_in_))
        shown = own if input_features is None else input_features
        names = [
            name
            for column, label in zip(own, shown, strict=True)
            for name in (self.cells_[column].names(label) if column in self.cells_ else [label])
        ]
        return np.array([str(name) for name in names], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def _frame(parts: dict[Any, np.ndarray], X: Any, changed: Any) -> Any:
    """Return a frame whose types of columns no cell decides: those of X, or of the arrays that took their place."""
    import pandas as pd

    kept = set(X.columns) - set(changed)
    return pd.DataFrame({
        name: X[name] if name in kept else pd.Series(part, X.index, dtype=part.dtype)
        for name, part in parts.items()
    })  # fmt: skip


def columns_of(X: Any) -> dict[Any, np.ndarray]:
    """Return the columns of a table by name, those of an array by position.

    Parameters
    ----------
    X : DataFrame, Arrow table or array of shape (n, d)
        The table. Lists count as arrays of objects, so that one cell's type does not change the other cells.

    Raises
    ------
    ValueError
        If X is no table, is sparse or of complex numbers, or if two columns have one name.
    """
    if issparse(X):
        raise ValueError(
            "X: found a sparse table, expected a dense one: sparse input is not supported, X.toarray() makes it dense"
        )
    if (names := _names_of(X)) is not None:
        if len(set(names)) < len(names):
            raise ValueError("X: found two columns of one name, expected distinct names")
        return {name: X[name].to_numpy() if hasattr(X, "iloc") else np.asarray(X[name]) for name in names}
    array = _array_of(X)
    if array.ndim != 2:
        raise ValueError(
            f"X: found shape {array.shape}, expected two dimensions: rows and columns. Reshape your data"
        )
    if array.dtype.kind == "c":
        raise ValueError("X: found complex numbers, expected real ones. Complex data not supported")
    return {at: array[:, at] for at in range(array.shape[1])}


def _names_of(X: Any) -> list[Any] | None:
    """Return the names of the columns of a table of pandas, Arrow or polars; None for what has none."""
    names = getattr(X, "column_names", getattr(X, "columns", None))  # of Arrow, `columns` are the values
    return None if names is None else list(names)


def _array_of(X: Any) -> np.ndarray:
    """Return what is an array as it is, and anything else as an array of objects."""
    X = host_array(X, "X")
    return np.asarray(X) if hasattr(X, "__array__") else np.array(X, dtype=object)


def in_order(given: dict[Any, Any], columns: dict[Any, np.ndarray]) -> dict[Any, Any]:
    """Return what was given for some columns in the order of the table's; raise ValueError if the table lacks one."""
    for column in given:
        if column not in columns:
            raise ValueError(f"X: found no column {column!r}, expected one of {list(columns)}")
    return {column: given[column] for column in columns if column in given}


def as_floats(values: np.ndarray) -> np.ndarray:
    """Return each value as a float; NaN where it is missing or no number, ±∞ where it is too large."""
    if values.dtype.kind in "biuf":
        with np.errstate(all="ignore"):  # of wider floats, one that is too large would warn
            return values.astype(float)
    return np.array([_as_float(value) for value in values.tolist()], dtype=float)


def _as_float(value: Any) -> float:
    if not isinstance(value, Real | Decimal | str | np.bool_):  # float() of other things may warn
        return math.nan
    try:
        return float(value)
    except OverflowError:  # of a whole number or a fraction
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]
    except (TypeError, ValueError):
        return math.nan


def checked_bounds(bounds: Any, name: str = "bounds") -> dict[Any, tuple[float, float]]:
    """Return public bounds by column.

    Parameters
    ----------
    bounds : mapping
        Column → (low, high).
    name : str
        Of the argument, for messages.

    Raises
    ------
    ValueError
        If it is no such mapping, or a pair is not two finite numbers, the lower one first.
    """
    found = {}
    for column, pair in checked_mapping(bounds, name, "(low, high)").items():
        wrong = ValueError(
            f"{name}: found {pair!r} for {column!r}, expected (low, high), two finite numbers with low < high"
        )
        if isinstance(pair, str) or np.shape(pair) != (2,):
            raise wrong
        low, high = (number(end, f"{name} of {column!r}", "a finite number") for end in pair)
        if not NARROWEST <= high - low < math.inf:  # so that 2 % of it is above 0
            raise wrong
        found[column] = (low, high)
    return found


def checked_mapping(given: Any, name: str, to: str) -> dict[Any, Any]:
    """Return a mapping of columns that is not empty."""
    if not isinstance(given, Mapping) or not given:
        raise ValueError(f"{name}: found {given!r}, expected a mapping from columns to {to}")
    return dict(given)


def without_cost(*public: str) -> PrivacyStatement:
    """Return the statement of a fit that looks at no row, with what was declared."""
    return PrivacyStatement(0.0, 0.0, "add-remove", public=("the columns", *public))
