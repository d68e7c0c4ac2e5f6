import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpfair_lib as dpf
from dpfair_lib.margins.terms import (
    BLOCK,
    cell_counts,
    chernoff_terms,
    exact_terms,
    markov_terms,
    relative_margins,
    signed_terms,
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


def test_terms_by_hand_and_of_a_group_without_rows():
    relative, codes = np.array([0.5, -1.0, 4.0, 2.0]), np.array([0, 0, 0, 2])
    for truncated, first, last in ((False, 2 + 1 + 0.25, 0.5), (True, 2 + 1, 0.0)):
        found = markov_terms(relative, codes, 3, 1.0, truncated=truncated)
        assert found == pytest.approx([first / 3, np.nan, last], nan_ok=True)
    assert signed_terms(relative, codes, 3, 1.0) == pytest.approx(
        np.array([[1 / 3, 1 / 3], [np.nan, np.nan], [0, 0]]), nan_ok=True
    )


@given(st.integers(0, 10_000), st.integers(1, 40), st.floats(0.01, 3))
@settings(max_examples=60)
def test_counts_against_loops_and_the_order_of_the_bounds(seed, n, radius):
    rng = np.random.default_rng(seed)
    relative = rng.choice([rng.normal(), 0.0, radius, -radius, np.inf, 0.3, -0.2], size=n)
    codes = np.concatenate([np.arange(3), rng.integers(0, 3, size=n)])
    relative = np.concatenate([[1.0, 2.0, -1.0], relative])
    for cell, row in enumerate(cell_counts(relative, codes, 3, radius)):
        own = relative[codes == cell]
        lost, gained = (own >= 0) & (own <= radius), (-radius <= own) & (own <= 0)
        assert row.tolist() == [
            len(own),
            lost.sum(),
            gained.sum(),
            (lost | gained).sum(),
            ((own > 0) & np.isfinite(own)).sum(),
        ]
    signed, exact, chernoff, markov = (
        f(relative, codes, 3, radius) for f in (signed_terms, exact_terms, chernoff_terms, markov_terms)
    )
    assert (signed.max(axis=1) <= exact + 1e-12).all()
    assert (exact <= chernoff + 1e-12).all()
    assert (chernoff <= markov + 1e-9).all()


@pytest.mark.parametrize("cells", [1, 2, 31, 32, 33, 300])
@pytest.mark.parametrize("rows", [1, 2, BLOCK - 1, 2 * BLOCK, 2 * BLOCK + 1])
def test_blocks_and_pairs_of_rows_do_not_change_the_counts(cells, rows):
    rng = np.random.default_rng(rows)
    relative = rng.choice([-1.0, -0.2, -0.1, 0.0, 0.1, 0.2, 1.0, np.inf], size=rows)
    codes = rng.integers(0, cells, size=rows)
    found = cell_counts(relative, codes, cells, 0.2)
    size = np.abs(relative)
    expected = (
        size >= 0, (relative >= 0) & (size <= 0.2), (relative <= 0) & (size <= 0.2), size <= 0.2,
        (relative > 0) & (relative < np.inf),
    )  # fmt: skip
    for column, chosen in zip(found.T, expected, strict=True):
        assert column.tolist() == np.bincount(codes[chosen], minlength=cells).tolist()
    if cells <= 256:
        assert (cell_counts(relative, codes.astype(np.uint8), cells, 0.2) == found).all()


def test_chernoff_where_the_search_ends_at_an_edge():
    codes = np.zeros(4, dtype=int)
    assert (
        chernoff_terms(np.array([0.1, 0.2, 0.3, 1.0]), codes, 1, 0.5)[0] == 1
    )  # the mean is within the radius
    assert chernoff_terms(np.array([0.6, -0.7, 0.8, np.inf]), codes, 1, 0.5)[0] == 0  # nothing is within
    assert chernoff_terms(np.array([0.5, -0.7, 0.8, np.inf]), codes, 1, 0.5)[0] == 0.25
    assert chernoff_terms(np.array([0.1, 0.2, 0.3, np.inf]), codes, 1, 0.5)[0] == 0.75
