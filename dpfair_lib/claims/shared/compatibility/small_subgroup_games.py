"""All small data sets of two cells, one subgroup and two labels, and the game on them by its definition."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

Record = tuple[int, int, int]  # cell, whether in the subgroup, label
RECORDS: tuple[Record, ...] = tuple((cell, inside, y) for cell in (0, 1) for inside in (0, 1) for y in (0, 1))
MEMBERS = np.array([[Fraction(0)], [Fraction(1)]], dtype=object)


def data_sets(n: int) -> Iterator[tuple[Record, ...]]:
    """All multisets of n records."""
    return itertools.combinations_with_replacement(RECORDS, n)


def table_of(records: tuple[Record, ...]) -> np.ndarray:
    """Return the counts of (cell, profile, label) as fractions."""
    table = np.full((2, 2, 2), Fraction(0), dtype=object)
    for record in records:
        table[record] += 1
    return table


def error(records: tuple[Record, ...], selected: tuple[Fraction, ...]) -> Fraction:
    """Return the share of wrong decisions, record by record."""
    wrong = sum((selected[cell] if y == 0 else 1 - selected[cell] for cell, _, y in records), Fraction(0))
    return wrong / len(records)


def violation(records: tuple[Record, ...], selected: tuple[Fraction, ...]) -> Fraction:
    """Return A(g)·(FP(h) − FP(h, g)) by Definition 8; 0 where the subgroup has no negatives."""
    negatives = [(cell, inside) for cell, inside, y in records if y == 0]
    group = [cell for cell, inside in negatives if inside]
    if not group:
        return Fraction(0)
    overall = sum(selected[cell] for cell, _ in negatives) / Fraction(len(negatives))
    within = sum(selected[cell] for cell in group) / Fraction(len(group))
    return Fraction(len(group), len(records)) * (overall - within)


def grid_violations(
    table: np.ndarray, members: np.ndarray, selected: np.ndarray, n: Fraction
) -> list[Fraction]:
    """Return A(g)·(FP(h) − FP(h, g)) of each subgroup by Definition 8, for a table of counts, out of n people."""
    negatives, found = table[:, :, 0], []
    overall = (selected @ negatives).sum() / negatives.sum()
    for inside in members.T:
        group = int((negatives @ inside).sum())
        within = (selected @ negatives @ inside) / group if group else Fraction(0)
        found.append(Fraction(group) / n * (overall - within))
    return found


def record_cost(records: tuple[Record, ...], at: int, weight: Fraction) -> Fraction:
    """Return what selecting one record costs: by how much the payoff of h and λ moves with h at this record alone."""
    _, inside, y = records[at]
    negatives = [group for _, group, label in records if label == 0]
    fairness = weight * (Fraction(sum(negatives), len(negatives)) - inside) if y == 0 else Fraction(0)
    return (1 - 2 * y + fairness) / len(records)


def loss_change(rest: tuple[Record, ...], first: Record, second: Record, weight: Fraction) -> Fraction:
    """Return the sum of the absolute changes of all records' costs when one record is replaced by another."""
    one, two = (first, *rest), (second, *rest)
    changes = [abs(record_cost(one, at, weight) - record_cost(two, at, weight)) for at in range(len(one))]
    return sum(changes, Fraction(0))
