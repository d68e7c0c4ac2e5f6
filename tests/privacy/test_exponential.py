import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.privacy import (
    ExponentialMechanism,
    pure_profile,
)
from dpfair_lib.privacy.exponential import exponential_choice


def test_exponential_mechanism_with_losses_beyond_the_exponential():
    mechanism = ExponentialMechanism(4000.0, 1.0)
    np.testing.assert_array_equal(mechanism.losses([1, 0], [0, 1]), [2000, -2000])
    assert mechanism.delta_between([1, 0], [0, 1], 1.0) == 1


UTILITIES = st.lists(st.floats(-3, 3), min_size=2, max_size=6)


@given(UTILITIES, st.data(), st.floats(0.05, 6), st.floats(0, 4))
def test_exponential_mechanism_by_its_probabilities(utilities, data, epsilon, at):
    moves = data.draw(st.lists(st.floats(-1, 1), min_size=len(utilities), max_size=len(utilities)))
    mechanism = ExponentialMechanism(epsilon, 1.0)
    first, second = np.array(utilities), np.array(utilities) + np.array(moves)
    p, q = (np.exp(u * epsilon / 2) / np.exp(u * epsilon / 2).sum() for u in (first, second))
    np.testing.assert_allclose(mechanism.probabilities(first), p, rtol=1e-12)
    losses = mechanism.losses(first, second)
    np.testing.assert_allclose(losses, np.log(p / q), atol=1e-12)
    assert abs(losses).max() <= epsilon * (1 + 1e-12)
    assert np.ptp(losses) <= epsilon * (1 + 1e-12)
    between = mechanism.delta_between(first, second, at)
    assert between == pytest.approx(np.maximum(p - math.exp(at) * q, 0).sum(), abs=1e-12)
    assert between <= mechanism.delta(at) + 1e-12
    assert mechanism.delta(at) <= pure_profile(epsilon, at) + 1e-15


@pytest.mark.parametrize(("epsilon", "at"), [(1.0, 0.0), (1.0, 0.5), (3.0, 1.0), (0.1, 0.05)])
def test_two_outcomes_reach_the_worst_profile(epsilon, at):
    mechanism = ExponentialMechanism(epsilon, 1.0)
    offsets = np.linspace(-40, 40, 8001)  # the difference of the two utilities, which then moves by 2Δ
    reached = max(mechanism.delta_between([u + 1, 0], [u, 1], at) for u in offsets / epsilon / 4)
    assert reached <= mechanism.delta(at) + 1e-14
    assert reached == pytest.approx(mechanism.delta(at), rel=1e-4)
    assert reached < pure_profile(epsilon, at) * 0.999 or at == 0


@given(UTILITIES, st.floats(0.1, 5), st.floats(0.01, 0.9))
def test_exponential_mechanism_rarely_chooses_badly(utilities, epsilon, failure):
    mechanism = ExponentialMechanism(epsilon, 1.0)
    assert mechanism.tail(utilities, mechanism.error_bound(len(utilities), failure)) <= failure
    t = mechanism.quantile(utilities, 1 - failure)
    assert mechanism.cdf(utilities, t) >= (1 - failure) * (1 - 1e-12)
    assert mechanism.cdf(utilities, 0.5) + mechanism.tail(utilities, 0.5) == pytest.approx(1)


def test_exponential_mechanism_refuses_a_pair_beyond_its_sensitivity():
    with pytest.raises(ValueError, match=r"found a utility that moves by 2\.0, expected at most"):
        ExponentialMechanism(1.0, 1.0).losses([0.0, 0.0], [2.0, 0.0])


def test_exponential_choices_are_not_moved_by_a_constant_and_refuse_what_is_no_number():
    assert exponential_choice([-1e9, -1e9 + 800.0]) == 1
    with pytest.raises(ValueError, match="scores: found inf"):
        exponential_choice([0.0, np.inf])
    with pytest.raises(ValueError, match="rng: found a generator beside noise='secure'"):
        exponential_choice([0.0], rng=np.random.default_rng(0))
