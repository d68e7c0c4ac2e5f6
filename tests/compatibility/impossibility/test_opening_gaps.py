import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpfair_lib.compatibility.impossibility.acceptable import statistical_distance
from dpfair_lib.compatibility.impossibility.criteria import opportunity_gap
from dpfair_lib.compatibility.impossibility.opening_gaps import (
    flipped_pair,
    largest_gap,
    least_distance,
    least_steps,
    opening_pair,
)

X = np.array([[0, 0], [1, 1]])
shares = st.fractions(0, 1, max_denominator=12)


@given(shares, shares, st.fractions(Fraction(1, 50), Fraction(1, 3), max_denominator=50))
def test_the_nearest_pair_attains_the_widest_gap(start, ratio, floor):
    assume(start + ratio < 1)
    before, after = opening_pair(X, start, ratio, floor)
    assert opportunity_gap(before.table, X) == start
    assert opportunity_gap(after.table, X) == largest_gap(start, ratio)
    assert statistical_distance(before, after) == ratio * floor
    assert min(law.table[..., 1].sum(axis=0).min() for law in (before, after)) == floor


@given(shares, shares, st.fractions(Fraction(1, 50), Fraction(1, 3), max_denominator=50))
def test_the_distance_undoes_the_gap(start, ratio, floor):
    assume(0 < ratio < 1 - start)
    found = least_distance(float(start), float(largest_gap(start, ratio) - start), float(floor))
    assert found == pytest.approx(float(ratio * floor), rel=1e-7, abs=1e-9)


def test_known_values():
    assert largest_gap(0, Fraction(1, 2)) == Fraction(9, 16)  # ((1 + ½)/2)²
    assert largest_gap(0, Fraction(1, 4)) == Fraction(9, 25)  # 1 − 1/(5/4)²
    assert largest_gap(Fraction(1, 4), 0) == Fraction(1, 4)
    assert largest_gap(Fraction(1, 4), Fraction(3, 4)) == 1
    assert least_distance(0, 0.75, 0.2) == pytest.approx(0.2 * (math.sqrt(3) - 1))
    assert least_distance(0, 0.36, 0.2) == pytest.approx(0.05)
    assert least_distance(0.5, 0, 0.2) == 0
    assert least_distance(0.5, 0.5, 0.2) == math.inf


def test_steps_go_farther_than_the_nearer_of_two_distances():
    tenth = Fraction(1, 10)
    asked = {"floor": 3 * tenth, "zeta": tenth}
    assert least_steps(0, Fraction(3, 5), 3 * tenth, **asked) == 2
    assert least_steps(0, Fraction(3, 5), 0 * tenth, **asked) == 1
    assert least_steps(0, 0 * tenth, 3 * tenth, **asked) == 1
    assert least_steps(0, Fraction(1), 3 * tenth, **asked) == 4


def test_labels_flip_at_equal_rates():
    first, second = flipped_pair(X, Fraction(1, 4), Fraction(1, 10))
    assert statistical_distance(first, second) == Fraction(1, 4)
    assert [opportunity_gap(law.table, X) for law in (first, second)] == [0, 0]
    surplus = [((law.table[..., 1] - law.table[..., 0]) * X).sum() for law in (first, second)]
    assert surplus == [Fraction(1, 4), -Fraction(1, 4)]


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="start: found 1"):
        largest_gap(1, 0.5)
    with pytest.raises(ValueError, match="ratio: found -1"):
        largest_gap(0, -1)
    with pytest.raises(ValueError, match="slack: found -1"):
        least_distance(0, -1, 0.1)
    with pytest.raises(ValueError, match="h: expected a hypothesis"):
        opening_pair(np.array([[0, 0], [1, 0]]), 0, Fraction(1, 2), Fraction(1, 4))
