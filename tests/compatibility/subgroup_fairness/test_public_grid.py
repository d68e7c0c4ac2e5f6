import numpy as np
import pandas as pd
import pytest

from dpfair_lib.compatibility.subgroup_fairness.public_grid import (
    cell_of,
    check_levels,
    conjunctions,
    membership,
)

LEVELS = {"job": ["none", "part", "full"], "sex": ["f", "m"], "age": ["young", "old"]}
GROUPS = [{"sex": "f"}, {"sex": "f", "age": "old"}, {"age": "young"}]


def test_grids():
    frame = pd.DataFrame({"sex": ["m", "f"], "town": [0, 1]})
    cell, cells = cell_of(frame, check_levels(LEVELS), "X")
    assert (cell.tolist(), cells) == ([2, 1], 4)
    table = membership(["sex", "age"], LEVELS, GROUPS)
    assert table.tolist() == [[1, 0, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert len(conjunctions(LEVELS, 2)) == 6 + 6 + 4
    wide = pd.DataFrame(np.zeros((1, 25), int))
    with pytest.raises(ValueError, match="more than 1000000 cells"):
        cell_of(wide, {}, "X")
