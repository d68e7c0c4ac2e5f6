import numpy as np
import pytest

from dpfair_lib.compatibility.private_learner.neighbouring_losses import (
    changing_places,
    largest_moves,
    scaled_far_apart,
)
from dpfair_lib.compatibility.private_learner.sample_losses import sample_losses
from dpfair_lib.compatibility.private_learner.sensitivity import utility_sensitivity


def test_no_hypothesis_moves_further_than_it_can_and_some_do_move_so_far():
    for n, counts in ((16, (5, 5)), (2, (1, 1)), (200, (3, 66))):
        first, second = largest_moves(n, counts)
        moved = abs(second - first)
        assert first.shape == (12, 2)
        assert moved.max() == pytest.approx(float(utility_sensitivity(counts, n)))
        assert np.allclose(moved[:, 1], moved.max())
        assert len({tuple(row) for row in np.hstack([first, second]).round(12).tolist()}) == 12


def test_two_hypotheses_change_places_on_explicit_samples():
    n = 10
    y, group = np.array([1] * 4 + [0] * 6), np.array([0, 0, 1, 1] + [0] * 6)
    h = np.array([[0, 1, 0, 1] + [0] * 6, [0, 1, 1, 1] + [0] * 6], dtype=float)
    before = sample_losses(h, y, group).total
    moved, later = group.copy(), h.copy()
    moved[0], later[1, 0] = 1, 1.0  # the record has other features too: the second hypothesis is 1 on it
    after = sample_losses(later, y, moved).total
    for found, expected in zip((before, after), changing_places(n), strict=True):
        assert [float(value) for value in found] == pytest.approx(expected)
    assert np.argmin(before) != np.argmin(after)
    with pytest.raises(ValueError, match="at least 4"):
        changing_places(3)
    assert changing_places(4) == ([0.5, 0.75], [2 / 3 + 0.5, 0.0])  # four records are enough


def test_scaled_losses_move_apart_by_less_than_five_and_nearly_so():
    ranges = []
    for m in (1, 5, 400):
        first, second = scaled_far_apart(m, 40 * m)
        falls = m * first - (m - 1) * second
        ranges.append(falls[0] - falls[1])
    assert ranges == sorted(ranges)
    assert 4.9 < ranges[-1] < 5
    with pytest.raises(ValueError, match="2m = 6"):
        scaled_far_apart(3, 5)
