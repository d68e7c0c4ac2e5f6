import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from dpfair_lib.local.optimal.program import Program, as_program, most_truthful, privacy_ratio, sum_by_halves

P = np.array([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
P1 = np.array([Fraction(1, 4), Fraction(1, 2), Fraction(1)])
CHANNEL = np.array([[Fraction(2, 3) if i == j else Fraction(1, 6) for j in range(3)] for i in range(3)])
PROGRAM = Program(P, P1, Fraction(1, 4), Fraction(1, 3))


def test_unfairness_and_mistakes_are_those_of_the_reports_by_enumeration():
    reports = [sum(P[i] * CHANNEL[i, j] for i in range(3)) for j in range(3)]
    rates = [sum(P[i] * P1[i] * CHANNEL[i, j] for i in range(3)) / reports[j] for j in range(3)]
    overall = sum(P * P1)
    assert PROGRAM.overall == overall
    assert PROGRAM.ratio(CHANNEL) == max(abs(rate / overall - 1) for rate in rates)
    assert PROGRAM.difference(CHANNEL) == max(rates) - min(rates)
    assert PROGRAM.mistakes(CHANNEL) == Fraction(1, 3)
    assert sum(PROGRAM.excess) == 0


@pytest.mark.parametrize(
    ("changes", "missed"),
    [
        ({}, Fraction(0)),
        ({"x": Fraction(1, 3)}, Fraction(1, 3) * Fraction(2, 3) - Fraction(1, 6)),
        ({"error": Fraction(1, 4)}, Fraction(1, 12)),
    ],
)
def test_a_violation_is_that_of_the_worst_constraint(changes, missed):
    assert replace(PROGRAM, **changes).violation(CHANNEL) == missed
    wrong = CHANNEL.copy()
    wrong[0, 0] += 1
    assert PROGRAM.violation(wrong) >= 1


@pytest.mark.parametrize("terms", range(1, 40))
def test_a_sum_by_halves_is_the_sum_along_either_axis(terms):
    table = np.array([[Fraction(7 * i + j, 1 + i + j) for j in range(3)] for i in range(terms)])
    assert sum_by_halves(table).tolist() == [sum(column) for column in zip(*table.tolist(), strict=True)]
    assert sum_by_halves(table.T, axis=1).tolist() == sum_by_halves(table).tolist()
    assert sum_by_halves(table[:, 0]) == sum(table[:, 0])


def test_no_term_of_a_sum_by_halves_is_rounded_more_often_than_its_number_has_digits():
    """Each term counts the sums it went through; of n terms none goes through more than ⌈log₂ n⌉."""

    class Counted:
        def __init__(self, sums):
            self.sums = sums

        def __add__(self, other):
            return Counted(1 + max(self.sums, other.sums))

    for terms in range(1, 300):
        found = sum_by_halves(np.array([Counted(0) for _ in range(terms)]))
        assert found.sums == (terms - 1).bit_length() == math.ceil(math.log2(terms))


@pytest.mark.parametrize("seed", range(6))
def test_no_linear_program_is_more_truthful(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    p, x = rng.dirichlet(np.ones(k)), float(rng.uniform())
    truth, diagonal = most_truthful(p, x)
    below, right = [], []
    for i, other, j in itertools.product(range(k), range(k), range(k)):
        row = np.zeros((k, k))
        row[i, j] += x
        row[other, j] -= 1
        below.append(row.ravel())
        right.append(0.0)
    for i, j in itertools.permutations(range(k), 2):
        for entry in ((i, j), (j, i)):
            row = np.zeros((k, k))
            row[entry] += 1
            row[i, i] -= 1
            below.append(row.ravel())
            right.append(0.0)
    rows = [np.repeat(np.eye(k)[i], k) for i in range(k)]
    solved = linprog(-np.diag(p).ravel(), A_ub=below, b_ub=right, A_eq=rows, b_eq=np.ones(k), bounds=(0, 1))
    assert truth == pytest.approx(-solved.fun, abs=1e-9)
    assert truth == pytest.approx(p @ diagonal, abs=1e-12)


def test_the_ratio_is_never_below_the_exact_one():
    for epsilon in (0.0, 1e-9, 0.5, 1.0, 20.0, 800.0):
        assert privacy_ratio(epsilon) >= math.exp(-epsilon)
    assert privacy_ratio(0.0) == 1.0


def test_without_a_budget_the_error_is_the_least_and_a_smaller_one_is_refused():
    p, p1 = [0.5, 0.3, 0.2], [0.2, 0.6, 0.9]
    least = 1 - most_truthful(np.array(p), privacy_ratio(1.0))[0]
    assert as_program(p, p1, 1.0).error == pytest.approx(least, abs=1e-15)
    with pytest.raises(ValueError, match=r"error: found .*, expected at least"):
        as_program(p, p1, 1.0, least - 1e-6)


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ([1.0], "found 1 group"),
        ([0.5, 0.5, 0.0], "probability 0 at position 2"),
        ([0.5, 0.4], r"a sum of 0\.9"),
    ],
)
def test_shares_that_are_none_are_refused(shares, message):
    with pytest.raises(ValueError, match=message):
        as_program(shares, [0.5] * len(shares), 1.0)
