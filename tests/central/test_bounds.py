from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib import change_lower_bound, optimal_change
from dpfair_lib.central.flips import flip_probabilities

RATE = st.fractions(min_value=0, max_value=1, max_denominator=40)


@given(RATE, RATE, RATE)
def test_optimum_is_the_bound_where_that_is_not_void(alpha, beta, gamma):
    bound = change_lower_bound(alpha, beta, gamma)
    assert optimal_change(alpha, beta, gamma) == (bound if bound > 0 else 0)
    assert isinstance(optimal_change(alpha, beta, gamma), Fraction)


@given(RATE, RATE, RATE)
def test_groups_may_be_exchanged(alpha, beta, gamma):
    assert change_lower_bound(alpha, beta, gamma) == change_lower_bound(beta, alpha, gamma)


def test_arrays_are_taken_entry_by_entry():
    alpha, beta = np.array([0.75, 0.5]), np.array([0.25, 0.5])
    np.testing.assert_array_equal(change_lower_bound(alpha, beta, 0.25), [0.25, -0.25])
    np.testing.assert_array_equal(optimal_change(alpha, beta, 0.25), [0.25, 0.0])


def test_small_integers_do_not_wrap_around():
    small = np.array([0, 1], dtype=np.uint8)
    np.testing.assert_array_equal(change_lower_bound(small, small[::-1], np.uint8(0)), [1, 1])
    assert change_lower_bound(0, 1, 0) == 1


def test_one_float_makes_the_result_floats():
    found = change_lower_bound(np.array([0.5, 1.0]), Fraction(1, 4), 0)
    assert found.dtype == float
    np.testing.assert_array_equal(found, [0.25, 0.75])
    assert str(optimal_change(0.1, 0.1, 0.5)) == "0.0"


def test_tensors_are_taken():
    torch = pytest.importorskip("torch")
    np.testing.assert_allclose(optimal_change(torch.tensor([0.5, 1.0]), 0.25, 0.5), [0, 0.25])


def test_a_void_bound_is_negative_and_not_clipped():
    assert change_lower_bound(Fraction(1, 2), Fraction(1, 2), Fraction(1, 4)) == Fraction(-1, 4)
    assert optimal_change(Fraction(1, 2), Fraction(1, 2), Fraction(1, 4)) == 0


def test_flips_take_one_pair_of_rates():
    with pytest.raises(ValueError, match=r"target: found an array of shape \(2,\)"):
        flip_probabilities(0.5, np.array([0.2, 0.3]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.2, 0.5, 0.0), r"alpha: found 1\.2 .*expected numbers in \[0, 1\]"),
        ((0.5, -0.1, 0.0), r"beta: found -0\.1"),
        ((0.5, 0.5, float("nan")), "gamma: found nan"),
        ((np.array([0.5, 2.0]), 0.5, 0.0), r"alpha: found 2\.0 at position 1"),
        (("half", 0.5, 0.0), "alpha: found entries that are not numbers"),
        ((np.zeros(2), np.zeros(3), 0.0), r"shapes differ: found alpha \(2,\), beta \(3,\)"),
        ((Fraction(3, 2), 0.5, 0.0), "alpha: found 3/2"),
    ],
)
def test_bad_rates_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        change_lower_bound(*arguments)
