"""Samples and margins on which statements about certificates are judged."""

from __future__ import annotations

import numpy as np

from dpfair_lib.claims.search import Search


def samples(search: Search) -> list[np.ndarray]:
    """Return relative margins in units of the radius: smooth, heavy near 0, on few values, with ties and rows of 0."""
    rng = search.rng
    drawn: list[np.ndarray] = []
    for _ in range(40 * search.effort):
        n, scale = int(rng.integers(1, 60)), float(rng.choice([0.3, 1.0, 3.0, 30.0]))
        drawn += [scale * rng.normal(size=n), rng.choice([-2.0, -1.0, 0.5, 1.0, 1.5, 8.0], size=n)]
        drawn += [np.where(rng.random(n) < 0.2, np.inf, scale * rng.random(n)), 1 + scale * rng.random(n)]
    return [*drawn, np.array([1.0]), np.array([np.inf]), np.array([0.0, 5.0])]


def correctness(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return twelve times the chance that each row is judged right, ties broken at random; whole numbers."""
    best = scores == scores.max(axis=1, keepdims=True)
    return 12 // best.sum(axis=1) * best[np.arange(len(y)), y]
