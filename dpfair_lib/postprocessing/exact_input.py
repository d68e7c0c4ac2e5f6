"""Checks of what the exact rules are given: γ, numbers of a group, and rules to be judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpfair_lib._arguments import nonnegative, number


def share(value: Any, name: str) -> None:
    """Refuse what is not a number in [0, 1]."""
    number(value, name, "a number in [0, 1]")
    if not 0 <= value <= 1:
        raise ValueError(f"{name}: found {value}, expected a number in [0, 1]")


def weight_of(value: Any, name: str) -> None:
    """Refuse what is not a finite number of at least 0."""
    nonnegative(value, name)
    finite(value, name)


def finite(value: Any, name: str) -> None:
    """Refuse what is not a finite number."""
    if math.isinf(number(value, name, "a finite number")):
        raise ValueError(f"{name}: found {value}, expected a finite number")


def shares_of_one(values: Sequence[Any], name: str) -> None:
    """Refuse numbers below 0, and those that do not sum to 1."""
    for at, value in enumerate(values):
        nonnegative(value, f"{name}[{at}]")
    if abs(sum(values) - 1) > 1e-9:  # floats may miss it by a little
        raise ValueError(f"{name}: found the sum {sum(values)}, expected 1")


def groups_of(groups: Sequence[Any], kind: type) -> None:
    """Refuse no groups, and groups of another class."""
    if not hasattr(groups, "__len__"):
        raise ValueError(f"groups: found {groups!r}, expected a sequence of {kind.__name__}")
    if not len(groups):
        raise ValueError("groups: found none, expected at least one")
    for at, group in enumerate(groups):
        if not isinstance(group, kind):
            raise ValueError(f"groups[{at}]: found {group!r}, expected {kind.__name__}")


def chances_of(given: Any, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Return chances as an array; `shape` is that of its last axes."""
    chances = np.asarray(given)
    if chances.shape[-len(shape) :] != shape:
        expected = ", ".join(map(str, shape))
        raise ValueError(f"{name}: found the shape {chances.shape}, expected (..., {expected})")
    return chances
