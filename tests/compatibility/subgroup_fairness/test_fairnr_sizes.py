import math

import pytest

from dpfair_lib.compatibility.subgroup_fairness.fairnr_sizes import (
    count_noise_bound,
    printed_rounds,
    printed_samples,
    side_condition,
    smallest_sample,
)


def test_printed_sizes_by_hand():
    beta = 2 / math.e
    assert printed_rounds(100, 0.5, beta) == pytest.approx(4 * 10 * 16)
    top = math.log(2 * 640 / beta) * math.log(100) * 4 * 640
    assert printed_samples(100, 0.5, beta) == pytest.approx(top / (10 * 9))


def test_the_smallest_sample_grows_as_its_parts_say():
    base = smallest_sample(1.0, 0.1, 0.05, 1e-6)
    assert base == pytest.approx(1.05e25, rel=0.01)
    assert side_condition(base, 0.1, 0.05, 1e-6) == pytest.approx(1.0, rel=1e-6)
    assert smallest_sample(1.0, 0.1, 0.05, 1e-6, constant=2) > 4 * base
    assert smallest_sample(1e9, 0.1, 0.05, 1e-6) == pytest.approx(math.exp(8))


def test_the_bound_shrinks_like_one_over_n():
    chosen = {"cells": 12, "profiles": 30, "subgroups": 71, "failure": 0.05}
    assert count_noise_bound(5.0, n=2000, **chosen) == pytest.approx(
        count_noise_bound(5.0, n=1000, **chosen) / 2
    )


def test_the_derived_side_condition_by_hand():
    n, alpha, beta, delta = 1e6, 0.2, 0.05, 1e-6
    share = printed_samples(n, alpha, beta) / printed_rounds(n, alpha, beta)
    inside = 2 * (1 + math.log(n)) * (2 + 1 / alpha) * math.sqrt(share * math.log(1 / delta))
    assert side_condition(n, alpha, beta, delta, derived=True) == pytest.approx(
        inside / (alpha / 4), rel=1e-12
    )
