"""A ball of laws: what it holds and refuses, its worst law, the least truth, and the channel that is best for it."""

import itertools
import re
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.local import CellBall, CellBounds, optimal_randomizer, robust_randomizer, worst_unfairness
from dpfair_lib.local.robust.ball import into_ball
from dpfair_lib.local.robust.ball_extremes import moved_sum
from dpfair_lib.local.robust.program import least_truth, mended, most_truthful
from dpfair_lib.local.robust.proof import exact_cells, lower_bound

P, RATES = [0.5, 0.3, 0.2], [0.2, 0.5, 0.4]


def delta(matrix, cells):
    ones, both = cells[:, 1] @ matrix, cells.sum(axis=1) @ matrix
    return abs(ones / (cells[:, 1].sum() * both) - 1).max()


def moved(ball, rng):
    """Return a random law of the ball: half of its radius is taken from cells and put on others."""
    taken = np.minimum(rng.dirichlet(np.full(2 * ball.k, 0.2)).reshape(-1, 2) * ball.radius / 2, ball.cells)
    return ball.cells - taken + taken.sum() * rng.dirichlet(np.full(2 * ball.k, 0.2)).reshape(-1, 2)


def test_by_hand():
    """All that 0.05 can do: a on label 1, b from it, the rest on and from label 0, each where it counts most."""
    ball = CellBall([[0.25, 0.25], [0.25, 0.25]], 0.1)
    worst = worst_unfairness([[0.75, 0.25], [0.25, 0.75]], ball)
    unfair = []
    for put, taken in itertools.product(np.linspace(0, 0.05, 201), repeat=2):
        for side, high, low in ((1, 0.75, 0.25), (-1, 0.25, 0.75)):
            ones = 0.25 + high * put - low * taken
            zeros = 0.25 + low * (0.05 - put) - high * (0.05 - taken)
            unfair.append(side * (ones / ((0.5 + put - taken) * (ones + zeros)) - 1))
    assert worst.unfairness == pytest.approx(max(unfair), abs=1e-6)
    assert worst.unfairness >= max(unfair) - 1e-12


def test_the_worst_law_is_in_the_ball_and_no_random_law_is_worse():
    rng = np.random.default_rng(2)
    for _ in range(60):
        k = int(rng.integers(2, 6))
        cells = rng.dirichlet(np.ones(2 * k)).reshape(k, 2)
        share = cells[:, 1].sum()
        ball = CellBall(cells, rng.uniform(0, 1.9) * min(share, 1 - share))
        matrix = rng.dirichlet(np.ones(k), size=k) * 0.9 + 0.1 / k
        worst = worst_unfairness(matrix, ball)
        assert ball.contains(worst.cells)
        assert delta(matrix, worst.cells) == pytest.approx(worst.unfairness, abs=1e-9)
        laws = [moved(ball, rng) for _ in range(50)]
        assert all(ball.contains(law) for law in laws)
        assert max(delta(matrix, law) for law in laws) <= worst.unfairness + 1e-12


def test_a_stationary_point_within_an_edge_is_found():
    """With the ends of all edges alone the worst of some balls would be missed."""
    ball, matrix = CellBall([[0.02, 0.9], [0.04, 0.04]], 0.1), np.array([[0.9, 0.1], [0.2, 0.8]])
    worst = worst_unfairness(matrix, ball)
    rng = np.random.default_rng(0)
    assert max(delta(matrix, moved(ball, rng)) for _ in range(3000)) <= worst.unfairness + 1e-12


def test_a_cell_of_nobody_may_get_somebody():
    ball = CellBall([[0.5, 0.0], [0.25, 0.25]], 0.125)
    matrix = np.array([[0.75, 0.25], [0.25, 0.75]])
    worst = worst_unfairness(matrix, ball)
    assert delta(matrix, worst.cells) == pytest.approx(worst.unfairness, abs=1e-12)
    rng = np.random.default_rng(0)
    laws = [moved(ball, rng) for _ in range(300)]
    assert any(law[0, 1] > 0.01 for law in laws)
    assert max(delta(matrix, law) for law in laws) <= worst.unfairness + 1e-12


def test_a_ball_of_radius_0_is_its_law():
    ball = CellBall.around(P, RATES, 0.0)
    known = optimal_randomizer(P, RATES, 1.0, error=0.5)
    assert robust_randomizer(ball, 1.0, error=0.5).value == pytest.approx(known.value, abs=2e-6)


def test_a_ball_lies_between_its_box_and_its_centre():
    ball, half = CellBall.around(P, RATES, 0.06), 0.03
    share = float(ball.cells[:, 1].sum())
    box = CellBounds(ball.cells - half, ball.cells + half, (share - half, share + half))
    centre, best, outer = (
        robust_randomizer(laws, 1.0, error=0.5).value for laws in (CellBall(ball.cells, 0.0), ball, box)
    )
    assert centre < best - 1e-3
    assert best < outer - 1e-3


