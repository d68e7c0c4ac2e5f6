import itertools
import math

import numpy as np
import pytest

from dpfair_lib.central.least_gap_groups import (
    groups_gap,
    groups_gap_order,
    least_groups_gap,
    least_opportunity_gap,
    opportunity_gap,
    undecided_by_privacy,
    undecided_by_samples,
)
from dpfair_lib.central.least_gap_sharp import sharp_least_gap, shrunk_gap


@pytest.mark.parametrize("k", [2, 3, 10, 1000])
def test_the_two_bounds_are_in_order_and_within_a_factor_of_nine(k):
    for n, epsilon in itertools.product((1, 10, 1000), (0.0, 0.01, 0.3, 1.0, math.inf)):
        low, high = least_groups_gap([n] * k, epsilon), groups_gap([n] * k, epsilon)
        assert low <= high <= 9 * low, (n, epsilon)


def test_two_groups_are_one_of_both_sizes_twice():
    assert groups_gap([50, 50], 0.2) == pytest.approx(2 * shrunk_gap(100, 0.2))
    assert least_groups_gap([50, 50], 0.2) >= 2 * sharp_least_gap(100, 0.2)
    assert groups_gap([50, 50], 0.0) == 0.5


@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-3, 0.05, 0.5])
def test_the_bounds_of_two_groups_are_a_factor_of_three_apart_at_most(delta):
    for n, epsilon in itertools.product((1, 2, 15, 400, 10**5), (0.0, 1e-3, 0.1, 1.0, 10.0)):
        low, high = least_groups_gap([n, n], epsilon, delta), groups_gap([n, n], epsilon, delta)
        assert low <= high <= 3 * low, (n, epsilon)


def test_groups_of_two_sizes_use_delta_too():
    with_delta, without = groups_gap([10**4, 10**6], 1e-3, 1e-4), groups_gap([10**4, 10**6], 1e-3)
    assert with_delta < 0.9 * without
    assert with_delta == pytest.approx(groups_gap([10**4, 10**9], 1e-3, 1e-4), rel=0.01)


def test_positives_are_few_at_random():
    # one positive record or none: a rate of 0, ½ or 1 stays open
    assert least_opportunity_gap(1, 0.3, math.inf, response=1) >= 1 / 4
    # two rates, by the mean number of positives: ε = 0 and η = δ
    assert least_opportunity_gap(1, 0.5, 0.0, 0.4, response=1) >= (1 - 0.5 * 0.4) / 2
    alone = sharp_least_gap(10**6, math.inf)
    assert least_opportunity_gap(10**6, 1.0, math.inf) == pytest.approx(alone)
    assert least_opportunity_gap(2 * 10**6, 0.5, math.inf) == pytest.approx(alone, rel=1e-3)


def test_sizes_that_differ_by_one_change_little_and_a_large_group_is_as_good_as_known():
    assert groups_gap([10**6, 10**6 + 1], 2.0) == pytest.approx(groups_gap([10**6] * 2, 2.0), rel=1e-3)
    assert groups_gap([100, 10**9], 3.0) < 1.15 * shrunk_gap(100, 3.0)
    assert least_groups_gap([100, 10**9], 0.1) >= sharp_least_gap(100, 0.1)


def test_the_gap_grows_with_the_logarithm_of_the_number_of_groups():
    n = 10**6
    shares = []
    for k in (10, 100, 10**4):
        by_samples = least_groups_gap([n] * k, math.inf, response=1) / math.sqrt(2 * math.log(k) / n)
        by_privacy = least_groups_gap([n] * k, 1e-4, response=1) / (math.log(k) / (n * 1e-4))
        shares.append((by_samples, by_privacy))
    for few, many in itertools.pairwise(shares):  # towards 1 from below
        assert few[0] < many[0] < 1
        assert few[1] < many[1] < 1
    assert min(shares[-1]) > 0.5


def test_signs_by_hand():
    assert undecided_by_samples([1, 1], 0.0) == 0
    # an error of 1/4 in each group: both signs are left with chance 1/4, and then differ with chance 1/2
    assert undecided_by_samples([1, 2], 0.5) == pytest.approx(0.5 * 0.25 * 0.5)
    assert undecided_by_privacy([3] * 4, 0.6, 0.0) == pytest.approx(0.6 * (1 - 2 / 16))  # four fair coins
    assert undecided_by_privacy([1] * 4, 1.0, math.log(3)) == pytest.approx(1 + 0.5**4 - 2 * 0.75**4)
    # R² = 9 for the second group: its sign is a fair coin with chance 1/5
    assert undecided_by_privacy([1, 2], 1.0, math.log(3)) == pytest.approx(1 + 0.5 * 0.8 - 2 * 0.75 * 0.9)


def test_the_price_of_delta_by_hand():
    # ε = 0: β = ½, and each of three coins is turned with chance δn τ/2 at most
    found = undecided_by_privacy([4] * 3, 0.5, 0.0, 0.01)
    assert found == pytest.approx(0.5 * (1 - 1 / 4 - 3 * 0.01 * 4 * 0.5 / 2))
    # e^ε = 3, one record, τ = 1: β = ¼, R = 3, δ_n = δ
    by_hand = 1 + 0.5**4 - 2 * 0.75**4 - 4 * 0.25 * 0.02
    assert undecided_by_privacy([1] * 4, 1.0, math.log(3), 0.02) == pytest.approx(by_hand)


