import numpy as np
import pytest

from dpfair_lib.local.optimal.interior_point import _keep_budget, _middle
from dpfair_lib.local.optimal.newton_step import Newton
from dpfair_lib.local.optimal.program import Program

K = 6
P, P1 = np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05]), np.array([0.1, 0.7, 0.4, 0.2, 0.6, 0.3])
PROGRAM = Program(P, P1, 0.3, 0.6)
OFF = 1 - np.eye(K)


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
