"""Standardised pairs: each table is that of its own data, and one record made the difference."""

import numpy as np
import pytest

from dpfair_lib.central.far_records import aligned_pair, turned_pair


@pytest.mark.parametrize("n", [2, 5, 100])
def test_a_turned_pair_is_standardised_and_turned_around(n):
    one, other, labels = turned_pair(n)
    assert abs(one.mean()) < 1e-12
    assert one.std(ddof=1) == pytest.approx(1)
    assert (other == -one).all()
    assert labels.tolist() == [0] * (n - 1) + [1]
    back = one - one[0]  # the first n − 1 records have the same number
    assert np.count_nonzero(abs(back) > 1e-12) == 1


@pytest.mark.parametrize(("n", "columns"), [(4, 1), (10, 6)])
def test_an_aligned_pair_moves_every_row_though_one_record_is_replaced(n, columns):
    one, other, labels = aligned_pair(n, columns)
    assert one.shape == other.shape == (n, columns)
    for table in (one, other):
        assert abs(table.mean(axis=0)).max() < 1e-9
        assert table.std(axis=0, ddof=1) == pytest.approx(1)
    assert (abs(one - other) > 0.1).all(axis=1).sum() >= n // 2
    assert labels.sum() == n // 2
    assert len(set(other[: n // 2, 0])) == 1  # the replaced record is the last one
