import time

import numpy as np
import pytest

from dpfair_lib import (
    optimal_randomizer,
    smallest_error,
)
from dpfair_lib.local import verify_certificate
from dpfair_lib.local.optimal.branching import by_branching
from dpfair_lib.local.optimal.closed_forms import first_channel
from dpfair_lib.local.optimal.program import as_program


@pytest.mark.parametrize("k", [2, 3])
def test_branch_and_bound_comes_to_the_same(k):
    rng = np.random.default_rng(k)
    p, p1, epsilon = rng.dirichlet(2 * np.ones(k)), rng.uniform(size=k), 2.0
    error = smallest_error(p, epsilon) * 0.85 + 0.15
    branched = optimal_randomizer(p, p1, epsilon, error=error, method="branch-and-bound", tol=1e-3)
    assert verify_certificate(branched, p, p1, epsilon, error=error) <= 1.1e-3
    best = optimal_randomizer(p, p1, epsilon, error=error).value
    assert best - 1e-9 <= branched.value <= best + 1e-3


def test_branch_and_bound_stops_when_its_certificate_is_closed():
    rng = np.random.default_rng(4)
    p, p1, epsilon = rng.dirichlet(3 * np.ones(3)), rng.uniform(size=3), 1.0
    error = (smallest_error(p, epsilon) + 2 / 3) / 2
    branched = optimal_randomizer(p, p1, epsilon, error=error, method="branch-and-bound", tol=1e-4)
    assert branched.value - branched.certificate.lower <= 1e-4
    assert branched.certificate.rounds < 100  # the boxes alone need 525


def test_without_time_it_returns_the_start_and_what_one_program_proves():
    rng = np.random.default_rng(4)
    p, p1 = rng.dirichlet(3 * np.ones(3)), rng.uniform(size=3)
    program = as_program(p, p1, 1.0, (smallest_error(p, 1.0) + 2 / 3) / 2)
    start = first_channel(program)
    matrix, proof, rounds = by_branching(program, start, tol=1e-4, deadline=time.monotonic() - 1)
    assert np.array_equal(matrix, start)
    assert (proof, rounds) == (None, 0)
