"""Lower bounds of linear programs from multipliers, in whole numbers: the checker that `proofs/` proves right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class Constraint(NamedTuple):
    """Σ coefficient·variable ≥ least, or = least."""

    coefficients: Mapping[int, int]
    least: int
    equation: bool = False


def linear_bound(
    objective: Mapping[int, int], constraints: Sequence[Constraint], multipliers: Sequence[int]
) -> int:
    """Return a number that the objective meets or exceeds wherever the constraints hold and variables lie in [0, 1].

    Σ multiplier·least, plus the negative coefficients of what the multipliers leave of the objective.

    Raises
    ------
    ValueError
        If there are more or fewer multipliers than constraints, if one is no whole number, or if that of an inequality
        is below 0.
    """
    if len(multipliers) != len(constraints):
        raise ValueError(
            f"multipliers: found {len(multipliers)}, expected {len(constraints)}, one a constraint"
        )
    whole_numbers(multipliers, "multipliers")
    left, bound = dict(objective), 0
    for at, (constraint, y) in enumerate(zip(constraints, multipliers, strict=True)):
        if y < 0 and not constraint.equation:
            raise ValueError(
                f"multipliers: found {y} at position {at}, expected at least 0 for an inequality"
            )
        if y:
            bound += y * constraint.least
            for variable, coefficient in constraint.coefficients.items():
                left[variable] = left.get(variable, 0) - y * coefficient
    return bound + sum(value for value in left.values() if value < 0)


def whole_numbers(values: Iterable[object], name: str) -> None:
    """Raise if a value is no whole number; a float would be rounded, and a subclass may compute what it likes."""
    for at, value in enumerate(values):
        if type(value) is not int:
            raise ValueError(f"{name}: found {value!r} at position {at}, expected a whole number (int)")
