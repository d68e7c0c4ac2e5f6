"""The fairest channel by an interior-point method."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpfair_lib._progress import Progress as Watched
from dpfair_lib.local.optimal.certificate import Multipliers, lower_bound
from dpfair_lib.local.optimal.closed_forms import most_truthful_channel
from dpfair_lib.local.optimal.level_programs import Found
from dpfair_lib.local.optimal.linear_program import feasible_channel
from dpfair_lib.local.optimal.newton_step import Newton, State, Step
from dpfair_lib.local.optimal.program import Program

_MOST = 300  # steps; 10 to 130 are usual
_PATIENCE = (
    100  # steps without progress; far from the end, at small ε, half as many may be needed for a tenth
)
_SHORT = 1e-8  # steps of this length lead nowhere
_NEAR = 0.9999  # how far towards the nearest bound a step may go, at most
_CENTRE = 0.1  # the sum of all products of rooms and prices at first, over the level
_FLOOR = (
    1e-12  # that sum is not sent below this: the bounds are closed by then, and rounding would have its way
)
_MIXED = 0.999  # the largest share of the most truthful channel, which is not inside, in the first point
_BEND = 0.03  # products of rooms and prices, over the level, below which the level counts as an unknown


class Point(NamedTuple):
    """A channel inside its bounds, up to the solver's precision, and the multipliers that judge it.

    ``products``, the sum of all rooms times their prices, would be 0 at the optimum.
    """

    diagonal: np.ndarray
    slacks: np.ndarray
    multipliers: Multipliers
    products: float


class Progress:
    """Whether a path still leads somewhere: one of the numbers that it is to make small fell by a tenth lately."""

    def __init__(self) -> None:
        self.least: tuple[float, ...] = ()
        self.idle = 0

    def made(self, *numbers: float) -> bool:
        """Take the present numbers; False if none fell for `_PATIENCE` steps."""
        least = self.least or tuple(np.inf for _ in numbers)
        fell = [number < 0.9 * before for number, before in zip(numbers, least, strict=True)]
        self.least = tuple(
            number if down else before for number, before, down in zip(numbers, least, fell, strict=True)
        )
        self.idle = 0 if any(fell) else self.idle + 1
        return self.idle <= _PATIENCE


def by_interior(program: Program, start: np.ndarray, *, tol: float, deadline: float) -> Found:
    """Close in on the least Δ through the inside of the program.

    Parameters
    ----------
    program : Program
    start : ndarray of shape (k, k)
        A feasible channel.
    tol : float
        The gap at which to stop.
    deadline : float
        On the clock of `time.monotonic`; looked at before every step.

    Returns
    -------
    matrix, multipliers, rounds
        As of `dpfair_lib.local.optimal.level_programs.by_levels`; a round is a step.
    """
    best, high = start, program.ratio(start)
    low, proof, rounds, watched = 0.0, None, 0, Watched("interior steps")
    for bend in (_BEND, 0.0):
        progress = Progress()
        for point in levels_inside(program, bend):
            rounds += 1
            with np.errstate(all="ignore"):
                matrix = feasible_channel(program, point.diagonal, point.slacks)
                value = program.ratio(matrix)
                bound = lower_bound(program, point.multipliers) if point.multipliers.valid else 0.0
            if value < high:
                best, high = matrix, value
            if bound > low:
                low, proof = bound, point.multipliers
            watched.add(note=f"best between {low:.6g} and {high:.6g}")
            if high - low <= tol * max(1, high) or time.monotonic() >= deadline:
                break
            if not progress.made(high - low, point.products):
                break
        if high - low <= tol * max(1, high) or time.monotonic() >= deadline:
            break
    return best, proof, rounds


def levels_inside(program: Program, bend: float = _BEND) -> Iterator[Point]:
    """Yield points that close in on the least Δ: each step is that of the program at the level of the last point.

    That program is least θ with |N_j| − t·D_j ≤ θ·D_j(last point), and the level moves to t + θ: Dinkelbach's
    iteration with a single Newton step at each level. Near the end the level is an unknown of Newton's equations.
    It ends when rounding allows no more steps.
    """
    state = _middle(program, fair=False)
    _keep_budget(state)
    biased, masses = state.flows()
    state.level = 1.5 * float(abs(biased / masses).max()) + 1e-3
    spare = max(float(program.p @ state.diagonal) - (1 - program.error), 1e-2)
    state.slack = np.concatenate([state.level * masses - biased, state.level * masses + biased, [spare]])
    state.duals = np.append(np.full(2 * program.k, 1 / (2 * masses.sum())), 0.1)
    state.prices = _CENTRE * state.level / (3 * program.k**2) / state.rooms * state.off
    return _points(state, bend)


def fair_inside(program: Program) -> Iterator[Point]:
    """Yield points that close in on the least error with N_j = 0 for every report j; their ``truth`` is 1."""
    return _points(_middle(program, fair=True), 0.0)


def _middle(program: Program, *, fair: bool) -> State:
    """Return a state with a constant diagonal, between a guess and randomised response, and constant slacks."""
    k, x = program.k, program.x
    middle = (1 / k + 1 / (1 + x * (k - 1))) / 2
    slack = (1 - (1 - x) * middle - x * k * middle) / (k - 1)
    room = np.array([slack, (1 - x) * middle - slack, (1 - x) * middle - slack])
    own = np.eye(k)
    rooms = np.where(own > 0, 1.0, room[:, None, None])
    none = np.zeros(0)
    return State(
        program=program, fair=fair, diagonal=np.full(k, middle), level=0.0, rooms=rooms,
        prices=_CENTRE / (3 * k * k) / rooms * (1 - own), slack=none, duals=none, rows=np.zeros(k), signed=np.zeros(k),
        unit=1 / float(abs(program.excess).max()) if fair else 1.0,
    )  # fmt: skip


def _keep_budget(state: State) -> None:
    """Mix the state with the most truthful channel until half of what the budget leaves beyond that one is spent.

    A start that misses the budget may have all products vanish before the budget is met, and then goes nowhere.
    """
    program, x = state.program, state.program.x
    truthful = most_truthful_channel(program)
    diagonal = np.diagonal(truthful)
    slacks = truthful - x * diagonal
    rooms = np.stack([slacks, (1 - x) * diagonal - slacks, diagonal[:, None] - x * diagonal - slacks])
    most, now = float(program.p @ diagonal), float(program.p @ state.diagonal)
    wanted = (1 - program.error + most) / 2
    share = min((wanted - now) / (most - now), _MIXED) if now < wanted else 0.0
    state.diagonal = (1 - share) * state.diagonal + share * diagonal
    state.rooms = (1 - share) * state.rooms + share * np.where(state.off > 0, np.maximum(rooms, 0), 1)


def _points(state: State, bend: float) -> Iterator[Point]:
    """Yield the present point, move, and so on."""
    for _ in range(_MOST):
        products = float((state.rooms * state.prices).sum() + state.slack @ state.duals)
        yield Point(state.diagonal, state.slacks, _multipliers(state), products)
        with np.errstate(all="ignore"):  # a step that is not finite ends it
            if not _move(state, bend):
                return


def _multipliers(state: State) -> Multipliers:
    difference, total, truth = state.weights()
    if state.fair:
        difference = state.unit * difference
        total = abs(difference)
    return Multipliers(
        t=state.level, above=(total + difference) / 2, below=(total - difference) / 2, truth=truth,
        rows=state.rows, column_caps=state.prices[1], row_caps=state.prices[2],
    )  # fmt: skip


def _move(state: State, bend: float) -> bool:
    """Make a step of Mehrotra's predictor and corrector; False if there is nowhere to go."""
    products, rest = state.rooms * state.prices, state.slack * state.duals
    total, count = products.sum() + rest.sum(), 3 * state.off.sum() + len(rest)
    newton = Newton(state, bend=bool(total <= bend * state.level))
    if newton.singular:
        return False
    towards = newton.direction(-products, -rest)
    primal, dual = _lengths(state, towards)
    primal, dual = min(primal, 1.0), min(dual, 1.0)
    after = ((state.rooms + primal * towards.rooms) * (state.prices + dual * towards.prices)).sum()
    after += (state.slack + primal * towards.slack) @ (state.duals + dual * towards.duals)
    centre = max((after / total) ** 3 * total, _FLOOR) / count
    step = newton.direction(
        (centre - towards.rooms * towards.prices) * state.off - products,
        centre - towards.slack * towards.duals - rest,
    )
    near = min(max(0.99, 1 - total), _NEAR)
    primal, dual = (min(1.0, near * length) for length in _lengths(state, step))
    if not max(primal, dual) > _SHORT or not all(np.isfinite(part).all() for part in step):
        return False
    state.diagonal = state.diagonal + primal * step.diagonal
    state.rooms = state.rooms + primal * step.rooms
    state.slack = state.slack + primal * step.slack
    state.level += primal * step.level
    state.prices = state.prices + dual * step.prices
    state.duals = state.duals + dual * step.duals
    state.rows = state.rows + dual * step.rows
    state.signed = state.signed + dual * step.signed
    return True


def _lengths(state: State, step: Step) -> tuple[float, float]:
    """Return how far rooms and slack, and prices and duals, can go before one of them is 0."""

    def longest(*moves: np.ndarray) -> float:
        least = min(float(move.min(initial=0.0)) for move in moves)
        return 1 / -least if least < 0 else np.inf

    own = 1 - state.off
    primal = longest(step.rooms / state.rooms, step.slack / state.slack)
    return primal, longest(step.prices / (state.prices + own), step.duals / state.duals)
