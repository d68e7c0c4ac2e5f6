"""The worst law against laws by the thousand, and by hand."""

import re

import numpy as np
import pytest

from dpfair_lib.local import CellBounds, generalized_randomized_response, worst_unfairness


def delta(matrix, cells):
    ones, both = cells[:, 1] @ matrix, cells.sum(axis=1) @ matrix
    return abs(ones / (cells[:, 1].sum() * both) - 1).max()


def test_by_hand():
    # label 1 fills 1/3 and 1/6, label 0 what is left of the others: 5/24 over 1/2 · 1/3
    column = np.array([0.5, 0.25, 0.25])
    matrix = np.column_stack([column, 1 - column])
    laws = CellBounds(np.zeros((3, 2)), np.full((3, 2), 1 / 3), (0.5, 0.5))
    worst = worst_unfairness(matrix, laws)
    assert worst.unfairness == pytest.approx(0.25, abs=1e-12)
    assert worst.report == 0
    assert delta(matrix, worst.cells) == pytest.approx(0.25, abs=1e-9)


def test_an_extreme_between_knots_is_found():
    """One group has label 0 alone: the worst P(Y = 1) is neither an end nor a knot."""
    rng = np.random.default_rng(3)
    inner = 0
    for _ in range(40):
        k = int(rng.integers(2, 4))
        matrix = rng.dirichlet(np.ones(k) * 0.7, size=k) * 0.97 + 0.03 / k
        laws = CellBounds(np.full((k, 2), 0.02), np.full((k, 2), 0.6))
        worst = worst_unfairness(matrix, laws)
        share = worst.cells[:, 1].sum()
        ends = [abs(share - end) < 1e-9 for end in laws.positives]
        knots = [abs(share - (0.02 * k + 0.58 * i)) < 1e-9 for i in range(k + 1)]
        knots += [abs(1 - share - (0.02 * k + 0.58 * i)) < 1e-9 for i in range(k + 1)]
        inner += not any(ends + knots)
        for at in np.linspace(*laws.positives, 12):
            pinned = CellBounds(laws.low, laws.high, (at, at))
            assert worst_unfairness(matrix, pinned).unfairness <= worst.unfairness + 1e-9
    assert inner > 0


def test_both_sides_count():
    channel = generalized_randomized_response(2, 1.0)
    rare, often = (CellBounds(np.zeros((2, 2)), np.ones((2, 2)), (t, t)) for t in (0.2, 0.8))
    assert worst_unfairness(channel, rare).side == 1
    assert worst_unfairness(channel, often).side == -1


@pytest.mark.parametrize(
    ("channel", "said"),
    [
        (np.full((3, 3), 1 / 3), "expected 2 rows"),
        (np.array([[1.0, 0.0], [0.5, 0.5]]), "found the entry 0.0"),
        (np.array([0.5, 0.5]), "found shape (2,)"),
    ],
)
def test_what_does_not_fit_is_refused(channel, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        worst_unfairness(channel, CellBounds.around([0.5, 0.5], [0.3, 0.4], 0.1))
