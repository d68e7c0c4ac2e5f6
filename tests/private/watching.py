"""The samplers watched, or frozen: what they are asked, what they answer, and that nothing else draws."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import opendp.prelude as dp

from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.response import GeneralizedRandomizedResponse
from dpfair_lib.local.subsets import SubsetSelection
from dpfair_lib.privacy import exponential, sampling

Answer = Callable[[str, list[Any]], Any]
WHOLE = ("geometric", "discrete gaussian")


@dataclass(frozen=True)
class Call:
    """One call of OpenDP's sampler: what it was asked, and what it answered."""

    kind: str
    scale: float
    values: np.ndarray
    answer: np.ndarray


@contextlib.contextmanager
def watched(answer: Answer | None = None) -> Iterator[list[Call]]:
    """Record every call of OpenDP's samplers; with ``answer(kind, values)`` they answer that, whatever they are asked.

    The samplers are the library's to make: they are watched where OpenDP makes them, and counted where they are called.
    """
    calls: list[Call] = []

    def watch(make: Callable[..., Any], name: str) -> Callable[..., Any]:
        def made(*arguments: Any, scale: float, **options: Any) -> Callable[[list[Any]], Any]:
            sampler, law = make(*arguments, scale=scale, **options), _law(name, arguments, options)

            def call(values: list[Any]) -> Any:
                assert isinstance(values, list)
                drawn = sampler(values) if answer is None else answer(law, values)
                calls.append(Call(law, scale, np.array(values), np.atleast_1d(np.array(drawn))))
                return drawn

            return call

        return made

    names = {"make_laplace": "laplace", "make_gaussian": "gaussian", "make_noisy_max": "choice"}
    with contextlib.ExitStack() as stack:
        for make, name in names.items():
            stack.enter_context(mock.patch.object(dp.m, make, watch(getattr(dp.m, make), name)))
        forget()
        stack.callback(forget)
        yield calls


def forget() -> None:
    """Make the library make its samplers anew."""
    for made in (sampling._secure, exponential._secure_choice):
        getattr(made, "cache_clear", lambda: None)()


def _law(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> str:
    """Return which law a sampler draws from, by how it was made."""
    if options:  # a coarser lattice, the smallest instead of the largest: another mechanism
        return f"{name} with {options}"
    if "T=i64" in str(arguments[0]):
        return {"laplace": "geometric", "gaussian": "discrete gaussian"}.get(name, f"{name} of integers")
    if name == "choice" and "ZeroConcentratedDivergence" not in str(arguments[2]):
        return "choice with another noise than Gumbel's"
    return name


def same_answers(kind: str, values: list[Any]) -> Any:
    """Answer something that depends on nothing but how many numbers were handed over."""
    if kind == "choice":
        return 2 % len(values)
    drawn = 4 + 3 * np.sin(7.0 * np.arange(len(values)))
    drawn = drawn * 2**40 if kind == "discrete gaussian" else drawn  # on its grid
    return [int(one) for one in np.round(drawn)] if kind in WHOLE else drawn.tolist()


class OwnAnswers:
    """Answers as `same_answers`, but every call its own: what is decided between groups shows where they differ."""

    def __init__(self) -> None:
        self.calls = 0

    def again(self) -> None:
        """Begin anew, for another release."""
        self.calls = 0

    def __call__(self, kind: str, values: list[Any]) -> Any:
        """Answer."""
        self.calls += 1
        if kind == "choice":
            return (1 + self.calls) % len(values)
        drawn = 6 + 4 * np.sin(7.0 * np.arange(len(values)) + 2.0 * self.calls)
        drawn = drawn * 2**40 if kind == "discrete gaussian" else drawn  # on its grid
        return [int(one) for one in np.round(drawn)] if kind in WHOLE else drawn.tolist()


def far_answers(kind: str, values: list[Any]) -> Any:
    """Answer as `same_answers`, but far beyond all numbers, to both sides: noise that is cut off comes back."""
    if kind == "choice":
        return len(values) - 1
    drawn = [(-1) ** at * (2**60 if kind == "discrete gaussian" else 10**9) for at in range(len(values))]
    return drawn if kind in WHOLE else [float(one) for one in drawn]


def shifted(by: int) -> Answer:
    """Return an answer that adds one whole number to all numbers: noise that is rare, and on one side."""

    def answer(kind: str, values: list[Any]) -> Any:
        return len(values) - 1 if kind == "choice" else [one + by for one in values]

    return answer


@contextlib.contextmanager
def same_reports() -> Iterator[None]:
    """Let every channel report what depends on nothing but how many people there are; never the last label."""

    def apply(self: Any, a: Any, rng: Any = None) -> np.ndarray:  # noqa: ARG001
        at, values = np.arange(len(a)), np.asarray(a)
        if isinstance(self, SubsetSelection):
            return (np.arange(self.k) == at[:, None] % (self.k - 1)).astype(np.uint8)
        return (at % (self.k - 1)).astype(values.dtype)

    with contextlib.ExitStack() as stack:
        for kind in (Randomizer, GeneralizedRandomizedResponse, SubsetSelection):
            stack.enter_context(mock.patch.object(kind, "apply", apply))
        yield


class Drawn(AssertionError):
    """Something draws that must not."""


def _refused(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise Drawn(f"{name} was called beside secure noise")

    return refuse


class Learner(np.random.Generator):
    """A seeded generator for what a learner draws for itself: how many of m classifiers select a cell, no noise."""


for _name in dir(np.random.Generator):
    if not _name.startswith("_") and _name not in ("binomial", "bit_generator"):
        setattr(Learner, _name, _refused(f"Generator.{_name}"))


@contextlib.contextmanager
def nothing_else_draws(*, learns: bool = False, system: bool = False) -> Iterator[None]:
    """Refuse NumPy's and Python's generators, and the operating system's words unless they are what is to draw.

    Parameters
    ----------
    learns : bool
        Whether a generator may be made for a learner's own draws; it is seeded, so that they repeat.
    system : bool
        Whether the operating system's words may be drawn.
    """
    kinds = {
        name: type(name, (kind,), {"__init__": _refused(name), "__new__": _refused(name)})
        for name in ("Generator", "RandomState")
        if (kind := getattr(np.random, name))
    }
    functions = [
        name for name in np.random.__all__ if callable(getattr(np.random, name)) and name not in kinds
    ]
    patches: list[Any] = [mock.patch.object(np.random, name, kind) for name, kind in kinds.items()]
    for name in functions:
        patches.append(mock.patch.object(np.random, name, _refused(f"numpy.random.{name}")))
    for name in ("random", "gauss", "normalvariate", "expovariate", "uniform", "getrandbits", "SystemRandom"):
        patches.append(mock.patch.object(random, name, _refused(f"random.{name}")))
    if not system:
        patches.append(mock.patch.object(os, "urandom", _refused("os.urandom")))
    before = _states()
    seeded = np.random.PCG64
    with contextlib.ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        if learns:
            stack.enter_context(
                mock.patch.object(np.random, "default_rng", side_effect=lambda: Learner(seeded(0)))
            )
        yield
    if before != _states():
        raise Drawn("the global generator of NumPy or of Python was used beside secure noise")


def _states() -> tuple[Any, ...]:
    return str(np.random.mtrand._rand.get_state()), random.getstate()  # type: ignore[attr-defined]
