"""Checks of arguments, shared by every public function.

Each raises `ValueError` that says which argument, what was found, and what was expected.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Hashable, Sequence
from decimal import MAX_PREC, Context, Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

import numpy as np

from dpfair_lib._arrays import HOST, Space, host_array
from dpfair_lib._lists import labels_of_list

_ODD = np.uint64(0x9E3779B97F4A7C15)  # an odd factor, near 2^64 over the golden ratio, mixes the bits
_LARGEST = int(np.finfo(float).max)
_ALL_DIGITS = Context(prec=MAX_PREC)
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


def as_vector(values: Any, name: str, space: Space = HOST) -> Any:
    """Return NumPy, pandas, Arrow or list input as a 1-D array; one column of a table counts as 1-D.

    An array of another namespace stays in its ``space``. By default everything is read on the host.
    """
    array = _as_array(values, name) if space.host else space.read(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name}: found shape {tuple(array.shape)}, expected a 1-D array")
    if 0 in array.shape:
        raise ValueError(f"{name}: found an empty array, expected at least one entry")
    return array


def _as_array(values: Any, name: str) -> np.ndarray:
    values = host_array(values, name)
    array = even(values, name)
    if array.dtype.kind in "US" and isinstance(values, list | tuple):
        # NumPy would write numbers and missing values among strings as strings
        kept = np.array(values, dtype=object)
        return array if all(isinstance(value, str | bytes) for value in kept.flat) else kept
    return array


def even(values: Any, name: str) -> np.ndarray:
    """Return an array; entries of different lengths are refused by name, where NumPy names no argument."""
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name}: found entries of different lengths, expected one length") from None


def as_numbers(values: Any, name: str, space: Space = HOST) -> Any:
    """Return a 1-D array of finite floats, or of `Fraction` where the input is exact."""
    array = as_vector(values, name, space)
    wrong = ValueError(f"{name}: found entries that are not numbers, expected numbers")
    if not space.host:
        if not space.is_kind(array, "bool", "integral", "real floating"):
            raise wrong
        array = space.astype(array, space.real)
    elif array.dtype == object and all(isinstance(value, Fraction | int) for value in array):
        if any(abs(value) > _LARGEST for value in array):
            raise ValueError(f"{name}: found a number that no float can hold, expected smaller ones")
        return array
    else:
        # a string such as "1" would pass astype(float)
        if array.dtype.kind not in "biufO" or (
            array.dtype == object and any(isinstance(value, str) for value in array)
        ):
            raise wrong
        try:
            array = array.astype(float)
        except (TypeError, ValueError, OverflowError):
            raise wrong from None
    bad = ~space.xp.isfinite(array)
    if space.any(bad):
        at = space.first(bad)
        raise ValueError(
            f"{name}: found {space.at(array, at)} at position {at} ({space.many(bad)} such), expected finite numbers"
        )
    return array


def as_probabilities(values: Any, name: str, space: Space = HOST) -> Any:
    """Return a 1-D array of numbers in [0, 1]; `Fraction` entries stay exact."""
    array = as_numbers(values, name, space)
    bad = (array < 0) | (array > 1)
    refuse(bad, array, name, "numbers in [0, 1]", space)
    return array


def as_binary(values: Any, name: str, space: Space = HOST) -> Any:
    """Return a 1-D integer array of labels 0 and 1."""
    array = as_numbers(values, name, space)
    bad = (array != 0) & (array != 1)
    refuse(bad, array, name, "labels 0 and 1", space)
    return space.astype(array, space.whole)


def without_words(values: Any, name: str, space: Space, instead: str) -> Any:
    """Return a 1-D array of labels unless one is a word; the message ends with what to do instead."""
    if not space.host:
        return values
    words = [values[0]] if values.dtype.kind in "US" else []
    if values.dtype == object:
        words = [value for value in values if isinstance(value, str)]
    if words:
        raise ValueError(
            f"{name}: found entries that are not numbers, such as {str(words[0])!r}, expected labels 0 and 1; {instead}"
        )
    return values


def refuse(bad: Any, array: Any, name: str, wanted: str, space: Space) -> None:
    """Raise if an entry is bad, and name the first."""
    if space.any(bad):
        at = space.first(bad)
        raise ValueError(f"{name}: found {space.at(array, at)} at position {at}, expected {wanted}")


def as_columns(values: Any, name: str, space: Space = HOST) -> list[Any]:
    """Return a table's columns, or the one of 1-D input; tuples of two entries or more are rows of a table."""
    if not space.host:
        array = space.read(values)
        if array.ndim == 2 and 0 not in array.shape:
            return [array[:, at] for at in range(array.shape[1])]
        return [as_vector(array, name, space)]
    if hasattr(values, "iloc") and np.ndim(values) == 2:
        # column by column: the array of a mixed table would turn numbers into other ones
        columns = [as_vector(values.iloc[:, at], name) for at in range(values.shape[1])]
        return columns or [as_vector(values, name)]
    if isinstance(values, Sequence) and len(values) and isinstance(values[0], tuple | list):
        array = _of_rows(values, name)
    else:
        array = _as_array(labels_of_list(values), name)
        if array.ndim == 1 and array.size and isinstance(array[0], tuple) and len(array[0]) > 1:
            array = _of_rows(array.tolist(), name)
    return list(array.T) if array.ndim == 2 and array.size else [as_vector(array, name)]


