"""What proves a channel optimal, and the equations that the proofs are found with: against their definitions."""

import numpy as np
import pytest
from dpfair_lib.local.optimal_certificate import Multipliers, _size, lagrangian_bound, lower_bound
from dpfair_lib.local.optimal_fair import _Search
from dpfair_lib.local.optimal_interior import _CENTRE, _PATIENCE, Progress, _keep_budget, _middle
from dpfair_lib.local.optimal_lp import mended
from dpfair_lib.local.optimal_newton import Newton
from dpfair_lib.local.optimal_program import Program

from dpfair_lib import optimal_randomizer

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


PARTS = ("of_slacks", "of_diagonal", "of_rows", "of_level", "of_slack")


def at_random(fair):
    """A state with nothing special about it."""
    rng, state = np.random.default_rng(4), _middle(PROGRAM, fair=fair)
    if not fair:
        _keep_budget(state)
        state.level = 0.7
        state.slack, state.duals = rng.uniform(0.1, 1, size=(2, 2 * K + 1))
    state.diagonal = rng.uniform(0.3, 0.6, K)
    state.rooms = np.where(OFF > 0, rng.uniform(0.1, 1, (3, K, K)), 1)
    slacks = state.rooms[0] * OFF
    x = PROGRAM.x
    state.rooms[1] = np.where(OFF > 0, (1 - x) * state.diagonal - slacks, 1)
    state.rooms[2] = np.where(OFF > 0, state.diagonal[:, None] - x * state.diagonal - slacks, 1)
    state.prices = rng.uniform(0.1, 1, (3, K, K)) * OFF
    state.rows, state.signed = rng.normal(size=(2, K))
    if fair:
        state.signed[-1] = 0  # the condition that follows from the others
    return state


def moved(state, step, by):
    """A state a part of the step further."""
    new = at_random(state.fair)
    for name in ("diagonal", "rooms", "slack", "level", "prices", "duals", "rows", "signed"):
        part = getattr(step, name)
        if name in {"slack", "duals"} and state.fair:
            continue
        setattr(
            new, name, getattr(state, name) + by * part if name != "signed" or state.fair else state.signed
        )
    return new


@pytest.mark.parametrize("fair", [False, True])
def test_a_newton_step_removes_what_the_equations_miss(fair):
    """To first order, all residuals shrink by the share of the step that is made, and the products move as told."""
    state, rng = at_random(fair), np.random.default_rng(5)
    newton = Newton(state, bend=not fair)
    products, rest = rng.normal(size=(3, K, K)) * OFF, rng.normal(size=2 * K + 1) if not fair else np.zeros(0)
    step = newton.direction(products, rest)
    assert state.prices * step.rooms + state.rooms * step.prices == pytest.approx(products, abs=1e-9)
    if not fair:
        assert state.duals * step.slack + state.slack * step.duals == pytest.approx(rest, abs=1e-9)
    slopes = {}
    for by in (1e-5, -1e-5):
        new = Newton(moved(state, step, by), bend=not fair)
        for part in PARTS:
            slopes[part] = slopes.get(part, 0) + (getattr(new, part) - getattr(newton, part)) / by / 2
    for part in PARTS[: 3 if fair else 5]:
        assert slopes[part] == pytest.approx(-np.asarray(getattr(newton, part)), abs=1e-6)
    if fair:
        flows = [moved(state, step, by).flows()[0] for by in (1.0, 0.0)]
        assert flows[0][:-1] == pytest.approx(np.zeros(K - 1), abs=1e-9)
        assert abs(flows[1]).max() > 0.01


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


@pytest.mark.parametrize("x", [0.0, 0.3, 0.9, 1.0])
def test_a_mended_diagonal_is_that_of_a_channel(x):
    program, rng = Program(P, P1, x, 1 - 1 / K), np.random.default_rng(6)
    for scale in (0.1, 0.3, 1.0):
        diagonal = mended(program, rng.uniform(0, scale, K))
        assert (diagonal >= 1 / K - 1e-12).all()
        assert (diagonal >= x * diagonal.max() - 1e-12).all()
        assert ((1 - x) * diagonal + x * diagonal.sum() <= 1 + 1e-12).all()
        assert program.p @ diagonal >= 1 / K - 1e-12
