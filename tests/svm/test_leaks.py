import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.privacy.laplace_vector import laplace_vector_loss
from dpfair_lib.svm.leaks import gap_noise_tail, list_change, noisy_list_epsilon, scale_delta


@given(st.integers(1, 9), st.integers(1, 9), st.floats(1, 50))
def test_scale_delta_is_the_hockey_stick(k, other, odds):
    if k == other:
        return

    def half(count, edge):  # P(0 < noise < edge), for noise of scale 2/count
        return mpmath.mpf(1) / 2 - mpmath.exp(-count * edge / 2) / 2

    more, fewer = max(k, other), min(k, other)
    far = 2 * mpmath.log(odds * more / fewer) / (more - fewer)
    excess = [1 - 2 * half(fewer, far) - odds * (1 - 2 * half(more, far))]
    if odds < more / fewer:
        near = 2 * mpmath.log(more / fewer / odds) / (more - fewer)
        excess.append(2 * half(more, near) - odds * 2 * half(fewer, near))
    assert float(scale_delta(odds, k, other)) == pytest.approx(float(max(excess)), rel=1e-9, abs=1e-14)


def test_the_real_epsilon_is_attained_and_not_exceeded():
    rng = np.random.default_rng(1)
    first, second = rng.random((2, 5, 3))
    epsilon = 0.7
    real = noisy_list_epsilon(first, second, epsilon)

    def loss(out):
        return laplace_vector_loss(out.ravel(), first.ravel(), second.ravel(), 2 / (5 * epsilon))

    assert loss(first) == pytest.approx(real, rel=1e-12)
    assert max(loss(rng.normal(size=(5, 3))) for _ in range(200)) <= real * (1 + 1e-12)


def test_another_number_is_seen_with_certainty():
    assert noisy_list_epsilon([1, 2], [1, 2, 2], 1) == math.inf
    assert noisy_list_epsilon([Fraction(1, 3), Fraction(0)], [Fraction(0), Fraction(0)], 3) == 1


def test_the_tail_of_a_difference_against_draws():
    rng = np.random.default_rng(2)
    drawn = rng.laplace(scale=2.0, size=(2, 400_000))
    for t in (0.0, 1.0, 5.0):
        p = gap_noise_tail(t, 2.0)
        assert np.mean(drawn[0] - drawn[1] >= t) == pytest.approx(p, abs=5 * math.sqrt(p / 400_000))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: list_change([1], [1, 2]), "second: found shape"),
        (lambda: noisy_list_epsilon([1], [1], 0), "epsilon"),
        (lambda: scale_delta(0.5, 1, 2), "odds"),
        (lambda: scale_delta(2, 2, 2), "neighbour_k"),
        (lambda: scale_delta(2, 0, 2), "k: found 0"),
        (lambda: gap_noise_tail(-1, 1), "t: found"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
