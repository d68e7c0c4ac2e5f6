"""Random words for reports: from the operating system where people are to be protected, from a seed for a study.

All that is drawn here are uniform whole numbers, without rounding: a word beyond the largest multiple of a bound is
drawn again. A `numpy.random.Generator` is a study; None is the operating system.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

Source = np.random.Generator | None


def words32(n: int, source: Source) -> np.ndarray:
    """Return n uniform words of 32 bits."""
    if source is None:
        return _system(n, np.uint32)
    # 64-bit words cost half as much as twice as many 32-bit words
    return source.integers(0, 2**64, size=(n + 1) // 2, dtype=np.uint64).view(np.uint32)[:n]


def words(n: int, bits: int, source: Source) -> np.ndarray:
    """Return n uniform words of at most 62 bits, as signed integers."""
    if source is None:
        return (_system(n, np.uint64) >> np.uint64(64 - bits)).astype(np.int64)
    return source.integers(0, 1 << bits, size=n, dtype=np.int64)


def below(bound: int, n: int, source: Source) -> np.ndarray:
    """Return n uniform integers in 0, …, bound − 1, for a bound of at most 2³²."""
    if source is not None:
        return source.integers(0, bound, size=n)
    limit = (1 << 32) - (1 << 32) % bound  # the largest multiple of the bound that a word can reach
    found = _system(n, np.uint32).astype(np.int64)
    late = np.flatnonzero(found >= limit)
    while len(late):
        found[late] = _system(len(late), np.uint32)
        late = late[found[late] >= limit]
    return found % bound


def _system(n: int, dtype: Any) -> np.ndarray:
    return np.frombuffer(bytearray(os.urandom(n * np.dtype(dtype).itemsize)), dtype=dtype)
