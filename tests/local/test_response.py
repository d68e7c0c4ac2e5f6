import math
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib import generalized_randomized_response
from dpfair_lib.local import binary_optimum, garbling, garbling_epsilon
from dpfair_lib.local.levels import TwoLevels
from dpfair_lib.local.response import (
    BLOCK,
    collecting_ratio,
    garbling_matrix,
    garbling_ratio,
    response_matrix,
)
from dpfair_lib.privacy import RandomizedResponse


@pytest.mark.parametrize("k", [2, 3, 10, 128, 129, 40_000])
def test_reports_are_values_and_lies_are_uniform(k):
    rng = np.random.default_rng(0)
    mechanism = TwoLevels(1.0, 1, k - 1) if k > 1000 else generalized_randomized_response(k, 1.0)
    if k > 1000:
        assert mechanism.ratio == pytest.approx(math.e, rel=k / 2**30)
        return
    values = rng.integers(0, k, size=200_000)
    reports = mechanism.apply(values, rng)
    assert reports.min() >= 0
    assert reports.max() < k
    truth = (reports == values).mean()
    assert abs(truth - mechanism.matrix[0, 0]) < 0.01
    shifts = np.bincount((reports - values) % k, minlength=k)[1:]
    expected = 200_000 * mechanism.matrix[0, 1]
    assert (abs(shifts - expected) < 6 * math.sqrt(expected) + 1).all()


@pytest.mark.parametrize("k", [2, 127, 128, 129, 200, 255, 256, 257, 1000])
def test_every_value_and_every_draw_make_their_report(k):
    # at each k all of them, whatever words a value and a shift are added up in
    mechanism = generalized_randomized_response(k, 1.0)
    values, drawn = (pairs.ravel() for pairs in np.indices((k, k)))
    with mock.patch.object(TwoLevels, "draw", lambda _, n, __: answers.pop(0)[:n]):
        answers = [drawn[start : start + BLOCK].astype(np.uint32) for start in range(0, len(drawn), BLOCK)]
        reports = mechanism.apply(values)
    # an outcome below k − 1 is a shift by one more, and the last one is the truth
    assert np.array_equal(reports, np.where(drawn == k - 1, values, (values + drawn + 1) % k))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint64])
def test_the_dtype_is_kept_and_blocks_join(dtype):
    values = (np.arange(100_001) % 5).astype(dtype)
    reports = generalized_randomized_response(5, 40.0).apply(values, np.random.default_rng(0))
    assert reports.dtype == dtype
    assert (reports != values).sum() <= 1  # ε′ is 22: a lie in 10⁹


def test_no_privacy_and_no_information():
    rng = np.random.default_rng(0)
    values = np.arange(10)
    mechanism = generalized_randomized_response(10, math.inf)
    assert mechanism.epsilon == math.inf
    assert (mechanism.apply(values, rng) == values).all()
    assert mechanism.realized().epsilon == math.inf
    uniform = generalized_randomized_response(10, 0)
    assert uniform.epsilon == 0
    assert uniform.realized().likelihood_ratio == 1
    alone = generalized_randomized_response(1, 1.0)
    assert alone.epsilon == 0
    assert (alone.apply(np.zeros(5, int), rng) == 0).all()


@given(st.integers(2, 12), st.floats(0.01, 20))
def test_the_matrix_is_that_of_the_profile(k, epsilon):
    np.testing.assert_allclose(
        generalized_randomized_response(k, epsilon).matrix,
        RandomizedResponse(epsilon, k).matrix(),
        rtol=1e-12,
    )


@pytest.mark.parametrize("epsilon", [-1, math.nan, 701, "1", None, True])
def test_bad_levels_are_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon: found"):
        generalized_randomized_response(3, epsilon)


@pytest.mark.parametrize("k", [0, 2.5, -1, True])
def test_bad_sizes_are_refused(k):
    with pytest.raises(ValueError, match="k: found"):
        generalized_randomized_response(k, 1.0)


def fractions(rows):
    return np.array([[Fraction(q) for q in row] for row in rows], dtype=object)


def test_plain_reports_that_are_changed_are_reports_of_the_channel():
    rng = np.random.default_rng(0)
    a = (rng.random(200_000) > 0.3).astype(int)
    channel = binary_optimum([0.3, 0.7], [0.4, 0.5], 1.0)
    plain = generalized_randomized_response(2, 1.0).apply(a, rng)
    reports = garbling(channel, 1.0).apply(plain, rng)
    for value in (0, 1):
        n = (a == value).sum()
        share = (reports[a == value] == 0).mean()
        assert abs(share - channel.matrix[value, 0]) < 5 * math.sqrt(0.25 / n)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_the_question_for_one_value_needs_the_whole_price(k):
    x = Fraction(1, 4)
    ask = fractions([["4/5", "1/5"]] + [["1/5", "4/5"]] * (k - 1))
    assert garbling_ratio(ask) == collecting_ratio(k, 1 / x) == 1 + (k - 1) * 3
    found = garbling_matrix(ask, 1 / collecting_ratio(k, 1 / x))
    assert found.min() == 0
    assert (response_matrix(k, 1 / collecting_ratio(k, 1 / x)) @ found == ask).all()


def test_levels_at_the_ends():
    same, certain = [[0.2, 0.8]] * 3, [[1.0, 0.0], [0.0, 1.0]]
    assert garbling_epsilon(same) == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(garbling(same, 0.0).matrix, same)
    assert garbling_epsilon(certain) == math.inf
    np.testing.assert_array_equal(garbling(certain, math.inf).matrix, certain)
    assert garbling_epsilon([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]]) == pytest.approx(math.log(2))
    np.testing.assert_allclose(garbling([[0.3, 0.7]], 0.5).matrix, [[0.3, 0.7]])  # one value


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 1.609])
def test_a_channel_that_cannot_be_made_is_refused_with_the_epsilon_that_it_needs(epsilon):
    ask = [[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]]
    with pytest.raises(ValueError, match=r"epsilon: .* expected at least .* = 1\.60944"):
        garbling(ask, epsilon)


@pytest.mark.parametrize(
    ("channel", "epsilon", "message"),
    [
        ([[0.5, 0.6]], 1.0, "channel: found a sum"),
        ([0.5, 0.5], 1.0, "channel: found shape"),
        ([[0.5, 0.5]] * 2, -1.0, "epsilon: found"),
        ([[0.5, 0.5]] * 2, math.nan, "epsilon: found"),
    ],
)
def test_bad_input_of_a_garbling_is_named(channel, epsilon, message):
    with pytest.raises(ValueError, match=message):
        garbling(channel, epsilon)
