"""The bound on the expected range: exact where laws are known, published for two groups, below the sum for more."""

import math

import numpy as np
import pytest

from dpfair_lib.central import expected_parity_bound, expected_parity_gap
from dpfair_lib.central.several_groups.expected_range import expected_range, noise_excess, sampling_excess
from dpfair_lib.privacy import DiscreteLaplaceMechanism

LEVELS = np.array([0.0, 0.001, 0.01, 0.0234, 0.1])


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0])
def test_the_excess_of_noise_is_its_sum(epsilon):
    k = np.arange(-3000, 3001)
    law = DiscreteLaplaceMechanism(1 / epsilon, 1).pmf(k)
    exact = [float(np.maximum(k / 50 - c, 0) @ law) for c in LEVELS]
    assert noise_excess(epsilon, 50, "geometric")(LEVELS) == pytest.approx(exact, rel=1e-9, abs=1e-300)
    x = np.linspace(0, 60 / epsilon, 400_001)
    density = epsilon / 2 * np.exp(-epsilon * x)
    integral = [float(np.trapezoid(np.maximum(x / 50 - c, 0) * density, x)) for c in LEVELS]
    assert noise_excess(epsilon, 50, "laplace")(LEVELS) == pytest.approx(integral, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_no_binomial_mean_exceeds_the_excess_of_sampling(n):
    from scipy.stats import binom

    levels = np.array([0.0, 0.05, 0.2, 0.4, 0.8])
    bound, attained = sampling_excess(n)(levels), np.zeros(len(levels))
    for rate in np.linspace(0, 1, 201):
        for sign in (1, -1):
            away = sign * (np.arange(n + 1) / n - rate)
            exact = np.maximum(away - levels[:, None], 0) @ binom.pmf(np.arange(n + 1), n, rate)
            assert (exact <= bound + 1e-15).all()
            attained = np.maximum(attained, exact)
    if n == 1:  # two points of equal probability attain it
        assert attained[0] == pytest.approx(bound[0], rel=1e-12)


def test_for_two_groups_no_level_is_better_than_the_published_sum():
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, epsilon = np.exp(rng.uniform(0, 12, 2)).astype(int), np.exp(rng.uniform(-4, 2, 2))
        mechanism = ["laplace", "geometric"][int(rng.integers(2))]
        excesses = [noise_excess(e, int(k), mechanism) for e, k in zip(epsilon, n, strict=True)]
        noise = sum(2 * float(excess(np.zeros(1))[0]) for excess in excesses)
        assert expected_range(excesses, 1 / (n * epsilon)) == pytest.approx(noise, rel=1e-12)
        sampling = [1 / math.sqrt(4 * k) for k in n]
        assert expected_range([sampling_excess(int(k)) for k in n], sampling) == pytest.approx(
            sum(sampling), rel=1e-12
        )


def test_of_many_groups_it_grows_as_their_logarithm():
    for k, factor in ((3, 0.95), (10, 0.55), (100, 0.12)):
        n, epsilon = [1000] * k, 0.1
        summed = sum(1 / (epsilon * size) + 1 / math.sqrt(4 * size) for size in n)
        assert expected_parity_bound(n, epsilon) < factor * summed
        if k == 10:
            rates = np.linspace(0.4, 0.6, k)
            exact = expected_parity_gap(rates=rates, n=n, epsilon=epsilon, rate="most-accurate")
            assert expected_parity_bound(n, epsilon) / 3 < exact < expected_parity_bound(n, epsilon)
