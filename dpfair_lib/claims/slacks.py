"""Slacks: how far a statement is from failing, and the case that comes closest."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.evidence import Case, Number


@dataclass(eq=False)
class Worst:
    """The case of the smallest margin (slack and tolerance together) seen so far."""

    cases: int = 0
    slack: Number | None = None
    margin: Number | None = None
    tolerance: float = 0.0
    case: Case | None = None
    part: str = ""
    verify: Callable[..., Number] | None = None

    def add(self, cases: int, slack: Number, tolerance: float, case: Case, part: str, verify: Any) -> None:
        """Count cases, and keep the one given if it comes closer than all before."""
        self.cases += cases
        self.tolerance = max(self.tolerance, tolerance)
        # an exact slack is compared exactly: adding a float would round it
        granted = Fraction(tolerance) if tolerance and isinstance(slack, Fraction | int) else tolerance
        margin = slack + granted if tolerance else slack
        if self.margin is None or margin < self.margin:
            self.slack, self.margin, self.part, self.verify = slack, margin, part, verify
            self.case = copy.deepcopy(dict(case))

    def see(self, slack: Any, tolerance: float, case: Case, part: str, verify: Any) -> None:
        """Count one case, or a vector of cases of which the one that comes closest may be kept."""
        if not isinstance(slack, np.ndarray):
            self.add(1, screened(slack), tolerance, case, part, verify)
            return
        if slack.ndim != 1 or slack.size == 0:
            raise ValueError(f"slack: found shape {slack.shape}, expected one number or a vector of them")
        # NaN is a failure; it is not equal to itself, in arrays of objects too
        numbers = np.where(slack == slack, slack, -np.inf)
        at = int(np.argmin(numbers))
        self.add(slack.size, plain(numbers[at]), tolerance, picked(case, at, slack.shape), part, verify)

    def include(self, other: Worst) -> None:
        """Count the cases of another, seen after these, and keep its case if that comes closer."""
        self.cases += other.cases
        self.tolerance = max(self.tolerance, other.tolerance)
        if other.margin is not None and (self.margin is None or other.margin < self.margin):
            self.slack, self.margin, self.case = other.slack, other.margin, other.case
            self.part, self.verify = other.part, other.verify

    @property
    def violated(self) -> bool:
        """Whether some case fails."""
        return self.margin is not None and self.margin < 0

    def confirmed(self) -> Number:
        """Recompute the slack of the case from scratch, and return it; it must be exact and below zero."""
        assert self.verify is not None
        again = self.verify(**{name: plain(value) for name, value in (self.case or {}).items()})
        exact = isinstance(again, int | Fraction) and not isinstance(again, bool)
        if not exact and self.tolerance == 0:
            raise AssertionError(f"verify returned {again!r}: without a tolerance it must be exact")
        if not again + self.tolerance < 0:
            raise AssertionError(
                f"counterexample not confirmed: slack {self.slack} in the search, {again} when recomputed, "
                f"at {self.case}"
            )
        return again


def signed(value: Any) -> Any:
    """Return a number, or an array of numbers, whose differences cannot wrap around or be truth values."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, np.ndarray) and value.dtype.kind == "b"):
        raise TypeError("found a truth value, expected a number; use `agree` for truth values")
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "iufO":
            raise TypeError(f"found an array of {value.dtype}, expected numbers")
        return value.astype(np.int64) if value.dtype.kind in "iu" else value
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, int | float | Fraction):
        raise TypeError(f"found {value!r}, expected a number")
    return value


def picked(case: Case, at: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    """Return one case of a vector of them, or some: entries of the arrays of its length; all else is shared."""
    return {
        name: value[at] if isinstance(value, np.ndarray) and value.shape[:1] == shape else value
        for name, value in case.items()
    }


def screened(slack: Number) -> Number:
    """Return a slack, and minus infinity for what is not a number."""
    return -math.inf if slack != slack else slack


def plain(value: Any) -> Any:
    """NumPy scalars as Python numbers, arrays as lists."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def shown(case: Case | None) -> Case | None:
    """Return a case with Python numbers and lists only."""
    return None if case is None else {name: plain(value) for name, value in case.items()}
