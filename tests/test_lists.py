"""The kind of an array of labels from a list depends on the values alone."""

from decimal import Decimal

import numpy as np
import pytest

from dpfair_lib._lists import labels_of_list


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 0], "int64"), ([1.0, 0], "int64"), ([True, 0], "int64"), ([np.longdouble(2), -3.0], "int64"),
        ([0.5, 1], "float64"), ([np.float16(0.5), True], "float64"),
    ],
)  # fmt: skip
def test_numbers_become_one_kind(values, expected):
    found = labels_of_list(values)
    assert found.dtype == expected
    assert found.tolist() == values


@pytest.mark.parametrize(
    "values",
    [
        ["a", 1], [None, 1], [Decimal(1), 1], [[0], [1]], [], np.array([1.0, 0.0]), [float("nan"), 1.0],
        [np.longdouble(1) / 3, 0], [2**53 + 1, 0], [10**400, 0], [float("inf"), 0], "ab",
    ],
)  # fmt: skip
def test_anything_else_is_left(values):
    assert labels_of_list(values) is values
