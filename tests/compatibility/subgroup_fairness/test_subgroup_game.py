from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.compatibility.subgroup_fairness.subgroup_game import SubgroupGame, game_from_counts, optimum

MEMBERS = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])


@given(st.lists(st.integers(0, 30), min_size=24, max_size=24).filter(any))
def test_violations_are_those_of_the_definition(numbers):
    counts = np.array(numbers, dtype=float).reshape(4, 3, 2)
    h = np.array([0.2, 1.0, 0.0, 0.7])
    found = game_from_counts(counts, MEMBERS).violations(h)
    negatives = counts[:, :, 0]
    for at in (0, 1):
        inside = negatives[:, at]
        expected = 0.0
        if inside.sum():
            overall = h @ negatives.sum(axis=1) / negatives.sum()
            expected = inside.sum() / counts.sum() * (overall - h @ inside / inside.sum())
        assert found[at] == pytest.approx(expected, abs=1e-12)


def test_fractions_stay_exact():
    counts = np.full((2, 2, 2), Fraction(1, 3), dtype=object)
    game = game_from_counts(counts, np.array([[Fraction(1)], [Fraction(0)]]))
    assert game.base == Fraction(1, 2)
    assert set(game.violation.ravel()) == {Fraction(0)}


def test_without_negatives_nothing_is_violated():
    counts = np.zeros((3, 3, 2))
    counts[:, :, 1] = 5
    assert not game_from_counts(counts, MEMBERS).violation.any()
    counts[:, 0, 0] = 2  # negatives, but none in the second subgroup
    assert not game_from_counts(counts, MEMBERS).violation[1].any()


def test_a_share_that_noise_moved_out_is_put_back():
    counts = np.zeros((1, 3, 2))
    counts[0, :, 0] = (12.0, -3.0, 1.0)
    game = game_from_counts(counts, MEMBERS, 10)
    assert game.violation[:, 0] == pytest.approx([(10 - 12) / 10, 3 / 10])


def test_the_program_is_no_worse_than_any_fair_classifier():
    rng = np.random.default_rng(0)
    game = game_from_counts(rng.integers(0, 50, size=(5, 3, 2)).astype(float), MEMBERS)
    best = optimum(game, 0.01)
    assert abs(game.violations(best)).max() <= 0.01 + 1e-9
    others = rng.random((4000, 5))
    fair = abs(game.violations(others)).max(axis=1) <= 0.01
    assert fair.any()
    assert game.errors(best) <= game.errors(others[fair]).min() + 1e-9


def test_costs_are_what_selecting_costs():
    game = SubgroupGame(0.5, np.array([0.1, -0.2]), np.array([[0.3, 0.0], [0.0, 0.4]]))
    assert game.costs(np.array([2.0, -1.0])) == pytest.approx([0.7, -0.6])
