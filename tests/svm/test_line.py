from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from dpfair_lib.svm.line import hard_margin, soft_margin

records = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 1)), min_size=2, max_size=7).filter(
    lambda rows: len({y for _, y in rows}) == 2
)


def objective(x, y, C, weight, intercept):
    signs = 2 * np.array(y) - 1
    hinge = np.maximum(0, 1 - signs * (weight * np.array(x) + intercept)).sum()
    return weight**2 / 2 + C * hinge


@given(records, st.integers(1, 40))
def test_the_soft_margin_is_no_worse_than_the_solver(rows, quarters):
    x, y = [r[0] for r in rows], [r[1] for r in rows]
    ours = soft_margin(x, y, Fraction(quarters, 4))
    column = np.array(x, dtype=float)[:, None]
    svc = SVC(kernel="linear", C=quarters / 4, tol=1e-8).fit(column, y)
    assert float(ours.weight) == pytest.approx(svc.coef_[0, 0], abs=1e-4)
    here = objective(x, y, quarters / 4, float(ours.weight), float(ours.intercept))
    assert here <= objective(x, y, quarters / 4, svc.coef_[0, 0], svc.intercept_[0]) + 1e-9


@given(records)
def test_a_high_price_gives_the_hard_margin(rows):
    x, y = [r[0] for r in rows], [r[1] for r in rows]
    try:
        hard = hard_margin(x, y)
    except ValueError:
        return
    # at most 7 records with gaps of at least 1: no dual coefficient is above 2
    assert soft_margin(x, y, 100) == hard


def test_solver_support_vectors_are_on_the_margin_or_inside():
    x, y = [0, 1, 2, 3, 4, 5, 9], [0, 0, 1, 0, 1, 1, 1]
    found = soft_margin(x, y, Fraction(1, 2))
    svc = SVC(kernel="linear", C=0.5, tol=1e-9).fit(np.array(x, dtype=float)[:, None], y)
    assert set(svc.support_) <= set(found.support)
    assert 6 not in found.support


def test_either_class_may_lie_to_the_right():
    left, right = hard_margin([0, 4], [1, 0]), hard_margin([0, 4], [0, 1])
    assert (left.weight, left.intercept) == (-right.weight, -right.intercept)
    assert right.score(3) == Fraction(1, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hard_margin([0, 1], [0, 0]), "y: found the label 0 only"),
        (lambda: hard_margin([0, 0], [0, 1]), "no threshold separates"),
        (lambda: hard_margin([0.0, 1.0], [0, 1]), "x: found numbers that are not exact"),
        (lambda: hard_margin([0, 1, 2], [0, 1]), "lengths differ"),
        (lambda: hard_margin([], []), "empty"),
        (lambda: soft_margin([0, 1], [0, 1], 0), "C: found 0"),
        (lambda: soft_margin([0, 1], [0, 1], 0.5), "C: found 0.5"),
        (lambda: soft_margin([0, 1], [0, 2], 1), "y: found"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_records_in_one_place_are_all_support_vectors():
    found = soft_margin([2, 2, 2], [0, 1, 1], 1)
    assert found.weight == 0
    assert found.support == (0, 1, 2)
