"""What proves a channel optimal, and the equations that the proofs are found with: against their definitions."""

import numpy as np
import pytest

from dpfair_lib import optimal_randomizer
from dpfair_lib.local.optimal.certificate import Multipliers, _size, lagrangian_bound, lower_bound
from dpfair_lib.local.optimal.fair_error import _Search
from dpfair_lib.local.optimal.program import Program

K = 6
P, P1 = np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05]), np.array([0.1, 0.7, 0.4, 0.2, 0.6, 0.3])
PROGRAM = Program(P, P1, 0.3, 0.6)
NONE = {
    "t": 0.0, "above": np.zeros(K), "below": np.zeros(K), "truth": 0.0, "rows": np.zeros(K),
    "column_caps": np.zeros((K, K)), "row_caps": np.zeros((K, K)),
}  # fmt: skip
OFF = 1 - np.eye(K)


@pytest.mark.parametrize(
    "part",
    ["above", "below", "truth", "rows", "minus rows", "column_caps", "row_caps", "t", "t of one report"],
)
@pytest.mark.parametrize("x", [1e-3, 0.3, 0.9])
def test_the_size_is_at_least_what_the_multipliers_make_alone(part, x):
    """A bound is a sum of terms, each in proportion to one multiplier, so that none alone makes more than its size."""
    program = Program(P, P1, x, 0.6)
    one = {
        "above": np.ones(K),
        "below": np.ones(K),
        "truth": 1.0,
        "rows": np.ones(K),
        "minus rows": -np.ones(K),
    }
    one |= {"column_caps": OFF, "row_caps": OFF, "t": 10.0}
    changed = {part.removeprefix("minus ").partition(" ")[0]: one[part.removesuffix(" of one report")]}
    if part[0] == "t" and part != "truth":
        changed["above"] = np.ones(K) if part == "t" else np.eye(K)[0]
    multipliers = Multipliers(**{**NONE, **changed})
    assert 0 < abs(lagrangian_bound(program, multipliers)) <= _size(program, multipliers) * (1 + 1e-9)


def test_multipliers_of_a_level_below_the_optimum_prove_more_than_that_level():
    channel = optimal_randomizer(P, P1, 1.2, error=0.6)
    program = Program(P, P1, np.exp(-1.2), 0.6)
    best = channel.certificate.multipliers[-1]
    lower = Multipliers(**{**vars(best), "t": 0.9 * best.t})
    assert 0.9 * best.t * (1 + 1e-6) < lower_bound(program, lower) <= channel.value


def test_nothing_is_proved_by_nothing():
    assert lower_bound(PROGRAM, Multipliers(**NONE)) == 0


def test_multipliers_of_a_wrong_sign_prove_nothing_on_the_way():
    search = _Search(PROGRAM, 0.2)
    wrong = Multipliers(**{**NONE, "truth": -1.0})
    search.take(np.full(K, 1 / K), np.zeros((K, K)), wrong)
    assert (search.lower, search.proof) == (0.2, None)
