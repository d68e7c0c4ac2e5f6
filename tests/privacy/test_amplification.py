import math

import pytest

from dpfair_lib.privacy.amplification import amplified, amplified_odds


def test_no_subset_no_amplification_and_known_values():
    assert amplified(0.7, 1e-5, 1.0) == (pytest.approx(0.7, rel=1e-14), 1e-5)
    assert amplified(math.log(3), 0.5, 0.25) == (pytest.approx(math.log(1.5), rel=1e-14), 0.125)
    assert amplified_odds(9, 0.5) == 5


@pytest.mark.parametrize("epsilon", [29.999999, 30.000001, 1000.0])
def test_large_epsilon(epsilon):
    assert amplified(epsilon, 0, 0.5)[0] == pytest.approx(epsilon - math.log(2), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("epsilon", (0, 0, 0.5)), ("delta", (1, 1, 0.5)), ("fraction", (1, 0, 0)), ("fraction", (1, 0, 2))],
)  # fmt: skip
def test_bad_arguments_are_named(name, arguments):
    with pytest.raises(ValueError, match=f"{name}: found"):
        amplified(*arguments)
