"""Checks of single numbers and names, for every room; each says what was found and what was expected.

Columns and arrays are checked in `_validation`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

LARGEST_INTEGER = 2**63 - 1


def number(value: Any, name: str, expected: str) -> float:
    """Return a real number as a float, refusing booleans, NaN and everything that is not a number."""
    # NaN is the only number that differs from itself; math.isnan fails on large integers
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or value != value:
        raise ValueError(f"{name}: found {value!r}, expected {expected}")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if math.isinf(found) and value != found:  # NumPy's longest floats become infinite without an error
        raise ValueError(f"{name}: found a number that no float can hold, expected {expected}")
    return found


def positive(value: Any, name: str) -> float:
    """Return a finite number above 0."""
    result = number(value, name, "a positive finite number")
    if not 0 < result < math.inf:
        raise ValueError(f"{name}: found {value}, expected a positive finite number")
    return result


def nonnegative(value: Any, name: str) -> float:
    """Return a number of at least 0; infinity is allowed."""
    result = number(value, name, "a number of at least 0")
    if result < 0:
        raise ValueError(f"{name}: found {value}, expected a number of at least 0")
    return result


def inside_unit(value: Any, name: str) -> float:
    """Return a number in (0, 1)."""
    result = number(value, name, "a number in (0, 1)")
    if not 0 < result < 1:
        raise ValueError(f"{name}: found {value}, expected a number in (0, 1)")
    return result


def below_one(value: Any, name: str) -> float:
    """Return a number in [0, 1): the δ of a guarantee, 0 for pure privacy."""
    result = number(value, name, "a number in [0, 1)")
    if not 0 <= result < 1:
        raise ValueError(f"{name}: found {value}, expected a number in [0, 1)")
    return result


def positive_integer(value: Any, name: str, most: int = LARGEST_INTEGER) -> int:
    """Return an integer of at least 1, and at most what 64 bits hold or as given."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name}: found {value!r}, expected an integer of at least 1")
    if (whole := int(value)) > most:
        found = f"{whole:,}" if whole < 10**30 else "a number of more than 30 digits"
        raise ValueError(f"{name}: found {found}, expected at most {most:,}")
    return whole


def one_of(value: Any, name: str, known: Any) -> Any:
    """Return the value if it is among the known ones."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name}: found {value!r}, expected one of {', '.join(map(repr, known))}")
    return value


def with_methods(value: Any, name: str, *methods: str) -> Any:
    """Return an estimator that has the methods."""
    if isinstance(value, type) or not all(callable(getattr(value, one, None)) for one in methods):
        raise ValueError(f"{name}: found {value!r}, expected an estimator with {' and '.join(methods)}")
    return value


def elementwise(function: Callable[[float], float], values: Any, name: str) -> Any:
    """Apply a function of one number of at least 0 to a number, or to every entry of an array."""
    if np.ndim(values) == 0:
        return function(nonnegative(values.item() if isinstance(values, np.ndarray) else values, name))
    array = np.asarray(values)
    return np.array([function(nonnegative(x, name)) for x in array.ravel()]).reshape(array.shape)