def test_the_order_by_hand():
    assert groups_gap_order(10, 4, 1e-9) == 1
    assert groups_gap_order(10, 10**6, 0.1) == pytest.approx(
        math.sqrt(math.log(10) / 10**6) + math.log(10) / 10**5
    )
    sampling = math.sqrt(math.log(10**4) / 10**6)
    assert groups_gap_order(10**4, 10**6, 1e-3, 1e-3) == pytest.approx(sampling + math.log(2) / 1000)
    # δ far above ε: the noise has a range of 1/δ, whatever ε is
    assert groups_gap_order(10**4, 10**6, 1e-9, 0.1) == pytest.approx(sampling + 1e-5)
    assert groups_gap_order(2, 10**6, 1.0, 5e-324) == groups_gap_order(2, 10**6, 1.0)


def test_the_order_is_right_where_delta_exceeds_epsilon():
    for n, k, (epsilon, delta) in itertools.product(
        (10, 10**6), (2, 50), ((1e-6, 1e-6), (1e-3, 0.2), (0.1, 0.9))
    ):
        order = groups_gap_order(k, n, epsilon, delta)
        low, high = (2 * bound([n] * k, epsilon, delta) for bound in (least_groups_gap, groups_gap))
        assert order / 42 <= low <= high <= 5 * order


def test_sizes_of_any_integer_type_are_the_same():
    plain = least_groups_gap([30, 40, 30], 0.2, 1e-3)
    assert least_groups_gap(np.array([30, 40, 30]), 0.2, 1e-3) == plain
    assert least_groups_gap([np.int32(30), 40, 30], 0.2, 1e-3) == plain
    with pytest.raises(ValueError, match=r"^sizes: found True"):
        groups_gap([1, True], 0.2)


def test_opportunity_with_positives_alone_is_parity():
    assert least_opportunity_gap(40, 1.0, 0.3) == pytest.approx(sharp_least_gap(40, 0.3))
    for n, share, epsilon in itertools.product((1, 30, 3000), (0.02, 0.5), (0.0, 0.1, 2.0)):
        low, high = least_opportunity_gap(n, share, epsilon), opportunity_gap(n, share, epsilon)
        assert low <= high * (1 + 1e-12) <= 8 * low, (n, share, epsilon)
        assert low >= sharp_least_gap(n, epsilon) * (1 - 1e-12)


@pytest.mark.parametrize("response", [0.1, 0.5, 1.0])
def test_the_gap_of_true_positive_rates_grows_with_the_response(response):
    """Privacy's part is in proportion to it; for many records it is the larger part."""
    for n, share, epsilon in ((30, 0.5, 0.02), (3000, 0.02, 0.01)):
        once, given = (least_opportunity_gap(n, share, epsilon, response=one) for one in (1.0, response))
        assert given == pytest.approx(response * once, rel=1e-9)
        alone = least_opportunity_gap(n, share, 1e9, response=response)
        assert given > 1.5 * alone  # so that it is privacy's


def test_a_two_group_classifier_keeps_its_bound():
    """The release itself, by exact sums over both counts and the geometric noise."""
    n, epsilon = 3, 0.7
    ratio, noise = math.exp(-epsilon), np.arange(-60, 61)
    chance = (1 - ratio) / (1 + ratio) * ratio ** abs(noise)
    v = 0.5 / math.sinh(epsilon / 2) ** 2 / n**2
    weight = min(math.sqrt(2 * n) / (1 + math.sqrt(2 * n)), 1 / (1 + v))
    worst = 0.0
    for p, q in itertools.product(np.linspace(0, 1, 21), repeat=2):
        laws = [[math.comb(n, k) * r**k * (1 - r) ** (n - k) for k in range(n + 1)] for r in (p, q)]
        gap = sum(
            laws[0][i] * laws[1][j] * chance @ abs(p - q - np.clip(weight * (i - j + noise) / n, -1, 1))
            for i, j in itertools.product(range(n + 1), repeat=2)
        )
        worst = max(worst, float(gap))
    assert least_groups_gap([n, n], epsilon, response=0.5) <= worst / 2 <= groups_gap([n, n], epsilon)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: least_groups_gap([5], 1.0), "sizes"),
        (lambda: groups_gap([5, 0], 1.0), "sizes"),
        (lambda: groups_gap([5, 5], 1.0, response=0.7), "response"),
        (lambda: least_groups_gap([5, 5], -1.0), "epsilon"),
        (lambda: least_groups_gap([5, 5], 1.0, 1.0), "delta"),
        (lambda: undecided_by_samples([5, 5], 1.5), "shift"),
        (lambda: groups_gap_order(1, 5, 0.1), "k"),
        (lambda: groups_gap_order(3, 5, 0.0), "epsilon"),
        (lambda: least_opportunity_gap(5, 0.0, 1.0), "share"),
        (lambda: opportunity_gap(5, 0.5, 1.0, response=0.7), "response"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=f"^{named}: found"):
        call()
