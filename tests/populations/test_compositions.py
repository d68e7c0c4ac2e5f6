"""Divisions of records among kinds, against counting."""

import itertools
import math

import numpy as np
import pytest

from dpfair_lib.populations.compositions import compositions


@pytest.mark.parametrize(("total", "parts"), [(0, 1), (0, 3), (1, 1), (1, 4), (4, 3), (6, 2)])
def test_every_way_is_listed_once(total, parts):
    wanted = [way for way in itertools.product(range(total + 1), repeat=parts) if sum(way) == total]
    for dtype in (np.int64, np.int16):
        found = compositions(total, parts, dtype)
        assert found.dtype == dtype
        assert sorted(map(tuple, found.tolist())) == sorted(wanted)
    assert len(wanted) == math.comb(total + parts - 1, parts - 1)
