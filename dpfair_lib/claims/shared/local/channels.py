"""All channels of a small grid."""

from __future__ import annotations

import itertools

import numpy as np


def all_channels(k: int, parts: int) -> np.ndarray:
    """Return every k × k channel with entries in whole parts, in units of one part, shape (n, k, k)."""
    rows = np.array([row for row in itertools.product(range(parts + 1), repeat=k) if sum(row) == parts])
    chosen = np.indices((len(rows),) * k).reshape(k, -1).T
    return rows[chosen]