@pytest.mark.parametrize("error", [None, 0.5, 0.66])
def test_constraints_and_proof(error):
    ball = CellBall.around(P, RATES, 0.08)
    found = robust_randomizer(ball, 1.0, error=error)
    matrix, proved = np.asarray(found.matrix), found.certificate
    assert found.likelihood_ratio <= np.e
    assert (matrix <= np.diag(matrix)[:, None] + 1e-15).all()
    assert (matrix <= np.diag(matrix)[None, :] + 1e-15).all()
    assert proved.ended == "proved"
    assert 0 <= proved.gap <= 1e-6
    assert worst_unfairness(found, ball).unfairness == found.value
    assert least_truth(matrix, ball) >= 1 - proved.error
    assert float(lower_bound(ball, 1.0, proved.error, proved.proof)) == proved.lower
    rng = np.random.default_rng(1)
    for _ in range(200):
        assert moved(ball, rng).sum(axis=1) @ np.diag(matrix) >= 1 - proved.error - 1e-12


def test_the_least_truth_takes_from_the_most_truthful_group():
    ball = CellBall.around([0.1, 0.6, 0.3], [0.4, 0.5, 0.5], 0.3)
    matrix = np.array([[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4]])
    # 0.1 from the first and 0.05 from the second go to the third
    assert least_truth(matrix, ball) == pytest.approx(0.55 * 0.5 + 0.45 * 0.4)
    assert moved_sum(np.diag(matrix), ball.cells.sum(axis=1), 0.15, 1) == pytest.approx(
        0.1 * 0.8 + 0.6 * 0.5 + 0.15 * 0.4 + 0.15 * 0.8
    )
    truthful = mended(most_truthful(ball, np.exp(-1.0)))
    assert least_truth(truthful, ball) >= 1 / (1 + 2 * np.exp(-1.0)) - 1e-7


@pytest.mark.parametrize(
    "cells", [[[0.5, 0.5], [0, 0]], [[0, 0], [0, 0]], [[-1, 0.1], [0.2, 0.3]], [[0.3, 0.2], [0.3, 0.2]]]
)
def test_any_cells_are_moved_into_the_ball_exactly(cells):
    ball = CellBall([[0.3, 0.2], [0.3, 0.2]], 0.125)
    found = exact_cells(np.array(cells, dtype=float), ball)
    pairs = zip(itertools.chain(*found), itertools.chain(*ball.exact_cells), strict=True)
    away = sum(abs(a - b) for a, b in pairs)
    assert away <= Fraction(1, 8)
    assert sum(map(sum, found)) == 1
    assert min(map(min, found)) >= 0


def test_a_distribution_within_the_radius_stays():
    centre = [Fraction(1, 2), Fraction(1, 2)]
    assert into_ball([0.375, 0.625], centre, 0.25) == [Fraction(3, 8), Fraction(5, 8)]
    assert into_ball([0.25, 0.75], centre, 0.25) == [Fraction(3, 8), Fraction(5, 8)]
    assert into_ball([1.0, 3.0], centre, 0.0) == centre


@pytest.mark.parametrize(
    ("cells", "radius", "said"),
    [
        ([[0.4, 0.1], [0.3, 0.2]], -0.1, "radius: found -0.1, expected a number of at least 0"),
        ([[0.4, 0.1], [0.3, 0.2]], np.inf, "radius: found inf, expected at most 2"),
        ([[0.4, 0.1], [0.3, 0.2]], np.nan, "radius: found nan"),
        ([[0.4, 0.1], [0.3, 0.2]], 2.125, "radius: found 2.125, expected at most 2, the distance"),
        ([[0.4, 0.1], [0.3, 0.2]], 0.625, "with P(Y = 1) from -0.0125 to 0.6125"),
        ([[0.1, 0.4], [0.2, 0.3]], 0.625, "with P(Y = 1) from 0.3875 to 1.0125"),
        ([[0.4, 0.1], [0.3, 0.3]], 0.1, "found a sum of 1.1"),
        ([[0.6, -0.1], [0.3, 0.2]], 0.1, "a least one of -0.1"),
        ([[0.5, 0.5]], 0.1, "found shape (1, 2)"),
        ([[0.3, 0.1, 0.1], [0.2, 0.2, 0.1]], 0.1, "found shape (2, 3)"),
    ],
)
def test_what_is_no_ball_is_refused(cells, radius, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        CellBall(cells, radius)


def test_cells_cannot_be_changed_and_those_given_are_not():
    given = np.array([[0.4, 0.1], [0.3, 0.2]])
    ball = CellBall(given, 0.1)
    with pytest.raises(ValueError, match="read-only"):
        ball.cells[0, 0] = 1.0
    given[0, 0] = 0.3
    assert ball.cells[0, 0] == 0.4
