"""Every small population of two groups, by what a classifier sees of it and how its labels arise."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

Cell = tuple[Any, ...]
"""People of group 0 with label 0 and 1, and of group 1 with label 0 and 1."""
Cells = tuple[Cell, ...]
Fronts = Callable[[Any], list[tuple[Fraction, Fraction]]]

SEEN = {
    "everybody apart": "every person is a cell",
    "group and features, label known": "a cell has one group and one label",
    "features, label known": "a cell has one label",
    "group alone": "two cells, the groups",
    "group and features": "a cell has one group",
    "features": "any cells",
}
"""What a classifier sees, and what this means for the cells."""

LABELS = {
    "features": "a function of the features",
    "group and features": "a function of group and features",
    "neither": "any",
}
"""What determines the label of people behind reports."""

ASKED = ("groups", "groups and P(Y = 1)", "cells, groups and P(Y = 1)")
"""What two populations have in common."""


class Seen(NamedTuple):
    """A population, its Δ′, the front of its classifiers, and what tells one Δ′ and front from others."""

    cells: Cells
    difference: Fraction
    front: list[tuple[Fraction, Fraction]]
    key: tuple[tuple[int, int], ...]


@functools.cache
def _kinds(seen: str, size: int) -> tuple[Cell, ...]:
    """Return the cells of so many people."""
    if seen == "everybody apart" and size > 1:
        return ()
    found = []
    for head in itertools.product(range(size + 1), repeat=3):
        cell = (*head, size - sum(head))
        both_groups = (cell[0] + cell[1]) * (cell[2] + cell[3]) > 0
        both_labels = (cell[0] + cell[2]) * (cell[1] + cell[3]) > 0
        if cell[3] >= 0 and not (both_groups and "group" in seen) and not (both_labels and "known" in seen):
            found.append(cell)
    return tuple(found)


def _multisets(kinds: list[Cell], people: int) -> Iterator[Cells]:
    """Return all ways to choose cells, with repetition, of so many people."""
    if people == 0:
        yield ()
    for at, cell in enumerate(kinds):
        if sum(cell) <= people:
            for rest in _multisets(kinds[at:], people - sum(cell)):
                yield (cell, *rest)


def sizes_of(cells: Sequence[Cell]) -> tuple[Any, Any]:
    """Return how many people each group has."""
    return sum(cell[0] + cell[1] for cell in cells), sum(cell[2] + cell[3] for cell in cells)


def rates_of(cells: Sequence[Cell]) -> tuple[Fraction, Fraction]:
    """Return the share of label 1 in each group."""
    zero, one = sizes_of(cells)
    return Fraction(sum(cell[1] for cell in cells), zero), Fraction(sum(cell[3] for cell in cells), one)


@functools.cache
def populations(seen: str, people: int) -> tuple[Cells, ...]:
    """Return every population of so many people, up to the names of the groups: group 0 is not the larger one."""
    kinds = [cell for size in range(people, 0, -1) for cell in _kinds(seen, size)]
    found = (cells for cells in _multisets(kinds, people) if 0 < sizes_of(cells)[0] <= people / 2)
    return tuple(cells for cells in found if seen != "group alone" or len(cells) == 2)


def count(seen: str, people: int) -> int:
    """Return how many populations there are, from the numbers of cells alone: no population is made."""
    kinds = [cell for size in range(1, people + 1) for cell in _kinds(seen, size)]
    if seen == "group alone":
        return sum((zero + 1) * (people - zero + 1) for zero in range(1, people // 2 + 1))
    ways = {(0, 0): 1}  # by people of group 0 and of group 1
    for cell in kinds:
        zero, one = cell[0] + cell[1], cell[2] + cell[3]
        for a, b in itertools.product(range(people + 1), repeat=2):
            if a >= zero and b >= one and a + b <= people:
                ways[a, b] = ways.get((a, b), 0) + ways.get((a - zero, b - one), 0)
    return sum(ways.get((zero, people - zero), 0) for zero in range(1, people // 2 + 1))


@functools.cache
def common(cells: Cells, asked: str) -> tuple[Any, ...]:
    """Return what another population has to have in common with this one, in whole numbers, which hash fast."""
    zero, one = sizes_of(cells)
    n, positives = zero + one, sum(cell[1] + cell[3] for cell in cells)
    if asked == ASKED[0]:
        return Fraction(zero, n).as_integer_ratio()
    if asked == ASKED[1]:
        return Fraction(zero, n).as_integer_ratio() + Fraction(positives, n).as_integer_ratio()
    unit = math.gcd(*(cell[2 * a] + cell[2 * a + 1] for cell in cells for a in (0, 1)))
    sizes = sorted(((cell[0] + cell[1]) // unit, (cell[2] + cell[3]) // unit) for cell in cells)
    return Fraction(positives, n).as_integer_ratio(), tuple(sizes)


@functools.cache
def seen_by(front: Fronts, seen: str, people: int) -> list[Seen]:
    """Return the populations of so many people with their fronts."""
    found = []
    for cells in populations(seen, people):
        zero, one = rates_of(cells)
        difference, best = abs(one - zero), front(cells)
        # whole numbers are hashed much faster than fractions
        key = tuple(number.as_integer_ratio() for number in (difference, *itertools.chain(*best)))
        found.append(Seen(cells, difference, best, key))
    return found


def turned_pairs(
    worlds: dict[int, list[Seen]], people: int, asked: str, turned: Callable[..., Any]
) -> Iterator[tuple[Cells, Cells, tuple[Fraction, Fraction, Fraction]]]:
    """Return pairs that turn the order, the larger of so many people; one for each two different fronts."""
    alike: dict[Any, dict[Any, tuple[int, Seen]]] = {}
    for n in range(2, people + 1):
        for world in worlds[n]:
            if world.front:
                drawn = alike.setdefault(common(world.cells, asked), {})
                drawn.setdefault(world.key, (n, world))
    for drawn in alike.values():
        for n, p in drawn.values():
            for m, q in drawn.values():
                if (
                    max(n, m) == people
                    and p.difference <= q.difference
                    and (found := turned(list(p.front), list(q.front)))
                ):
                    yield p.cells, q.cells, found


def people_apart(zero: int, one: int, zero_positive: int, one_positive: int) -> Cells:
    """Return the cells of people who can all be distinguished: numbers of people and of labels 1 in groups 0 and 1."""
    kinds = ((0, zero, zero_positive), (2, one, one_positive))
    cells = [(at + (i < ones)) for at, people, ones in kinds for i in range(people)]
    return tuple(tuple(int(place == cell) for place in range(4)) for cell in cells)


def comparable(front: Fronts, seen: str, largest: int) -> Iterator[tuple[Cells, Cells, Any, Any]]:
    """Yield all pairs of up to so many people, of whatever shares, with Δ′(P) ≤ Δ′(Q), and their fronts."""
    every = [cells for n in range(2, largest + 1) for cells in populations(seen, n)]
    known = [(cells, max(rates := rates_of(cells)) - min(rates), front(cells)) for cells in every]
    for (P, less, of_P), (Q, more, of_Q) in itertools.product(known, repeat=2):
        if less <= more:
            yield P, Q, of_P, of_Q


@functools.cache
def people_with_features(labels: str, people: int) -> tuple[Cells, ...]:
    """Return every population by features: here a cell is a value of X, whatever the group."""
    kinds = [
        cell
        for size in range(people, 0, -1)
        for cell in _kinds("features", size)
        if not (labels == "features" and (cell[0] + cell[2]) * (cell[1] + cell[3]))
        and not (labels == "group and features" and (cell[0] * cell[1] or cell[2] * cell[3]))
    ]
    return tuple(cells for cells in _multisets(kinds, people) if all(sizes_of(cells)))


def with_groups(features: Cells) -> Cells:
    """Return the cells of a classifier that sees features and group."""
    apart = (((*cell[:2], 0, 0), (0, 0, *cell[2:])) for cell in features)
    return tuple(cell for pair in apart for cell in pair if any(cell))


@functools.cache
def with_reports(features: Cells, redrawn: Fraction, *, of_reports: bool) -> Cells:
    """Return the cells of a classifier that sees features and a report, with people counted by report or by group.

    The report is the group, or with the chance `redrawn` a draw from the groups' shares. A binary channel that keeps
    the shares is of this form, or tells the truth less often than a draw.
    """
    sizes = sizes_of(features)
    shares = [Fraction(size, sum(sizes)) for size in sizes]
    chances = [[(1 - redrawn) * (a == z) + redrawn * shares[z] for a in (0, 1)] for z in (0, 1)]
    found = []
    for cell, z in itertools.product(features, (0, 1)):
        kept = [chances[z][a] * cell[2 * a + y] for a in (0, 1) for y in (0, 1)]
        if of_reports:
            both = [kept[0] + kept[2], kept[1] + kept[3]]
            kept = [0, 0, *both] if z else [*both, 0, 0]
        found.append(tuple(kept))
    return tuple(cell for cell in found if any(cell))
