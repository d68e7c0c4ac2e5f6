"""Labels that are known before the data are seen: how they are declared, and the place of each value among them.

Classes, groups, the labels of a column, the levels of a grid: a list that is public, so that it does not depend on the
data. An estimator that was fitted knows its groups in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpfair_lib._arrays import HOST, Space
from dpfair_lib._validation import as_binary, as_columns, as_groups, as_vector, numbered, without_words

_WORDS = {2: "two"}
_OTHERS = "PostprocessedClassifier takes other labels, also without a classifier (estimator=None)"


def zeros_and_ones(values: Any, name: str, space: Space = HOST) -> Any:
    """Return a post-processor's labels 0 and 1; the message about words names what takes them."""
    return as_binary(without_words(as_vector(values, name, space), name, space, _OTHERS), name, space)


def declared_labels(
    given: Any, name: str, *, least: int = 1, most: int | None = None, ordered: bool = False, where: str = ""
) -> list[Any]:
    """Return labels that were declared, as a list.

    Parameters
    ----------
    given : sequence or array
        The labels.
    name : str
        Of the argument, for messages.
    least : int
        How many there have to be.
    most : int, optional
        How many there may be.
    ordered : bool
        Whether to sort them; else they stay in the order given.
    where : str
        What goes on after what was found, for messages.

    Returns
    -------
    list
        Labels, distinct and none of them missing.

    Raises
    ------
    ValueError
        If it is no such list, or labels of several types are to be sorted.
    """
    listed = given.tolist() if hasattr(given, "tolist") else given
    if not _is_list_of_labels(listed) or len(listed) < least or (most is not None and len(listed) > most):
        count = _WORDS.get(least, str(least))
        wanted = "a list of" if least == 1 else count if least == most else f"at least {count}"
        raise ValueError(
            f"{name}: found {given!r}{where}, expected {wanted} distinct labels, none of them missing"
        )
    try:
        return sorted(listed) if ordered else list(listed)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in listed})
        raise ValueError(f"{name}: found labels of the types {', '.join(kinds)}, expected one type") from None


def _is_list_of_labels(listed: Any) -> bool:
    if not isinstance(listed, Sequence) or isinstance(listed, str | bytes):
        return False
    try:
        # a missing value is None, or not equal to itself
        return len(set(listed)) == len(listed) and all(one is not None and bool(one == one) for one in listed)
    except TypeError:  # of something that is no single value
        return False


def places(
    values: Any, known: Sequence[Any], name: str, *, of: str = "group", where: str = "", space: Space = HOST
) -> Any:
    """Return the place of each value among the known labels.

    Values are compared as Python compares them: 1, 1.0 and True are one label, 1 and "1" are two.

    Parameters
    ----------
    values : array of shape (n,), or (n, c) where labels are tuples
        One for each row.
    known : sequence
        The labels, distinct.
    name : str
        Of the argument, for messages.
    of : str
        What the values are, for messages; may be empty.
    where : str
        What goes on after what was found, for messages.
    space : Space
        Where the values are.

    Returns
    -------
    array of shape (n,), int64
        Places, from 0, where the values are.

    Raises
    ------
    ValueError
        If a value is missing, or none of the labels; the first is named, with its position.
    """
    if not space.host:
        return _places_elsewhere(values, known, name, of, where, space)
    several = any(isinstance(label, tuple) for label in known)
    found, distinct = _numbered(as_columns(values, name) if several else [as_vector(values, name)], name)
    place = {label: at for at, label in enumerate(known)}
    # a missing value has the number −1, and so the last entry
    codes = np.array([*(place.get(value, -1) for value in distinct), -1], dtype=np.int64)[found]
    if (codes < 0).any():
        at = int(np.argmax(codes < 0))
        if found[at] < 0:
            raise ValueError(
                f"{name}: found a missing value{where} at position {at}, expected a {of or 'label'} for every row"
            )
        raise _stranger(distinct[found[at]], at, known, name, of, where)
    return codes


def _places_elsewhere(values: Any, known: Sequence[Any], name: str, of: str, where: str, space: Space) -> Any:
    """Compare the distinct values on the host, and look each row's place up where the rows are."""
    levels, codes = as_groups(values, name, space)
    place = {label: at for at, label in enumerate(known)}
    table = np.array([place.get(level, -1) for level in levels.tolist()], dtype=np.int64)
    if (table < 0).any():
        at = space.first(space.take(table < 0, codes))
        raise _stranger(levels.tolist()[int(space.at(codes, at))], at, known, name, of, where)
    return space.take(table, codes)


def _stranger(label: Any, at: int, known: Sequence[Any], name: str, of: str, where: str) -> ValueError:
    shown = f"{of} {label!r}".strip()
    return ValueError(f"{name}: found {shown}{where} at position {at}, expected one of {list(known)}")


def _numbered(columns: list[np.ndarray], name: str) -> tuple[np.ndarray, list[Any]]:
    """Return each row's number, −1 where a value is missing, and the distinct rows; those of one column as values."""
    import pandas as pd

    if len(columns) == 1:
        numbers, found = numbered(columns[0], name)
        return numbers, found.tolist()
    numbers = np.zeros(len(columns[0]), dtype=np.int64)
    missing = numbers < 0
    distinct: list[tuple[Any, ...]] = [()]
    for column in columns:
        own, found = numbered(column, name)
        missing |= own < 0
        labels = found.tolist() or [None]  # all are missing
        numbers, pairs = pd.factorize(numbers * len(labels) + np.maximum(own, 0))
        distinct = [(*distinct[pair // len(labels)], labels[pair % len(labels)]) for pair in pairs.tolist()]
    return np.where(missing, -1, numbers), distinct
