"""Drawing rational cases, and writing them for Coq."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

Draw = random.Random


def share(rng: Draw) -> Fraction:
    """Draw a number in [0, 1]; the ends and the middle are likelier than others."""
    if rng.random() < 0.2:
        return Fraction(rng.choice((0, 1, 2)), 2)
    bottom = rng.randint(1, 40)
    return Fraction(rng.randint(0, bottom), bottom)


def inside(rng: Draw) -> Fraction:
    """Draw a number in (0, 1)."""
    bottom = rng.randint(2, 40)
    return Fraction(rng.randint(1, bottom - 1), bottom)


def odds(rng: Draw) -> Fraction:
    """Draw e^ε, at least 1."""
    return 1 + Fraction(rng.randint(0, 60), rng.randint(1, 12))


def law(rng: Draw, size: int, *, positive: bool = False) -> list[Fraction]:
    """Draw probabilities that add up to 1."""
    while True:
        weights = [rng.randint(int(positive), 9) for _ in range(size)]
        if sum(weights):
            return [Fraction(weight, sum(weights)) for weight in weights]


def q(value: Any) -> str:
    """Write a fraction for Coq."""
    value = Fraction(value)
    return f"(({value.numerator}) # {value.denominator})"


def function(values: Sequence[Any]) -> str:
    """Write numbers as a function of their place."""
    return f"(fun i => nth i ({' :: '.join(map(q, values))} :: nil) 0)"


def table(rows: Sequence[Sequence[Any]]) -> str:
    """Write a table as a function of row and column."""
    written = " :: ".join(f"({' :: '.join(map(q, row))} :: nil)" for row in rows)
    return f"(fun i j => nth j (nth i ({written} :: nil) nil) 0)"


def objects(values: Any) -> np.ndarray:
    """Return an array that keeps fractions."""
    return np.array(values, dtype=object)


def one(expression: str) -> str:
    """Write a list of one number."""
    return f"({expression} :: nil)"


def shares(count: int) -> Callable[[Draw], tuple[Fraction, ...]]:
    """Return what draws so many numbers in [0, 1]."""
    return lambda rng: tuple(share(rng) for _ in range(count))


Answers = Sequence[Fraction]


@dataclass(frozen=True)
class Pair:
    """A Coq definition and the function of the library that it stands for.

    `draw` makes the arguments of one case, `coq` an expression of them whose value is a list of fractions, and
    `library` the same numbers by the library.
    """

    file: str
    name: str
    function: str
    draw: Callable[[Draw], tuple[Any, ...]]
    coq: Callable[..., str]
    library: Callable[..., Answers]


def simple(
    file: str,
    name: str,
    found: str,
    draw: Callable[[Draw], tuple[Any, ...]],
    library: Callable[..., Any],
    *,
    coq: Callable[..., str] | None = None,
) -> Pair:
    """Return a pair of functions with the same arguments and one number each."""
    plain = coq or (lambda *arguments: f"({name} {' '.join(map(q, arguments))})")
    return Pair(file, name, found, draw, lambda *a: one(plain(*a)), lambda *a: [Fraction(library(*a))])
