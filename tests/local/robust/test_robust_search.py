"""The search: its constraints, its proof, and what it does under a limit and at the ends."""

import itertools
import math
import re

import numpy as np
import pytest

from dpfair_lib.local import CellBall, CellBounds, robust_randomizer, smallest_error, worst_unfairness
from dpfair_lib.local.robust.proof import lower_bound

P, RATES = [0.5, 0.3, 0.2], [0.2, 0.5, 0.4]


def channels_of_two(step):
    """Yield all channels of two values whose chances of the truth are whole steps."""
    truths = np.arange(step, 1, step)
    for one in truths:
        for two in truths:
            yield np.array([[one, 1 - one], [1 - two, two]])


def corners(low, high):
    """Yield the corners of all shares between two ends: all but one are at an end."""
    for free, *ends in itertools.product(range(len(low)), *[(0, 1)] * len(low)):
        shares = np.where(np.array(ends) == 1, high, low)
        shares[free] += 1 - shares.sum()
        if low[free] - 1e-12 <= shares[free] <= high[free] + 1e-12:
            yield shares


def test_no_channel_of_two_values_is_fairer():
    laws, epsilon, error = CellBounds.around([0.6, 0.4], [0.3, 0.5], 0.05), 1.0, 0.4
    found = robust_randomizer(laws, epsilon, error=error)
    low, high = laws.shares
    best = math.inf
    for matrix in channels_of_two(0.01):
        truths = [share * matrix[0, 0] + (1 - share) * matrix[1, 1] for share in (low[0], high[0])]
        private = (matrix.max(axis=0) <= math.e * matrix.min(axis=0)).all()
        truthful = min(matrix[0, 0], matrix[1, 1]) >= max(matrix[0, 1], matrix[1, 0]) - 1e-12
        if private and truthful and min(truths) >= 1 - error:
            best = min(best, worst_unfairness(matrix, laws).unfairness)
    assert found.certificate.lower <= best
    assert found.value <= best + 1e-6
    assert best <= found.value + 0.02  # the grid is that fine


@pytest.mark.parametrize(
    "rates", [[0.371, 0.185, 0.09, 0.078, 0.104, 0.141], [0.139, 0.549, 0.138, 0.252, 0.109, 0.421]]
)
def test_conditions_that_were_idle_do_not_come_back_for_ever(rates):
    # with equal shares many conditions are nearly tight, and the idle ones of one round bind in the next
    laws = CellBounds.around(np.full(6, 1 / 6), rates, 0.05 / 6)
    proved = robust_randomizer(laws, 1.0, error=0.74).certificate
    assert proved.ended == "proved"
    assert proved.gap <= 1e-6


@pytest.mark.parametrize("number", [1, 2])
def test_residuals_of_the_solver_break_no_constraint_of_small_entries(number):
    # entries are e^(−ln 20 − 1) of others: a residual of 1e-10 made every channel of these too revealing
    rng = np.random.default_rng([20, number])
    p = rng.dirichlet(np.full(20, 2.0)) if number == 1 else np.arange(1, 21) ** -rng.uniform(0.5, 1.5)
    laws = CellBall.around(p / p.sum(), rng.uniform(0.05, 0.6, 20), 0.05)
    proved = robust_randomizer(laws, math.log(20) + 1, error=0.55, tol=1e-4).certificate
    assert proved.ended == "proved"
    assert proved.gap <= 1e-4


@pytest.mark.parametrize("radius", [0.0, 0.01, 0.05])
@pytest.mark.parametrize("error", [None, 0.5, 0.66])
def test_constraints_and_proof(radius, error):
    laws = CellBounds.around(P, RATES, radius)
    found = robust_randomizer(laws, 1.0, error=error)
    matrix, proved = np.asarray(found.matrix), found.certificate
    assert found.likelihood_ratio <= math.e
    assert (matrix <= np.diag(matrix)[:, None] + 1e-15).all()
    assert (matrix <= np.diag(matrix)[None, :] + 1e-15).all()
    assert proved.ended == "proved"
    assert 0 <= proved.gap <= 1e-6
    assert proved.worst.unfairness == found.value
    if proved.proof is not None:
        assert float(lower_bound(laws, 1.0, proved.error, proved.proof)) == proved.lower
    assert min(shares @ np.diag(matrix) for shares in corners(*laws.shares)) >= 1 - proved.error - 1e-12


def test_the_smallest_error_is_that_of_the_known_law():
    found = robust_randomizer(CellBounds.around(P, RATES, 0.0), 1.0)
    assert found.certificate.error == pytest.approx(smallest_error(P, 1.0), abs=1e-6)
    with pytest.raises(ValueError, match=r"expected at least 0\.42"):
        robust_randomizer(CellBounds.around(P, RATES, 0.0), 1.0, error=0.42)


def test_a_limit_of_time_leaves_a_channel_and_what_is_proved():
    found = robust_randomizer(CellBounds.around(P, RATES, 0.02), 1.0, error=0.5, time_limit=1e-9)
    assert (found.certificate.ended, found.certificate.rounds, found.certificate.lower) == (
        "time limit",
        0,
        0.0,
    )
    assert found.likelihood_ratio <= math.e
    assert found.certificate.gap == found.value


def test_nothing_proves_nothing():
    laws = CellBounds.around(P, RATES, 0.02)
    proof = robust_randomizer(laws, 1.0, error=0.5).certificate.proof
    nothing = type(proof)(0.9, (), *[np.zeros((3, 3))] * 3, error=0.0, shares=np.array(P))
    assert lower_bound(laws, 1.0, 0.5, nothing) == 0


def test_equal_rates_are_fair_for_the_known_law_alone():
    known = robust_randomizer(CellBounds.around(P, [0.3] * 3, 0.0), 1.0, error=0.5)
    assert known.value == pytest.approx(0, abs=1e-9)
    assert robust_randomizer(CellBounds.around(P, [0.3] * 3, 0.02), 1.0, error=0.5).value > 0.05


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"epsilon": 0.0}, "epsilon: found 0.0"),
        ({"epsilon": math.inf}, "epsilon: found inf"),
        ({"error": 1.5}, "error: found 1.5"),
        ({"tol": 0.0}, "tol: found 0.0"),
        ({"time_limit": -1.0}, "time_limit: found -1.0"),
    ],
)
def test_bad_arguments_are_refused(change, said):
    arguments = {"epsilon": 1.0, "error": 0.5} | change
    with pytest.raises(ValueError, match=re.escape(said)):
        robust_randomizer(CellBounds.around(P, RATES, 0.02), **arguments)
