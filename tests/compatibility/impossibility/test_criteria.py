from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib import Population
from dpfair_lib.compatibility.impossibility.criteria import (
    beats_constants,
    fair_within,
    is_usable,
    opportunity_gap,
    worst_gap,
)
from dpfair_lib.fairness import population_rates

weights = st.lists(st.integers(0, 9), min_size=12, max_size=12).map(
    lambda values: np.array(values).reshape(3, 2, 2)
)
tables = weights.filter(lambda table: (table.sum(axis=0) > 0).all())
hypotheses = st.lists(st.integers(0, 4), min_size=6, max_size=6).map(
    lambda values: np.array([Fraction(value, 4) for value in values], dtype=object).reshape(3, 2)
)


def law(table):
    return Population.from_table(table.astype(object) * Fraction(1, int(table.sum())))


@given(tables, hypotheses, st.integers(0, 4))
def test_criteria_agree_with_the_rates_of_the_fairness_package(table, h, quarters):
    threshold = Fraction(quarters, 4)
    rates = population_rates(law(table), h)
    true, false = abs(np.diff(rates.true_positive)[0]), abs(np.diff(rates.false_positive)[0])
    assert fair_within("opportunity", threshold)(table, h, 1) == (true <= threshold)
    assert fair_within("odds", threshold)(table, h, 1) == (max(true, false) <= threshold)
    assert fair_within("parity", threshold)(table, h, 1) == (abs(np.diff(rates.selection)[0]) <= threshold)
    assert opportunity_gap(table.astype(object) * Fraction(1), h) == true
    assert true <= worst_gap(h)


@given(tables, hypotheses)
def test_beating_constants_is_an_error_below_both(table, h):
    population = law(table)
    positive = population.table[..., 1].sum()
    error, best = 1 - population.accuracy(h), min(positive, 1 - positive)
    assert beats_constants()(table, h, 1) == (error < best)
    assert beats_constants(strict=False)(table, h, 1) == (error <= best)


@given(tables, hypotheses)
def test_whole_numbers_and_fractions_give_the_same_answer(table, h):
    whole = (4 * h).astype(np.int64)
    for criterion in (fair_within("odds", Fraction(1, 3)), fair_within("parity"), beats_constants()):
        assert criterion(table, whole, 4) == criterion(table.astype(object), h, 1)


def test_a_threshold_of_many_digits_does_not_overflow():
    table = np.full((2, 2, 2), 2**9)
    table[0, 0, 1] += 1
    h = np.array([[1, 1], [0, 0]])
    gap = Fraction(2**9 + 1, 2**10 + 1) - Fraction(1, 2)
    tiny = Fraction(1, 10**30)
    assert fair_within("opportunity", gap)(table, h, 1)
    assert not fair_within("opportunity", gap - tiny)(table, h, 1)


@pytest.mark.parametrize(
    ("h", "usable"),
    [
        ([[0, 0], [1, 1]], True),
        ([[0, 1], [1, 1]], True),
        ([[1, 1], [1, 1]], False),
        ([[0, 0], [0, 0]], False),
        ([[0, 1], [0, 1]], False),
        ([[0, 1], [0, 0]], False),
    ],
)
def test_usable_hypotheses(h, usable):
    assert is_usable(np.array(h)) == usable


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="notion: found 'calibration', expected one of opportunity"):
        fair_within("calibration")
    for threshold in (0.5, -1, Fraction(3, 2), True):
        with pytest.raises(ValueError, match="threshold: found"):
            fair_within("parity", threshold)
    empty = np.ones((2, 2, 2), dtype=int)
    empty[:, 1, 1] = 0
    with pytest.raises(
        ValueError, match=r"a group \(1\) with nobody of label \(1,\), expected P\(Y, A\) > 0"
    ):
        fair_within("opportunity")(empty, np.ones((2, 2), dtype=int), 1)
    assert fair_within("parity")(empty, np.ones((2, 2), dtype=int), 1)
