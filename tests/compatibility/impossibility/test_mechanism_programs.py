import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.compatibility.impossibility.ladder import mass_ladder
from dpfair_lib.compatibility.impossibility.mechanism_programs import largest_mass


def path(steps):
    at = np.arange(steps + 1)
    return np.ones((steps + 1, 2), dtype=bool), abs(np.subtract.outer(at, at)) == 1


@given(st.integers(1, 5), st.floats(0, 2), st.floats(0.001, 0.9))
def test_a_linear_programming_solver_climbs_no_higher(steps, epsilon, delta):
    met, near = path(steps)
    met[0, 0] = False
    found = largest_mass(
        met, near, factor=math.exp(epsilon), delta=delta, at=steps, favoured=np.array([True, False])
    )
    # the solver keeps each constraint to 1e-7, and errors of several steps add up
    assert found == pytest.approx(mass_ladder(steps, factor=math.exp(epsilon), delta=delta)[-1], abs=5e-7)
