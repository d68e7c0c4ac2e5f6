"""Equal odds in closed form: against all vertices of the program in fractions, and against its solver."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.central.several_groups.odds_corner import equal_odds
from dpfair_lib.svm.equalized_odds_program import (
    OddsProgram,
    expected_errors,
    positive_rates,
    rates_after,
    solve,
)


def vertices(f, g, t, s):
    """All vertices of the rules that give both groups equal rates: two of the four chances are 0 or 1."""
    # chances of group 1, then of group 2, for the predicted labels 0 and 1
    rows = [[1 - f, f, g - 1, -g], [1 - t, t, s - 1, -s]]
    for free in itertools.combinations(range(4), 2):
        fixed = [i for i in range(4) if i not in free]
        (a, b), (c, d) = ([row[i] for i in free] for row in rows)
        det = a * d - b * c
        for ends in itertools.product((Fraction(0), Fraction(1)), repeat=2):
            p, q = (-sum(row[i] * end for i, end in zip(fixed, ends, strict=True)) for row in rows)
            if det == 0:
                continue
            rule = dict(zip(fixed, ends, strict=True)) | {
                free[0]: (p * d - b * q) / det,
                free[1]: (a * q - c * p) / det,
            }
            if all(0 <= x <= 1 for x in rule.values()):
                yield [rule[i] for i in range(4)]
    for ends in itertools.product((Fraction(0), Fraction(1)), repeat=4):
        if all(sum(x * e for x, e in zip(row, ends, strict=True)) == 0 for row in rows):
            yield list(ends)


def test_every_small_table_in_fractions():
    cells = list(itertools.product(range(3), repeat=4))
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(cells), (400, 2)):
        counts = np.array([[Fraction(x) for x in cells[i]] for i in at]).reshape(2, 2, 2).transpose(1, 0, 2)
        found = equal_odds(counts)
        rates = rates_after(positive_rates(counts), found.rule)
        assert all(tuple(rates[:, a]) == found.rates for a in range(2))
        assert all(0 <= x <= 1 for x in found.rule.ravel())
        assert expected_errors(counts, found.rule) == found.errors
        (f, g), (t, s) = positive_rates(counts)
        rules = [np.array([[r[0], r[2]], [r[1], r[3]]]) for r in vertices(f, g, t, s)]
        assert found.errors == min(expected_errors(counts, rule) for rule in rules)


@pytest.mark.parametrize("groups", [2, 3, 5])
def test_the_solver_of_the_program(groups):
    rng = np.random.default_rng(groups)
    pairs = tuple(itertools.combinations(range(groups), 2))
    for _ in range(40):
        counts = rng.integers(1, 40, (2, groups, 2)).astype(float)
        found = equal_odds(counts)
        solved = solve(OddsProgram(counts, pairs, np.zeros((2, len(pairs)))))
        assert found.errors == pytest.approx(solved.errors, abs=1e-6)
        assert found.rule == pytest.approx(solved.rule, abs=1e-6)


def test_groups_that_tell_nothing_leave_one_chance_for_all():
    counts = np.array([[[3, 3], [5, 1]], [[3, 3], [1, 5]]], dtype=float)
    found = equal_odds(counts)
    assert found.errors == 12
    assert np.ptp(found.rule) == 0
    assert set(found.rates) <= {0.0, 1.0}
