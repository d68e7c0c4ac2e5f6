import math

import pytest

from dpfair_lib.privacy.laplace_vector import (
    laplace_vector_loss,
    largest_error_bound,
    largest_error_tail,
)


def test_loss_of_a_vector_is_that_of_its_coordinates_together():
    y, f, g = [0.0, 3.0], [1.0, 1.0], [1.5, -1.0]
    expected = (1.5 - 1.0 + 4.0 - 2.0) / 2
    assert laplace_vector_loss(y, f, g, 2.0) == pytest.approx(expected)


@pytest.mark.parametrize("coordinates", [1, 4, 10**6])
def test_thresholds_of_the_largest_error(coordinates):
    exact, printed = (largest_error_bound(0.05, 3.0, coordinates, kind) for kind in ("exact", "printed"))
    assert largest_error_tail(exact, 3.0, coordinates) == pytest.approx(0.05, rel=1e-9)
    assert exact <= printed <= exact + 3.0 * 0.05
    assert largest_error_tail(0, 3.0, coordinates) == 1


@pytest.mark.parametrize("failure", [5e-324, 1e-320, 1e-300, 1e-9])
@pytest.mark.parametrize("coordinates", [1, 10, 10**6])
def test_thresholds_of_failures_that_are_hardly_floats(failure, coordinates):
    # (1 − β)^(1/k) is 1 − β/k up to β²; the least floats have few digits
    expected = 3.0 * (math.log(coordinates) - math.log(failure))
    assert largest_error_bound(failure, 3.0, coordinates, "exact") == pytest.approx(expected, rel=1e-5)
