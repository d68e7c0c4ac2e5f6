"""Noise on a grid and the levels of searches: each number that is rounded, by itself."""

import math
import random
from fractions import Fraction

import mpmath
import pytest

from dpfair_lib.privacy import concentrated, grid_noise, zcdp_delta, zcdp_epsilon
from dpfair_lib.privacy.amplification import amplified
from dpfair_lib.privacy.grid_noise import (
    FINENESS,
    SHARE,
    continuous_delta,
    discrete_distance,
    discreteness_cost,
    grid_statement,
)
from dpfair_lib.privacy.rounding import exp_above

DRAWS = 200


def num(value):
    return (
        mpmath.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else mpmath.mpf(value)
    )


def test_what_noise_on_a_grid_costs_is_the_least_float_above():
    draw, nearest = random.Random(0), 0
    for _ in range(DRAWS):
        epsilon, draws, scale = draw.uniform(0, 9), draw.randint(1, 10**6), 10 ** draw.uniform(0, 12)
        exact = (1 + Fraction(exp_above(epsilon))) * draws / (8 * Fraction(scale) ** 2)
        cost = discreteness_cost(epsilon, draws, scale)
        assert Fraction(math.nextafter(cost, 0)) < exact <= Fraction(cost)
        nearest += Fraction(float(exact)) < exact
        with mpmath.workdps(40):
            assert num(cost) >= (1 + mpmath.exp(num(epsilon))) * draws / (8 * num(scale) ** 2)
    assert nearest > DRAWS / 4


def test_the_delta_of_continuous_noise_is_the_largest_float_below():
    draw, nearest = random.Random(1), 0
    for _ in range(DRAWS):
        delta = 10 ** draw.uniform(-12, -1)
        exact = (1 - SHARE) * Fraction(delta)
        assert (
            Fraction(continuous_delta(delta)) <= exact < Fraction(math.nextafter(continuous_delta(delta), 1))
        )
        nearest += Fraction(float(exact)) > exact
    assert nearest > DRAWS / 4


def test_a_statement_says_no_less_than_the_distance_of_its_noise():
    # three steps of seven numbers: 21/(8s²) is no power of two, and the statement's δ is all of δ
    for steps, width in ((3, 7), (5, 11), (1, 1)):
        statement = grid_statement(2.0, 0.3, steps, width, 1e-6)
        exact = steps * width / (8 * Fraction(FINENESS) ** 2)
        (one,) = statement.mechanism
        assert exact <= Fraction(one.distance) <= exact * (1 + Fraction(1, 2**52))
        assert discrete_distance(FINENESS) * steps * width == exact
        assert (statement.delta, one.steps) == (1e-6, steps)


def test_the_distance_is_rounded_up(monkeypatch):
    # of powers of two every multiple is a float: with another fineness some are not
    monkeypatch.setattr(grid_noise, "FINENESS", 3.0e11)
    short = 0
    for width in range(1, 30):
        exact = width * discrete_distance(3.0e11)
        (one,) = grid_statement(2.0, 0.3, 1, width, 1e-6).mechanism
        assert Fraction(one.distance) >= exact
        short += Fraction(float(exact)) < exact
    assert short >= 5


def test_the_logarithm_of_a_concentrated_delta_is_rounded_up(monkeypatch):
    draw, nearest, given = random.Random(2), 0, []
    monkeypatch.setattr(concentrated, "above", lambda value: given.append(value) or float(value))
    monkeypatch.setattr(concentrated, "exp_above", math.exp)
    with mpmath.workdps(40):
        for _ in range(DRAWS):
            rho, epsilon = 10 ** draw.uniform(-3, 1), 10 ** draw.uniform(-1, 2)
            before = len(given)
            zcdp_delta(rho, epsilon)
            for found in given[before:]:
                low, high = mpmath.mpf(-100), mpmath.mpf(100)
                for _ in range(150):
                    middle = (low + high) / 2
                    rising = (2 * mpmath.exp(middle) + 1) * num(rho) - num(epsilon)
                    rising -= mpmath.log1p(mpmath.exp(-middle))
                    low, high = (low, middle) if rising >= 0 else (middle, high)
                x = mpmath.exp(high)
                exact = (
                    x * ((x + 1) * num(rho) - num(epsilon)) - mpmath.log(x) - (x + 1) * mpmath.log1p(1 / x)
                )
                assert exact <= num(found)
                nearest += 1
    assert nearest > DRAWS / 2


@pytest.mark.parametrize("kind", ["printed", "tight"])
def test_the_level_of_a_concentrated_search_is_rounded_down(kind, monkeypatch):
    draw, nearest, asked = random.Random(3), 0, []
    usual = concentrated.log_below
    monkeypatch.setattr(concentrated, "log_below", lambda value: asked.append(usual(value)) or asked[-1])
    with mpmath.workdps(40):
        for _ in range(DRAWS // 4):
            delta, count = 10 ** draw.uniform(-12, -0.1), len(asked)
            zcdp_epsilon(0.3, delta, kind)
            assert len(asked) == count + 1
            level = mpmath.log(num(delta))
            assert num(asked[-1]) <= level
            nearest += num(math.log(delta)) > level
    assert nearest >= 5


def test_amplified_levels_are_rounded_up_where_they_are_large():
    # from ε = 30 on it is a difference, whose last digits are those of ε
    draw, nearest = random.Random(4), 0
    with mpmath.workdps(400):
        for _ in range(DRAWS):
            epsilon, rate = draw.uniform(30, 700), 10 ** draw.uniform(-12, 0)
            found, _ = amplified(epsilon, 0.0, rate)
            exact = mpmath.log1p(num(rate) * mpmath.expm1(num(epsilon)))
            assert exact <= num(found) <= exact + num(epsilon) * num(2) ** -47
            nearest += num(epsilon + math.log(rate + (1 - rate) * math.exp(-epsilon))) < exact
            # little is left of ε: there a margin of what is left is less than a rounding of ε
            rate = math.exp(-epsilon) * draw.uniform(0.5, 3)
            exact = mpmath.log1p(num(rate) * mpmath.expm1(num(epsilon)))
            assert exact <= num(amplified(epsilon, 0.0, rate)[0])
    assert nearest > DRAWS / 4
