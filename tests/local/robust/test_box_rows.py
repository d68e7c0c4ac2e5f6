"""Rows for bounds on the cells: their least level is the largest over the laws, and their multipliers attain it."""

import numpy as np
import pytest
from rows_by_hand import largest, least_truth, random_cases, tight

from dpfair_lib.local import CellBounds
from dpfair_lib.local.robust import box_rows


def test_a_condition_is_about_the_worst_law_of_the_box():
    for cells, column, factors, rng in random_cases(0):
        laws = CellBounds(cells * rng.uniform(0.5, 1, cells.shape), np.minimum(cells * 1.7, 1))
        share = float(cells[:, 1].sum())
        value, law = tight(box_rows, laws, share, factors, column)
        assert value == pytest.approx(largest(laws, share, factors, column), abs=1e-8)
        assert float((law * np.outer(column, factors)).sum()) == pytest.approx(value, abs=1e-8)
        assert laws.contains(law)


def test_the_truth_is_the_least_over_all_shares():
    laws = CellBounds(np.full((3, 2), 0.05), np.full((3, 2), 0.35))
    value, shares = least_truth(box_rows, laws, np.array([0.6, 0.5, 0.4]))
    # shares from 0.1 to 0.7: 0.7 in the third group, 0.2 in the second, 0.1 in the first
    assert value == pytest.approx(0.7 * 0.4 + 0.2 * 0.5 + 0.1 * 0.6)
    assert shares == pytest.approx([0.1, 0.2, 0.7])