def _of_rows(rows: Sequence[Any], name: str) -> np.ndarray:
    """Return rows as an array of objects: NumPy would turn a row of "a" and 1 into two strings."""
    lengths = sorted({np.size(row) for row in rows})
    if len(lengths) > 1:
        raise ValueError(
            f"{name}: found rows of {lengths[0]} and of {lengths[-1]} entries, expected one length"
        )
    array = np.empty((len(rows), lengths[0]), dtype=object)
    array[:] = [list(row) for row in rows]
    return array


def as_groups(values: Any, name: str = "sensitive_features", space: Space = HOST) -> tuple[np.ndarray, Any]:
    """Return the distinct groups in sorted order, and each row's index into them.

    Of several columns, a group is the tuple of a row's values; only those that occur are returned. The indexes are in
    the ``space`` of the values.
    """
    columns = as_columns(values, name, space)
    if len(columns) == 1:
        return as_levels(columns[0], name, space=space)
    groups: list[tuple[Any, ...]] = [()]
    codes: Any = 0
    for at, column in enumerate(columns):
        levels, own = as_levels(column, f"{name}, column {at}", space=space)
        pairs, codes = space.distinct(codes * len(levels) + own)
        labels = levels.tolist()
        groups = [(*groups[pair // len(labels)], labels[pair % len(labels)]) for pair in space.listed(pairs)]
    found = np.empty(len(groups), dtype=object)
    found[:] = groups
    return found, codes


def as_levels(values: Any, name: str, of: str = "group", space: Space = HOST) -> tuple[np.ndarray, Any]:
    """Return the distinct labels of one column in sorted order, and each row's index into them.

    Messages say ``of`` what they are. The indexes are in the ``space`` of the values.
    """
    array = as_vector(labels_of_list(values), name, space)
    if not space.host:
        return _levels_elsewhere(array, name, of, space)
    if array.dtype.kind in "biu":
        levels, codes = np.unique(array, return_inverse=True)
        return levels, codes
    # pandas knows every kind of missing value
    import pandas as pd

    _refuse_missing(pd.isna(array), name, of, space)
    codes, levels = numbered(array, name)
    levels = written_alike(levels)  # before they are sorted: of equal labels some kinds cannot be
    try:
        order = np.argsort(levels)
    except TypeError:
        kinds = sorted({type(level).__name__ for level in levels})
        raise ValueError(f"{name}: found labels of the types {', '.join(kinds)}, expected one type") from None
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return levels[order], rank[codes]


def written_alike(labels: np.ndarray) -> np.ndarray:
    """Return distinct labels so that none shows how a row has written it.

    Of equal values such as 1, 1.0, True, decimals and NumPy's own kinds, a column of objects keeps the one of some row,
    and a column of floats the sign of its zero. What is shown must not depend on that row. So numbers are Python's,
    whole ones integers, and words are Python's strings.
    """
    if labels.dtype.kind == "f":
        return labels + 0.0  # −0 becomes 0
    if labels.dtype != object:
        return labels
    found = np.empty_like(labels)
    found[:] = [_plain(label) for label in labels]
    return found


def _plain(label: Any) -> Any:
    if isinstance(label, str | bytes):
        return str(label) if isinstance(label, str) else bytes(label)
    if isinstance(label, complex | np.complexfloating) and label.imag == 0:
        label = label.real
    if isinstance(label, Integral | np.bool_):
        return int(label)
    if isinstance(label, Decimal):
        label = _ALL_DIGITS.normalize(label)  # 0.10 is 0.1
    if isinstance(label, Real | Decimal):
        near = float(label)
        # a fraction that no float equals stays
        return int(near) if near == label and near.is_integer() else near if near == label else label
    return label


def numbered(array: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return each entry's number in the order of appearance, −1 if it is missing, and the distinct entries.

    pandas hashes instead of sorting, which is faster on strings. NumPy's strings it first turns into Python's, which
    takes longer than all else. So they are hashed here, to 64 bits, and compared afterwards.
    """
    import pandas as pd

    if array.dtype.kind == "U" and array.size and array.dtype.itemsize:
        word = np.uint32 if array.dtype.itemsize % 8 else np.uint64
        letters = np.ascontiguousarray(array).view(word).reshape(len(array), -1)
        keys = letters[:, 0].astype(np.uint64)
        for column in letters.T[1:]:
            keys *= _ODD
            keys += column
        codes, _ = pd.factorize(keys)
        first = np.empty(codes.max() + 1, dtype=np.int64)
        first[codes[::-1]] = np.arange(len(codes))[::-1]  # of equal places the last one written stays
        levels = array[first]
        if np.array_equal(levels[codes], array):
            return codes, levels.astype(object)
    try:
        codes, found = pd.factorize(array)
    except TypeError:  # what has no hash is no single value
        kinds = sorted({type(one).__name__ for one in array if not isinstance(one, Hashable)})
        raise ValueError(
            f"{name}: found entries of the type {', '.join(kinds)}, expected numbers, words or other single values"
        ) from None
    return codes, np.asarray(found)


def _levels_elsewhere(array: Any, name: str, of: str, space: Space) -> tuple[np.ndarray, Any]:
    """Return the labels, which are numbers, on the host, and the codes where the rows are."""
    if not space.is_kind(array, "bool", "integral", "real floating"):
        raise ValueError(f"{name}: found entries of type {array.dtype}, expected numbers as labels")
    if space.is_kind(array, "real floating"):
        _refuse_missing(space.xp.isnan(array), name, of, space)
    is_truth = space.is_kind(array, "bool")
    levels, codes = space.distinct(space.astype(array, space.whole) if is_truth else array)
    found = np.asarray(space.listed(levels))
    return found.astype(bool) if is_truth else found, codes


def _refuse_missing(missing: Any, name: str, of: str, space: Space) -> None:
    if space.any(missing):
        at = space.first(missing)
        raise ValueError(f"{name}: found a missing value at position {at}, expected a {of} for every row")


def are_empty(*columns: Any) -> bool:
    """Return whether all columns are without entries; a column may be of any kind."""
    try:
        return all(np.shape(column)[:1] == (0,) for column in columns)
    except ValueError:  # entries of different lengths are entries
        return False


def check_lengths(**arrays: Any) -> None:
    """Raise unless all arrays (those that are not None) have the same length."""
    lengths = {
        name: array.shape[0] if hasattr(array, "shape") else len(array)  # not every namespace has len
        for name, array in arrays.items()
        if array is not None
    }
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"lengths differ: {found}; expected one entry per row in each")


def check_row_labels(**tables: Any) -> None:
    """Raise unless pandas inputs of one length have the same row labels; everything else is paired by position."""
    labels = {name: table.index for name, table in tables.items() if hasattr(type(table), "iloc")}
    first = next(iter(labels), "")
    for name, index in labels.items():
        if len(index) == len(labels[first]) and not index.equals(labels[first]):
            raise ValueError(
                f"{name}: found other row labels than those of {first}, expected the same index in the same order: "
                "align the rows, or drop the labels with reset_index(drop=True)"
            )


def same_rows(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return a function, or a method, that refuses pandas arguments of one length whose row labels differ.

    Paired by position they would join one person's label with another's group. Whatever has no row labels is paired by
    position.

    Parameters
    ----------
    function : callable
        With one argument or more for which there is an entry per row, group or value.

    Returns
    -------
    callable
        The same function otherwise.
    """
    names = [*inspect.signature(function).parameters]

    @functools.wraps(function)
    def paired(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        check_row_labels(**dict(zip(names, args, strict=False)), **kwargs)
        return function(*args, **kwargs)

    return paired


def as_rate(value: Any, name: str) -> Any:
    """Return a rate as a float, or an array of rates as floats, in [0, 1]; a `Fraction` stays exact."""
    if isinstance(value, Fraction | int) and not isinstance(value, bool):
        value = Fraction(value)
        if not 0 <= value <= 1:
            raise ValueError(f"{name}: found {value}, expected a number in [0, 1]")
        return value
    if isinstance(value, float) and 0 <= value <= 1:  # what formulas are called with most: it needs no array
        return np.float64(value)
    array = even(host_array(value, name), name)
    checked = as_probabilities(array.reshape(-1), name).reshape(array.shape)
    return checked if array.ndim else checked[()]


def as_count(value: Any, name: str, least: int) -> int:
    """Return a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name}: found {value!r}, expected a whole number of at least {least}")
    if value >= 2**63:
        raise ValueError(
            f"{name}: found a number of {int(value).bit_length()} bits, expected one below 2**63"
        )
    return int(value)


def as_generator(value: Any, name: str) -> np.random.Generator:
    """Return a NumPy generator; seeds are refused, so that no function draws the same numbers twice unasked."""
    if not isinstance(value, np.random.Generator):
        raise ValueError(
            f"{name}: found {value!r}, expected a numpy.random.Generator (numpy.random.default_rng(seed))"
        )
    return value


def as_single_rate(value: Any, name: str) -> Any:
    """Return one rate as `as_rate` does; an array is refused."""
    if np.ndim(value):
        raise ValueError(f"{name}: found an array of shape {np.shape(value)}, expected one number in [0, 1]")
    if isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}: found {value}, expected a number in [0, 1]")
    return as_rate(value, name)


def renamed(old: str, given: Any, new: str, value: Any) -> Any:
    """Return what was given under a parameter's old name, with a warning, or else the new one's value."""
    if given is None:
        return value
    warnings.warn(f"{old}= is now called {new}=", DeprecationWarning, stacklevel=3)
    return given
