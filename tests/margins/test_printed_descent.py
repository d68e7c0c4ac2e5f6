"""The printed noise of DP-SGD, and the lower bound on the δ that it really has."""

import itertools
import math

import pytest
from scipy.special import ndtr

from dpfair_lib.margins.printed_descent import last_iterate_delta, printed_noise, proof_steps


def test_the_noise_is_as_printed():
    inside = 64 * 7**2 * math.log(3 * 7 / 1e-5) * math.log(2 / 1e-5) / (1000 * 0.5) ** 2
    assert printed_noise(1000, 7, 0.5, 1e-5, 2) == pytest.approx(math.sqrt(inside), rel=1e-14)
    assert printed_noise(1000, 7, 0.5, 1e-5, 1) == pytest.approx(math.sqrt(inside / 7), rel=1e-14)


def test_the_last_iterate_tells_the_odd_record_if_no_noise_is_large():
    """All noise at its two ends, 5 steps, every place at which the odd record may be drawn besides the last."""
    for drawn in itertools.product((0, 1), repeat=4):
        ends = {}
        for odd, sign in ((1, -1), (-1, 1)):  # the noise that hinders most
            h = -1.0
            for z in (*(odd * d for d in drawn), odd if odd == 1 else 0):
                h = min(max((h + z) / 2 + sign / 16, -1), 1)
            ends[odd] = h
        assert ends[1] > 0.25 > ends[-1]


def test_the_bound_is_what_is_left_of_one_draw_in_n():
    n, epsilon, delta = 10**7, 0.5, 1e-14
    steps = proof_steps(n, epsilon, delta)
    large = 2 * steps * ndtr(-1 / (16 * printed_noise(n, steps, epsilon, delta, 2)))
    found = last_iterate_delta(n, steps, epsilon, delta, 2)
    assert found == pytest.approx((1 - large) / n - math.exp(epsilon) * large, rel=1e-12)
    assert found > 10**6 * delta


@pytest.mark.parametrize(("n", "steps", "power"), [(40_000, 5, 1), (30_000, 6, 1), (90_000, 5, 2)])
def test_large_noise_is_subtracted_where_it_is_not_rare(n, steps, power):
    noise = math.sqrt(64 * steps**power * math.log(3 * steps / 1e-5) * math.log(2 / 1e-5)) / (n * 0.5)
    large = 2 * steps * ndtr(-1 / 16 / noise)
    assert large > 1e-7
    due = (1 - large) / n - math.exp(0.5) * large
    assert last_iterate_delta(n, steps, 0.5, 1e-5, power) == pytest.approx(due, rel=1e-9)


def test_few_steps_are_refused():
    with pytest.raises(ValueError, match="found 4, expected at least 5"):
        last_iterate_delta(100, 4, 0.5, 1e-4, 1)
