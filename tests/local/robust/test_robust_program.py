"""The linear program's parts: the dual of filling, the least truth, and a channel that rounding has bent."""

import itertools

import numpy as np
import pytest

from dpfair_lib.local import CellBounds, worst_unfairness
from dpfair_lib.local.robust.program import Cut, Program, least_truth, mended, most_truthful, solve

P, RATES = [0.5, 0.3, 0.2], [0.2, 0.5, 0.4]


def test_the_least_truth_is_that_of_the_least_truthful_group():
    laws = CellBounds(np.full((3, 2), 0.05), np.full((3, 2), 0.35))
    matrix = np.array([[0.6, 0.2, 0.2], [0.25, 0.5, 0.25], [0.3, 0.3, 0.4]])
    # shares from 0.1 to 0.7: 0.7 in the third group, 0.2 in the second, 0.1 in the first
    assert least_truth(matrix, laws) == pytest.approx(0.7 * 0.4 + 0.2 * 0.5 + 0.1 * 0.6)


def test_the_most_truthful_channel_is_private_and_no_plain_response_is_more_truthful():
    laws = CellBounds(np.full((3, 2), 0.05), np.full((3, 2), 0.35))
    x = np.exp(-1.0)
    matrix = mended(most_truthful(laws, x))
    assert (matrix >= x * matrix.max(axis=0) - 1e-8).all()
    assert least_truth(matrix, laws) >= 1 / (1 + 2 * x) - 1e-7


def test_a_bent_channel_becomes_truthful_with_the_same_rows():
    bent = np.array([[0.5, 0.5 + 2e-9, -2e-9], [0.2, 0.6, 0.2], [0.3, 0.3 + 1e-9, 0.4]])
    matrix = mended(bent)
    own = np.diag(matrix)
    assert (matrix <= own[:, None]).all()
    assert (matrix <= own[None, :]).all()
    assert (matrix >= 0).all()
    assert matrix.sum(axis=1) == pytest.approx(1, abs=1e-15)
    assert abs(matrix - bent).max() < 1e-8


def test_conditions_are_about_all_laws_with_one_share():
    """The channel keeps the level for all laws with this P(Y = 1); for others it need not."""
    laws, share, t = CellBounds.around(P, RATES, 0.03), 0.33, 0.2
    cuts = [Cut(report, side, share) for report, side in itertools.product(range(3), (1, -1))]
    solved = solve(Program(laws, np.exp(-1.0), 0.5), cuts, t, np.full(len(cuts), 0.1))
    pinned = CellBounds(laws.low, laws.high, (share, share))
    assert worst_unfairness(mended(solved.matrix), pinned).unfairness <= t + 1e-6
    assert (solved.weights >= 0).all()
    assert 0.1 * solved.weights.sum() == pytest.approx(1, abs=1e-6)
