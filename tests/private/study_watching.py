"""NumPy's generators watched, from which study noise comes; and an answer that OpenDP's samplers may give in a test."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np


def exactly(kind: str, values: list[Any]) -> Any:
    """Answer with what was handed over, as if the noise were 0; of scores with the place of the largest."""
    return int(np.argmax(values)) if kind == "choice" else values


class Watched(np.random.Generator):
    """NumPy's generator; it draws as ever, and writes down which noise it was asked for."""

    def __init__(self, seed: Any = 0) -> None:
        super().__init__(np.random.PCG64(seed))
        self.asked: list[tuple[str, float]] = []

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        self.asked.append(("laplace", scale))
        return super().laplace(loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        self.asked.append(("gaussian", scale))
        return super().normal(loc, scale, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        # the difference of two geometric variables: r = 1 − p = e^(−1/b)
        self.asked.append(("geometric", float(-1 / np.log1p(-p))))
        return super().geometric(p, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        self.asked.append(("choice", scale))
        return super().gumbel(loc, scale, size)


@contextlib.contextmanager
def study_requests() -> Iterator[list[tuple[str, float]]]:
    """Yield the list of (law, scale) that NumPy's generators are asked for, whoever makes them."""
    before, asked = np.random.default_rng, []

    def watched(seed: Any = None) -> Watched:
        generator = Watched(seed)
        generator.asked = asked
        return generator

    np.random.default_rng = watched
    try:
        yield asked
    finally:
        np.random.default_rng = before
