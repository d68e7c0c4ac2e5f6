import math
from fractions import Fraction

import pytest

from dpfair_lib.central.least_gap import (
    accurate_failures,
    contraction,
    least_confusion,
    least_expected_gap,
    least_failure,
    matching_gap,
    simple_least_gap,
)
from dpfair_lib.central.least_gap_program import private_minimax_gap


def test_one_record_is_confused_as_randomised_response_confuses_it():
    assert least_confusion(1, Fraction(1), Fraction(3), Fraction(0)) == Fraction(1, 4)
    assert least_confusion(1, Fraction(1), Fraction(1), Fraction(1, 5)) == Fraction(2, 5)


def test_without_privacy_the_count_itself_is_used_and_with_none_left_a_coin():
    assert least_confusion(3, Fraction(1, 2), math.inf, 0) == Fraction(1, 4) ** 3 + 3 * Fraction(
        1, 4
    ) ** 2 * Fraction(3, 4)
    assert least_confusion(5, 0.7, 1.0, 0.0) == 0.5


def test_fractions_and_floats_agree():
    exact = least_confusion(7, Fraction(2, 5), Fraction(3, 2), Fraction(1, 50))
    assert least_confusion(7, 0.4, 1.5, 0.02) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 1.0, 5.0, math.inf])
@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.3])
def test_the_bounds_are_in_order_and_within_a_factor_of_twelve(epsilon, delta):
    for n in (1, 10, 3000):
        below = simple_least_gap(n, epsilon, delta)
        assert below <= least_expected_gap(n, epsilon, delta) * (1 + 1e-12)
        assert (
            least_expected_gap(n, epsilon, delta)
            <= matching_gap(n, epsilon, delta)
            <= 12 * below * (1 + 1e-9)
        )


def test_a_gap_beyond_the_range_is_not_promised_and_gap_zero_is_a_coin():
    assert least_failure(0.3, 50, 1.0) == 0
    assert least_failure(0.0, 50, 1.0) == pytest.approx(0.5)
    assert contraction(math.inf, 0.0) == 1


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: least_expected_gap(0, 1.0), "n"),
        (lambda: least_expected_gap(5, -1.0), "epsilon"),
        (lambda: simple_least_gap(5, 1.0, 1.0), "delta"),
        (lambda: least_failure(0.1, 5, 1.0, response=0.0), "response"),
        (lambda: least_failure(-0.1, 5, 1.0), "gap"),
        (lambda: matching_gap(5, 1.0, response=0.6), "response"),
        (lambda: private_minimax_gap([0.5], 3, 1.0), "rates"),
        (lambda: private_minimax_gap([0.6, 0.5], 3, 1.0), "rates"),
        (lambda: private_minimax_gap([0.4, 0.5], 3, 40.0), "epsilon"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=f"^{named}: found"):
        call()


def test_what_is_missed_is_taken_off():
    whole = accurate_failures((3, 4), 0.01, 0.2)
    assert accurate_failures((3, 4), 0.01, 0.2, missed=0.25) == pytest.approx(whole - 0.25, rel=1e-12)
    assert whole == pytest.approx(1 - 7 * 0.01 * contraction(math.exp(0.2), 0.0), rel=1e-12)
