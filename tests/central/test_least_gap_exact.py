import math
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.central.least_gap import least_confusion
from dpfair_lib.central.least_gap_exact import (
    least_gap,
    least_gap_of_prior,
    noisy_count_law,
    worst_gap_of_centres,
)
from dpfair_lib.central.least_gap_program import private_minimax_gap
from dpfair_lib.central.released_rates import geometric_count_law

LEVELS = [Fraction(1), Fraction(3, 2), Fraction(3)]
LOSSES = [Fraction(0), Fraction(1, 12), Fraction(3, 5)]


@pytest.mark.parametrize("odds", LEVELS)
@pytest.mark.parametrize("delta", LOSSES)
@pytest.mark.parametrize("n", [1, 4])
def test_the_noise_is_private_and_uses_all_of_delta(n, odds, delta):
    law = noisy_count_law(n, odds, delta)
    assert (law.sum(axis=1) == 1).all()
    excess = [
        np.maximum(law[k] - odds * law[j], 0).sum()
        for k in range(n + 1)
        for j in (k - 1, k + 1)
        if 0 <= j <= n
    ]
    assert max(excess) == delta


def test_without_delta_it_is_geometric_noise():
    law = noisy_count_law(3, Fraction(5, 2))
    assert law.tolist() == [geometric_count_law(k, 3, Fraction(2, 5)) for k in range(4)]


@pytest.mark.parametrize("odds", LEVELS)
@pytest.mark.parametrize("delta", LOSSES)
def test_two_populations_have_the_error_of_the_best_test(odds, delta):
    shift = Fraction(2, 5)
    rates = [(1 - shift) / 2, (1 + shift) / 2]
    found = least_gap_of_prior(rates, [Fraction(1, 2)] * 2, 5, odds, delta)
    assert found == shift * least_confusion(5, shift, odds, delta)


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_no_mechanism_is_better_on_the_certificate_and_the_centres_are_as_good_everywhere(delta):
    found = least_gap(4, 2.0, delta)
    assert found.low <= found.high <= found.low * (1 + 2e-4)
    over_all, _ = private_minimax_gap(found.rates, 4, math.log(2), delta, response=1.0)
    assert found.low - 1e-8 <= over_all <= found.high + 1e-8


def test_fractions_certify_what_floats_find():
    exact, floats = least_gap(5, Fraction(3)), least_gap(5, 3.0)
    assert isinstance(exact.low, Fraction)
    assert isinstance(exact.high, Fraction)
    assert exact.low <= exact.high
    assert float(exact.low) == pytest.approx(floats.low, rel=1e-5)


def test_the_worst_rate_is_bounded_also_between_the_points_of_a_grid():
    centres = [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)]
    bound = worst_gap_of_centres(centres, 2, Fraction(3))
    law = noisy_count_law(2, Fraction(3))
    risks = []
    for p in (Fraction(i, 997) for i in range(998)):
        counts = np.array([(1 - p) ** 2, 2 * p * (1 - p), p**2])
        risks.append(counts @ law @ abs(p - np.array(centres)))
    assert max(risks) <= bound <= max(risks) * (1 + Fraction(1, 10**4))


def test_nothing_known_is_one_half_and_one_sure_record_a_quarter():
    assert least_gap(3, Fraction(1)).low == pytest.approx(0.5, rel=1e-4)
    assert least_gap(1, 1e9).high == pytest.approx(0.25, rel=1e-4)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: noisy_count_law(0, 2.0), "n"),
        (lambda: noisy_count_law(2, 0.5), "odds"),
        (lambda: noisy_count_law(2, math.inf), "odds"),
        (lambda: noisy_count_law(2, 2.0, 1.0), "delta"),
        (lambda: least_gap_of_prior([0.5, 0.2], [0.5, 0.5], 2, 2.0), "rates"),
        (lambda: least_gap_of_prior([0.5, 1.2], [0.5, 0.5], 2, 2.0), "rates"),
        (lambda: least_gap_of_prior([0.2, 0.5], [0.5, 0.6], 2, 2.0), "weights"),
        (lambda: worst_gap_of_centres([0.1, 0.9], 2, 2.0), "centres"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=f"^{named}: found"):
        call()
