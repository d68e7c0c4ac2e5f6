"""One-hot encoding with categories that the user declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfair_lib._labels import declared_labels
from dpfair_lib.preparation.cells import Cells, Preparation, checked_mapping, without_cost
from dpfair_lib.privacy import PrivacyStatement

CATEGORIES = "categories of the encoded columns"


@dataclass(frozen=True)
class Indicated:
    """1 in the column of the value's category, or in the last one if it has none."""

    categories: tuple[Any, ...]

    def names(self, column: Any) -> list[Any]:
        """Return a name for each category, and one for all other values."""
        return [*(f"{column}={category}" for category in self.categories), f"{column} other"]

    def apply(self, values: np.ndarray) -> list[np.ndarray]:
        """Return a column of 0 and 1 for each category, and one for all other values."""
        places = category_places(values, self.categories)
        # the place −1 is the last column
        return [(places == at).astype(float) for at in (*range(len(self.categories)), -1)]


class PublicEncoder(Preparation):
    """Replace each declared column by columns of 0 and 1, one for each declared category and one for all else.

    A value that was not declared, and a missing one, has a 1 in the last column, in `fit` as in `transform`: an
    error, or a column more, would tell of a row. Columns that are not named stay as they are.

    Parameters
    ----------
    categories : mapping
        Column → its categories, distinct and chosen without looking at the rows. They are compared as Python compares
        them: 1, 1.0 and True are one category, 1 and "1" are two.

    Attributes
    ----------
    cells_ : dict
        Column → the function of its cells.
    privacy_statement_ : PrivacyStatement
        ε = 0: no row is looked at. It names the categories as public.

    Examples
    --------
    >>> import pandas as pd
    >>> import dpfair_lib as dpf
    >>> people = pd.DataFrame({"sex": ["f", "m", "x", None]})
    >>> dpf.PublicEncoder({"sex": ["f", "m"]}).fit_transform(people)
       sex=f  sex=m  sex other
    0    1.0    0.0        0.0
    1    0.0    1.0        0.0
    2    0.0    0.0        1.0
    3    0.0    0.0        1.0
    """

    def __init__(self, categories: Mapping[Any, Sequence[Any]]) -> None:
        self.categories = categories

    def _learn(self, _: dict[Any, np.ndarray]) -> tuple[dict[Any, Cells], PrivacyStatement]:
        cells: dict[Any, Cells] = {
            column: Indicated(listed) for column, listed in checked_categories(self.categories).items()
        }
        return cells, without_cost(CATEGORIES)


def checked_categories(categories: Any) -> dict[Any, tuple[Any, ...]]:
    """Return declared categories by column; raise ValueError unless each column has a list of distinct ones."""
    given = checked_mapping(categories, "categories", "lists of categories")
    return {
        column: tuple(declared_labels(listed, "categories", where=f" for {column!r}"))
        for column, listed in given.items()
    }


def category_places(values: np.ndarray, categories: Sequence[Any]) -> np.ndarray:
    """Return the place of each value among the categories, −1 for any other value, whatever it is."""
    known = {category: at for at, category in enumerate(categories)}
    return np.array([_place(known, value) for value in values.tolist()], dtype=np.int64)


def _place(known: dict[Any, int], value: Any) -> int:
    try:
        return known.get(value, -1)
    except Exception:  # what cannot be compared is no category
        return -1
