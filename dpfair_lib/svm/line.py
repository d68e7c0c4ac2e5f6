"""Support vector machines with one feature, solved exactly, to test claims about support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpfair_lib._validation import as_binary, as_numbers, check_lengths

Number = int | Fraction


@dataclass(frozen=True)
class LineSVM:
    """A linear classifier of one number, 1[weight·x + intercept > 0], with its support vectors.

    Attributes
    ----------
    weight, intercept : Fraction
        w and b.
    support : tuple of int
        The records with y(wx + b) ≤ 1, y = ±1, in their order: on the margin, inside it, or on the wrong side.
    """

    weight: Fraction
    intercept: Fraction
    support: tuple[int, ...]

    def score(self, x: Number) -> Fraction:
        """Return wx + b."""
        return self.weight * x + self.intercept


def hard_margin(x: Sequence[Number], y: Sequence[int]) -> LineSVM:
    """Return the separating threshold in the middle of the gap between two classes.

    Parameters
    ----------
    x : sequence of int or Fraction
        The feature of each record.
    y : sequence of int
        Labels 0 and 1, both present.

    Returns
    -------
    LineSVM
        w = ±2/gap; the support vectors are the records at the two ends of the gap, duplicates included.

    Raises
    ------
    ValueError
        If x is not exact, a class is missing, or no threshold separates the classes.

    References
    ----------
    SK, § 3.3.
    """
    numbers, signs = _records(x, y)
    ends = {sign: [v for v, s in zip(numbers, signs, strict=True) if s == sign] for sign in (-1, 1)}
    upper = 1 if max(ends[-1]) < min(ends[1]) else -1
    low, high = max(ends[-upper]), min(ends[upper])
    if low >= high:
        raise ValueError(
            "y: found classes that no threshold separates, expected separable ones; see soft_margin"
        )
    weight = upper * Fraction(2) / (high - low)
    return _with_support(numbers, signs, weight, -weight * (low + high) / 2)


def soft_margin(x: Sequence[Number], y: Sequence[int], C: Number) -> LineSVM:
    """Return the minimiser of w²/2 + C Σ max(0, 1 − y(wx + b)), y = ±1.

    For given w the best b is any number between two neighbours among the sorted y_i − w x_i, the P-th and the next for
    P records of label 1, and we take the middle. What is left is a convex function of w, a parabola between kinks that
    lie at w = 0 and w = ±2/(x_i − x_j).

    Parameters
    ----------
    x, y
        As for `hard_margin`; the classes may overlap.
    C : int or Fraction
        Price of the slack, positive.

    Returns
    -------
    LineSVM
        The classifier; w is unique, b in the middle of its interval.

    Raises
    ------
    ValueError
        If x or C is not exact, C not positive, or a class is missing.

    References
    ----------
    SK, § 3.3.
    """
    numbers, signs = _records(x, y)
    if isinstance(C, bool) or not isinstance(C, int | Fraction) or C <= 0:
        raise ValueError(f"C: found {C!r}, expected a positive int or Fraction")
    kinks = {Fraction(2) / (one - two) for one in numbers for two in numbers if one != two} | {Fraction(0)}
    grid = sorted(kinks)
    grid = [grid[0] - 1, *grid, grid[-1] + 1]
    losses = [_hinge_sum(numbers, signs, w) for w in grid]
    best = []
    for at in range(len(grid) - 1):
        low, high = grid[at], grid[at + 1]
        slope = (losses[at + 1] - losses[at]) / (high - low)
        # beyond the outer kinks the sum goes on with the same slope
        left, right = at == 0, at == len(grid) - 2
        weight = -C * slope
        weight = weight if left or weight >= low else low
        weight = weight if right or weight <= high else high
        best.append((weight * weight / 2 + C * (losses[at] + slope * (weight - low)), weight))
    weight = min(best)[1]
    return _with_support(numbers, signs, weight, sum(_best_intercepts(numbers, signs, weight)) / Fraction(2))


def _records(x: Sequence[Number], y: Sequence[int]) -> tuple[list[Fraction], list[int]]:
    labels = as_binary(y, "y")
    check_lengths(x=as_numbers(x, "x"), y=labels)
    if not all(isinstance(value, int | Fraction) and not isinstance(value, bool) for value in x):
        raise ValueError("x: found numbers that are not exact, expected int or Fraction")
    if len(set(labels.tolist())) < 2:
        raise ValueError(f"y: found the label {labels[0]} only, expected both 0 and 1")
    return [Fraction(value) for value in x], (2 * labels - 1).tolist()


def _best_intercepts(numbers: list[Fraction], signs: list[int], weight: Fraction) -> list[Fraction]:
    breaks = sorted(sign - weight * value for value, sign in zip(numbers, signs, strict=True))
    positives = signs.count(1)
    return breaks[positives - 1 : positives + 1]


def _hinge_sum(numbers: list[Fraction], signs: list[int], weight: Fraction) -> Fraction:
    intercept = _best_intercepts(numbers, signs, weight)[0]
    losses = (1 - s * (weight * v + intercept) for v, s in zip(numbers, signs, strict=True))
    return sum((loss for loss in losses if loss > 0), Fraction(0))


def _with_support(
    numbers: list[Fraction], signs: list[int], weight: Fraction, intercept: Fraction
) -> LineSVM:
    support = tuple(
        at for at, (v, s) in enumerate(zip(numbers, signs, strict=True)) if s * (weight * v + intercept) <= 1
    )
    return LineSVM(weight, intercept, support)
