import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib.margins.terms import (
    chernoff_terms,
    exact_terms,
    markov_terms,
    relative_margins,
)


def test_margins_by_hand():
    assert dpf.margins([2.0, -3.0, 1.0], [1, 1, 0]).tolist() == [2, -3, -1]
    assert dpf.margins([[0, 3, 1], [2, 2, 0], [5, 1, 4]], [1, 0, 2]).tolist() == [2, 0, -1]


def test_the_constants_by_hand():
    X = [[3.0, 4.0], [0.0, 0.0]]
    assert dpf.margin_lipschitz(X) == pytest.approx([5 * np.sqrt(2), 0])
    assert dpf.margin_lipschitz(X, norm="spectral") == pytest.approx([5 * np.sqrt(2), 0])
    assert dpf.margin_lipschitz(X, norm="largest-row") == pytest.approx([10, 0])
    assert dpf.margin_lipschitz(X, binary=True) == pytest.approx([5, 0])
    assert dpf.margin_lipschitz([[3e200, 4e200], [3e-200, 4e-200]], binary=True) == pytest.approx(
        [5e200, 5e-200]
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dpf.margins([1.0, np.nan], [0, 1]), "scores: found nan"),
        (lambda: dpf.margins([1.0, 2.0], [0, 2]), "y: found 2"),
        (lambda: dpf.margins([1.0, 2.0], [0]), "lengths differ"),
        (lambda: dpf.margins([[1.0], [2.0]], [0, 0]), r"scores: found shape \(2, 1\)"),
        (lambda: dpf.margins([[1.0, 2.0]], [2]), "y: found 2.* columns? of scores|y: found 2"),
        (lambda: dpf.margin_lipschitz([1.0, 2.0]), r"X: found shape \(2,\)"),
        (lambda: dpf.margin_lipschitz([[1.0]], norm="l1"), "norm: found 'l1'"),
        (lambda: dpf.margin_lipschitz([[1.0]], binary="no"), "binary: found 'no', expected True or False"),
        (lambda: relative_margins([0.5], [0.0]), "row of zeros at position 0"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_rows_of_zeros_never_move():
    relative = relative_margins([0.0, 0.0, 1.0], [0.0, 2.0, 4.0])
    assert relative.tolist() == [np.inf, 0, 0.25]
    codes = np.zeros(3, dtype=int)
    assert exact_terms(relative, codes, 1, 0.1) == pytest.approx([1 / 3])
    assert markov_terms(relative, codes, 1, 0.1).tolist() == [np.inf]


def test_chernoff_where_the_search_ends_at_an_edge():
    codes = np.zeros(4, dtype=int)
    assert (
        chernoff_terms(np.array([0.1, 0.2, 0.3, 1.0]), codes, 1, 0.5)[0] == 1
    )  # the mean is within the radius
    assert chernoff_terms(np.array([0.6, -0.7, 0.8, np.inf]), codes, 1, 0.5)[0] == 0  # nothing is within
    assert chernoff_terms(np.array([0.5, -0.7, 0.8, np.inf]), codes, 1, 0.5)[0] == 0.25
    assert chernoff_terms(np.array([0.1, 0.2, 0.3, np.inf]), codes, 1, 0.5)[0] == 0.75
