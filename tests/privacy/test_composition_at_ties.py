"""The ε of a composition whose δ is met exactly: the first at which it is met, not the one after."""

import math

import numpy as np
import pytest

from dpfair_lib.privacy import optimal_composition_delta, optimal_composition_epsilon


@pytest.mark.parametrize(
    ("epsilon", "delta", "k"), [(0.1, 0.0, 3), (0.5, 1e-6, 10), (1.0, 1e-3, 4), (2.0, 0.0, 1)]
)
def test_epsilon_is_the_first_float_that_meets_the_total_delta(epsilon, delta, k):
    for share in np.linspace(0.01, 0.97, 40):
        at = float(share) * k * epsilon
        target = optimal_composition_delta(epsilon, delta, k, at)
        found = optimal_composition_epsilon(epsilon, delta, k, target)
        assert found <= at
        assert optimal_composition_delta(epsilon, delta, k, found) <= target
        assert optimal_composition_delta(epsilon, delta, k, math.nextafter(found, 0)) > target


@pytest.mark.parametrize(("epsilon", "delta", "k"), [(0.1, 0.0, 3), (0.5, 1e-6, 10), (2.0, 0.0, 1)])
def test_a_total_delta_that_needs_no_epsilon_gets_none(epsilon, delta, k):
    needs_none = optimal_composition_delta(epsilon, delta, k, 0.0)
    assert optimal_composition_epsilon(epsilon, delta, k, needs_none) == 0
    assert optimal_composition_epsilon(epsilon, delta, k, math.nextafter(needs_none, 0)) > 0
