"""The largest Δ where nothing is known but P(Y = 1), at its ends."""

from fractions import Fraction

import pytest

from dpfair_lib.local.robust.closed_forms import unfairness_of_level

F = Fraction


@pytest.mark.parametrize(
    ("ratio", "share", "expected"),
    [
        (F(1), F(1, 3), 0),
        (F(3), F(1, 2), F(1, 2)),  # truth ¾ for two values
        (F(2), F(1, 10), F(9, 11)),
        (F(2), F(9, 10), F(1, 11)),
    ],
)
def test_by_hand(ratio, share, expected):
    assert unfairness_of_level(ratio, share) == expected
