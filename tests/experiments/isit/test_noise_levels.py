"""The printed noise levels with their settings."""

import pytest

from dpfair_lib.experiments.isit.noise_levels import CALIBRATION_ROWS, LEVELS, READINGS, matches, sampling
from dpfair_lib.privacy import dp_sgd_noise


def test_the_twelve_levels_are_those_that_the_sources_print():
    assert len(LEVELS) == 12
    assert {level.noise for level in LEVELS if level.data == "adult"} == {3.13, 1.5, 3.27, 1.56, 3.01, 1.45}
    assert {(level.data, level.target, level.epochs, level.for_rates) for level in LEVELS} == {
        ("adult", 3, 50, 0.1), ("adult", 9, 50, 0.1), ("credit", 3, 50, 0.2), ("credit", 9, 100, 0.2)
    }  # fmt: skip


def test_sampling_draws_by_batches_or_by_the_size_of_a_batch():
    level = LEVELS[0]
    assert sampling(level, 22_611) == (pytest.approx(1 / 23), 50 * 23)
    assert sampling(level, 22_611, by_batches=False) == (pytest.approx(1024 / 22_611), 50 * 23)


def test_a_level_of_gdp_matches_the_rows_that_it_was_calibrated_for_and_no_others():
    level = next(level for level in LEVELS if level.noise == 3.01)
    settings = {"divisor": READINGS["noise over clip"], "spent": level.for_rates, "noise": dp_sgd_noise}
    assert matches(level, CALIBRATION_ROWS["adult"], **settings)
    assert not matches(level, 22_611, **settings)
