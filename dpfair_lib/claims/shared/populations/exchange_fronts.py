"""All randomised classifiers of a few cells, by the corners of their polytope: accuracy against the parity gap."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction
from typing import Any, NamedTuple

Point = tuple[Fraction, Fraction]
"""Signed gap (group 1 minus group 0) and error."""


class Front(NamedTuple):
    """What randomised classifiers with P(Ŷ = 1) = P(Y = 1) can reach.

    `corners` are the corners of their set; `hull` is the least error for each signed gap, as corners of a polygon;
    `difference` is Δ′ and `weight` 2·P(A=0)·P(A=1).
    """

    corners: list[Point]
    hull: list[Point]
    difference: Fraction
    weight: Fraction

    def least_error(self, gap: Fraction) -> Fraction:
        """Return the least error of a classifier with this signed gap."""
        for (low, one), (high, other) in itertools.pairwise(self.hull):
            if low <= gap <= high:
                return one + (other - one) * (gap - low) / (high - low)
        (only,) = (error for at, error in self.hull if at == gap)
        return only

    def optima(self) -> list[Point]:
        """Return DA-optimal points: where the front bends, and halfway between; the whole front lies between them."""
        least = min(error for _, error in self.hull)
        flat = [gap for gap, error in self.hull if error == least]
        # the most accurate one of least gap; its gap is 0 if both groups can be favoured at no cost
        end = Fraction(0) if min(flat) <= 0 <= max(flat) else min(flat, key=abs)
        low, high = sorted((Fraction(0), end))
        stops = sorted({low, high, *(gap for gap, _ in self.hull if low < gap < high)})
        stops += [(a + b) / 2 for a, b in itertools.pairwise(stops)]
        return [(gap, self.least_error(gap)) for gap in stops]

    def on_the_equation(self, point: Point) -> bool:
        """Return whether 1 − acc = 2·P(A=0)·P(A=1)·(Δ′ − |gap|)."""
        gap, error = point
        return error == self.weight * (self.difference - abs(gap))


def front(cells: Any) -> Front:
    """Go through the corners: at most one cell is decided by chance, the others by a plain yes or no."""
    return _front(tuple(tuple(tuple(row) for row in cell) for cell in cells))


@functools.cache
def _front(cells: tuple[tuple[tuple[Any, ...], ...], ...]) -> Front:
    sizes = [sum(sum(cell[a]) for cell in cells) for a in (0, 1)]
    positives = [sum(cell[a][1] for cell in cells) for a in (0, 1)]
    mass, weight = sum(sizes), Fraction(2 * sizes[0] * sizes[1]) / sum(sizes) ** 2
    corners = set()
    for at, cell in enumerate(cells):
        others = [*cells[:at], *cells[at + 1 :]]
        for picks in itertools.product((0, 1), repeat=len(others)):
            chosen = [
                sum(sum(other[a]) for other, pick in zip(others, picks, strict=True) if pick) for a in (0, 1)
            ]
            wrong = sum(other[a][1 - pick] for other, pick in zip(others, picks, strict=True) for a in (0, 1))
            h = Fraction(sum(positives) - sum(chosen)) / (sum(cell[0]) + sum(cell[1]))
            if 0 <= h <= 1:
                rates = [(chosen[a] + h * sum(cell[a])) / sizes[a] for a in (0, 1)]
                wrong += sum(h * cell[a][0] + (1 - h) * cell[a][1] for a in (0, 1))
                corners.add((rates[1] - rates[0], wrong / mass))
    base = [Fraction(positives[a]) / sizes[a] for a in (0, 1)]
    return Front(sorted(corners), _lower_hull(sorted(corners)), abs(base[1] - base[0]), weight)


def _lower_hull(points: list[Point]) -> list[Point]:
    hull: list[Point] = []
    for point in points:
        if hull and hull[-1][0] == point[0]:
            continue  # sorted: the first of a gap has the least error
        while len(hull) > 1 and _turns_down(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def _turns_down(first: Point, middle: Point, last: Point) -> bool:
    return (middle[1] - first[1]) * (last[0] - first[0]) >= (last[1] - first[1]) * (middle[0] - first[0])
