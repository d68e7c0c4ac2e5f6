"""The law of the range of independent normal numbers, against two numbers' closed form and against draws."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpfair_lib.central.several_groups.normal_gap import normal_gap


@pytest.mark.parametrize("gap", [0.0, 0.01, 0.1, 0.2])
@pytest.mark.parametrize("deviations", [(0.03, 0.04), (0.05, 0.0), (1e-4, 0.05)])
def test_two_numbers_have_a_normal_difference(gap, deviations):
    exceeds, spread = normal_gap((0.5, 0.53), deviations), math.hypot(*deviations)
    exact = norm.sf((gap - 0.03) / spread) + norm.cdf((-gap - 0.03) / spread)
    assert exceeds(gap) == pytest.approx(exact, abs=0.01)


def test_ten_numbers_agree_with_draws():
    rng = np.random.default_rng(0)
    means, deviations = rng.uniform(0.4, 0.6, 10), rng.uniform(0.01, 0.1, 10)
    drawn = np.ptp(rng.normal(means, deviations, size=(40_000, 10)), axis=1)
    exceeds = normal_gap(means, deviations)
    for gap in (0.1, 0.2, 0.3, 0.4):
        assert exceeds(gap) == pytest.approx((drawn > gap).mean(), abs=0.01)
    assert exceeds(0.3) != pytest.approx(normal_gap(means, deviations / 2)(0.3), abs=0.05)
