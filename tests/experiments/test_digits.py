import numpy as np
import pytest

from dpfair_lib.experiments.digits import digits, with_interval


@pytest.mark.parametrize(
    ("mean", "half", "shown"),
    [
        (0.776812, 0.0007, "0.7768 ± 0.0007"),
        (0.782311, 0.0025, "0.7823 ± 0.0025"),
        (-0.017934, 0.0326, "−0.018 ± 0.033"),
        (0.011712, 0.0620, "0.01 ± 0.07"),  # the half-width is rounded up
        (0.123456, 0.0101, "0.123 ± 0.011"),
        (0.7583, 0.0, "0.7583 ± 0"),
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
