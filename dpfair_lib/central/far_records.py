"""Pairs of data sets that differ in one record, standardised each by its own mean and deviation."""

from __future__ import annotations

import math

import numpy as np


def turned_pair(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return two standardised columns whose data differ in one number, and the labels of both.

    n − 1 records have the number 0 and label 0; the last has label 1 and the number 1, in the second data set −1.
    """
    numbers = np.zeros(n)
    numbers[-1] = 1
    mean, deviation = 1 / n, 1 / math.sqrt(n)
    one = (numbers - mean) / deviation
    return one, -one, np.append(np.zeros(n - 1, dtype=int), 1)


def aligned_pair(n: int, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return two standardised tables of equal columns: one number per column is replaced by a far one.

    In the first, half of the records have the number 1 and label 0, half −1 and label 1; n is even.
    """
    numbers = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    labels = (numbers < 0).astype(int)
    far = numbers.copy()
    far[-1] = 1e6 * n
    tables = ((x - x.mean()) / x.std(ddof=1) for x in (numbers, far))
    one, other = (np.tile(z[:, None], (1, columns)) for z in tables)
    return one, other, labels
