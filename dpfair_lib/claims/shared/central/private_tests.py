"""All private tests of a few records whose chances are twelfths."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction

import numpy as np


@functools.cache
def private_tests(n: int, odds: Fraction, delta: Fraction) -> np.ndarray:
    """Return the chances of every (ε, δ)-private test at the counts 0 to n, in twelfths, of shape (tests, n + 1)."""
    chances = np.array(list(itertools.product(range(13), repeat=n + 1)))
    up, down = odds.numerator, odds.denominator
    private = np.ones(len(chances), dtype=bool)
    for one, two in itertools.pairwise(range(n + 1)):
        for p, q in ((chances[:, one], chances[:, two]), (chances[:, two], chances[:, one])):
            for a, b in ((p, q), (12 - p, 12 - q)):
                private &= down * a - up * b <= int(12 * down * delta)
    return chances[private]
