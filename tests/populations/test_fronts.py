from fractions import Fraction

import pytest

from dpfair_lib.claims.shared.populations.exchange_fronts import front as by_corners
from dpfair_lib.claims.shared.populations.small_populations import (
    count,
    populations,
    with_groups,
    with_reports,
)
from dpfair_lib.local.exchange import exchange_optima
from dpfair_lib.populations.fronts import deterministic_front, randomised_front, turned_order

SHARED = [(0, 1, 0, 1), (0, 0, 1, 0)]
APART = [(0, 1, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0)]
HALF, WHOLE = Fraction(1, 2), Fraction(1)


def test_three_people_by_hand():
    # a shared feature: rejecting both by t selects the third by 2t, 4t errors, and the gap falls by 3t/2
    assert randomised_front(SHARED) == [(WHOLE, HALF), (Fraction(5, 9), 0)]
    # apart: an exchange of s makes 2s errors, and the gap falls by 3s/2
    assert randomised_front(APART) == [(WHOLE, HALF), (Fraction(7, 9), 0)]
    found = turned_order(randomised_front(SHARED), randomised_front(APART), randomised=True)
    assert found == (Fraction(7, 9), Fraction(1, 4), 0)
    assert turned_order(randomised_front(APART), randomised_front(SHARED), randomised=True) is None


def test_people_apart_are_the_exchanges():
    for zero, one in ((1, 4), (2, 3), (3, 5)):
        for s_0 in range(zero + 1):
            for s_1 in range(one + 1):
                people = [(0, 1, 0, 0)] * s_0 + [(1, 0, 0, 0)] * (zero - s_0)
                people += [(0, 0, 0, 1)] * s_1 + [(0, 0, 1, 0)] * (one - s_1)
                assert deterministic_front(people) == exchange_optima((zero, one), (s_0, s_1))


def test_a_multiple_has_the_same_fronts():
    thirds = [tuple(Fraction(count, 3) for count in cell) for cell in SHARED]
    many = [tuple(1000 * count for count in cell) for cell in SHARED]
    for front in (deterministic_front, randomised_front):
        assert front(thirds) == front(many) == front(SHARED)


def test_the_randomised_front_is_the_corners():
    for cells in populations("features", 3):
        people = [[list(cell[:2]), list(cell[2:])] for cell in cells]
        corners = {(1 - error, abs(gap)) for gap, error in by_corners(people).optima()}
        assert set(randomised_front(cells)) <= corners


def test_no_deterministic_classifier_may_exist():
    # two of three people have label 1, but both cells of one group hold all its people
    assert deterministic_front([(1, 1, 0, 0), (0, 0, 2, 1)]) == [(Fraction(3, 5), 1)]
    assert deterministic_front([(1, 2, 0, 0), (0, 0, 3, 2)]) == []


def test_points_between_corners_count_for_randomised_fronts_only():
    line, point = [(WHOLE, WHOLE), (HALF, Fraction(0))], [(Fraction(3, 4), Fraction(0))]
    assert turned_order(line, point, randomised=True) == (Fraction(3, 4), HALF, 0)
    assert turned_order(line, point, randomised=False) is None
    assert turned_order(line, line, randomised=True) is None
    assert turned_order(line, [], randomised=True) is None


@pytest.mark.parametrize("front", [deterministic_front, randomised_front])
@pytest.mark.parametrize(
    "cells", [[(1, 1, 0, 0)], [(1, 0, 2, -1), (0, 1, 0, 0)]], ids=["one group", "negative"]
)
def test_what_is_no_population_is_refused(front, cells):
    with pytest.raises(ValueError, match="cells: found"):
        front(cells)


@pytest.mark.parametrize("seen", ["everybody apart", "group alone", "features", "features, label known"])
def test_populations_are_counted_apart(seen):
    for n in (2, 3, 4, 5):
        assert len(populations(seen, n)) == count(seen, n)


def test_reports_keep_shares_and_labels():
    cells = ((1, 2, 0, 1), (0, 1, 3, 0))
    for of_reports in (True, False):
        behind = with_reports(cells, Fraction(1, 3), of_reports=of_reports)
        true = with_groups(cells)
        groups = [
            [sum(cell[2 * a] + cell[2 * a + 1] for cell in some) for a in (0, 1)] for some in (behind, true)
        ]
        assert groups[0] == groups[1]
        labels = [sum(cell[1] + cell[3] for cell in some) for some in (behind, true)]
        assert labels[0] == labels[1]
