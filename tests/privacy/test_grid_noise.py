"""Discrete Gaussian noise against rounded continuous noise: the distance, and what it adds to δ."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpfair_lib.privacy import PrivacyStatement, dp_sgd_epsilon
from dpfair_lib.privacy.grid_noise import (
    FINENESS,
    continuous_delta,
    discrete_distance,
    discreteness_cost,
    grid_statement,
)


def laws(scale, reach=14.0):
    """The laws of the rounded continuous and of the discrete variable on −K, …, K, in many digits."""
    s = mpmath.mpf(scale)
    K = max(3, math.ceil(reach * scale))
    edges = [mpmath.ncdf((k - mpmath.mpf(1) / 2) / s) for k in range(-K, K + 2)]
    rounded = [b - a for a, b in itertools.pairwise(edges)]
    weights = [mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * s * s)) for k in range(-K, K + 1)]
    total = mpmath.fsum(weights)
    return rounded, [w / total for w in weights]


def distance(scale):
    with mpmath.workdps(30):
        return float(mpmath.fsum(abs(p - q) for p, q in zip(*laws(scale), strict=True)) / 2)


SCALES = [0.05, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 4.0, 10.0, 25.0]


@pytest.mark.parametrize("scale", SCALES)
def test_the_distance_is_below_the_bound(scale):
    assert distance(scale) <= discrete_distance(scale)


def test_the_distance_falls_with_the_square_of_the_scale():
    # the first term of P_k/φ(k) − 1 is (k²/s² − 1)/(24s²), and the mean of |Z² − 1| is 4φ(1)
    due = 4 * math.exp(-0.5) / math.sqrt(2 * math.pi) / 48
    assert [distance(s) * s * s for s in (10.0, 25.0)] == pytest.approx([due] * 2, rel=2e-3)
    # a bound seven times as small would be wrong
    assert any(distance(s) > discrete_distance(s) / 7 for s in SCALES)


def profile(law, moves, epsilon, reverse):
    """δ(ε) of T steps exactly: the record's integer is R in a batch with probability q, or there is no record."""
    R, rate, steps = moves
    pad = np.pad(np.array(law, dtype=float), R)
    there = (1 - rate) * pad + rate * np.roll(pad, R)
    first, second = (pad, there) if reverse else (there, pad)
    for _ in range(steps - 1):  # all joint outcomes
        first, second = (
            np.multiply.outer(first, there if not reverse else pad).ravel(),
            np.multiply.outer(second, pad if not reverse else there).ravel(),
        )
    return float(np.maximum(first - math.exp(epsilon) * second, 0).sum())


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("scale", [0.7, 1.0, 3.0])
def test_what_discreteness_adds_to_delta_is_enough(scale, steps, reverse):
    # rounded continuous noise costs no more than continuous noise; discrete noise at most so much more
    rounded, discrete = (np.array(law, dtype=float) for law in laws(scale, 9.0))
    worst = -math.inf
    for R in (1, 2):
        for rate, epsilon in [(1.0, 0.3), (1.0, 1.5), (0.3, 0.1), (0.3, 0.7)]:
            moves = (R, rate, steps)
            near = profile(rounded, moves, epsilon, reverse)
            found = profile(discrete, moves, epsilon, reverse)
            assert found <= near + discreteness_cost(epsilon, steps, scale)
            worst = max(worst, found - near)
    if scale == 0.7:
        assert worst > 0  # and something has to be added


def test_a_statement_is_that_of_the_account_at_a_smaller_delta():
    numbers = (1.2, 0.05, 40)
    for relation in ("add-remove", "replace-one"):
        statement = grid_statement(*numbers, 7, 1e-5, relation=relation, public=("this",))
        assert isinstance(statement, PrivacyStatement)
        assert (statement.delta, statement.relation, statement.public) == (1e-5, relation, ("this",))
        assert statement.guarantee
        accounted = dp_sgd_epsilon(*numbers, continuous_delta(1e-5), "pld", relation=relation)
        assert statement.epsilon == accounted > dp_sgd_epsilon(*numbers, 1e-5, "pld", relation=relation)
        # in all: what the account covers and what is discrete
        assert Fraction(continuous_delta(1e-5)) + Fraction(discreteness_cost(accounted, 280)) <= Fraction(
            1e-5
        )


def test_the_cost_by_hand():
    # (1 + e^0) · 4 draws / (8 · 2²) = ¼
    assert discreteness_cost(0.0, 4, 2.0) == 0.25
    assert discreteness_cost(1.0, 4, 2.0) == pytest.approx((1 + math.e) / 8, rel=1e-15)
    assert Fraction(discreteness_cost(1.0, 4, 2.0)) >= (1 + Fraction(math.nextafter(math.e, 0))) / 8
    assert discreteness_cost(1e4, 1) == math.inf
    # 1,150 steps of 103 weights at ε = 1: far below every δ in use
    assert discreteness_cost(1.0, 1150 * 103) < 1e-19
    assert FINENESS == 2**40


def test_where_the_cost_is_more_than_what_was_set_aside_it_is_refused():
    # (1 + e^ε) · 10/(8 · 2⁸⁰) ≤ 2⁻¹⁴ · 10⁻⁵ up to ε = 34
    assert 20 < grid_statement(0.25, 1.0, 1, 10, 1e-5).epsilon < 34
    for sigma, found in [(0.15, "found 49"), (0.1, "found 91")]:
        with pytest.raises(ValueError, match=rf"epsilon, delta: {found}.*, 1e-05, at which noise on a grid"):
            grid_statement(sigma, 1.0, 1, 10, 1e-5)


def test_the_grid_is_paid_for_by_every_entry_of_every_step():
    # one step of 10¹² entries costs more than is set aside, as 10¹² steps of one entry would
    known = (1.0, 1.0, 1)
    assert grid_statement(*known, 10, 1e-9).guarantee
    with pytest.raises(ValueError, match="noise on a grid costs up to"):
        grid_statement(*known, 10**12, 1e-9)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("steps", "width"), [(1, 1), (40, 7), (7, 40)])
def test_the_distance_that_is_passed_on_is_that_of_all_draws(steps, width, relation):
    # a total of several releases pays for it again; every entry of every step is a draw
    (mechanism,) = grid_statement(1.2, 0.05, steps, width, 1e-5, relation=relation).mechanism
    exact = steps * width * discrete_distance(FINENESS)
    assert exact <= Fraction(mechanism.distance) <= exact * (1 + Fraction(1, 2**50))
    assert (mechanism.steps, mechanism.rate, mechanism.relation) == (steps, 0.05, relation)
