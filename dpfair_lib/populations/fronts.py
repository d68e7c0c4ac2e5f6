"""Accuracy against the parity gap on a small population: all classifiers that none dominates, exactly.

A population is a list of cells. A cell is what a classifier sees: the people in it get one decision, or one chance of
being selected. There are two groups, and P(Ŷ = 1) = P(Y = 1).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Front = list[tuple[Fraction, Fraction]]
"""Accuracy and gap, from the most accurate on: both fall."""


def deterministic_front(cells: Any) -> Front:
    """Return accuracy and gap of every DA-optimal classifier that decides each cell by a plain yes or no.

    Parameters
    ----------
    cells : sequence of four numbers each
        People of group 0 with label 0 and 1, and of group 1 with label 0 and 1; whole numbers or `Fraction`.

    Returns
    -------
    list of (accuracy, gap)
        From the most accurate on; empty if no such classifier selects as many people as have label 1.

    Raises
    ------
    ValueError
        If a group is empty or a number negative.

    References
    ----------
    Thesis, Definition 12.
    """
    counts, sizes, positives = _whole(cells)
    reached = {(0, 0, 0)}  # selected of group 0 and of group 1, and errors
    for cell, times in Counter(counts).items():
        zero, one, wrong, missed = cell[0] + cell[1], cell[2] + cell[3], cell[0] + cell[2], cell[1] + cell[3]
        steps = [(j * zero, j * one, j * wrong + (times - j) * missed) for j in range(times + 1)]
        reached = {
            (a + x, b + y, e + z)
            for (a, b, e), (x, y, z) in itertools.product(reached, steps)
            if a + x + b + y <= positives
        }
    points = sorted((e, abs(b * sizes[0] - a * sizes[1])) for a, b, e in reached if a + b == positives)
    found: list[tuple[int, int]] = []
    for errors, gap in points:
        if not found or gap < found[-1][1]:
            found.append((errors, gap))
    n, scale = sum(sizes), sizes[0] * sizes[1]
    return [(Fraction(n - errors, n), Fraction(gap, scale)) for errors, gap in found]


def randomised_front(cells: Any) -> Front:
    """Return the corners of the front of all classifiers that give each cell a chance of being selected.

    The DA-optimal classifiers have the accuracies and gaps of the line through these corners.

    Parameters
    ----------
    cells
        As in `deterministic_front`.

    Returns
    -------
    list of (accuracy, gap)
        From the most accurate one of least gap on, to gap 0.

    Raises
    ------
    ValueError
        As in `deterministic_front`.

    References
    ----------
    Thesis, Definition 12.
    """
    counts, sizes, positives = _whole(cells)
    # people of a cell; correct decisions won if they are selected, and n₀n₁ times the gap won
    blocks = [
        (
            sum(cell),
            cell[1] + cell[3] - cell[0] - cell[2],
            (cell[2] + cell[3]) * sizes[0] - (cell[0] + cell[1]) * sizes[1],
        )
        for cell in counts
    ]
    hull = sorted({_filled(blocks, positives, price) for price in _prices(blocks)})
    best = max(correct for _, correct in hull)
    flat = [gap for gap, correct in hull if correct == best]
    end = Fraction(0) if min(flat) <= 0 <= max(flat) else min(flat, key=abs)
    low, high = sorted((Fraction(0), end))
    corners = {end, Fraction(0), *(gap for gap, _ in hull if low < gap < high)}
    rejected, n, scale = sum(cell[0] + cell[2] for cell in counts), sum(sizes), sizes[0] * sizes[1]
    return [
        ((rejected + _between(hull, gap)) / n, abs(gap) / scale)
        for gap in sorted(corners, key=abs, reverse=True)
    ]


def turned_order(
    first: Front, second: Front, *, randomised: bool
) -> tuple[Fraction, Fraction, Fraction] | None:
    """Return an accuracy at which the first front has the larger gap, and both gaps; None if there is none.

    Parameters
    ----------
    first, second : list of (accuracy, gap)
        Fronts, as `deterministic_front` or `randomised_front` returns them.
    randomised : bool
        Whether the points between two neighbours belong to a front.

    Returns
    -------
    (accuracy, gap of the first, gap of the second), or None
        The most accurate one at which a front has a corner.

    References
    ----------
    Thesis, Theorem 15, says that there is none if the first data are the fairer ones.
    """
    corners, others = dict(first), dict(second)
    # a point of a line, or a corner that both have
    places = corners.keys() | others.keys() if randomised else corners.keys() & others.keys()
    for accuracy in sorted(places, reverse=True):
        if randomised:
            one, other = _on_line(first, accuracy), _on_line(second, accuracy)
        else:
            one, other = corners[accuracy], others[accuracy]
        if one is not None and other is not None and one > other:
            return accuracy, one, other
    return None


def _whole(cells: Any) -> tuple[list[tuple[int, ...]], list[int], int]:
    """Return the cells in whole numbers, the sizes of the groups, and how many people have label 1."""
    unit = math.lcm(*{count.denominator for cell in cells for count in cell})
    # people in whole numbers, as nearly always, need no product
    scaled = cells if unit == 1 else [[count * unit for count in cell] for cell in cells]
    counts = [tuple(map(int, cell)) for cell in scaled if any(cell)]
    sizes = [sum(cell[2 * a] + cell[2 * a + 1] for cell in counts) for a in (0, 1)]
    if not all(sizes) or any(count < 0 for cell in counts for count in cell):
        raise ValueError(
            f"cells: found groups of {sizes} people, expected some in each and no negative number"
        )
    return counts, sizes, sum(cell[1] + cell[3] for cell in counts)


def _prices(blocks: list[tuple[int, int, int]]) -> list[Fraction]:
    """Return a price of the gap from each range in which the order of the cells is the same."""
    rates = {(Fraction(won, size), Fraction(toward, size)) for size, won, toward in blocks}
    crossings = sorted(
        {(c - a) / (b - d) for (a, b), (c, d) in itertools.combinations(rates, 2) if b != d}
    ) or [Fraction(0)]
    middles = [(low + high) / 2 for low, high in itertools.pairwise(crossings)]
    return [crossings[0] - 1, *middles, crossings[-1] + 1]


def _filled(blocks: list[tuple[int, int, int]], total: int, price: Fraction) -> tuple[Fraction, Fraction]:
    """Return n₀n₁ times the signed gap, and the decisions won, if cells are taken in the order of their worth."""
    down, up = price.denominator, price.numerator
    common = math.lcm(*(size for size, _, _ in blocks))
    gap, correct, left = 0, 0, total
    for size, won, toward in sorted(
        blocks, key=lambda block: (down * block[1] + up * block[2]) * (common // block[0]), reverse=True
    ):
        if size > left:
            return gap + Fraction(left * toward, size), correct + Fraction(left * won, size)
        gap, correct, left = gap + toward, correct + won, left - size
    return Fraction(gap), Fraction(correct)


def _between(points: Sequence[tuple[Any, Any]], at: Fraction) -> Fraction:
    """Return the value at a place of a line through points of increasing places."""
    for (low, one), (high, other) in itertools.pairwise(points):
        if low <= at <= high:
            return Fraction(one + (other - one) * (at - low) / (high - low))
    return Fraction(dict(points)[at])


def _on_line(front: Front, accuracy: Fraction) -> Fraction | None:
    """Return the gap at an accuracy on the line through a front; None if it does not reach there."""
    if not front or not front[-1][0] <= accuracy <= front[0][0]:
        return None
    return _between(front[::-1], accuracy)
