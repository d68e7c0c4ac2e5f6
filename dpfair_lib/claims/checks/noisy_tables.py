"""Small tables with whole noise on them, and the machine whose predictions all turn around: for the checks of SK."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.search import Search

EXACT = np.vectorize(Fraction, otypes=[object])
PAIR = ((0, 1),)

TURNED: dict[str, Any] = {
    "m": 2000, "groups": 2, "beta": Fraction(1, 20), "epsilon": Fraction(1), "feature": Fraction(1, 10**8)
}  # fmt: skip
"""m = k records with the one feature ±s, half of them of each label, and the parameters of Lemma A.2."""


def turned_around(m: int, epsilon: Fraction, feature: Fraction) -> Fraction:
    """Return a probability that noise on the support vectors turns all predictions around, from below.

    For s this small every record is a support vector with dual coefficient C, b = 0 and w = C Σ y_i x_i. With noise
    V_i ~ Lap(2/(mε)) on x_i all predictions turn if Σ y_i V_i < −Σ y_i x_i, where Σ y_i x_i ≤ ms. The sum of the noise
    is symmetric, and its density at most mε/4, that of one V_i at 0.
    """
    return Fraction(1, 2) - m * feature * m * epsilon / 4


def log_ceiling(x: Fraction) -> Fraction:
    """Return a fraction that is at least ln x and little more: some terms of its exponential exceed x."""
    bound = Fraction(math.ceil(math.log(x) * 1000) + 1, 1000)
    total = term = Fraction(1)
    for k in range(1, 60):
        term = term * bound / k
        total += term
    if total < x:
        raise AssertionError(f"found e^{float(bound)} ≥ {float(total)}, expected at least {float(x)}")
    return bound


def printed_tails(m: int, groups: int, beta: Fraction, epsilon: Fraction) -> Fraction:
    """Return L = ln(2|A|/β)/(mε) + ln(2/β)/(kε) for k = m, from above."""
    return (log_ceiling(2 * groups / beta) + log_ceiling(2 / beta)) / (m * epsilon)


def condition_kept(m: int, groups: int, beta: Fraction, epsilon: Fraction) -> bool:
    """Return whether equal cells, q̂_ay = 1/(2|A|), meet the condition of Lemma A.2, min q̂_ay > 4L."""
    return Fraction(1, 2 * groups) > 4 * printed_tails(m, groups, beta, epsilon)


def signs(cells: int) -> Iterator[tuple[int, ...]]:
    """Yield all vectors of −1 and 1."""
    return itertools.product((-1, 1), repeat=cells)


def moved_tables(search: Search, groups: int, tables: int) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    """Yield random tables of whole counts, the noise on them, and its largest size η; exact."""
    for _ in range(tables * search.effort):
        counts = search.rng.integers(0, 9, size=(2, groups, 2))
        radius = int(search.rng.integers(1, 4))
        noise = search.rng.integers(-radius, radius + 1, size=counts.shape)
        if search.rng.uniform() < 0.7:  # at the corners of the cube of all noises
            noise = radius * search.rng.choice([-1, 1], size=counts.shape)
        yield EXACT(counts), EXACT(noise), radius


def some_rules(search: Search, groups: int, number: int) -> np.ndarray:
    """Return random rules with chances 0, ½ and 1, shape (number, 2, groups)."""
    return EXACT(search.rng.integers(0, 3, size=(number, 2, groups))) / 2


def rows_of(counts: np.ndarray) -> np.ndarray:
    """Return the rows of each true label and group, shape (2, groups)."""
    return counts.sum(axis=0).T


def kept(counts: np.ndarray) -> np.ndarray:
    """Return the table with its negative counts set to 0."""
    return np.maximum(counts, 0 * counts)


def table_of(rows: Any) -> np.ndarray:
    """Return nested tuples as an exact table."""
    return EXACT(np.array(rows, dtype=object))
