import numpy as np
import pytest

from dpfair_lib.local.optimal.interior_point import _CENTRE, _PATIENCE, Progress, _middle
from dpfair_lib.local.optimal.program import Program


@pytest.mark.parametrize("fair", [False, True])
@pytest.mark.parametrize("k", [2, 3, 9])
def test_the_path_begins_inside_all_bounds(k, fair):
    program = Program(np.full(k, 1 / k), np.linspace(0.2, 0.9, k), 0.4, 0.6)
    state = _middle(program, fair=fair)
    assert (state.rooms > 0).all()
    assert state.diagonal + 0.4 * (k - 1) * state.diagonal + state.slacks.sum(axis=1) == pytest.approx(
        np.ones(k)
    )
    assert (state.rooms * state.prices).sum() == pytest.approx(_CENTRE * (k - 1) / k)


def test_a_path_is_given_up_after_so_many_steps_without_progress():
    progress = Progress()
    assert all(progress.made(0.89**n, 1.0) for n in range(3 * _PATIENCE))  # one of the numbers is enough
    last = 0.89 ** (3 * _PATIENCE - 1)
    assert [progress.made(0.91 * last, 1.0) for _ in range(_PATIENCE + 1)] == [True] * _PATIENCE + [False]
