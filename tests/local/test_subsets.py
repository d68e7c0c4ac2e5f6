import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib import generalized_randomized_response, subset_selection
from dpfair_lib.local.subsets import least_variance_size, subset_size, subset_variance


@pytest.mark.parametrize(
    ("k", "size", "epsilon"), [(5, 2, 1.0), (10, 5, 0.0), (30, 7, 0.8), (4, 4, 1.0), (2, 1, 3.0)]
)
def test_bit_vectors_hold_the_right_number_of_values(k, size, epsilon):
    mechanism = subset_selection(k, epsilon, size=size)
    values = np.arange(60_000, dtype=np.int16) % k
    reports = mechanism.apply(values, np.random.default_rng(0))
    assert reports.shape == (60_000, k)
    assert reports.dtype == np.uint8
    assert (reports.sum(axis=1) == size).all()
    p = size / (size + (k - size) * math.exp(-epsilon))
    assert abs(reports[np.arange(60_000), values].mean() - p) < 0.012


def test_every_set_has_its_probability():
    mechanism = subset_selection(5, 1.0, size=2)
    reports = mechanism.apply(np.full(400_000, 3), np.random.default_rng(2))
    codes = reports @ (1 << np.arange(5))
    sets = [sum(1 << i for i in s) for s in [(a, b) for a in range(5) for b in range(a + 1, 5)]]
    found = np.array([(codes == code).mean() for code in sets])
    np.testing.assert_allclose(found, mechanism.matrix[3], atol=0.004)


def test_the_level_and_the_ends():
    assert subset_selection(6, 1.5, size=3).epsilon == 1.5
    assert subset_selection(6, 1.5, size=6).epsilon == 0
    assert subset_selection(6, 1.5, size=6).likelihood_ratio == 1
    rng = np.random.default_rng(0)
    always = subset_selection(6, math.inf, size=3)
    assert always.epsilon == always.likelihood_ratio == math.inf
    values = np.arange(6000) % 6
    assert always.apply(values, rng)[np.arange(6000), values].all()
    assert subset_selection(1, 2.0).apply([0, 0], rng).tolist() == [[1], [1]]


def test_sets_of_one_value_are_randomised_response():
    one, other = subset_selection(7, 1.2, size=1), generalized_randomized_response(7, 1.2)
    np.testing.assert_allclose(one.matrix, other.matrix, rtol=1e-14)
    p = np.full(7, 1 / 7)
    assert one.truth_probability(p) == pytest.approx(other.truth_probability(p))
    with pytest.raises(ValueError, match="reports of 6 values, expected 1"):
        subset_selection(7, 1.2, size=6).truth_probability(p)


@given(st.integers(2, 30), st.fractions(1, 50))
def test_the_rules_for_the_size(k, ratio):
    printed = subset_size(k, ratio)
    assert 1 <= printed < k or k == printed == 1
    if ratio > 1:
        variances = {size: subset_variance(k, size, ratio) for size in range(1, k)}
        assert variances[least_variance_size(k, ratio)] == min(variances.values())
        assert printed <= least_variance_size(k, ratio) <= printed + 1


def test_the_default_size_is_the_printed_one():
    assert subset_selection(10, 0.5).size == 4
    assert subset_selection(2, 0.0).size == 1
    assert subset_size(4, Fraction(17, 10)) == 1
    assert least_variance_size(4, Fraction(17, 10)) == 2


def test_the_drawn_level():
    for k, size, epsilon in ((10, 4, 0.5), (40, 9, 1.0), (10, 3, 15.0)):
        mechanism = subset_selection(k, epsilon, size=size)
        level = math.log(mechanism.realized_ratio)
        assert level <= epsilon
        assert epsilon - level < math.comb(k, size) * 2.0**-30


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="size: found 6, expected at most k, 5"):
        subset_selection(5, 1.0, size=6)
    with pytest.raises(ValueError, match="size: found 0"):
        subset_selection(5, 1.0, size=0)
    with pytest.raises(ValueError, match="epsilon: found -1"):
        subset_selection(5, -1)
    with pytest.raises(ValueError, match="found 5"):
        subset_selection(5, 1.0).apply([5], np.random.default_rng(0))
    with pytest.raises(ValueError, match="found a channel of"):
        _ = subset_selection(40, 1.0, size=20).matrix
