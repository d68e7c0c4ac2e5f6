"""Unknowns and rows of a linear program that is collected part by part."""

import numpy as np

from dpfair_lib.local.robust.builder import Builder


def test_unknowns_are_numbered_and_the_free_ones_remembered():
    rows = Builder()
    assert rows.unknowns(2).tolist() == [0, 1]
    assert rows.unknowns(2, free=True).tolist() == [2, 3]
    assert rows.unknowns(1).tolist() == [4]
    assert (rows.width, rows.free) == (5, [2, 3])


def test_rows_are_added_with_their_right_hand_sides():
    rows = Builder()
    rows.unknowns(3)
    first = rows.add((np.array([0, 1]), np.array([1.0, 2.0])), (np.array([2, 2]), -np.ones(2)), right=3.0)
    second = rows.add((np.array([[0, 1, 2]]), [[1.0, 1.0, 1.0]]))
    matrix, right = rows.matrix()
    assert (first, second) == (slice(0, 2), slice(2, 3))
    assert matrix.toarray().tolist() == [[1, 0, -1], [0, 2, -1], [1, 1, 1]]
    assert right.tolist() == [3, 3, 0]


def test_unknowns_that_are_in_no_row_have_a_column():
    rows = Builder()
    rows.unknowns(3)
    rows.add((np.array([[1]]), [[2.0]]))
    assert rows.matrix()[0].toarray().tolist() == [[0, 2, 0]]
