import math

import pytest

from dpfair_lib.central.least_gap import (
    least_confusion,
)
from dpfair_lib.central.least_gap_program import private_minimax_gap


@pytest.mark.parametrize("delta", [0.0, 0.05, 0.6])
@pytest.mark.parametrize("n", [1, 4, 5])
def test_the_linear_program_for_two_populations_is_the_closed_form(n, delta):
    value, mechanism = private_minimax_gap([0.3, 0.7], n, 0.8, delta, response=0.25)
    assert value == pytest.approx(0.25 * 0.4 * least_confusion(n, 0.4, math.exp(0.8), delta), abs=1e-9)
    assert mechanism.sum(axis=1) == pytest.approx(1)
