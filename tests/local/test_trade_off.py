from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.local.trade_off import (
    da_optimal,
    gap_interval,
    trade_off_excess,
    trade_off_weight,
    unfairness_constants,
)


def test_domination_by_hand():
    accuracies, gaps = [0.9, 0.8, 0.9, 0.7, 0.9], [0.3, 0.2, 0.3, 0.2, 0.4]
    assert da_optimal(accuracies, gaps).tolist() == [True, True, True, False, False]


CLASSES = st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0, np.nan])] * 2), max_size=12)


@given(CLASSES, st.booleans())
def test_domination_is_that_of_the_definition(pairs, exact):
    if exact and not np.isnan(pairs).any():
        pairs = [(Fraction(acc), Fraction(gap)) for acc, gap in pairs]
    kept = [not any(a >= acc and g <= gap and (a > acc or g < gap) for a, g in pairs) for acc, gap in pairs]
    accuracies, gaps = ([pair[at] for pair in pairs] for at in (0, 1))
    assert da_optimal(accuracies, gaps).tolist() == kept


@given(
    st.fractions(Fraction(1, 20), Fraction(19, 20)),
    st.fractions(0, 1),
    st.fractions(0, 1),
    st.fractions(0, 1),
)
def test_flipping_one_for_one_stays_on_the_line(share, low, high, part):
    flipped = part * share * (1 - share) * abs(high - low)
    gap = abs(high - low) * (1 - part)
    assert trade_off_excess(1 - 2 * flipped, gap, abs(high - low), share) == 0
    low_gap, _ = gap_interval(abs(high - low), 1 - 2 * flipped, share)
    assert low_gap == gap


def test_constants():
    assert unfairness_constants(Fraction(1, 4)) == (4, Fraction(1, 2))
    assert unfairness_constants(Fraction(1, 4), Fraction(1, 2)) == (2, Fraction(1, 2))
    assert trade_off_weight(Fraction(1, 2)) == Fraction(1, 2)
    low, high = gap_interval(0.2, np.array([1.0, 0.9, 0.5]), 0.5)
    np.testing.assert_allclose(low, [0.2, 0, 0], atol=1e-15)
    np.testing.assert_allclose(high, [0.2, 0.4, 1])


@pytest.mark.parametrize("share", [0.0, 1.0, 1.5, np.array([0.5, 0.0])])
def test_without_two_groups_there_is_no_gap(share):
    with pytest.raises(ValueError, match=r"share_0: found .*, expected a share in"):
        gap_interval(0.2, 0.9, share)
