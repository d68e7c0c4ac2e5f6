import numpy as np
import pytest

from dpfair_lib.experiments.digits import digits, in_tens, with_interval


@pytest.mark.parametrize(
    ("mean", "half", "shown"),
    [
        (0.776812, 0.0007, "0.7768 ± 0.0007"),
        (0.782311, 0.0025, "0.7823 ± 0.0025"),
        (-0.017934, 0.0326, "−0.018 ± 0.033"),
        (0.011712, 0.0620, "0.01 ± 0.07"),  # the half-width is rounded up
        (0.123456, 0.0101, "0.123 ± 0.011"),
        (0.7583, 0.0, "0.7583 (no spread)"),
        (0.7583, 8e-17, "0.7583 (no spread)"),  # equal numbers, added up
        (-1e-17, 0.0, "0 (no spread)"),
        (-0.00001, 0.0011, "0.0000 ± 0.0011"),  # no sign before a zero
        (-0.00001, 0.0, "0.0000 (no spread)"),
        (0.75834, 0.000004, "0.7583 ± 0.0001"),
        (1234.5, 96.0, "1234 ± 96"),
        (12.0, 3.54, "12.0 ± 3.6"),
        (12.0, 3.56, "12 ± 4"),
    ],
)
def test_a_mean_is_told_with_the_digits_of_its_interval(mean, half, shown):
    assert with_interval(mean, half).replace("\xa0", " ") == shown


def test_the_last_digit_told_is_small_beside_the_interval_and_not_too_small():
    for half in np.exp(np.random.default_rng(0).uniform(-8, 2, 1000)):
        last = 10.0 ** -digits(half, most=9)
        assert half / 36 < last < half / 2.8 or last == 1.0


def test_a_sign_is_shown_if_asked_and_bad_input_is_named():
    assert with_interval(0.5, 0.1, sign="+").startswith("+0.50")
    with pytest.raises(ValueError, match="half_width: found -1"):
        digits(-1)
    with pytest.raises(ValueError, match="half_width: found nan"):
        digits(float("nan"))
    with pytest.raises(ValueError, match="most: found -1"):
        digits(0.1, most=-1)


def test_a_zero_has_no_sign_even_if_one_is_asked_for():
    assert [with_interval(mean, half, "+") for mean, half in ((0.00001, 0.001), (0.0, 0.0))] == [
        "0.0000\xa0±\xa00.0010",
        "0\xa0(no\xa0spread)",
    ]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1e-5, "10⁻⁵"), (-1e-5, "−10⁻⁵"), (4.6e-4, "4.6 · 10⁻⁴"), (1.13e19, "1.13 · 10¹⁹"), (1.03e7, "1.03 · 10⁷"),
        (5e32, "5 · 10³²"), (0.00125, "0.00125"), (123456.0, "123,000"), (9.9999e-5, "10⁻⁴"), (999999.0, "10⁶"),
        (0.0, "0"), (-0.5, "−0.5"), (12, "12"), (float("inf"), "∞"), (float("-inf"), "−∞"), (float("nan"), "undefined"),
    ],
)  # fmt: skip
def test_many_digits_become_a_power_of_ten(value, shown):
    assert in_tens(value).replace("\xa0", " ") == shown


def test_a_number_needs_a_digit():
    with pytest.raises(ValueError, match="figures: found 0"):
        in_tens(1.0, 0)
