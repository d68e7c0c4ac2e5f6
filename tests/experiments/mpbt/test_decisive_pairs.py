"""Two data sets that differ in one label: their rows, their minimisers, and bounds of the distance."""

import math

import numpy as np
import pytest

from dpfair_lib.experiments.mpbt.decisive_pairs import (
    decisive_move,
    decisive_moves,
    decisive_rows,
    even_others,
    farthest_move,
)
from dpfair_lib.learners.minimiser import minimise
from dpfair_lib.privacy.minimisers import LARGEST_PULL, logistic_perturbation_sensitivity


def test_others_are_even():
    assert [even_others(n) for n in (3, 4, 5, 6)] == [2, 2, 4, 4]


@pytest.mark.parametrize("n", [3, 6])
def test_the_move_is_that_of_minimisers_on_the_rows(n):
    rows, labels = decisive_rows(3.0, n, 0.8)
    other = labels.copy()
    other[0] = -1
    one, two = (minimise(rows, signs, 0.1, 1e-11) for signs in (labels, other))
    assert np.linalg.norm(rows, axis=1) == pytest.approx(3.0)
    assert decisive_moves(3.0, n, 0.1, np.array([0.8]))[0] == pytest.approx(
        np.linalg.norm(one - two), abs=1e-9
    )
    assert abs(one[1:] - two[1:]).max() < 1e-9


def test_the_best_component_comes_near_the_reach_as_run():
    for n in (1000, 10**6):
        moved = decisive_move(6.0, n, 1 / n**2)
        assert 0.99 < moved / (n * math.sqrt(LARGEST_PULL)) <= 1.01
        assert farthest_move(6.0, n, 1 / n**2) == pytest.approx(2 * n * math.sqrt(LARGEST_PULL))


def test_the_sensitivity_is_the_bound_where_it_is_smaller():
    known = {"lipschitz": 6.0, "strong_convexity": 1.0, "n": 100}
    assert farthest_move(6.0, 100, 1.0) == logistic_perturbation_sensitivity(**known)
    assert decisive_move(6.0, 100, 1.0) < farthest_move(6.0, 100, 1.0)
