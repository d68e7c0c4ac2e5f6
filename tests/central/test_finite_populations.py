"""Populations of finitely many points: masses that can be flipped, and rows that say the same as the table."""

from fractions import Fraction

import numpy as np

from dpfair_lib import Population
from dpfair_lib.central.finite_populations import flippable_masses, population_rows, posterior

QUARTER = Fraction(1, 4)
NONE = 0 * QUARTER
# two points: group 0 has both labels at point 0, group 1 is rejected at point 0 and selected at point 1
TABLE = np.array([[[QUARTER, QUARTER], [QUARTER, NONE]], [[NONE, NONE], [NONE, QUARTER]]], dtype=object)
H = np.array([[1, 0], [0, 1]])


def test_masses_that_can_be_flipped_are_of_the_higher_group_s_selected_and_the_lower_group_s_rejected_points():
    population = Population.from_table(TABLE)
    # group 0 is selected as a whole, group 1 in halves
    assert flippable_masses(population, H) == {Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3, 2)}


def test_which_group_is_the_higher_one_is_found_out():
    population = Population.from_table(TABLE[:, ::-1])
    assert population.rate(H[:, ::-1], 1) > population.rate(H[:, ::-1], 0)
    assert flippable_masses(population, H[:, ::-1]) == flippable_masses(Population.from_table(TABLE), H)


def test_rows_have_the_weights_of_the_table_and_the_predictions_of_their_points():
    population = Population.from_table(TABLE)
    rows = population_rows(population, H)
    assert rows["weights"].sum() == 1
    for x, a, y in np.ndindex(2, 2, 2):
        chosen = (rows["at"] == x) & (rows["groups"] == a) & (rows["y_true"] == y)
        assert rows["weights"][chosen].sum() == TABLE[x, a, y]
        assert set(rows["y_pred"][chosen]) == {H[x, a]}


def test_the_posterior_is_that_of_the_cell_and_0_where_there_is_nobody():
    assert posterior(Population.from_table(TABLE)).tolist() == [[Fraction(1, 2), 0], [0, 1]]
