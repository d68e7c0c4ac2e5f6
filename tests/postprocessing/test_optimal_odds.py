"""All cheapest rules with exact equalized odds: the common classifier, its corners, and groups that say nothing."""

from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.postprocessing.optimal_odds import (
    LabelGroup,
    common_classifier,
    exact_odds,
    odds_without_chance,
    odds_without_group,
)

HALF, ZERO, ONE = Fraction(1, 2), Fraction(0), Fraction(1)


def group(false, true, weight=1, base=HALF):
    false, true = Fraction(false, 4), Fraction(true, 4)
    return LabelGroup.of_changes(false, true, base * true + (1 - base) * false, Fraction(weight))


def test_two_groups_that_cross_meet_between_them():
    groups = [group(0, 2), group(2, 4)]
    assert common_classifier(groups) == (Fraction(1, 3), Fraction(2, 3))
    found = exact_odds(groups)
    # the first group is raised, the second one lowered, each by a third of one label
    assert found.corners == [(Fraction(1, 3), Fraction(2, 3))]
    assert found.cost == 2 * Fraction(3, 4) * Fraction(1, 3)
    rule = np.array([[Fraction(1, 3), ONE], [ZERO, Fraction(2, 3)]])
    assert found.contains(rule)
    assert found.unique


def test_a_group_below_all_others_keeps_its_labels():
    found = exact_odds([group(1, 3), group(0, 4), group(3, 1, weight=0)])
    assert found.apex == (Fraction(1, 4), Fraction(3, 4))
    assert found.contains(np.array([[0.0, 1.0], [0.25, 0.75], [1.0, 0.0]]))
    assert found.unique


def test_all_points_between_two_answers_can_be_optimal():
    groups = [group(0, 4), group(4, 0)]  # one group has to be turned, or both forget
    found = exact_odds(groups)
    assert found.cost == 1
    assert len(found.corners) == 4  # every point of the square
    assert not found.unique
    assert found.contains(np.array([[0.25, 0.5], [0.5, 0.25]]))
    assert not found.contains(np.array([[0.25, 0.5], [0.25, 0.5]]))


@pytest.mark.parametrize("rate", [1, 2, 3])
def test_a_group_that_says_nothing_leaves_one_answer_and_changes_one_way(rate):
    found = exact_odds([group(rate, rate, weight=9), group(0, 4)])
    assert found.apex is None
    assert found.if_zero == (Fraction(rate, 4),) * 2
    kept = np.array([[0.0, 1.0], [rate / 4, rate / 4]])
    assert found.contains(kept)
    assert not found.contains(np.array([[rate / 4, rate / 4]] * 2))  # the same rates, but changes both ways


def test_errors_may_want_a_label_turned():
    worse = LabelGroup.of_errors(Fraction(3, 4), Fraction(1, 4), HALF)
    found = exact_odds([worse])
    assert found.corners == [(Fraction(1, 4), Fraction(3, 4))]
    assert found.cost == -HALF  # from an error of 3/4 to one of 1/4


def test_of_one_group_nothing_changes():
    for rates in [(1, 3), (3, 1), (2, 2), (0, 0), (4, 4), (0, 4)]:
        found = exact_odds([group(*rates)])
        assert found.cost == 0
        assert found.unique
        assert found.contains(np.array([[0.0, 1.0]]))


@pytest.mark.parametrize(
    ("groups", "chance", "alike"),
    [
        ([(1, 3), (1, 3)], True, True),
        ([(1, 3), (3, 1)], True, True),  # turn one group, or give one answer: both cost 1
        ([(0, 2), (2, 4)], False, False),
        ([(2, 2), (0, 4)], False, False),
        ([(0, 0), (0, 4)], True, True),
    ],
)
def test_when_lots_and_groups_are_not_needed_for_odds(groups, chance, alike):
    given = [group(*rates) for rates in groups]
    assert odds_without_chance(given) is chance
    assert odds_without_group(given) is alike
