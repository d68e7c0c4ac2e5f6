import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.privacy import (
    GaussianMechanism,
    advanced_composition,
    basic_composition,
    composed_zcdp,
    gaussian_delta,
    gaussian_epsilon,
    optimal_composition_delta,
    optimal_composition_delta_from_odds,
    optimal_composition_epsilon,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_from_pure,
)
from dpfair_lib.privacy.composition import divided_epsilon

EPSILON = st.floats(1e-3, 2)
DELTA = st.floats(0, 1e-2)
COUNT = st.integers(1, 40)


def brute_force(odds, delta, releases, at_odds):
    """Over every tuple of outcomes of the worst release: it fails openly, or is randomised response."""
    first = [delta, (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds), Fraction(0)]
    second = [Fraction(0), (1 - delta) / (1 + odds), (1 - delta) * odds / (1 + odds), delta]
    total = Fraction(0)
    for outcome in itertools.product(range(4), repeat=releases):
        p, q = (math.prod(law[i] for i in outcome) for law in (first, second))
        total += max(p - at_odds * q, 0)
    return total


@pytest.mark.parametrize("odds", [Fraction(2), Fraction(3, 2)])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10)])
@pytest.mark.parametrize("releases", [1, 2, 3, 5])
def test_optimal_composition_in_rationals(odds, delta, releases):
    for at_odds in (Fraction(1), Fraction(5, 4), odds, odds**2, odds**releases, odds ** (releases + 1)):
        exact = brute_force(odds, delta, releases, at_odds)
        assert optimal_composition_delta_from_odds(odds, delta, releases, at_odds) == exact
        float_value = optimal_composition_delta(
            math.log(odds), float(delta), releases, math.log(at_odds)
        )  # log(at_odds) may miss a kink by one rounding
        assert float_value == pytest.approx(float(exact), rel=1e-12, abs=1e-15)
        if 1 < at_odds < odds and releases > 1:  # a planted fault: one release too few
            assert optimal_composition_delta_from_odds(odds, delta, releases - 1, at_odds) < exact


def test_optimal_composition_of_many_releases():
    exact = optimal_composition_delta_from_odds(Fraction(11, 10), Fraction(1, 10**7), 1000, Fraction(50))
    value = optimal_composition_delta(math.log(1.1), 1e-7, 1000, math.log(50))
    assert value == pytest.approx(float(exact), rel=1e-11)


@given(EPSILON, DELTA, COUNT, st.floats(1e-9, 0.3))
def test_optimal_composition_is_below_the_other_two(epsilon, delta, releases, slack):
    total, failing = basic_composition(epsilon, delta, releases)
    assert optimal_composition_delta(epsilon, delta, releases, total) <= failing * (1 + 1e-12) + 1e-15
    total, failing = advanced_composition(epsilon, delta, releases, slack)
    assert optimal_composition_delta(epsilon, delta, releases, total) <= failing * (1 + 1e-12) + 1e-15


@given(EPSILON, DELTA, COUNT, st.floats(0.001, 0.9))
def test_optimal_epsilon_inverts_the_profile(epsilon, delta, releases, share):
    least = optimal_composition_delta(epsilon, delta, releases, releases * epsilon)
    target = least + share * (1 - least)
    total = optimal_composition_epsilon(epsilon, delta, releases, target)
    assert optimal_composition_delta(epsilon, delta, releases, total) <= target
    if total > 0:
        assert optimal_composition_delta(epsilon, delta, releases, total * (1 - 1e-9)) > target * (1 - 1e-9)


@given(EPSILON, DELTA, st.integers(1, 20), st.floats(0, 5))
def test_more_releases_are_less_private(epsilon, delta, releases, at):
    fewer, more = (optimal_composition_delta(epsilon, delta, k, at) for k in (releases, releases + 1))
    assert fewer <= more * (1 + 1e-12) + 1e-15


def test_printed_numbers():
    assert basic_composition(0.1, 1e-6, 10) == pytest.approx((1.0, 1e-5), rel=1e-15)
    total, failing = advanced_composition(0.1, 0, 100, 1e-5)
    assert total == pytest.approx(math.sqrt(200 * math.log(1e5)) * 0.1 + 10 * (math.exp(0.1) - 1), rel=1e-14)
    assert failing == 1e-5


def test_what_fails_openly_cannot_be_composed_away():
    with pytest.raises(ValueError, match=r"total_delta: found 1e-05, expected at least 1 - \(1 - delta\)\^k"):
        optimal_composition_epsilon(0.1, 1e-5, 10, 1e-5)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_a_pure_mechanism_is_concentrated(epsilon):
    truth, lie = math.exp(epsilon) / (1 + math.exp(epsilon)), 1 / (1 + math.exp(epsilon))
    rho = zcdp_from_pure(epsilon)
    for order in (1.0001, 1.5, 2, 5, 50):
        moment = truth**order * lie ** (1 - order) + lie**order * truth ** (1 - order)
        assert math.log(moment) / (order - 1) <= rho * order + 1e-9


