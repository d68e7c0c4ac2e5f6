import math
from fractions import Fraction
from unittest import mock

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib import generalized_randomized_response, subset_selection
from dpfair_lib.local.levels import WORD, TwoLevels

EPSILONS = st.floats(0, 30)


@given(EPSILONS, st.integers(1, 50), st.integers(0, 500))
def test_the_drawn_level_is_just_below_the_one_asked_for(epsilon, favoured, others):
    law = TwoLevels(epsilon, favoured, others)
    assert law.total <= WORD
    assert law.total > WORD // 3  # few words are drawn again
    level = math.log1p(law.ratio - 1)
    assert level <= epsilon + 1e-15
    if (favoured + others) * math.exp(epsilon) <= 2**31:
        assert epsilon - level < (favoured + others) * 2.0**-30


@pytest.mark.parametrize("others", [1, 4, 30])
def test_the_ratio_is_never_beyond_the_level_to_the_last_digit(others):
    # at the logarithm of a whole number, rounded down, the computed power is that number, which is too large
    beyond = 0
    with mpmath.workdps(50):
        for ratio in range(2, 300):
            epsilon = math.log(ratio)
            law = TwoLevels(epsilon, 1, others)
            assert mpmath.mpf(law.ratio.numerator) / law.ratio.denominator <= mpmath.exp(epsilon)
            beyond += math.exp(epsilon) > mpmath.exp(epsilon)
    assert beyond > 50


@given(EPSILONS, st.integers(1, 50), st.integers(0, 500))
def test_every_outcome_has_exactly_its_words(epsilon, favoured, others):
    law = TwoLevels(epsilon, favoured, others)
    ends = np.cumsum([0] + [law.low] * others + [law.high] * favoured)
    outcomes = np.flatnonzero(np.diff(ends))
    # outcomes grow with the words: their first and last word tell all of them
    chosen = np.stack([ends[outcomes], ends[outcomes + 1] - 1]).astype(np.uint32)
    with mock.patch("dpfair_lib.local.levels.words32", return_value=chosen.ravel()):
        drawn = law.draw(chosen.size, None).reshape(2, -1)
    np.testing.assert_array_equal(drawn, [outcomes, outcomes])


@pytest.mark.parametrize("epsilon", [0.0, 1e-320, 1e-9, 700.0])
def test_reports_that_say_nothing_can_be_drawn_at_every_level(epsilon):
    assert generalized_randomized_response(1, epsilon).apply([0, 0]).tolist() == [0, 0]
    assert subset_selection(3, epsilon, size=3).apply([0, 2]).tolist() == [[1, 1, 1]] * 2


def test_words_beyond_the_weights_are_drawn_again():
    law = TwoLevels(0.0, 2, 3)
    law.low = law.high = WORD // 5 - 200_000_000  # a quarter of the words is beyond
    outcomes = law.draw(100_000, np.random.default_rng(0))
    counts = np.bincount(outcomes, minlength=5)
    assert len(counts) == 5
    assert (abs(counts - 20_000) < 1000).all()


def test_the_ratio_is_a_fraction_close_to_the_power_of_e():
    assert TwoLevels(math.log(2) * (1 + 1e-15), 1, 1).ratio == pytest.approx(2, rel=1e-9)
    assert isinstance(TwoLevels(1.0, 1, 1).ratio, Fraction)
