import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfair_lib.privacy import (
    DiscreteLaplaceMechanism,
    ExponentialMechanism,
    GaussianMechanism,
    LaplaceMechanism,
    RandomizedResponse,
    pure_profile,
)

EPSILON = st.floats(0, 20)
SCALE = st.floats(1e-2, 1e2)


@given(EPSILON, EPSILON, SCALE, st.integers(1, 9))
def test_profiles_fall_in_epsilon_and_end_at_the_pure_guarantee(first, second, scale, sensitivity):
    low, high = sorted((first, second))
    for mechanism in (
        LaplaceMechanism(scale, sensitivity), DiscreteLaplaceMechanism(scale, sensitivity),
        GaussianMechanism(scale, sensitivity), RandomizedResponse(scale, sensitivity + 1),
        ExponentialMechanism(scale, sensitivity),
    ):  # fmt: skip
        assert 0 <= mechanism.delta(high) <= mechanism.delta(low) <= 1 + 1e-15
        if isinstance(mechanism.epsilon, float):
            assert mechanism.delta(mechanism.epsilon * (1 + 1e-15)) <= 1e-15
            # no purely private mechanism has a larger profile than binary randomised response
            assert mechanism.delta(low) <= pure_profile(mechanism.epsilon, low) * (1 + 1e-12)


@given(SCALE, st.integers(1, 8), EPSILON)
def test_a_larger_move_is_less_private(scale, sensitivity, epsilon):
    for kind in (LaplaceMechanism, DiscreteLaplaceMechanism, GaussianMechanism):
        assert kind(scale, sensitivity).delta(epsilon) <= kind(scale, sensitivity + 1).delta(epsilon) + 1e-15


def test_profiles_take_arrays():
    at = np.array([[0.0, 0.5], [1.0, math.inf]])
    for mechanism in (LaplaceMechanism(1, 2), DiscreteLaplaceMechanism(1, 2), GaussianMechanism(1, 2)):
        profile = mechanism.delta(at)
        assert profile.shape == (2, 2)
        assert profile[0, 1] == mechanism.delta(0.5)
        assert profile[1, 1] == 0


def test_norm_of_gaussian_errors():
    mechanism = GaussianMechanism(2.0, 1.0)
    assert mechanism.norm_tail(3.0, 1) == pytest.approx(mechanism.tail(3.0), rel=1e-12)
    assert mechanism.norm_tail(3.0, 2) == pytest.approx(math.exp(-9 / 8), rel=1e-12)
    with pytest.raises(ValueError, match="dimension: found 0"):
        mechanism.norm_tail(3.0, 0)


@settings(max_examples=30)
@given(st.floats(-5, -0.1))
def test_negative_epsilon_is_refused(epsilon):
    for mechanism in (LaplaceMechanism(1, 1), DiscreteLaplaceMechanism(1, 1), GaussianMechanism(1, 1)):
        with pytest.raises(ValueError, match="epsilon: found"):
            mechanism.delta(epsilon)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LaplaceMechanism(0, 1), "scale: found 0, expected a positive finite number"),
        (lambda: LaplaceMechanism(1, math.inf), "sensitivity: found inf"),
        (lambda: DiscreteLaplaceMechanism(1, 1.5), r"sensitivity: found 1\.5, expected an integer"),
        (lambda: RandomizedResponse(1, 1), "k: found 1, expected an integer of at least 2"),
        (lambda: ExponentialMechanism(-1, 1), "epsilon: found -1"),
        (lambda: LaplaceMechanism(1, 1).quantile(1), r"probability: found 1, expected a number in \(0, 1\)"),
        (lambda: LaplaceMechanism(1, 1).error_bound(0), "failure: found 0"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_quantile_that_rounded_chances_do_not_reach_is_the_worst():
    mechanism, reached = ExponentialMechanism(1.0, 1.0), 0
    for seed in range(5):
        utilities = np.random.default_rng(seed).uniform(size=100_000)
        assert mechanism.quantile(utilities, 1 - 2**-53) >= mechanism.quantile(utilities, 0.999) > 0.9
        chances = np.sort(mechanism.probabilities(utilities))[::-1]
        reached += np.cumsum(chances)[-1] >= 1 - 1e-15
    assert reached < 5  # in one of them they add up to less
