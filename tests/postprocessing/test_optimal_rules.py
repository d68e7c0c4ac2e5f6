"""All rules of least change for one rate: who may be changed, and when there is one rule only."""

from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.postprocessing.bands import change_curve, opportunity_curve
from dpfair_lib.postprocessing.optimal_rules import (
    Cells,
    optimal_rules,
    optimal_without_chance,
    optimal_without_group,
)

HALF, ZERO, ONE = Fraction(1, 2), Fraction(0), Fraction(1)


def quarters(*numbers):
    return [Fraction(number, 4) for number in numbers]


@pytest.mark.parametrize("rate", [ZERO, Fraction(1, 3), ONE])
def test_labels_alone_cost_what_the_closed_forms_say(rate):
    selected = rate if rate in (0, 1) else HALF
    found = Cells.by_label(rate, selected, Fraction(3)).curve()
    wanted = opportunity_curve(rate, selected, Fraction(3))
    assert found.rates.tolist() == wanted.rates.tolist()
    assert found.costs.tolist() == wanted.costs.tolist()
    parity = Cells.by_label(rate, rate, Fraction(2)).curve()
    assert parity.costs.tolist() == change_curve(rate, Fraction(2)).costs.tolist()


def test_two_groups_may_meet_anywhere_between_and_one_way_only():
    low, high = (Cells.by_label(rate, rate) for rate in quarters(1, 3))
    found = optimal_rules([low, high], ZERO)
    assert (found.band.lowest, found.band.highest, found.band.cost) == (Fraction(1, 4), Fraction(3, 4), HALF)
    assert not found.unique
    halfway = [np.array([Fraction(1, 3), ONE]), np.array([ZERO, Fraction(2, 3)])]
    assert found.contains(halfway)
    both_ways = [halfway[0], np.array([HALF, HALF])]
    assert not found.contains(both_ways)


def test_in_cells_the_cheap_ones_are_used_up_first_and_equal_ones_share():
    cells = Cells(quarters(1, 1, 1, 1), quarters(2, 1, 1, 0), [ONE] * 4)
    face = cells.cheapest(ZERO, Fraction(1, 4))  # from the rate 1 to 1/4
    assert face.lowest == [0, 0, 0, 1]
    assert face.highest == [0, 1, 1, 1]
    assert face.rates == (Fraction(1, 4), Fraction(1, 4))
    whole = cells.cheapest(ZERO, HALF)  # the first cell is used up exactly
    assert whole.lowest == whole.highest == [0, 1, 1, 1]


def test_several_rules_are_optimal_if_two_cells_share():
    fixed = Cells([ONE], [ONE], [ZERO], Fraction(9))
    one = Cells(quarters(2, 2), quarters(2, 2), [ONE, ONE])
    assert not optimal_rules([fixed, one], HALF / 2).unique
    assert optimal_rules([fixed, one._replace(counted=quarters(3, 1))], HALF / 2).unique
    assert optimal_rules([fixed, one], ONE).unique  # nothing has to change


def test_where_nobody_stands_any_chance_does():
    empty = Cells([ONE, ZERO], [ONE, ZERO], [HALF, HALF])
    found = optimal_rules([empty], ZERO)
    assert found.unique
    assert found.contains([np.array([[HALF, ZERO], [HALF, ONE], [ONE, ZERO]])]).tolist() == [
        True,
        True,
        False,
    ]


def test_a_group_without_weight_may_do_anything_in_the_band():
    free, fixed = Cells.by_label(HALF, HALF, ZERO), Cells.by_label(ZERO, ZERO, ONE)
    found = optimal_rules([free, fixed], Fraction(1, 4))
    assert found.band.cost == 0
    assert found.contains([np.array([0.25, 0.25]), np.array([0.0, 1.0])])
    assert not found.contains([np.array([0.5, 0.25]), np.array([0.0, 1.0])])


def test_floats_and_fractions_are_judged_alike():
    groups = [Cells.by_label(*quarters(1, 2)), Cells.by_label(*quarters(3, 2))]
    found = optimal_rules(groups, HALF / 2)
    rules = np.array([[[0, 4], [0, 3]], [[0, 4], [1, 3]], [[0, 3], [0, 4]]]) / 4
    exact = np.array([[[Fraction(q) for q in pair] for pair in rule] for rule in rules], dtype=object)
    judged = [found.contains([rules[:, 0], rules[:, 1]]), found.contains([exact[:, 0], exact[:, 1]])]
    assert judged[0].tolist() == judged[1].tolist()


@pytest.mark.parametrize(
    ("rates", "selected", "gamma", "chance", "group"),
    [
        ((1, 3), (1, 3), 2, True, True),  # nothing has to change
        ((1, 3), (1, 3), 1, False, False),
        ((0, 2), (1, 1), 0, True, False),  # nobody selected by the first rule has the true label 1
        ((0, 2), (0, 1), 0, True, True),
        ((0, 4), (0, 4), 1, False, True),  # the old label says what the group is
        ((2, 4), (2, 4), 1, False, True),
    ],
)
def test_when_lots_and_groups_are_not_needed(rates, selected, gamma, chance, group):
    groups = [Cells.by_label(*quarters(*pair)) for pair in zip(rates, selected, strict=True)]
    assert optimal_without_chance(groups, Fraction(gamma, 4)) is chance
    assert optimal_without_group(groups, Fraction(gamma, 4)) is group
