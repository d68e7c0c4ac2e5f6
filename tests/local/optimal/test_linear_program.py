import time

import numpy as np
import pytest

from dpfair_lib.local.optimal import columns as columns
from dpfair_lib.local.optimal.linear_program import mended
from dpfair_lib.local.optimal.program import Program, as_program

K = 6
P, P1 = np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05]), np.array([0.1, 0.7, 0.4, 0.2, 0.6, 0.3])


@pytest.mark.parametrize("x", [0.0, 0.3, 0.9, 1.0])
def test_a_mended_diagonal_is_that_of_a_channel(x):
    program, rng = Program(P, P1, x, 1 - 1 / K), np.random.default_rng(6)
    for scale in (0.1, 0.3, 1.0):
        diagonal = mended(program, rng.uniform(0, scale, K))
        assert (diagonal >= 1 / K - 1e-12).all()
        assert (diagonal >= x * diagonal.max() - 1e-12).all()
        assert ((1 - x) * diagonal + x * diagonal.sum() <= 1 + 1e-12).all()
        assert program.p @ diagonal >= 1 / K - 1e-12


def test_every_linear_program_is_told_how_much_time_is_left():
    rng = np.random.default_rng(0)
    program = as_program(rng.dirichlet(np.full(9, 2.0)), rng.uniform(0.05, 0.6, 9), 1.0, 0.8)
    restricted = columns._Restricted(program, np.ones((9, 9), dtype=bool) ^ np.eye(9, dtype=bool))
    scale = program.overall * program.p
    for limit in (1e6, 10.0):
        assert restricted.solve(0.0, scale, time.monotonic() + limit) is not None
        told = restricted.highs.getOptionValue("time_limit")[1]
        assert 0.9 * limit <= told <= limit + restricted.highs.getRunTime()
