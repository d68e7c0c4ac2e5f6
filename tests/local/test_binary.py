import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib import binary_optimum, data_unfairness_from_rates
from dpfair_lib.local import binary
from dpfair_lib.local.binary import (
    equally_truthful_response,
    optimal_ratio,
    optimal_truths,
    unfairness_ratio,
)

SHARES = st.fractions(Fraction(1, 100), Fraction(99, 100))


def test_the_printed_optimum():
    channel = binary_optimum([0.3, 0.7], [0.2, 0.6], 1.0)
    np.testing.assert_allclose(channel.matrix, [[1 - math.exp(-1) / 2, math.exp(-1) / 2], [0.5, 0.5]])
    assert channel.epsilon == pytest.approx(1)
    pz, p1z = channel.pushforward([0.3, 0.7], [0.2, 0.6])
    assert channel.value == pytest.approx(data_unfairness_from_rates(pz, p1z, "difference"))
    np.testing.assert_allclose(binary_optimum([0.7, 0.3], [0.2, 0.6], 1.0).matrix, channel.matrix[::-1, ::-1])
    # the order of the rates does not matter
    np.testing.assert_array_equal(binary_optimum([0.3, 0.7], [0.6, 0.2], 1.0).matrix, channel.matrix)


def test_ends_and_degenerate_data():
    np.testing.assert_array_equal(binary_optimum([0.3, 0.7], [0.2, 0.6], 0).matrix, np.full((2, 2), 0.5))
    assert binary_optimum([0.3, 0.7], [0.2, 0.6], math.inf).epsilon == math.inf
    assert binary_optimum([0.5, 0.5], [0.2, 0.6], 1.0).matrix[1, 1] == 0.5
    for p, p1 in (([0.0, 1.0], [math.nan, 0.5]), ([0.4, 0.6], [1, 1]), ([0.4, 0.6], [0, 0])):
        channel = binary_optimum(p, p1, 1.0)
        assert channel.value == 0
        assert channel.epsilon == pytest.approx(1)


@pytest.mark.parametrize("epsilon", [1e-9, 1.0, 20.0, 30.0, 36.5, 40.0, 700.0])
@pytest.mark.parametrize("p", [[0.3, 0.7], [0.7, 0.3], [0.5, 0.5]])
def test_the_level_is_the_one_asked_for_however_large(p, epsilon):
    channel = binary_optimum(p, [0.2, 0.6], epsilon)
    assert channel.epsilon == pytest.approx(epsilon, rel=1e-14, abs=1e-15)
    assert channel.realized_epsilon <= epsilon + 1e-14


@pytest.mark.parametrize(
    ("p", "p1", "epsilon", "message"),
    [
        ([0.3, 0.6], [0.2, 0.6], 1, "p: found shares"),
        ([0.3, 0.7], [0.2, 1.6], 1, "p1: found 1.6"),
        ([0.3, 0.7], [-0.1, 0.6], 1, "p1: found -0.1"),
        ([0.2, 0.3, 0.5], [0, 0, 0], 1, "p: found 3 entries, expected 2"),
        ([0.3, 0.7], [0.2, 0.6], -1, "epsilon: found -1"),
        ([0.3, 0.7], [0.2, math.nan], 1, "p1: found nan"),
    ],
)
def test_bad_input_is_refused(p, p1, epsilon, message):
    with pytest.raises(ValueError, match=message):
        binary_optimum(p, p1, epsilon)


@given(SHARES, st.fractions(0, Fraction(99, 100)))
def test_plain_response_of_the_same_truth_is_fairer_and_more_private(share, x):
    p, q = optimal_truths(share, x)
    truth = equally_truthful_response(share, x)
    assert truth == share * p + (1 - share) * q
    for kind in ("difference", "ratio"):
        assert unfairness_ratio(share, truth, truth, kind) < unfairness_ratio(share, p, q, kind)
        assert unfairness_ratio(share, p, q, kind) == optimal_ratio(share, x, kind)
    assert x == 0 or truth / (1 - truth) < 1 / x


def test_arrays_and_silent_reports():
    share, ones = np.array([0.2, 0.5]), np.ones(2)
    np.testing.assert_array_equal(unfairness_ratio(share, ones, 0 * ones), [0, 0])
    np.testing.assert_allclose(unfairness_ratio(share, ones, ones), [1, 1])
    assert unfairness_ratio(0.2, 1.0, 0.0) == 0


@pytest.mark.parametrize("share", [Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)])
@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(9, 10)])
def test_the_least_ratio_anywhere_is_the_stated_part_of_the_truthful_one(share, x):
    part = (1 + min(share, 1 - share) * (1 - x)) / 2
    assert binary.least_ratio_anywhere(share, x) == part * binary.optimal_ratio(share, x)
