import math
import re

import numpy as np
import pytest

from dpfair_lib.central import (
    adjustment_share,
    expected_parity_gap,
    groups_too_small,
    merged_parity_bound,
    parity_bound,
    planning,
    rate_errors,
    records_needed,
    split_budget,
)
from dpfair_lib.privacy import LaplaceMechanism


def test_the_records_needed_are_enough_and_one_fewer_is_not():
    for share in (0.5, 0.1):
        n = records_needed(0.05, 0.1, (0.1, 0.2), share=share)

        def bound(size, share=share):
            return parity_bound((math.floor(size * share), math.floor(size * (1 - share))), (0.1, 0.2), 0.1)

        assert bound(n) <= 0.05 < bound(n - 1)


@pytest.mark.parametrize("parallel", [False, True])
def test_the_budget_buys_the_gap_and_no_other_division_leaves_more(parallel):
    n, gap, eta, total = (400, 3000), 0.2, 0.05, 3.0
    best = split_budget(total, n, gap, eta, parallel=parallel)
    cost = max if parallel else sum
    assert best.classifier + cost(best.groups) == pytest.approx(total)
    assert parity_bound(n, best.groups, eta) == pytest.approx(gap)
    for factor in (0.5, 0.9, 1.1, 2.0):  # another ε for the first group, the second whatever then is needed
        first = best.groups[0] * factor
        room = gap - parity_bound(n, (first, math.inf), eta)
        if room > 0:
            second = math.log(4 / eta) / (room * n[1])
            assert cost((first, second)) >= cost(best.groups) * (1 - 1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: records_needed(0.1, 0.1, 1.0, share=1.0), "share: found 1.0"),
        (lambda: records_needed(0.1, 0.1, 1.0, share=(0.5, 0.4)), "share: found 2 shares that add up to 0.9"),
        (lambda: records_needed(0.1, 0.1, 1.0, share=(1.0,)), "share: found 1.0"),
        (
            lambda: split_budget(0.01, (9000, 9000, 9000), 0.08, 0.1),
            "epsilon: found 0.01, expected more than",
        ),
        (lambda: split_budget(1.0, 100, 0.01, 0.1), "gap: found 0.01, expected more than"),
        (lambda: split_budget(0.01, 10_000, 0.05, 0.1), "epsilon: found 0.01, expected more than"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        call()


def test_no_group_of_a_few_is_without_rows():
    assert [planning._divide(2, (share, 1 - share)) for share in (0.1, 0.9, 0.5)] == [(1, 1), (1, 1), (1, 1)]
    assert planning._divide(10, (0.75, 0.25)) == (7, 2)
    assert planning._divide(10, (0.6, 0.3, 0.01)) == (6, 3, 1)


def test_of_several_groups_the_shares_decide_how_many_records_are_needed():
    shares, epsilon = (0.5, 0.2, 0.3), (0.3, 0.2, 1.0)
    n = records_needed(0.1, 0.05, epsilon, share=shares)

    def bound(size):
        return parity_bound([math.floor(size * share) for share in shares], epsilon, 0.05)

    assert bound(n) <= 0.1 < bound(n - 1)


def test_the_errors_of_the_rates_make_the_bound():
    n, epsilon = (400, 50, 3000, 90), (1.0, 2.0, 0.01, 0.5)
    errors = rate_errors(n, epsilon, 0.1)
    assert parity_bound(n, epsilon, 0.1, gamma=0.03) == pytest.approx(
        0.03 + sum(sorted(errors)[-2:]), rel=1e-14
    )
    for size, e, error in zip(n, epsilon, errors, strict=True):
        noise = LaplaceMechanism(1 / e, 1).error_bound(0.1 / 8) / size
        # of the eight events each has an eighth of the failure
        assert 2 * math.exp(-2 * size * (error - noise) ** 2) == pytest.approx(0.1 / 8, rel=1e-9)


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("n", [(400, 3000, 900), (500, 500, 500, 500), (9000, 300, 310, 5000, 2000)], ids=str)
def test_no_other_division_over_several_groups_costs_less(n, parallel):
    gap, eta, rng = 0.4, 0.05, np.random.default_rng(len(n))
    best = split_budget(50.0, n, gap, eta, parallel=parallel)

    def cost(groups):
        return max(groups) if parallel else sum(sorted(groups)[-2:])

    assert best.classifier + cost(best.groups) == pytest.approx(50.0)
    assert parity_bound(n, best.groups, eta) == pytest.approx(gap)
    near = 0
    for spread in (0.01, 0.1, 1.0):
        for _ in range(100):
            other = np.array(best.groups) * np.exp(spread * rng.normal(size=len(n)))
            # as much larger or smaller as it takes to have the gap
            low, high = 1e-3, 1e3
            for _ in range(60):
                middle = math.sqrt(low * high)
                low, high = (low, middle) if parity_bound(n, middle * other, eta) <= gap else (middle, high)
            assert cost(high * other) >= cost(best.groups) * (1 - 1e-9)
            near += cost(high * other) < cost(best.groups) * 1.05
    assert near > 30  # others come close: the comparison is sharp


def inflation(share, n, epsilon, rates, moved=1, mechanism="geometric"):
    """How much longer the expected gap is with noise than without, by its exact law."""
    found = (expected_parity_gap(rates=rates, n=n, epsilon=e, mechanism=mechanism)
             for e in (share * epsilon / moved, math.inf))  # fmt: skip
    noisy, plain = found
    return noisy / plain - 1


@pytest.mark.parametrize("moved", [1, 2])
@pytest.mark.parametrize("wanted", [0.1, 0.3])
def test_the_share_lets_noise_lengthen_the_gap_by_no_more_than_asked(wanted, moved):
    for n, epsilon in (((400, 400), 2.0), ((200, 1800), 3.0), ((1500, 1500), 1.0)):
        share = adjustment_share(n, epsilon, moved=moved, inflation=wanted)
        if share < 0.5:
            found = inflation(share, n, epsilon, (0.5, 0.5), moved)
            assert abs(found - wanted) < 0.15 * wanted
            assert (
                inflation(0.7 * share, n, epsilon, (0.5, 0.5), moved) > 1.3 * wanted
            )  # a smaller share would not do


def test_laplace_noise_lengthens_it_as_much():
    share = adjustment_share(400, 2.0)
    assert abs(inflation(share, (400, 400), 2.0, (0.5, 0.5), mechanism="laplace") - 0.1) < 0.015


def test_the_share_by_hand_and_at_its_ends():
    # 8/n against 0.21 of a variance of 1/4, ε = 2
    assert adjustment_share((800, 800), 2.0) == pytest.approx(math.sqrt(8 / 800 / 0.21) / 2)
    assert adjustment_share(800, 2.0, moved=2) == pytest.approx(2 * adjustment_share(800, 2.0))
    assert adjustment_share((1, 1), 1e-9) == 0.5
    assert 0 < adjustment_share((10**9, 10**9), 1e9) < 1e-12
    with pytest.raises(ValueError, match="moved: found 3"):
        adjustment_share((3, 3), 1.0, moved=3)
    with pytest.raises(ValueError, match="inflation: found 0"):
        adjustment_share((3, 3), 1.0, inflation=0)


def test_groups_are_too_small_where_the_guess_one_half_is_as_good():
    n = (5000, 400, 12, 25)
    errors = rate_errors(n, 1.0, 0.05)
    assert groups_too_small(n, 1.0, 0.05) == (2, 3)
    assert [error >= 0.5 for error in errors] == [False, False, True, True]
    assert groups_too_small(n, math.inf, 0.9999, mechanism="geometric") == ()


def test_merging_costs_what_the_members_differ_by():
    n, given = (5000, 100, 300), {"merge": (1, 2), "mechanism": "geometric"}
    alike = merged_parity_bound(n, 1.0, 0.05, difference=0.0, **given)
    assert alike == pytest.approx(parity_bound((5000, 400), 1.0, 0.05, mechanism="geometric"), abs=1e-15)
    apart = merged_parity_bound(n, 1.0, 0.05, difference=0.1, gamma=0.2, **given)
    assert apart == pytest.approx(alike + 0.2 + 0.1 * 300 / 400, abs=1e-12)
    # the members alone may be the worst
    assert merged_parity_bound(n, 1.0, 0.05, difference=1.0, **given) == 1.0 > 300 / 400 + alike
    # two groups that are not merged may be the worst
    lone = merged_parity_bound((5000, 5000, 20, 20), 1.0, 0.05, merge=[0, 1], difference=0.0)
    assert lone == pytest.approx(sum(rate_errors((10_000, 20, 20), 1.0, 0.05)[1:]))
    # the smallest ε of the members counts
    parts = merged_parity_bound(n, (1.0, 0.1, 3.0), 0.05, difference=0.0, **given)
    assert parts == pytest.approx(
        parity_bound((5000, 400), (1.0, 0.1), 0.05, mechanism="geometric"), abs=1e-15
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"merge": (1,)}, "merge: found"),
        ({"merge": (0, 1, 2)}, "merge: found"),
        ({"merge": (1, 1)}, "merge: found"),
        ({"merge": (1, 3)}, "merge: found"),
        ({"difference": 1.5}, "difference: found 1.5"),
        ({"gamma": -1}, "gamma: found -1"),
        ({"eta": 1}, "eta: found 1"),
    ],
)
def test_what_cannot_be_merged_is_refused(change, message):
    given = {"n": (50, 60, 70), "epsilon": 1.0, "eta": 0.1, "merge": (0, 1), "difference": 0.1}
    with pytest.raises(ValueError, match=f"^{message}"):
        merged_parity_bound(**given | change)
