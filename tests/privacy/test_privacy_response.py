import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.privacy import (
    RandomizedResponse,
)

EPSILON = st.floats(0, 20)


@given(st.floats(1e-3, 12), st.integers(2, 9), EPSILON)
def test_randomised_response_profile_by_its_matrix(epsilon, k, at):
    mechanism = RandomizedResponse(epsilon, k)
    matrix = mechanism.matrix()
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-14)
    assert math.log(matrix[0, 0] / matrix[1, 0]) == pytest.approx(epsilon, rel=1e-9)
    sums = [np.maximum(p - math.exp(at) * q, 0).sum() for p, q in itertools.permutations(matrix, 2)]
    assert mechanism.delta(at) == pytest.approx(max(sums), rel=1e-9, abs=1e-13)
    assert max(sums) == pytest.approx(min(sums), abs=1e-13)


def test_wrong_reports_are_binomial():
    mechanism = RandomizedResponse(math.log(3), 2)  # one in four is wrong
    exact = [math.comb(3, j) * 0.25**j * 0.75 ** (3 - j) for j in range(4)]
    np.testing.assert_allclose(mechanism.error_pmf(3), exact, rtol=1e-12)
    assert mechanism.tail(1, 3) == pytest.approx(exact[2] + exact[3], rel=1e-12)
    assert mechanism.cdf(0, 3) == pytest.approx(exact[0], rel=1e-12)
    assert mechanism.quantile(0.5, 3) == 1
    three = RandomizedResponse(math.log(3), 3)  # two in five are wrong
    np.testing.assert_allclose(three.error_pmf(2), [0.36, 0.48, 0.16], rtol=1e-12)
    assert (three.cdf(1, 2), three.tail(1, 2)) == (pytest.approx(0.84), pytest.approx(0.16))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.3])
def test_from_its_own_epsilon_on_nothing_is_left_not_even_a_rounding(epsilon):
    mechanism = RandomizedResponse(epsilon, 3)
    assert mechanism.delta([epsilon, math.nextafter(epsilon, 9), 5.0]).tolist() == [0.0, 0.0, 0.0]
    assert mechanism.delta(math.nextafter(epsilon, 0)) > 0


@pytest.mark.parametrize(
    ("epsilon", "k", "name"),
    [(1.0, 1, "k"), (1.0, 0, "k"), (1.0, 2.5, "k"), (1.0, True, "k"), (0.0, 2, "epsilon"), (math.inf, 2, "epsilon"),
     (math.nan, 2, "epsilon")],
)  # fmt: skip
def test_a_response_needs_two_values_and_a_finite_epsilon(epsilon, k, name):
    assert RandomizedResponse(1.0, 2).matrix().shape == (2, 2)
    with pytest.raises(ValueError, match=f"^{name}: found"):
        RandomizedResponse(epsilon, k)
