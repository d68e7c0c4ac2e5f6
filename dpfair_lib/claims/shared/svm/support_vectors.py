"""Small universes of support vectors that several checks of SK go through."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

Record = tuple[int, int]
POSITIONS = 4
RECORDS: tuple[Record, ...] = tuple(itertools.product(range(POSITIONS), (0, 1)))


def neighbours(largest: int) -> Iterator[tuple[tuple[Record, ...], Record, Record]]:
    """Yield all pairs of data sets of 2 … `largest` records that differ in one: the rest, the one, the other."""
    for size in range(1, largest):
        for rest in itertools.combinations_with_replacement(RECORDS, size):
            for one, two in itertools.combinations(RECORDS, 2):
                yield rest, one, two


def nearest_opposites(records: tuple[Record, ...]) -> tuple[list[int], list[int]] | None:
    """Return the support vectors of label 0 and of label 1 by distances alone; None where nothing separates them.

    A record is on the margin if and only if one of the other label is as near to it as two such records come.
    """
    sides = [sorted(x for x, y in records if y == label) for label in (0, 1)]
    if not all(sides) or not (sides[0][-1] < sides[1][0] or sides[1][-1] < sides[0][0]):
        return None
    gap = min(abs(a - b) for a in sides[0] for b in sides[1])
    found = [[a for a in sides[i] if min(abs(a - b) for b in sides[1 - i]) == gap] for i in (0, 1)]
    return found[0], found[1]


def all_inside(x: list[Fraction], y: list[int], C: Fraction) -> bool:
    """Return whether every dual coefficient at C is the optimum, so that all records are support vectors.

    By the conditions of optimality: as many of each label, w = C Σ y_i x_i, and some b with y(wx + b) ≤ 1 for all.
    """
    signs = [2 * label - 1 for label in y]
    weight = C * sum(s * v for s, v in zip(signs, x, strict=True))
    above = min(1 - weight * v for v, s in zip(x, signs, strict=True) if s > 0)
    below = max(-1 - weight * v for v, s in zip(x, signs, strict=True) if s < 0)
    return sum(signs) == 0 and below <= above
