"""Sums of a column counted from the middle of its range: how far one record moves them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.preparation.moments import MOST, moments_scale, row_sums

STEPS = 120
GRID = [Fraction(i, STEPS) - Fraction(1, 2) for i in range(STEPS + 1)]
RANGES = ((-1.0, 1.0), (0.0, 1.0), (18.0, 100.0))


def check(
    *,
    search: Search,
    sums: Callable[..., np.ndarray] = row_sums,
    scale: Callable[..., float] = moments_scale,
) -> Evidence:
    """No record moves the sums by more than a range, added, removed or replaced; the two ends do."""
    _in_fractions(search)
    _as_computed(sums, search)
    _tables(sums, scale, search)
    return search.evidence()


def _of(c: Fraction | None) -> tuple[Fraction, Fraction, Fraction]:
    """Return what a value adds to the three sums; a missing one adds nothing."""
    return (Fraction(0),) * 3 if c is None else (c, c * c, Fraction(1, 4))


def _move(one: tuple[Fraction, ...], other: tuple[Fraction, ...]) -> Fraction:
    return sum((abs(a - b) for a, b in zip(one, other, strict=True)), Fraction(0))


def _in_fractions(search: Search) -> None:
    """All pairs of values in 120ths of the range, one of them perhaps missing."""
    search.part("all pairs of values")
    values: list[Fraction | None] = [None, *GRID]
    largest = Fraction(0)
    for one, other in itertools.product(values, repeat=2):
        moved = _move(_of(one), _of(other))
        search.observe(1 - moved, {"c": one, "new c": other})
        largest = max(largest, moved)
    search.equal(largest, 1, {"claim": "attained"})
    search.exhausts("all pairs of values in 120ths of a range, and missing ones", cases=(STEPS + 2) ** 2)
    search.part("what cannot be left out")
    least, most = GRID[0] + Fraction(1, 2), GRID[-1] + Fraction(1, 2)
    below = _move((least, least**2), (most, most**2))  # the count of rows does not move
    search.needs("the middle: counted from the lower end", slack=1 - below, case={"u": least, "new u": most})
    ends = _move(_of(GRID[0]), _of(None))
    search.needs("the bound: with 0.999 of it", slack=Fraction(999, 1000) - ends, case={"c": GRID[0]})


def _as_computed(sums: Callable[..., np.ndarray], search: Search) -> None:
    """The library's whole numbers: the same bound, attained, and near the exact sums; values beyond are cut off."""
    search.part("as computed, in whole numbers")
    for low, high in RANGES:
        inner = low + (high - low) * np.array([float(c + Fraction(1, 2)) for c in GRID])
        values = np.array([*inner, low - 5, high + 5, np.nan, *search.rng.uniform(low, high, 80)])
        c = np.clip((values - low) / (high - low), 0, 1) - 0.5
        for squares in (True, False):
            found = np.array(
                [sums(values[at : at + 1], low, high, squares=squares) for at in range(values.size)]
            )
            moves = abs(found[:, None] - found[None, :]).sum(axis=-1).ravel()
            first, second = (values[at] for at in np.divmod(np.arange(moves.size), values.size))
            search.observe(
                MOST - moves, {"value": first, "new value": second, "low": low, "squares": squares}
            )
            search.equal(int(moves.max()), MOST, {"low": low, "squares": squares, "claim": "attained"})
            present = np.where(np.isnan(c), 0.0, 1.0)
            parts = [c, c * c, present / 4] if squares else [c, present / 2]
            for at, exact in enumerate(parts):
                away = abs(found[:, at] - np.nan_to_num(exact) * MOST)
                search.observe(1.5 - away, {"value": values, "sum": at, "low": low})


def _tables(sums: Callable[..., np.ndarray], scale: Callable[..., float], search: Search) -> None:
    """Whole columns add up, so neighbours differ by one record's move; the noise of several columns covers all."""
    search.part("whole columns")
    for _ in range(200 * search.effort):
        values = search.rng.choice([-1.0, -0.5, 0.0, 0.3, 1.0, np.nan], int(search.rng.integers(1, 12)))
        alone = sum(sums(values[at : at + 1], -1.0, 1.0, squares=True) for at in range(values.size))
        together = sums(values, -1.0, 1.0, squares=True)
        search.equal(int(abs(together - alone).sum()), 0, {"values": values.tolist()})
    for columns, epsilon in itertools.product((1, 3, 10), (0.1, 1.0, 4.0)):
        noise = scale(columns, epsilon)
        search.observe(noise * epsilon - MOST * columns, {"columns": columns, "ε": epsilon}, tolerance=1e-6)
        search.equal(
            noise * epsilon / (MOST * columns), 1, {"columns": columns, "ε": epsilon}, tolerance=1e-12
        )


def _from_the_lower_end(values: np.ndarray, low: float, high: float, *, squares: bool) -> np.ndarray:
    """Sums of u and u² with u from 0 to 1."""
    return row_sums(values, low, 2 * high - low, squares=squares) + row_sums(
        values, low, high, squares=squares
    )


FAULTS: dict[str, dict[str, Any]] = {
    "values that are not cut off": {
        "sums": lambda values, low, high, *, squares: row_sums(values, low - 4, high + 4, squares=squares) * 5
    },
    "both sums from the lower end": {"sums": _from_the_lower_end},
    "a count of whole rows": {
        "sums": lambda values, low, high, *, squares: (
            row_sums(values, low, high, squares=squares) * np.array([1, 1, 2] if squares else [1, 2])
        )
    },
    "squares forgotten": {
        "sums": lambda values, low, high, *, squares: (
            row_sums(values, low, high, squares=squares) * np.array([1, 0, 1] if squares else [1, 1])
        )
    },
    "noise for one column": {"scale": lambda columns, epsilon: moments_scale(columns, epsilon) / columns},
    "noise of the usual sums": {"scale": lambda columns, epsilon: 2 * moments_scale(columns, epsilon)},
}


CLAIM = Claim(
    id="ours.middle-sums",
    where="A private pipeline, Result 2",
    statement="Let c in [−½, ½] be a value, counted from the middle of its public range in units of it. If a record is "
    "added, removed or replaced, the sums of (c, c^2, ¼) over the rows with a value move by at most 1 in the sum of "
    "absolute values.",
    verdict="holds",
    finding="The move from one end of the range to the other attains it, and so does a value at an end that appears. "
    "Around the lower end two sums move by 2. The library's whole numbers keep the bound exactly.",
    headline="Mean and square of a column need half of the noise if values are counted from the middle of their range "
    "and not from its end.",
    kind="theorem",
    chapter="private-pipeline",
    check=check,
    faults=FAULTS,
)
