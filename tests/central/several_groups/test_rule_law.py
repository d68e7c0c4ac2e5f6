"""Which law is used for which rule, and that quantiles are found on either side of a jump."""

import math

import pytest

from dpfair_lib.central.several_groups.per_group import MECHANISMS
from dpfair_lib.central.several_groups.rule_law import GapLaw, _quantile
from dpfair_lib.central.several_groups.several_gaps import Rule


def law(k, rate, gamma=0.0, epsilon=1.0):
    return GapLaw.of(
        [0.3 + 0.1 * at for at in range(k)], [30, 20, 40, 10][:k], epsilon, "geometric", rate, gamma
    )


def test_each_rule_has_its_law():
    assert law(2, "midpoint").rule is None
    assert law(3, "midpoint").rule == law(3, "median").rule == Rule(None, None, 0.0)
    assert law(4, "median").rule == Rule(None, None, 0.0)
    assert law(2, "median", 0.1).rule == Rule(None, None, 0.1)
    assert law(3, "most-accurate").rule == Rule(None, 2, 0.0)
    assert law(3, "most-accurate", epsilon=(0.3, math.inf, 0.1)).rule == Rule(None, 1, 0.0)
    assert law(3, 1, 0.2).rule == Rule(1.0, None, 0.2)
    assert set(MECHANISMS) == {"laplace", "geometric"}


def test_a_median_of_three_is_the_midpoint_of_three():
    assert law(3, "midpoint").exceeds(0.1) == law(3, "median").exceeds(0.1)
    assert law(3, "midpoint").mean() == law(3, "median").mean()
    # of two the lower rate is another target than the midpoint
    assert law(2, "midpoint").mean() != pytest.approx(law(2, "median").mean(), rel=1e-3)


@pytest.mark.parametrize("jump", [1e-7, 0.2, 0.25, 0.9999999, 1.0])
def test_the_quantile_of_a_jump_is_the_jump(jump):
    found = _quantile(lambda value: 0.9 if value < jump else 0.01 * (value < 1), 0.05)
    assert jump <= found <= min(jump + 2e-6, 1.0)


@pytest.mark.parametrize("eta", [0.5, 0.05, 1e-6])
def test_the_quantile_of_a_smooth_law_is_exact_to_its_precision(eta):
    found = _quantile(lambda value: math.exp(-30 * value) - math.exp(-30), eta)
    exact = -math.log(eta + math.exp(-30)) / 30
    assert exact <= found <= exact + 2e-6


@pytest.mark.parametrize("eta", [0.5, 0.05, 1e-6])
@pytest.mark.parametrize("scale", [0.01, 0.5, 0.97, 3.0])
def test_where_the_search_begins_does_not_matter_to_what_it_finds(eta, scale):
    def chance(value):
        return math.exp(-30 * value) - math.exp(-30)

    calls = []
    found = _quantile(lambda g: calls.append(g) or chance(g), eta, lambda g: chance(min(g * scale, 1.0)))
    exact = -math.log(eta + math.exp(-30)) / 30
    assert exact <= found <= exact + 2e-6
    if scale == 0.97:
        assert len(calls) <= 7


@pytest.mark.parametrize("jump", [1e-7, 0.2, 0.9999999, 1.0])
@pytest.mark.parametrize("other", [0.0, 0.3, 1.0])
def test_a_jump_is_found_from_a_law_that_jumps_elsewhere(jump, other):
    found = _quantile(
        lambda g: 0.9 if g < jump else 0.01 * (g < 1), 0.05, lambda g: 0.9 if g < other else 0.0
    )
    assert jump <= found <= min(jump + 2e-6, 1.0)


def test_a_gap_that_is_surely_nothing_has_the_quantile_nothing():
    assert _quantile(lambda _: 0.0, 0.05) == _quantile(lambda _: 0.0, 0.05, lambda _: 0.0) == 0.0
    assert _quantile(lambda g: 0.04 + 0.5 * (g < 1e-9), 0.05, lambda _: 0.0) > 0.0
