"""Labels in a plain list, which has no kind of its own: the array's kind must not depend on a single row."""

from __future__ import annotations

from typing import Any

import numpy as np

_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


def labels_of_list(values: Any) -> Any:
    """Return a list of numbers as an array of integers if all are whole, else of floats; anything else as it is.

    NumPy would make floats of whole numbers beside one 1.0, and wider ones beside one wide float. So what is shown of
    the labels would tell how one row has written its own.
    """
    if not isinstance(values, list | tuple) or not values:
        return values
    if not all(issubclass(kind, _NUMBERS) for kind in set(map(type, values))):
        return values
    try:
        as_given, floats = np.asarray(values), np.asarray(values, dtype=np.float64)
    except OverflowError:  # of an integer that no float can hold
        return values
    if (floats != as_given).any() or (
        np.abs(floats) >= 2**53
    ).any():  # missing, or no float tells it from the next
        return values
    return floats.astype(np.int64) if (floats == np.floor(floats)).all() else floats
