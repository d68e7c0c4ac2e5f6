"""Unknowns and rows of a linear program, collected one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


class Builder:
    """A linear program in the making: unknowns, of which some are free, and rows "at most"."""

    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []
        self.columns: list[np.ndarray] = []
        self.entries: list[np.ndarray] = []
        self.right: list[np.ndarray] = []
        self.free: list[int] = []
        self.count = self.width = 0

    def unknowns(self, number: int, *, free: bool = False) -> np.ndarray:
        """Add unknowns, at least 0 or free; return their places."""
        places = self.width + np.arange(number)
        self.width += number
        if free:
            self.free += places.tolist()
        return places

    def add(self, *parts: tuple[Any, Any], right: Any = 0.0) -> slice:
        """Add rows; each part has columns and entries, of shape (rows, any) or (rows,)."""
        number = max(np.atleast_1d(columns).shape[0] for columns, _ in parts)
        for columns, entries in parts:
            at = np.asarray(columns).reshape(number, -1)
            self.columns.append(at.ravel())
            self.entries.append(np.asarray(entries, dtype=float).reshape(at.shape).ravel())
            self.rows.append(np.repeat(self.count + np.arange(number), at.shape[1]))
        self.right.append(np.broadcast_to(np.asarray(right, dtype=float), number))
        self.count += number
        return slice(self.count - number, self.count)

    def matrix(self) -> tuple[Any, np.ndarray]:
        """Return the matrix and the right-hand sides."""
        parts = (np.concatenate(self.entries), (np.concatenate(self.rows), np.concatenate(self.columns)))
        return sparse.csr_array(parts, shape=(self.count, self.width)), np.concatenate(self.right)
