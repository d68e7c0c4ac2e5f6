import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfair_lib import (
    optimal_randomizer,
    smallest_error,
)
from dpfair_lib.local import verify_certificate
from dpfair_lib.local.optimal.closed_forms import perfect_truth


@st.composite
def tiny_instances(draw):
    """Shares down to 1e-9, and an unfairness that may be in the millions."""
    k = draw(st.integers(2, 12))
    p = 10 ** np.array(draw(st.lists(st.floats(-9, 0), min_size=k, max_size=k)))
    p1 = np.array(draw(st.lists(st.sampled_from([0.0, 1e-8, 1e-3, 0.5, 1.0]), min_size=k, max_size=k)))
    p1[draw(st.integers(0, k - 1))] = 0.7
    epsilon = draw(st.sampled_from([0.01, 0.1, 1.0, 3.0, 8.0]))
    p /= p.sum()
    least, most = smallest_error(p, epsilon), 1 - perfect_truth(k, math.exp(-epsilon))
    return p, p1, epsilon, least + draw(st.sampled_from([0.0, 1e-3, 0.5, 0.99, 1.0])) * max(most - least, 0)


@settings(max_examples=150, derandomize=True)
@given(tiny_instances())
def test_columns_prove_it_with_tiny_shares(instance):
    p, p1, epsilon, error = instance
    channel = optimal_randomizer(p, p1, epsilon, error=error)
    assert verify_certificate(channel, p, p1, epsilon, error=error) <= 1e-8 * max(1.0, channel.value)
    assert channel.certificate.violation <= 1e-14


@pytest.mark.parametrize("k", [20, 50])
def test_columns_agree_with_whole_programs(k):
    rng = np.random.default_rng(k)
    p, p1, epsilon = rng.dirichlet(np.ones(k)), rng.uniform(size=k), math.log(k) + 1
    error = (smallest_error(p, epsilon) + 1 - perfect_truth(k, math.exp(-epsilon))) / 2
    grown = optimal_randomizer(p, p1, epsilon, error=error)
    whole = optimal_randomizer(p, p1, epsilon, error=error, method="dinkelbach", tol=1e-8)
    assert verify_certificate(grown, p, p1, epsilon, error=error) <= 1e-8
    assert grown.value == pytest.approx(whole.value, abs=1e-8)
