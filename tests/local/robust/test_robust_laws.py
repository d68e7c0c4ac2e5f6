"""Bounds on the cells of a law: what they hold, and what is refused."""

import re
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.local import CellBounds

LOW, HIGH = [[0.3, 0.1], [0.2, 0.1]], [[0.4, 0.2], [0.3, 0.2]]


def test_positives_follow_from_both_labels_and_from_what_is_known_of_them():
    laws = CellBounds(LOW, HIGH)
    assert laws.positives == pytest.approx((0.3, 0.4), abs=1e-14)  # 1 − 0.7 and the sum of the upper ends
    assert CellBounds(LOW, HIGH, (0.32, 0.9)).positives == pytest.approx((0.32, 0.4), abs=1e-14)
    assert isinstance(laws.exact_positives[0], Fraction)
    assert laws.shares[0] == pytest.approx([0.4, 0.3])
    assert laws.shares[1] == pytest.approx([0.6, 0.5])


def test_a_box_round_a_law_holds_it_and_ends_at_0():
    laws = CellBounds.around([0.5, 0.5], [0.1, 0.6], 0.07)
    cells = np.array([[0.45, 0.05], [0.2, 0.3]])
    assert laws.contains(cells)
    assert laws.low[0, 1] == 0
    assert laws.high == pytest.approx(cells + 0.07)
    assert not laws.contains(cells + np.array([[0.08, -0.04], [-0.04, 0.0]]))
    assert not laws.contains(cells * 0.99)
    assert not CellBounds(laws.low, laws.high, (0.1, 0.3)).contains(cells)  # P(Y = 1) is 0.35


def test_a_law_in_floats_is_a_box_of_its_own():
    rng = np.random.default_rng(0)
    for _ in range(50):
        p, rates = rng.dirichlet(np.ones(4)), rng.uniform(0.1, 0.9, 4)
        least, most = CellBounds.around(p, rates, 0.0).positives
        assert least <= p @ rates + 1e-14
        assert most >= p @ rates - 1e-14


@pytest.mark.parametrize(
    ("low", "high", "between", "said"),
    [
        (
            [[0.5, 0.1], [0.2, 0.1]],
            [[0.4, 0.2], [0.3, 0.2]],
            (0, 1),
            "found 0.5 and 0.4 for group 0 and label 0",
        ),
        ([[-0.1, 0.1], [0.2, 0.1]], HIGH, (0, 1), "found -0.1 and 0.4"),
        ([[0.3, 0.1], [0.2, 0.5]], [[0.4, 0.2], [0.3, 0.6]], (0, 1), "found sums 1.1 and 1.5"),
        ([[0.1, 0.1], [0.2, 0.1]], [[0.2, 0.2], [0.3, 0.2]], (0, 1), "found sums 0.5 and 0.9"),
        ([[0.3, 0.0], [0.2, 0.0]], [[0.6, 0.2], [0.5, 0.2]], (0, 1), "found P(Y = 1) from 0 "),
        ([[0.0, 0.3], [0.0, 0.2]], [[0.2, 0.6], [0.2, 0.5]], (0, 1), "to 1, expected"),
        (LOW, HIGH, (0.5, 0.9), "found P(Y = 1) from 0.5 to 0.4"),
        ([[0.3, 0.1]], [[0.9, 0.9]], (0, 1), "found shapes (1, 2)"),
        ([[0.3, 0.1], [0.2, np.nan]], HIGH, (0, 1), "low: found nan"),
    ],
)
def test_what_is_no_set_of_laws_is_refused(low, high, between, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        CellBounds(low, high, between)
