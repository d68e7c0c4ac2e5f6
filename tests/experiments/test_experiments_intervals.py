import numpy as np
import pytest

from dpfair_lib.experiments import mean_interval


def test_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(2000):
        mean, half = mean_interval(rng.normal(3, 2, size=5), level=0.9)
        covered += abs(mean - 3) <= half
    # exact binomial bounds at a failure probability of 1e-6
    assert 1730 <= covered <= 1863


def test_overlapping_splits_of_one_data_set_need_the_correction():
    # the mean of a fresh quarter of n rows, over 10 splits: what does the interval say of the true mean?
    rng = np.random.default_rng(1)
    plain, corrected = 0, 0
    for _ in range(400):
        rows = rng.normal(0, 1, size=400)
        values = [rng.permutation(rows)[:100].mean() for _ in range(10)]
        mean, half = mean_interval(values)
        plain += abs(mean) <= half
        corrected += abs(mean) <= mean_interval(values, test_to_train=1 / 3)[1]
    assert plain < 300  # a nominal 95 % covers less than three quarters
    assert corrected > 360


@pytest.mark.parametrize(("values", "level"), [([1.0], 0.9), ([1.0, np.nan], 0.9), ([1.0, 2.0], 1.0)])
def test_bad_intervals_are_refused(values, level):
    with pytest.raises(ValueError, match=r"(values|level): found"):
        mean_interval(values, level=level)
