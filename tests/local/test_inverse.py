import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.local.inverse import confused_shares, in_words, rank_and_condition, unbiased_weights
from dpfair_lib.local.randomizer import as_channel


@st.composite
def channels(draw):
    k, m = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rows = [draw(st.lists(st.integers(0, 3), min_size=m, max_size=m).filter(any)) for _ in range(k)]
    return np.array([[Fraction(w, sum(row)) for w in row] for row in rows], dtype=object)


@given(channels())
def test_the_rank_is_that_of_the_matrix_and_decides_whether_shares_are_confused(matrix):
    rank, condition = rank_and_condition(matrix)
    assert rank == np.linalg.matrix_rank(matrix.astype(float), tol=1e-9)
    found = confused_shares(matrix)
    assert (found is None) == (rank == len(matrix)) == (condition < math.inf)
    if found is not None:
        one, other = found
        assert sum(one) == sum(other) == 1
        assert min(one) >= 0 <= min(other)
        assert (one != other).any()
        assert (one @ matrix == other @ matrix).all()
    numbers = matrix.astype(float)
    assert rank_and_condition(numbers)[0] == rank
    if found is not None:
        one, other = confused_shares(numbers)
        np.testing.assert_allclose(one @ numbers, other @ numbers, atol=1e-12)
        assert abs(one - other).max() > 1e-3


def test_a_nearly_singular_channel_is_decided_exactly_in_fractions():
    tiny = Fraction(1, 10**40)
    half = Fraction(1, 2)
    matrix = as_channel(np.array([[half + tiny, half - tiny], [half, half]]))
    assert rank_and_condition(matrix)[0] == 2
    assert confused_shares(matrix) is None


def test_a_channel_that_is_singular_as_floats_has_its_exact_rank():
    tiny, half, none = Fraction(1, 10**400), Fraction(1, 2), Fraction(0)
    matrix = as_channel(
        np.array([[half + tiny, half - tiny, none], [half, half, none], [none, none, Fraction(1)]])
    )
    assert np.linalg.svd(matrix.astype(float), compute_uv=False)[-1] < 1e-16
    rank, condition = rank_and_condition(matrix)
    assert rank == 3
    assert condition > 1e15
    one = Fraction(1)
    alike = as_channel(np.array([[one, none, none], [one - tiny, tiny, none], [none, none, one]]))
    assert np.linalg.svd(alike.astype(float), compute_uv=False)[-1] == 0
    assert rank_and_condition(alike) == (3, math.inf)


def test_a_wide_and_a_tall_channel():
    wide = as_channel([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
    np.testing.assert_allclose(wide @ unbiased_weights(wide), np.eye(2), atol=1e-12)
    tall = as_channel([[0.5, 0.5], [0.25, 0.75], [0.1, 0.9]])
    assert rank_and_condition(tall) == (2, math.inf)
    one, other = confused_shares(tall)
    np.testing.assert_allclose(one @ tall, other @ tall, atol=1e-12)


@pytest.mark.parametrize(
    ("shares", "text"),
    [
        ([0, 1.0], "input 1"),
        ([Fraction(1, 2), Fraction(1, 2)], "1/2 input 0 + 1/2 input 1"),
        ([0.25, 0, 0.75], "0.25 input 0 + 0.75 input 2"),
    ],
)
def test_words(shares, text):
    assert in_words(shares) == text
