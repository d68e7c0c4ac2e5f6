from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from notion_sets import SETS, SHARES, distribution

from dpfair_lib import Population
from dpfair_lib.fairness import population_rates
from dpfair_lib.fairness.joint_notions import best_accuracy, best_rates, notion_gap


@given(SHARES, st.data())
def test_best_classifier_meets_the_notions_on_a_population(weights, data):
    share, base = distribution(weights, data)
    table = np.stack([share * (1 - base), share * base], axis=1)  # (a, y)
    empty = np.full(len(weights), Fraction(0))
    # the feature tells the label
    population = Population.from_table(
        np.stack([np.stack([table[:, 0], empty], axis=1), np.stack([empty, table[:, 1]], axis=1)])
    )
    for notions in SETS:
        rates = best_rates(share, base, notions)
        h = np.stack([rates.false_positive, rates.true_positive])
        found = population_rates(population, h)
        assert all(notion_gap(found, notion) == 0 for notion in notions)
        assert population.accuracy(h) == found.accuracy == best_accuracy(share, base, notions)


def test_equal_base_rates_have_no_conflict():
    share, base = [Fraction(1, 3), Fraction(2, 3)], [Fraction(1, 5)] * 2
    assert all(best_accuracy(share, base, notions) == 1 for notions in SETS)


def test_arrays_of_distributions():
    share, base = np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_allclose(best_accuracy(share, base, ["parity"]), [0.75, 1])


@pytest.mark.parametrize(
    ("share", "base", "notions", "message"),
    [
        ([0.5, 0.5], [0.0, 0.5], [], "base: found a group without one of the labels"),
        ([1.0, 0.0], [0.5, 0.5], [], "base: found"),
        ([0.5, 0.5], [0.5, 0.5], ["odds"], r"notions: found \['odds'\]"),
    ],
)
def test_bad_input_is_named(share, base, notions, message):
    with pytest.raises(ValueError, match=message):
        best_rates(share, base, notions)
