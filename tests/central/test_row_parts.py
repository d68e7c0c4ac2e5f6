import itertools
import math

import numpy as np
import pytest

from dpfair_lib.central.row_parts import held_out


def check_spread(held):
    """Raise unless about as many rows as due are held, of the whole, of each stretch, and of each residue."""
    for n, share in itertools.product((100, 1000, 5000), (0.1, 0.25, 0.5, 0.7)):
        chosen = held(n, share)
        assert chosen.dtype == bool
        assert abs(chosen.sum() - share * n) <= 3
        for start in range(0, n - 50, 37):
            assert abs(chosen[start : start + 50].sum() - 50 * share) <= 3
        for period in range(2, 13):
            for start in range(period):
                part = chosen[start::period]
                assert abs(part.mean() - share) <= 4 / len(part) + 0.05


def test_rows_are_held_out_evenly_in_every_sorted_or_periodic_table():
    check_spread(held_out)
    for fault in (
        lambda n, share: np.arange(n) < share * n,  # the first rows
        lambda n, share: (
            np.floor((np.arange(n) + 1) * share) > np.floor(np.arange(n) * share)
        ),  # every second
        lambda n, share: held_out(n, share / 2),
    ):
        with pytest.raises(AssertionError):
            check_spread(fault)
    assert np.array_equal(held_out(50, 0.3), held_out(80, 0.3)[:50])


def test_the_turn_is_the_golden_ratio():
    turns = [math.modf(at * (math.sqrt(5) - 1) / 2)[0] for at in range(300)]
    assert held_out(300, 0.37).tolist() == [turn < 0.37 for turn in turns]


def test_a_share_of_next_to_nothing_holds_nobody_out():
    assert not held_out(20, 1e-30).any()
