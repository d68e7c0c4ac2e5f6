import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib import optimal_randomizer, smallest_error
from dpfair_lib.local.optimal.program import Program
from dpfair_lib.local.truthful import (
    binary_front,
    private_by_pairs,
    private_by_truth,
    smallest_report_probability,
    truthful_columns,
    truthful_rows,
)


@given(
    st.fractions(Fraction(1, 20), Fraction(19, 20)),
    st.fractions(Fraction(1, 50), 1),
    st.fractions(0, 1),
)
def test_the_binary_front_is_feasible_and_spends_its_budget(share, x, part):
    p = np.array([share, 1 - share], dtype=object)
    p1 = np.array([Fraction(1, 5), Fraction(3, 4)], dtype=object)
    least = 1 - max(1 / (1 + x), max(share, 1 - share) * (1 - x / 2) + min(share, 1 - share) / 2)
    error = least + part * (Fraction(1, 2) - least)
    channel = binary_front(p, x, error)
    program = Program(p, p1, x, error)
    assert program.violation(channel) <= 0
    assert program.mistakes(channel) == error


@pytest.mark.parametrize("share", [0.15, 0.4, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.3, 2.0, math.inf])
def test_the_binary_front_is_the_optimum_of_the_linear_programs(share, epsilon):
    p, p1, x = np.array([share, 1 - share]), np.array([0.3, 0.8]), math.exp(-epsilon)
    least = smallest_error(p, epsilon)
    for error in np.linspace(least, 0.5, 5):
        best = optimal_randomizer(p, p1, epsilon, error=error)
        front = Program(p, p1, x, error).ratio(binary_front(p, x, error))
        assert front == pytest.approx(best.value, abs=1e-8)


def test_no_channel_has_less_error_than_the_least():
    p = np.array([Fraction(1, 4), Fraction(3, 4)], dtype=object)
    with pytest.raises(ValueError, match="error: found 1/10, expected at least 1/4"):
        binary_front(p, Fraction(1, 3), Fraction(1, 10))
    with pytest.raises(ValueError, match=r"error: found 0\.1, expected at least 0\.2"):
        binary_front(p.astype(float), 1 / 3, 0.1)


def test_conditions_of_channels():
    x = Fraction(1, 2)
    channels = np.array([[[2, 1], [1, 2]], [[3, 0], [1, 2]], [[1, 2], [1, 2]]])
    assert private_by_pairs(channels, x).tolist() == [True, False, True]
    assert private_by_truth(channels, x).tolist() == [True, False, True]
    assert truthful_columns(channels).tolist() == [True, True, True]
    assert truthful_rows(channels).tolist() == [True, True, False]


def test_every_report_has_its_probability():
    p = np.array([Fraction(1, 4), Fraction(3, 4)], dtype=object)
    assert smallest_report_probability(p, Fraction(1)).tolist() == [Fraction(1, 2)] * 2
    assert smallest_report_probability(p, Fraction(0)).tolist() == [Fraction(1, 8), Fraction(3, 8)]


@pytest.mark.parametrize(
    ("tenths", "x", "error", "missed"),
    [
        ([[1, 1, 1]] * 3, Fraction(1, 2), 1, Fraction(7, 10)),  # row sums of 3/10
        (
            [[4, 3, 3], [3, 4, 3], [3, 3, 5]],
            Fraction(1, 2),
            1,
            Fraction(1, 10),
        ),  # a row that adds up to 11/10
        (
            [[6, 2, 2], [2, 6, 2], [2, 2, 6]],
            Fraction(1, 2),
            1,
            Fraction(1, 10),
        ),  # 6/10 is more than twice 2/10
        (
            [[3, 4, 3], [2, 5, 3], [3, 3, 4]],
            Fraction(1, 2),
            1,
            Fraction(1, 10),
        ),  # the first is told as the second
        ([[4, 3, 3], ["2.8", "3.6", "3.6"], ["3.3", "3.3", "3.4"]], Fraction(1, 2), 1, Fraction(2, 100)),
        ([[4, 3, 3], [3, 4, 3], [3, 3, 4]], Fraction(1, 2), Fraction(1, 2), Fraction(1, 10)),  # the budget
        ([[-1, 6, 5], [-1, 6, 5], [-1, 6, 5]], 0, 1, Fraction(7, 10)),
    ],
)
def test_each_constraint_can_be_the_worst(tenths, x, error, missed):
    matrix = np.array([[Fraction(part) / 10 for part in row] for row in tenths], dtype=object)
    p = np.array([Fraction(1, 3)] * 3, dtype=object)
    found = Program(p, p, x, error).violation(matrix)
    assert found == missed
