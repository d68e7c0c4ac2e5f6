"""The sampler, seen at the call: every request for noise is written down, and answered as a test wants it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfair_lib.privacy import exponential, sampling


@dataclass(frozen=True)
class Request:
    """One request: the law ("laplace", "geometric", "gaussian", "choice"), its scale, and the exact numbers."""

    kind: str
    scale: float
    values: np.ndarray


Answer = Callable[[Request], Any]


def exactly(request: Request) -> Any:
    """Answer with the exact numbers, as if the noise were 0; the likeliest outcome is chosen."""
    return int(np.argmax(request.values)) if request.kind == "choice" else request.values.tolist()


@contextlib.contextmanager
def secure_requests(answer: Answer = exactly) -> Iterator[list[Request]]:
    """Yield the list of requests to OpenDP's samplers, which are stood in for."""
    requests: list[Request] = []

    def ask(kind: str, scale: float, values: Any) -> Any:
        requests.append(Request(kind, scale, np.array(values, dtype=float)))
        return answer(requests[-1])

    def secure(kind: str, number: str, scale: float) -> Callable[[Any], Any]:
        return lambda values: ask("geometric" if number == "i64" else kind, scale, values)

    def choice() -> Callable[[Any], Any]:
        return lambda scores: ask("choice", 1.0, scores)

    before = sampling._secure, exponential._secure_choice
    sampling._secure, exponential._secure_choice = secure, choice
    try:
        yield requests
    finally:
        sampling._secure, exponential._secure_choice = before


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
