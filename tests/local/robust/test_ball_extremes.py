"""What is taken from cells, the extreme sums, and stationary points along edges."""

import itertools

import numpy as np
import pytest

from dpfair_lib.local import CellBall
from dpfair_lib.local.robust.ball_extremes import Taking, _edges, moved_sum, worst_in_ball


def test_the_cells_of_the_largest_values_are_taken_first():
    taking = Taking(np.array([0.2, 0.7, 0.5]), np.array([0.3, 0.1, 0.2]), 1)
    assert taking.sum_of(np.array([0.0, 0.1, 0.2, 0.6])) == pytest.approx([0, 0.07, 0.12, 0.07 + 0.1 + 0.06])
    assert taking.left(0.2) == pytest.approx([0.3, 0.0, 0.1])
    assert Taking(np.array([0.2, 0.7]), np.array([0.3, 0.1]), -1).left(0.35) == pytest.approx([0.0, 0.05])


def test_sums_of_both_sides():
    values, cells = np.array([0.2, 0.7]), np.array([0.5, 0.5])
    assert moved_sum(values, cells, 0.1, 1) == pytest.approx(0.4 * 0.2 + 0.6 * 0.7)
    assert moved_sum(values, cells, 0.1, -1) == pytest.approx(0.6 * 0.2 + 0.4 * 0.7)


@pytest.mark.parametrize("side", [1, -1])
def test_the_worst_is_that_of_a_fine_grid_of_both_amounts(side):
    rng = np.random.default_rng(4)
    inside = 0
    for _ in range(30):
        cells = rng.dirichlet(np.ones(4) * 0.5).reshape(2, 2)
        half = 0.9 * rng.random() * min(cells.sum(axis=0))
        column, ball = rng.uniform(0.05, 1, 2), CellBall(cells, 2 * half)
        worst, law = worst_in_ball(column, side, ball)
        values = []
        for put in np.linspace(0, half, 41):
            for taken in np.linspace(0, half, 41):
                ones = moved(column, cells[:, 1], taken, put, side)
                zeros = moved(column, cells[:, 0], half - taken, half - put, -side)
                values.append(side * (ones / ((cells[:, 1].sum() + put - taken) * (ones + zeros)) - 1))
        assert worst >= max(values) - 1e-12
        assert worst <= max(values) + 0.05 * (1 + abs(worst))
        assert ball.contains(law)
        inside += worst > max(values) + 1e-9
    assert inside > 0  # not all are on the grid


def test_edges_are_all_sides_of_the_rectangles_between_knots():
    edges = _edges(0.5, np.array([0, 0.125, 0.75]), np.array([0, 0.25, 0.375, 2.0]))
    found = {tuple(side) for side in np.concatenate([edges.put, edges.taken]).T.tolist()}
    knots = [0, 0.125, 0.25, 0.5]  # 0.125 twice: that of label 1 is half less that of label 0
    across = {(0, 0.5, b, b) for b in knots}
    along = {(a, a, low, high) for a in (0, 0.5) for low, high in itertools.pairwise(knots)}
    assert found == across | along
    assert edges.put.shape == edges.taken.shape == (2, 10)


def moved(column, cells, taken, put, side):
    order = np.argsort(side * column)
    left = taken
    after = cells.copy()
    for i in order:
        step = min(left, after[i])
        after[i] -= step
        left -= step
    after[order[-1]] += put
    return float(after @ column)
