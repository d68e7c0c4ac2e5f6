"""The small machines are what they are said to be."""

from fractions import Fraction

import numpy as np
from sklearn.svm import SVC

from dpfair_lib.svm.small_machines import iris_pair, spread_inside_margin


def test_all_spread_records_are_support_vectors_at_a_small_price():
    x, y = spread_inside_margin(3)
    assert x == [Fraction(i, 6) for i in range(6)]
    assert y == [0, 1] * 3
    svc = SVC(kernel="linear", C=1 / 24).fit(np.array(x, dtype=float)[:, None], y)
    assert len(svc.support_) == 6


def test_one_iris_moves_the_list_or_its_length():
    moved, counted = iris_pair("moved"), iris_pair("counted")
    assert [svc.n_support_.sum() for svc in moved] == [42, 42]
    assert moved[0].support_.tolist() == moved[1].support_.tolist()
    assert [svc.n_support_.sum() for svc in counted] == [42, 40]
