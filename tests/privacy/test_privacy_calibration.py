"""The search for the least noise: where it lands, how often it asks, and what it refuses."""

import math

import pytest

from dpfair_lib.privacy.calibration import calibrated


@pytest.mark.parametrize("power", [-0.5, -1.0, -2.0])
@pytest.mark.parametrize("target", [1e-3, 0.1, 1.0, 8.0])
def test_the_epsilon_found_is_at_most_the_target_and_within_the_slack_of_it(power, target):
    asked = []

    def epsilon_of(sigma):
        asked.append(sigma)
        return 1.7 * sigma**power

    if not 1e-2 < (target / 1.7) ** (1 / power) < 1e4:
        with pytest.raises(ValueError, match=f"epsilon: found {target}"):
            calibrated(epsilon_of, target, 1.0, -1.0, 1e-6)
        return
    sigma, slope = calibrated(epsilon_of, target, 1.0, -1.0, 1e-6)
    assert (1 - 1e-6) * target <= epsilon_of(sigma) <= target
    assert slope == pytest.approx(power, abs=1e-3)
    assert len(asked) <= 12  # the logarithms lie on a line, which is followed


def test_steps_of_an_accountant_end_the_search_on_the_safe_side():
    sigma, _ = calibrated(lambda s: math.ceil(10 / s) / 10, 1.0, 1.0, -1.0, 1e-9)
    assert math.ceil(10 / sigma) / 10 <= 1.0
    coarse, _ = calibrated(lambda s: 2.0 if s < 3 else 0.5, 1.0, 1.0, -1.0, 1e-9)
    assert coarse == pytest.approx(3.0, rel=1e-8)
    assert coarse >= 3.0
