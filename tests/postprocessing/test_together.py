from fractions import Fraction

import pytest

from dpfair_lib.postprocessing.together import largest_informativeness, least_error_together

QUARTER, HALF = Fraction(1, 4), Fraction(1, 2)
TENTH = Fraction(1, 10)


def test_the_extreme_groups_have_the_gaps_over_their_distance():
    bounds = largest_informativeness((QUARTER, HALF, 3 * QUARTER), TENTH, TENTH)
    assert bounds[0] == bounds[2] == Fraction(2, 5)


def test_a_middle_group_has_the_least_of_three_bounds():
    # by P = Q = 1: 2/5 + 1/10; by one group more than by the other: (1/5) / (1/4 + 1/12)
    assert largest_informativeness((QUARTER, HALF, 3 * QUARTER), TENTH, TENTH)[1] == HALF
    assert largest_informativeness((QUARTER, HALF, 3 * QUARTER), 0, Fraction(1, 4))[1] == Fraction(3, 4)
    assert largest_informativeness((QUARTER, HALF, 3 * QUARTER), TENTH, 0)[1] == Fraction(1, 5)


def test_order_does_not_matter_and_equal_base_rates_force_nothing():
    first = largest_informativeness((QUARTER, HALF, 3 * QUARTER), TENTH, TENTH)
    assert largest_informativeness((3 * QUARTER, QUARTER, HALF), TENTH, TENTH) == [
        first[2],
        first[0],
        first[1],
    ]
    assert largest_informativeness((0.3, 0.3), 0.0, 0.0) == [1.0, 1.0]


@pytest.mark.parametrize("base", [(0, 1), (0, HALF), (HALF, 1)])
def test_base_rates_of_0_and_1_are_no_division_by_zero(base):
    exact = [Fraction(rate) for rate in base]
    away = exact[1] - exact[0]
    assert largest_informativeness(exact, TENTH, TENTH) == [min(Fraction(1, 5) / away, 1)] * 2


def test_with_exact_notions_the_error_is_that_of_one_answer_for_each_group():
    assert least_error_together((HALF, HALF), (QUARTER, Fraction(9, 10)), 0, 0) == (QUARTER + TENTH) / 2


def test_with_large_gaps_nothing_is_forced():
    assert least_error_together((HALF, HALF), (QUARTER, 3 * QUARTER), HALF, HALF) == 0
