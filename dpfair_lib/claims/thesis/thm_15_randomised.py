"""Theorem 15 for randomised classifiers of what is seen: when only exchanges are DA-optimal, and what follows."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.claims.shared.populations.exchange_fronts import Front, front
from dpfair_lib.claims.shared.populations.labelled_data_sets import persons_apart, shared_cells

TRUTHS = ((Fraction(2, 3), Fraction(2, 3)), (Fraction(1, 2), Fraction(3, 4)))
"""Truth probabilities of both groups: randomised response at e^ε = 2, and a channel of other shares."""

Cells = list[list[list[int]]]


def judge_randomised(characterised: Callable[..., Any], gap: Callable[..., Any], search: Search) -> None:
    """Judge the characterisation, its converse for the theorem, and that no report makes people's gap smaller."""
    _characterisation(characterised, gap, search)
    _at_random(characterised, search)
    _against_all(characterised, search)
    _people_behind_reports(search)


@functools.cache  # nothing examined enters it
def _fronts() -> dict[str, list[tuple[Cells, Front]]]:
    worlds = {
        "people apart": persons_apart(3),
        "features and group seen": shared_cells(True),
        "features seen": shared_cells(False),
    }
    return {name: [(found.cells, front(found.cells)) for found in every] for name, every in worlds.items()}


@functools.cache
def _random_fronts(seed: int, count: int) -> list[tuple[Cells, Front]]:
    """Return populations of two to four cells with up to three people of each group and label in each."""
    rng = np.random.default_rng(seed)
    found: list[tuple[Cells, Front]] = []
    while len(found) < count:
        cells = rng.choice([0, 0, 1, 1, 2, 3], size=(int(rng.integers(2, 5)), 2, 2))
        if rng.random() < 0.5:  # the group is seen
            cells[np.arange(len(cells)), rng.integers(0, 2, len(cells))] = 0
        occupied = cells[cells.any(axis=(1, 2))]
        if occupied.any(axis=(0, 2)).all():
            found.append((occupied.tolist(), front(occupied.tolist())))
    return found


@once
def _characterisation(characterised: Callable[..., Any], gap: Callable[..., Any], search: Search) -> None:
    """All DA-optimal classifiers satisfy the equation iff an exchange errs least and an exchange closes the gap."""
    search.part("randomised: only exchanges are DA-optimal")
    determined = off = 0
    for name, worlds in _fronts().items():
        for cells, found in worlds:
            case = {"cells": cells, "seen": name}
            line = [point for point in found.optima() if found.on_the_equation(point)]
            search.agree(characterised(cells), len(line) == len(found.optima()), case)
            if characterised(cells):
                share = Fraction(sum(sum(cell[0]) for cell in cells), np.array(cells).sum())
                for signed, error in line:
                    search.equal(abs(signed), gap(found.difference, 1 - error, share), case)
            function = all(0 in (sum(row[0] for row in cell), sum(row[1] for row in cell)) for cell in cells)
            determined += function
            off += function and len(line) < len(found.optima())
    search.fact(
        "told", determined, "populations whose labels are a function of what is seen, classifiers randomised"
    )
    search.fact("off", off, "of these, with a DA-optimal classifier off the equation")


@once
def _at_random(characterised: Callable[..., Any], search: Search) -> None:
    for cells, found in _random_fronts(int(search.rng.integers(2**32)), 150 * search.effort):
        every = all(found.on_the_equation(point) for point in found.optima())
        search.agree(characterised(cells), every, {"cells": cells})


@once
def _against_all(characterised: Callable[..., Any], search: Search) -> None:
    """Where a DA-optimal classifier is off the equation and leaves a gap, some Q without noise turns the order."""
    search.part("randomised: the converse")
    for cells, satisfied, distances in _opposed():
        search.observe(min(distances), {"cells": cells, "off the equation by": distances})
        search.agree(characterised(cells), satisfied, {"cells": cells})


@functools.cache  # nothing examined enters it
def _opposed() -> list[tuple[Cells, bool, list[Fraction]]]:
    """Return populations with a DA-optimal classifier to oppose, whether it is on the equation, and what fails."""
    opposed = []
    for cells, found in itertools.chain.from_iterable(_fronts().values()):
        for signed, error in found.optima():
            if not found.on_the_equation((signed, error)) and signed and error <= found.weight:
                opposed.append((cells, False, _turned(cells, found, abs(signed), error)))
    return opposed


def _turned(cells: Cells, found: Front, gap: Fraction, error: Fraction) -> list[Fraction]:
    """Return minus the distances from what a turned order needs: 0 where Q is as the proof says."""
    difference = max(found.difference, error / found.weight)
    other = front(without_noise(cells, difference))
    left = difference - error / found.weight
    sign = 1 if other.hull[-1][0] >= left else -1
    return [
        -abs(other.difference - difference),
        -abs(other.least_error(sign * left) - error),
        Fraction(0 if left < gap else -1),
    ]


def without_noise(cells: Cells, difference: Fraction) -> list[list[list[Fraction]]]:
    """Return a law of the same groups whose labels are known, with so large a Δ′: only in group 1 are there ones."""
    sizes = np.array(cells).sum(axis=(0, 2)).tolist()
    ones, zero = difference * sizes[1], Fraction(0)
    people = [(0, 0, Fraction(sizes[0])), (1, 1, ones), (1, 0, sizes[1] - ones)]
    return [
        [[count if (a, y) == (group, label) else zero for y in (0, 1)] for a in (0, 1)]
        for group, label, count in people
        if count > 0
    ]


@once
def _people_behind_reports(search: Search) -> None:
    """A classifier of features and report is, for people, one of features and group: never better than their front."""
    search.part("randomised: people behind reports")
    slacks, flattered = _behind_reports()
    for case, slack in slacks:
        search.observe(slack, case)
    # measured on the reports some are better: the comparison can fail
    search.observe(flattered - 1, {"part": "gaps between reports"})


@functools.cache  # nothing examined enters it
def _behind_reports() -> tuple[list[tuple[dict[str, Any], Fraction]], int]:
    """Return by how much each corner errs more than it has to for its gap, and where that fails between reports."""
    slacks, flattered = [], 0
    for (cells, found), truths in itertools.product(_fronts()["features and group seen"][::4], TRUTHS):
        behind, reported = reports(cells, truths, of_reports=False), reports(cells, truths, of_reports=True)
        case = {"cells": cells, "truths": truths}
        for gap, error in front(behind).corners:
            slacks.append((case, error - found.least_error(gap)))
        flattered += any(
            gap < found.hull[0][0] or gap > found.hull[-1][0] or error < found.least_error(gap)
            for gap, error in front(reported).corners
        )
    return slacks, flattered


def reports(cells: Cells, truths: tuple[Fraction, Fraction], *, of_reports: bool) -> list[Any]:
    """Return the cells (features, report) of a population, with people counted by group or by report."""
    merged: dict[tuple[int, int], np.ndarray] = {}
    # `shared_cells` lists features in pairs of one group each; which features belong together is free
    for at, cell in enumerate(cells):
        for a, z in itertools.product((0, 1), repeat=2):
            if any(cell[a]):
                chance = truths[a] if a == z else 1 - truths[a]
                counts = merged.setdefault((at // 2, z), np.full((2, 2), Fraction(0), dtype=object))
                counts[z if of_reports else a] += chance * np.array(cell[a], dtype=object)
    return [counts.tolist() for counts in merged.values()]
