"""Small populations of two groups, counted person by person, and all classifiers of a class on them."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction
from typing import NamedTuple

import numpy as np


class World(NamedTuple):
    """A population and the accuracies and parity gaps of all its classifiers with P(Ŷ = 1) = P(Y = 1).

    `cells` holds counts by cell, group and label; a classifier decides cell by cell, so that a cell with both labels
    holds people whom it cannot distinguish, and in a cell with both groups it does not see the group.
    """

    cells: list[list[list[int]]]
    share_0: Fraction
    difference: Fraction
    accuracies: np.ndarray
    gaps: np.ndarray
    signed: np.ndarray


def world(cells: list[list[list[int]]]) -> World | None:
    """Go through all deterministic classifiers of the cells; None if a group is empty."""
    counts = np.array(cells).reshape(-1, 2, 2)  # cell, group, label
    n, groups = int(counts.sum()), counts.sum(axis=(0, 2))
    if not groups.all():
        return None
    positives = counts[:, :, 1].sum(axis=0)
    picks = np.array(list(itertools.product((0, 1), repeat=len(cells))))
    selected = picks @ counts.sum(axis=2)
    picks = picks[selected.sum(axis=1) == positives.sum()]
    selected = picks @ counts.sum(axis=2)
    correct = picks @ counts[:, :, 1].sum(axis=1) + (1 - picks) @ counts[:, :, 0].sum(axis=1)
    sizes = int(groups[0]) * int(groups[1])
    between = [Fraction(int(s[1] * groups[0] - s[0] * groups[1]), sizes) for s in (positives, *selected)]
    # the group with more labels 1 counts as the favoured one
    toward = 1 if between[0] >= 0 else -1
    signed = np.array([toward * gap for gap in between[1:]], dtype=object)
    return World(
        cells,
        Fraction(int(groups[0]), n),
        abs(between[0]),
        np.array([Fraction(int(c), n) for c in correct], dtype=object),
        abs(signed),
        signed,
    )


@functools.cache
def persons_apart(largest: int) -> tuple[World, ...]:
    """Return all populations of two groups of at most so many people, each of whom is a cell: labels without noise."""
    sizes, populations = range(1, largest + 1), []
    for n in itertools.product(sizes, sizes):
        for s in itertools.product(range(n[0] + 1), range(n[1] + 1)):
            people = [(a, int(i < s[a])) for a in (0, 1) for i in range(n[a])]
            cells = [[[int((a, y) == who) for y in (0, 1)] for a in (0, 1)] for who in people]
            found = world(cells)
            assert found is not None
            populations.append(found)
    return tuple(populations)


@functools.cache
def shared_cells(sees_group: bool) -> tuple[World, ...]:
    """Return all populations with two feature values and at most one person of each feature, group and label."""
    populations = []
    for bits in itertools.product((0, 1), repeat=8):
        counts = np.array(bits).reshape(2, 2, 2)
        if sees_group:
            counts = np.array(
                [[row if a == b else 0 * row for b in (0, 1)] for x in counts for a, row in enumerate(x)]
            )
        found = world([cell for cell in counts.tolist() if any(map(any, cell))])
        if found is not None:
            populations.append(found)
    return tuple(populations)
