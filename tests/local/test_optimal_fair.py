import math

import numpy as np
import pytest

from dpfair_lib import optimal_randomizer
from dpfair_lib.local import smallest_error, smallest_fair_error
from dpfair_lib.local.optimal_easy import perfect_truth

P, P1 = [0.5, 0.3, 0.15, 0.05], [0.2, 0.6, 0.35, 0.9]


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.5, 1.0, 3.0, 8.0, math.inf])
def test_it_lies_between_the_least_error_and_the_closed_form(epsilon):
    found = smallest_fair_error(P, P1, epsilon)
    assert smallest_error(P, epsilon) <= found <= 1 - perfect_truth(4, math.exp(-epsilon)) + 1e-9
    if epsilon == 0:
        assert found == pytest.approx(0.75)


@pytest.mark.parametrize("seed", range(6))
def test_unfairness_ends_there(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 8))
    p, p1, epsilon = rng.dirichlet(np.ones(k)), rng.uniform(size=k), float(rng.uniform(0.3, 4))
    least = smallest_fair_error(p, p1, epsilon)
    assert optimal_randomizer(p, p1, epsilon, error=least + 1e-9).value <= 1e-6
    before = max(least - 1e-3, smallest_error(p, epsilon))
    assert optimal_randomizer(p, p1, epsilon, error=before).certificate.lower > 1e-6


def test_two_groups_have_to_guess():
    assert smallest_fair_error([0.2, 0.8], [0.1, 0.7], 2.0) == pytest.approx(0.5)


def test_equal_rates_cost_nothing():
    assert smallest_fair_error(P, [0.4] * 4, 1.0) == pytest.approx(smallest_error(P, 1.0))
    # 0.6·0.3 + 0.3·0.3 + 0.1·0.3 is not 0.3 in floats
    assert smallest_fair_error([0.6, 0.3, 0.1], [0.3] * 3, 1.0) == smallest_error([0.6, 0.3, 0.1], 1.0)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="p1: found P"):
        smallest_fair_error(P, [0.0] * 4, 1.0)
    with pytest.raises(ValueError, match="epsilon"):
        smallest_fair_error(P, P1, -1.0)


@pytest.mark.parametrize("epsilon", [18.0, 25.0, 30.0, 36.0, 100.0, 700.0])
def test_the_least_error_keeps_its_digits_at_large_budgets(epsilon):
    x = math.exp(-epsilon)
    for p in ([0.5, 0.5], [0.5, 0.3, 0.2], [0.9, 0.06, 0.04]):
        response = 1 - 1 / (1 + (len(p) - 1) * x)
        assert smallest_error(p, epsilon) == pytest.approx(response, abs=1e-15)
    channel = optimal_randomizer([0.5, 0.5], [0.2, 0.6], epsilon)
    assert channel.certificate.error <= x + 1e-15
    assert channel.value == pytest.approx(0.5, abs=1e-7)


def test_beyond_700_only_infinity_is_a_budget():
    with pytest.raises(ValueError, match="epsilon: found 701"):
        smallest_error([0.5, 0.5], 701)
    with pytest.raises(ValueError, match="epsilon: found 701"):
        optimal_randomizer([0.5, 0.5], [0.2, 0.6], 701)
