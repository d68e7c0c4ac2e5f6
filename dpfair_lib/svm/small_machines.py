"""Small data sets whose support vector machines are known, and a real one: examples for checks and chapters."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.svm import SVC


def spread_inside_margin(half: int) -> tuple[list[Fraction], list[int]]:
    """Return so many records of each label between 0 and 1, alternating, the first at 0."""
    size = 2 * half
    return [Fraction(i, size) for i in range(size)], [i % 2 for i in range(size)]


@cache
def iris_pair(kind: str) -> tuple[SVC, SVC]:
    """Return the linear machines (C = 1) of two neighbouring data sets: 100 irises of two species, features in [0, 1].

    In "moved" the features of one record are replaced by the mean of the other species: the same records are support
    vectors. In "counted" they are replaced by zeros: their number changes.
    """
    data, species = load_iris(return_X_y=True)
    X, y = data[50:], species[50:]
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    other = X.copy()
    other[35] = {"moved": X[y == 2].mean(axis=0), "counted": np.zeros(X.shape[1])}[kind]
    made: Any = [SVC(kernel="linear", C=1.0).fit(rows, y) for rows in (X, other)]
    return made[0], made[1]
