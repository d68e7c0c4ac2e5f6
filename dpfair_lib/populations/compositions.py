"""Every division of a number of records among kinds of records, for checks that go through all small data sets."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np


def compositions(total: int, parts: int, dtype: Any = np.int64) -> np.ndarray:
    """Return every way to write a total as an ordered sum of whole numbers of at least 0.

    Parameters
    ----------
    total : int
        The sum; with ``parts`` at most what the type holds.
    parts : int
        How many numbers, at least 1.
    dtype : dtype
        Of the result; a short one where there are many rows.

    Returns
    -------
    ndarray of shape (ways, parts)
        A row for each way.

    Examples
    --------
    >>> from dpfair_lib.populations.compositions import compositions
    >>> compositions(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    # stars and bars: each choice of places for the bars between the parts is a way
    bars = np.array(list(itertools.combinations(range(total + parts - 1), parts - 1)), dtype=dtype)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, total + parts - 1)))
    return np.diff(edges, axis=1) - 1
