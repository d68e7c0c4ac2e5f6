from fractions import Fraction

import pytest

from dpfair_lib.postprocessing.group_unknown import least_blind_change

RATES = (Fraction(1, 10), Fraction(3, 10), Fraction(2, 5))


@pytest.mark.parametrize(
    ("gamma", "lost"), [(0, 1), (Fraction(1, 10), Fraction(2, 3)), (Fraction(3, 10), 0), (1, 0)]
)
def test_everybody_selected_loses_what_the_gap_has_to_shrink(gamma, lost):
    rule = least_blind_change(RATES, Fraction(3, 10), gamma)
    assert rule == (lost * Fraction(8, 10), 0, 1 - lost)


def test_where_most_are_selected_the_others_are_raised():
    rule = least_blind_change([1 - rate for rate in RATES], Fraction(3, 10), Fraction(1, 10))
    assert rule == (Fraction(2, 3) * Fraction(8, 10), Fraction(2, 3), 1)


def test_weights_decide_whether_people_are_raised_or_rejected():
    rates = (Fraction(1, 5), Fraction(9, 10))
    assert least_blind_change(rates, Fraction(7, 10), 0, [10, 1]) == (Fraction(29, 10), 0, 0)
    assert least_blind_change(rates, Fraction(7, 10), 0, [1, 10]) == (Fraction(18, 10), 1, 1)


def test_equal_rates_need_no_change():
    assert least_blind_change([0.4, 0.4], 0.0, 0.0) == (0.0, 0.0, 1.0)