@given(st.floats(1e-4, 10), st.floats(0, 30))
def test_concentrated_profile_covers_gaussian_noise(rho, epsilon):
    sigma = math.sqrt(1 / (2 * rho))
    assert GaussianMechanism(sigma, 1.0).rho == pytest.approx(rho)
    assert gaussian_delta(epsilon, sigma, 1.0) <= zcdp_delta(rho, epsilon) * (1 + 1e-12)


@pytest.mark.parametrize("rho", [600.25, 600.5, 601.5, 1e4])
def test_where_the_least_is_at_the_order_one_delta_is_one(rho):
    # the slope is (2e^−600 + 1)ρ − ε − 600 at the end of the search, from 0 on positive everywhere
    assert zcdp_delta(rho, 0.0) == 1.0
    assert zcdp_delta(rho + 0.25, 0.25) == 1.0


@given(st.floats(1e-4, 10), st.floats(0.01, 30))
def test_concentrated_profile_is_the_least_over_orders(rho, epsilon):
    orders = 1 + np.geomspace(1e-4, 1e4, 4000)
    log_delta = (orders - 1) * (orders * rho - epsilon) + orders * np.log1p(-1 / orders) - np.log(orders - 1)
    on_grid = min(1.0, math.exp(max(log_delta.min(), -700)))
    if on_grid > 1e-280:
        assert zcdp_delta(rho, epsilon) <= on_grid * (1 + 1e-12)
        assert zcdp_delta(rho, epsilon) >= on_grid * 0.98


@given(st.floats(1e-4, 10), st.floats(1e-12, 0.4))
def test_concentrated_epsilon_between_gaussian_and_printed(rho, delta):
    tight, printed = zcdp_epsilon(rho, delta, "tight"), zcdp_epsilon(rho, delta, "printed")
    assert gaussian_epsilon(delta, math.sqrt(1 / (2 * rho)), 1.0) <= tight * (1 + 1e-9)
    assert tight <= printed
    assert printed == pytest.approx(rho + 2 * math.sqrt(rho * math.log(1 / delta)), rel=1e-14)
    assert zcdp_delta(rho, tight) <= delta * (1 + 1e-9)


def test_formulas_at_the_ends_of_the_floats():
    assert zcdp_delta(1000, 0) == 1  # the least is then a limit, at order 1
    assert 0 < zcdp_delta(1e-300, 1e300) < 1e-322  # below all floats, but not 0
    assert zcdp_delta(1, math.inf) == 0
    assert zcdp_epsilon(1000, 1e-5, "tight") == pytest.approx(
        1000 + 2 * math.sqrt(1000 * math.log(1e5)), rel=2e-2
    )
    assert advanced_composition(1000, 0, 2, 1e-5) == (math.inf, 1e-5)
    assert optimal_composition_delta(1000, 0, 2, 1) == 1
    assert optimal_composition_delta(1000, 0, 2, 2000) == 0
    exact = optimal_composition_delta_from_odds(2.0, 0, 2000, 2.0**700)
    assert optimal_composition_delta(math.log(2), 0, 2000, 700 * math.log(2)) == pytest.approx(
        float(exact), rel=1e-11
    )


def test_concentrated_budgets_add_up():
    assert composed_zcdp(0.1, 0.2, 0.3) == pytest.approx(0.6)
    with pytest.raises(ValueError, match="rhos: found none"):
        composed_zcdp()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: basic_composition(1, 1, 2), "delta: found 1"),
        (lambda: basic_composition(1, 0, 0), "releases: found 0"),
        (lambda: advanced_composition(1, 0, 2, 0), "slack: found 0"),
        (
            lambda: optimal_composition_delta_from_odds(Fraction(1), 0, 2, 1),
            "odds: found 1, expected a finite",
        ),
        (lambda: optimal_composition_delta_from_odds(math.inf, 0, 2, 1), "odds: found inf"),
        (lambda: optimal_composition_delta_from_odds(2, 0, 2, math.inf), "at_odds: found inf"),
        (lambda: zcdp_delta(0, 1), "rho: found 0"),
        (lambda: zcdp_epsilon(1, 0.1, "loose"), "kind: found 'loose'"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_share_of_each_release_by_hand():
    printed = divided_epsilon(2.0, 1e-5, 50, kind="printed")
    assert printed == pytest.approx(2.0 / math.sqrt(8 * 50 * math.log(1e5)), rel=1e-14)
    concentrated = divided_epsilon(2.0, 1e-5, 50, kind="concentrated")
    both = math.sqrt(math.log(1e5) + 2.0) + math.sqrt(math.log(1e5))
    assert concentrated == pytest.approx(math.sqrt(2 / 50) * 2.0 / both, rel=1e-14)
