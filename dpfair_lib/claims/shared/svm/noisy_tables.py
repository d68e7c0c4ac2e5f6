"""Small tables with whole noise on them, and the machine whose predictions all turn around: for the checks of SK."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.search import Search
from dpfair_lib.svm.equalized_odds_program import OddsProgram, expected_errors, lower_bound, solve

EXACT = np.vectorize(Fraction, otypes=[object])
PAIR = ((0, 1),)

TURNED: dict[str, Any] = {
    "m": 2000, "groups": 2, "beta": Fraction(1, 20), "epsilon": Fraction(1), "feature": Fraction(1, 10**8)
}  # fmt: skip
"""m = k records with the one feature ±s, half of them of each label, and the parameters of Lemma A.2."""

TURNED_SHOWN = """import numpy as np
rng, m, epsilon, beta = np.random.default_rng(0), 2000, 1.0, 0.05  # m = k, |A| = 2, cells of ¼
y = np.where(np.arange(m) < m // 2, 1, -1)
x = 1e-8 * y  # one tiny feature: every record is a support vector, w = C Σ y x
noisy = x + rng.laplace(scale=2 / (m * epsilon), size=(2000, m))
turned = (noisy @ y < 0).mean()  # then all predictions are turned around
L = (np.log(4 / beta) + np.log(2 / beta)) / (m * epsilon)
"""
"""Such a machine by simulation, in lines that need NumPy alone: how often its predictions turn around, and L."""


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


def condition_met(m: int, groups: int, beta: Fraction, epsilon: Fraction) -> bool:
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


def without_negatives(counts: np.ndarray) -> np.ndarray:
    """Return the table with its negative counts set to 0."""
    return np.maximum(counts, 0 * counts)


def table_of(rows: Any) -> np.ndarray:
    """Return nested tuples as an exact table."""
    return EXACT(np.array(rows, dtype=object))


def every_pair() -> tuple[OddsProgram, OddsProgram]:
    """Return a table of all groups with counts of at most 2, once without and once with noise of −1, 0 and 1.

    Each group comes with each noise on its two counts and each rule of 0 and 1, which `every_rule` has; the pairs are
    all pairs of such groups. Both labels have the same counts. In floats: there are 324² pairs.
    """
    cases = list(itertools.product(*[range(3)] * 2, *[range(-1, 2)] * 2, *[range(2)] * 2))
    counts = np.array([case[:2] for case in cases], dtype=float).T[:, :, None].repeat(2, axis=2)
    noise = np.array([case[2:4] for case in cases], dtype=float).T[:, :, None]
    pairs = tuple((one, other) for one in range(len(cases)) for other in range(len(cases)))
    free = np.ones((2, len(pairs)))
    return OddsProgram(counts, pairs, free), OddsProgram(np.maximum(counts + noise, 0), pairs, free)


def every_rule() -> np.ndarray:
    """Return the rules of the groups of `every_pair`."""
    cases = itertools.product(range(81), *[range(2)] * 2)
    return np.array([case[1:] for case in cases], dtype=float).T


def excess_at_corners(groups: int) -> np.ndarray:
    """Return by how much noise of −1 and 1 moves the difference of two rules' errors, for all noises and rules."""
    noise = np.array(list(signs(4 * groups))).reshape(-1, 2 * groups, 2)
    rules = np.array(list(itertools.product((0, 1), repeat=2 * groups)))
    change = (rules[:, None, :] - rules[None, :, :]).reshape(-1, 2 * groups)
    return ((noise[:, :, 0] - noise[:, :, 1]) @ change.T).ravel()


SHARP: dict[str, Any] = {
    "counts": (((2, 20), (4, 0)), ((6, 0), (12, 20))),
    "noise": (((-1, 0), (-1, 0)), ((1, 0), (1, 0))),
    "rule": ((1, 0), (0, 1)),
}
"""False positive rates of ¾ on 8 and on 16 rows, and noise of size 1 that takes them to ⅞ and 13/16.

The rule reverses group 0's predictions and keeps group 1's: it makes the fewest errors of all rules on either table.
"""


def differences(counts: np.ndarray, rule: np.ndarray) -> np.ndarray:
    """Return group 1's rate minus group 0's: false positives, true positives."""
    return OddsProgram(counts, ((1, 0),), np.zeros((2, 1))).differences(rule)[:, 0]


def is_optimal(counts: np.ndarray, rule: np.ndarray, gamma: Fraction) -> bool:
    """Return whether a rule solves the program for two groups, by exact multipliers guessed from the solver's."""
    program = OddsProgram(counts, PAIR, np.full((2, 1), gamma, dtype=object))
    guessed = solve(OddsProgram(counts.astype(float), PAIR, np.full((2, 1), float(gamma)))).multipliers
    multipliers = np.vectorize(lambda x: Fraction(float(x)).limit_denominator(10**4), otypes=[object])(
        guessed
    )
    feasible = (abs(program.differences(rule)) <= program.limits).all()
    return bool(feasible and lower_bound(program, multipliers) == expected_errors(counts, rule))
