"""Rows for a ball: their least level is the largest over the laws, and their multipliers attain it."""

import numpy as np
import pytest
from rows_by_hand import largest, least_truth, random_cases, tight

from dpfair_lib.local import CellBall
from dpfair_lib.local.robust import ball_rows


def test_a_condition_is_about_the_worst_law_of_the_ball():
    for cells, column, factors, rng in random_cases(1):
        least = min(cells.sum(axis=0))
        laws = CellBall(cells, rng.uniform(0.1, 1.8) * least)
        share = float(cells[:, 1].sum() + rng.uniform(-0.4, 0.4) * laws.radius)
        value, law = tight(ball_rows, laws, share, factors, column)
        assert value == pytest.approx(largest(laws, share, factors, column), abs=1e-8)
        assert float((law * np.outer(column, factors)).sum()) == pytest.approx(value, abs=1e-8)
        assert laws.contains(law)


def test_the_truth_is_the_least_over_the_ball():
    laws = CellBall.around([0.1, 0.6, 0.3], [0.4, 0.5, 0.5], 0.3)
    value, shares = least_truth(ball_rows, laws, np.array([0.8, 0.5, 0.4]))
    # 0.1 from the first and 0.05 from the second go to the third
    assert value == pytest.approx(0.55 * 0.5 + 0.45 * 0.4)
    assert shares == pytest.approx([0.0, 0.55, 0.45])
