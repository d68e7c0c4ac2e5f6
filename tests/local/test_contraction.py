from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.local.contraction import contraction, keeps_unfairness, realized_difference_law
from dpfair_lib.local.response import response_matrix


def test_factor():
    assert contraction(Fraction(1, 3)) == Fraction(1, 2)
    assert contraction(0) == 1
    assert contraction(1) == 0
    np.testing.assert_allclose(contraction(np.exp(-2.0)), np.tanh(1.0))


def test_equality_by_hand():
    merge = [[1, 0], [1, 0], [0, 1]]  # the first two values are reported alike
    assert keeps_unfairness(merge, [0.25, 0.25, 0.5], [0.2, 0.2, 0.6], "difference")
    assert not keeps_unfairness(merge, [0.25, 0.25, 0.5], [0.2, 0.3, 0.6], "difference")
    assert keeps_unfairness(merge, [0.4, 0.4, 0.2], [0.3, 0.4, 1.0], "ratio")
    assert keeps_unfairness(merge, [0.5, 0.0, 0.5], [0.2, 0.3, 0.6], "difference")
    assert not keeps_unfairness(response_matrix(2, 0.5), [0.5, 0.5], [0.1, 0.2], "ratio")


def test_law_of_a_data_set_is_a_law_and_converges():
    matrix = response_matrix(2, Fraction(1, 2))
    gaps, chances = realized_difference_law([[3, 2], [1, 4]], matrix)
    assert sum(chances) == 1
    assert min(gaps) >= 0
    assert max(gaps) <= 1
    gaps, chances = realized_difference_law([[150, 50], [50, 150]], matrix.astype(float))
    assert chances.sum() == pytest.approx(1, rel=1e-12)
    assert (gaps.astype(float) * chances).sum() == pytest.approx(0.5 / 3, rel=0.05)


def test_draws_agree_with_the_law():
    rng = np.random.default_rng(0)
    a, y = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1])
    matrix = response_matrix(2, 0.5)
    gaps, chances = realized_difference_law([[2, 1], [0, 2]], matrix)
    z = (rng.random((20_000, 5)) > matrix[a, 0]).astype(int)
    sizes = np.stack([(z == 0).sum(axis=1), (z == 1).sum(axis=1)])
    ones = np.stack([((z == j) * y).sum(axis=1) for j in (0, 1)])
    both = (sizes > 0).all(axis=0)
    rates = ones / np.maximum(sizes, 1)
    drawn = np.where(both, abs(rates[0] - rates[1]), 0).mean()
    assert abs(drawn - (gaps.astype(float) * chances).sum()) < 0.02


@pytest.mark.parametrize(
    ("counts", "matrix", "message"),
    [
        ([[1, 2, 3], [1, 2, 3]], [[0.5, 0.5], [0.5, 0.5]], "found shapes"),
        ([[1, -2], [1, 2]], [[0.5, 0.5], [0.5, 0.5]], "counts: found -2"),
        ([[1, 2], [1, 2]], np.eye(3), "found shapes"),
    ],
)
def test_bad_input_is_refused(counts, matrix, message):
    with pytest.raises(ValueError, match=message):
        realized_difference_law(counts, matrix)


def test_two_groups_equally_far_from_the_mean_are_a_tie_in_floats():
    for channel in ([[1, 0], [0.1, 0.9]], [[0.9, 0.1], [0, 1]]):
        assert keeps_unfairness(channel, [0.5, 0.5], [0.2, 0.6], "ratio")
