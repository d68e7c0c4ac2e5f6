import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfair_lib.margins.terms import (
    BLOCK,
    cell_counts,
    chernoff_terms,
    exact_terms,
    markov_terms,
    signed_terms,
)


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
