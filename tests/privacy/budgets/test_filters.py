"""What a filter lets through keeps its total, however the releases are chosen; planted faults do not."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from dpfair_lib.privacy import (
    Mechanism,
    PrivacyStatement,
    gaussian_delta,
    gaussian_epsilon,
    optimal_composition_epsilon,
    zcdp_delta,
)
from dpfair_lib.privacy.budgets.adaptive_releases import adaptive_delta
from dpfair_lib.privacy.budgets.filters import adaptive_epsilon, gaussian_distance, largest_rho, make_filter

MENUS = {
    "small and large": (((1, 0.0), (4, 0.0)), 0.25),
    "four strengths": (((1, 0.0), (2, 0.0), (3, 0.0), (4, 0.0)), 0.25),
    "some fail openly": (((1, 0.0), (2, 0.004), (4, 0.001)), 0.25),
    "strong ones": (((1, 0.0), (3, 0.01)), 1.0),
}


def _allowed(one, menu, unit):
    """Whether so many releases of each kind are within the limits of a filter."""
    releases = [PrivacyStatement(m * unit, fails, "replace-one") for m, fails in menu]

    def allowed(counts):
        costs = [one.cost(release) for release in releases]
        totals = tuple(
            sum((count * cost[at] for count, cost in zip(counts, costs, strict=True)), Fraction(0))
            for at in range(len(one.limits))
        )
        return not one.excess(totals)

    return allowed


@pytest.mark.parametrize("kind", ["sum", "gaussian", "concentrated"])
@pytest.mark.parametrize("name", MENUS)
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1.0, 0.05), (2.0, 0.05), (1.5, 0.02), (0.5, 0.2), (4.0, 0.01)]
)
def test_no_strategy_exceeds_the_total(kind, name, epsilon, delta):
    menu, unit = MENUS[name]
    one = make_filter(kind, epsilon, delta, 0.0 if kind == "sum" else delta / 4)
    worst = adaptive_delta(menu, epsilon, _allowed(one, menu, unit), unit=unit, most=9)
    assert worst <= delta + 1e-12


def test_a_filter_with_a_cost_too_small_is_exceeded():
    menu, unit = MENUS["four strengths"]
    right = make_filter("gaussian", 1.0, 0.2)
    for factor, broken in [(1.0, False), (0.6, True)]:
        one = replace(right, cost=lambda s, factor=factor: tuple(Fraction(factor) * c for c in right.cost(s)))
        worst = adaptive_delta(menu, 1.0, _allowed(one, menu, unit), unit=unit, most=9)
        assert (worst > 0.2) == broken


@pytest.mark.parametrize("kind", ["gaussian", "concentrated"])
def test_pure_releases_beyond_the_total_are_found(kind):
    menu, unit = MENUS["small and large"]
    right = make_filter(kind, 1.0, 0.05)
    wider = replace(right, limits=(*right.limits[:3], 2 * right.limits[3]))
    for one, broken in [(right, False), (wider, True)]:
        worst = adaptive_delta(menu, 1.0, _allowed(one, menu, unit), unit=unit, most=9)
        assert (worst > 0.05) == broken


def test_noise_and_failure_may_not_be_exchanged():
    # first noise; then what is left of δ, as noise where the results speak much, as open failure where little
    epsilon, delta = 1.0, 1e-5
    whole = 1 / _deviation(epsilon, delta)
    first = whole * math.sqrt(0.65)
    second, fails = math.sqrt(whole**2 - first**2), delta - float(gaussian_delta(epsilon, 1.0, first))
    x = np.linspace(-10, 10, 20_001)
    losses = first * x + first**2 / 2
    noise = np.array([_profile(epsilon - loss, second) for loss in losses])
    openly = fails + (1 - fails) * np.maximum(-np.expm1(epsilon - losses), 0)
    density = norm.pdf(x) * (x[1] - x[0])
    assert (density * noise).sum() == pytest.approx(delta, rel=1e-6)  # always noise: exactly δ
    assert (density * np.maximum(noise, openly)).sum() > 1.9 * delta


def _deviation(epsilon, delta):
    low, high = 1e-3, 1e3
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(epsilon, middle, 1.0) > delta else (low, middle)
    return high


def _profile(epsilon, distance):
    return norm.cdf(distance / 2 - epsilon / distance) - math.exp(epsilon) * norm.cdf(
        -distance / 2 - epsilon / distance
    )


@pytest.mark.parametrize("kind", ["laplace", "stated"])
@pytest.mark.parametrize("ratio", [1e-6, 1e-3, 0.3, 1.0, 4.0, 20.0, 1000.0])
def test_a_release_is_never_easier_to_distinguish_than_its_gaussian(kind, ratio):
    distance = gaussian_distance(Mechanism(kind, ratio))
    for at in np.linspace(-1.2, 1.2, 41) * ratio:
        if kind == "laplace":  # of the part below −ratio, where the two densities have the ratio e^ratio
            exact = 1 - math.exp((at - ratio) / 2) if abs(at) < ratio else max(-math.expm1(min(at, 1)), 0)
        else:
            rises = 1 / (1 + math.exp(-ratio))
            exact = (
                rises - math.exp(min(at, 700)) * (1 - rises)
                if abs(at) < ratio
                else max(-math.expm1(min(at, 1)), 0)
            )
        # from logarithms, since e to the ε overflows
        gauss = norm.cdf(distance / 2 - at / distance) - math.exp(
            at + norm.logcdf(-distance / 2 - at / distance)
        )
        assert exact <= gauss + 1e-11


@pytest.mark.parametrize("kind", ["laplace", "stated"])
def test_no_smaller_gaussian_would_do(kind):
    for ratio in (0.01, 0.5, 2.0, 10.0):
        distance = gaussian_distance(Mechanism(kind, ratio))
        error = math.exp(-ratio / 2) / 2 if kind == "laplace" else 1 / (1 + math.exp(ratio))
        assert norm.cdf(-distance / 2) == pytest.approx(
            error, rel=1e-9
        )  # both errors of the best symmetric test


def test_gaussian_releases_use_exactly_the_total():
    one = make_filter("gaussian", 1.0, 1e-5)
    step = Mechanism("gaussian", 0.05, steps=7)
    cost = one.cost(PrivacyStatement(1.0, 1e-5, "replace-one", mechanism=(step, step)))
    assert cost[:3] == (14 * Fraction(0.05) ** 2, 0, 0)
    # δ but for a thousandth; what the limit certifies is ε
    whole = math.sqrt(float(one.limits[0]))
    assert float(gaussian_delta(1.0, 1.0, whole)) == pytest.approx(1e-5 * 0.999, rel=1e-9)
    assert gaussian_epsilon(1e-5, 1.0, whole) < 1.0


def test_costs_by_hand():
    laplace, stated = Mechanism("laplace", 0.5), Mechanism("stated", 1.0, 1e-7, steps=2)
    sampled = Mechanism("poisson-gaussian", 1.0, rate=0.1, relation="add-remove", distance=1e-12)
    both = PrivacyStatement(3.0, 1e-6, "add-remove", mechanism=(laplace, stated))
    trained = PrivacyStatement(2.0, 1e-6, "add-remove", mechanism=(sampled,))
    concentrated = make_filter("concentrated", 1.0, 1e-3, 1e-4)
    assert concentrated.cost(both)[:3] == (Fraction(1, 8) + 1, 2 * Fraction(1e-7), 0)
    assert concentrated.cost(trained)[:3] == (
        2,
        Fraction(1e-6),
        0,
    )  # by its ε and δ, which include the distance
    assert concentrated.cost(trained)[3] > 10**300  # no pure release
    assert concentrated.cost(PrivacyStatement(0.75, 0.0, "replace-one"))[3] == Fraction(3, 4)
    far = PrivacyStatement(1.0, 1e-6, "add-remove", mechanism=(replace(laplace, distance=1e-9),))
    assert concentrated.cost(far)[:3] == (Fraction(1, 8), 0, Fraction(1e-9))
    total = make_filter("sum", 1.0, 1e-3)
    assert total.cost(both) == (3, Fraction(1e-6))


def test_limits_and_what_exceeds_them():
    one = make_filter("gaussian", 2.0, 1e-4, 2e-5)
    assert one.limits[1] == Fraction(2e-5)
    for at, name in enumerate(one.names[:3]):
        costs = tuple(limit + (place in (at, 3)) for place, limit in enumerate(one.limits))
        assert one.excess(costs).startswith(f"{name}: found ")
        assert one.excess((*costs[:3], one.limits[3])) == ""  # pure releases that add up to at most ε
    assert one.excess((*one.limits[:3], one.limits[3] + 1)) == ""
    noise, openly, far, pure = one.limits
    assert float(pure) == pytest.approx(2.0, rel=1e-11)
    delta = (
        float(gaussian_delta(2.0, 1.0, math.sqrt(float(noise))))
        + float(openly)
        + (1 + math.exp(2.0)) * float(far)
    )
    assert delta == pytest.approx(1e-4, rel=1e-9)  # the three allotments are all of δ
    assert delta <= 1e-4 * (1 + 1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-3), (10.0, 1e-10), (1.0, 0.9)])
def test_the_largest_rho_inverts_the_profile(epsilon, delta):
    rho = float(largest_rho(epsilon, delta))
    assert zcdp_delta(rho, epsilon) <= delta
    assert zcdp_delta(rho * (1 + 1e-9), epsilon) > delta


@pytest.mark.parametrize("kind", ["sum", "gaussian", "concentrated"])
def test_what_is_left_fits_and_more_does_not(kind):
    one = make_filter(kind, 1.0, 1e-6, 0.0 if kind == "sum" else 1e-7)
    epsilon, delta = one.left(one.limits)
    assert epsilon == 1.0
    assert delta == (1e-6 if kind == "sum" else 1e-7)
    assert one.excess(one.cost(PrivacyStatement(epsilon, 0.0, "replace-one"))) == ""
    assert one.excess(one.cost(PrivacyStatement(epsilon * 1.001, 0.0, "replace-one")))
    used = (*one.limits[:-1], one.limits[-1] / 2) if kind != "sum" else (one.limits[0] / 2, Fraction(0))
    left = tuple(limit - amount for limit, amount in zip(one.limits, used, strict=True))
    assert one.left(left)[0] == pytest.approx(0.5, rel=1e-9)
    nothing = one.left((Fraction(0),) * len(one.limits))
    assert nothing[0] == pytest.approx(0.0, abs=1e-12)
    assert nothing[1] == 0.0


@pytest.mark.parametrize("kind", ["sum", "gaussian", "concentrated"])
def test_the_smallest_budget_for_a_plan(kind):
    plan = [PrivacyStatement(0.1, 0.0, "replace-one")] * 30
    found = adaptive_epsilon(plan, 1e-6, kind)
    one = make_filter(kind, found, 1e-6)
    costs = tuple(30 * cost for cost in one.cost(plan[0]))
    assert one.excess(costs) == ""
    assert make_filter(kind, found * (1 - 1e-8), 1e-6).excess(costs)
    # none can be better than the best fixed composition, and none is worse than the sum
    best = optimal_composition_epsilon(0.1, 0.0, 30, 1e-6)
    assert best < found <= 3.0 * (1 + 1e-8)
    assert (found < 2.8) == (kind == "concentrated")
    assert adaptive_epsilon([PrivacyStatement(0.1, 1e-6, "replace-one")], 1e-7, kind) == math.inf
    with pytest.raises(ValueError, match="statements: found none"):
        adaptive_epsilon([], 1e-6, kind)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("product", 1.0, 1e-6), "composition: found 'product'"),
        (("gaussian", 0.0, 1e-6), "epsilon: found 0.0"),
        (("gaussian", 1.0, 0.0), "delta: found 0.0"),
        (("concentrated", 1.0, 1.0), "delta: found 1.0"),
        (("gaussian", 1.0, 1e-6, 1e-6), "open_delta: found 1e-06, expected at least 0 and less than delta"),
        (("gaussian", 1.0, 1e-6, -1.0), "open_delta: found -1.0"),
        (("sum", 1.0, 1e-6, 1e-7), "open_delta: found 1e-07 beside composition='sum'"),
    ],
)
def test_bad_filters_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_filter(*arguments)


def test_sampled_steps_have_no_distance():
    with pytest.raises(ValueError, match="kind: found 'poisson-gaussian'"):
        gaussian_distance(Mechanism("poisson-gaussian", 1.0, rate=0.5, relation="add-remove"))
