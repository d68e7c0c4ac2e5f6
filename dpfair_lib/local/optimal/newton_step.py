"""One Newton step of the interior-point method, with most unknowns eliminated in pairs.

Every pair i ≠ j has three rooms that must stay above 0, s_ij, (1 − x)·M_j − s_ij and M_i − x·M_j − s_ij, and a
price, a multiplier, for each. Pairs do not touch each other, so that s_ij follows from the other unknowns; a
symmetric system remains in the diagonal, the multipliers of row sums and of fairness, the level and the budget.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from dpfair_lib.local.optimal.program import Program


class Step(NamedTuple):
    """A direction; its parts are those of a `State`."""

    diagonal: np.ndarray
    rooms: np.ndarray
    slack: np.ndarray
    level: float
    prices: np.ndarray
    duals: np.ndarray
    rows: np.ndarray
    signed: np.ndarray


class Conditions(NamedTuple):
    """A number for each condition: N_j ≤ t·D_j, −N_j ≤ t·D_j, and the error budget."""

    above: np.ndarray
    below: np.ndarray
    truth: float

    @classmethod
    def of(cls, values: np.ndarray) -> Conditions:
        """Take the 2k + 1 numbers of a `State` apart."""
        above, below = values[:-1].reshape(2, -1)
        return cls(above, below, values[-1])


class Unknowns(NamedTuple):
    """The place of each kind of unknown in Newton's equations; those from ``total`` on unless the state is fair."""

    diagonal: slice
    rows: slice
    difference: slice
    total: slice
    level: int
    truth: int

    @classmethod
    def of(cls, k: int) -> Unknowns:
        """Return the places for k groups."""
        diagonal, rows, difference, total = (slice(n * k, (n + 1) * k) for n in range(4))
        return cls(diagonal, rows, difference, total, level=4 * k, truth=4 * k + 1)


@dataclass
class State:
    """A point inside all bounds, with its multipliers.

    Attributes
    ----------
    program : Program
    fair : bool
        Whether fairness is N_j = 0 and the error is minimised; else |N_j| ≤ t·D_j, and t is minimised.
    diagonal : ndarray of shape (k,)
        M_i.
    level : float
        t; 0 if ``fair``.
    rooms, prices : ndarray of shape (3, k, k)
        Above 0 off the diagonal; on it 1 and 0.
    slack, duals : ndarray of shape (2k + 1,)
        Of the `Conditions`, in their order; empty if ``fair``.
    rows : ndarray of shape (k,)
        Multipliers of the row sums.
    signed : ndarray of shape (k,)
        Multipliers of N_j·unit = 0, if ``fair``.
    unit : float
        What N_j is multiplied with, so that the largest excess is 1; 1 unless ``fair``.
    """

    program: Program
    fair: bool
    diagonal: np.ndarray
    level: float
    rooms: np.ndarray
    prices: np.ndarray
    slack: np.ndarray
    duals: np.ndarray
    rows: np.ndarray
    signed: np.ndarray
    unit: float = 1.0
    excess: np.ndarray = field(init=False)
    overall: float = field(init=False)
    base: np.ndarray = field(init=False)
    off: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        program = self.program
        self.excess, self.overall = self.unit * program.excess, float(program.overall)
        self.base = program.x + (1 - program.x) * program.p  # P(Z = j) without slacks is base_j·M_j
        self.off = 1 - np.eye(program.k)

    @property
    def slacks(self) -> np.ndarray:
        """s_ij, 0 on the diagonal."""
        return self.rooms[0] * self.off

    def flows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return N_j·unit and D_j."""
        slacks = self.slacks
        biased = (1 - self.program.x) * self.excess * self.diagonal + self.excess @ slacks
        return biased, self.overall * (self.base * self.diagonal + self.program.p @ slacks)

    def weights(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Return α = a − b and β = a + b of the fairness conditions' multipliers a and b, and that of the budget."""
        if self.fair:
            return self.signed, np.zeros(self.program.k), 1.0
        above, below, truth = Conditions.of(self.duals)
        return above - below, above + below, float(truth)


class Newton:
    """The equations at a state, factorised; unknowns M, rows, α, and unless the state is fair β, level, truth.

    A pair's slack answers with ds_ij = w_ij·(σ_ij + drows_i + R_ij·dM_i + B_ij·dM_j − e_i·dα_j + t·P₁·p_i·dβ_j): w is
    one over the sum of the three ratios of price and room, R that of row truthfulness, and B = (1 − x)·(that of
    column truthfulness) − x·R. With ``bend`` the level's own movement enters as well, by P₁·p_i·β_j·dt: that is
    Newton's step for the program in which the level is unknown. Without it the step is that of the linear program
    of the present level, which always descends but converges more slowly.

    Parameters
    ----------
    state : State
    bend : bool
    """

    def __init__(self, state: State, *, bend: bool) -> None:
        self.state = state
        self.ratios = state.prices / state.rooms
        lower, column, row = self.ratios
        x = state.program.x
        self.weight = state.off / (lower + column + row + np.eye(state.program.k))
        self.row, self.both = row, (1 - x) * column - x * row
        self.difference, self.total, self.truth = state.weights()
        self.mass = state.level * state.overall
        self.biased, self.masses = state.flows()
        self.turning = state.overall * self.total if bend else 0 * self.total
        self.matrix = self._matrix()
        self.factors, self.pivots, self.singular = lapack.dgetrf(self.matrix)
        self._residuals()

    def _matrix(self) -> np.ndarray:
        state, w, row, both = self.state, self.weight, self.row, self.both
        k, x, p, e = state.program.k, state.program.x, state.program.p, state.excess
        column = self.ratios[1]
        wb, wr = w * both, w * row
        m, y, a, b, level, truth = Unknowns.of(k)
        own, sums, differences, totals = np.arange(4 * k).reshape(4, k)
        K = np.zeros((truth + 1, truth + 1))  # its upper half
        K[m, m] = -x * (row + row.T) - wr * both - (wr * both).T
        K[own, own] += ((1 - x) ** 2 * column + x * x * row - wb * both).sum(axis=0) + (row - wr * row).sum(
            axis=1
        )
        K[m, y] = -wb.T - x
        K[own, sums] -= 1 - x + wr.sum(axis=1)
        K[m, a] = e[:, None] * wr
        K[own, differences] += e @ wb + (1 - x) * e
        K[sums, sums] = -w.sum(axis=1)
        K[y, a] = e[:, None] * w
        K[differences, differences] = -(e * e) @ w
        if state.fair:
            K = K[: a.stop, : a.stop]
            # N_k = 0 follows from the others, as row sums stay: it needs no multiplier
            K[:, -1], K[-1, -1] = 0, -1
        else:
            mass, turning = self.mass, self.turning
            above, below, spare = Conditions.of(state.slack / state.duals)
            K[m, b] = -mass * p[:, None] * wr
            K[own, totals] -= mass * (p @ wb + state.base)
            K[y, b] = -mass * p[:, None] * w
            K[differences, differences] -= (above + below) / 4
            K[differences, totals] = mass * ((e * p) @ w) + (below - above) / 4
            K[totals, totals] = -(mass**2) * ((p * p) @ w) - (above + below) / 4
            K[m, level] = -turning * (p @ wb + state.base) - p * (wr @ turning)
            K[y, level] = -p * (w @ turning)
            K[a, level] = turning * ((e * p) @ w)
            K[b, level] = -self.masses - mass * turning * ((p * p) @ w)
            K[level, level] = -(turning**2 * ((p * p) @ w)).sum()
            K[m, truth] = -p
            K[truth, truth] = -spare
        return np.triu(K) + np.triu(K, 1).T

    def _residuals(self) -> None:
        """Set what the equations miss at the state."""
        state, program = self.state, self.state.program
        k, x, p, e = program.k, program.x, program.p, state.excess
        lower, column, row = state.prices
        cost = np.multiply.outer(e, self.difference) - self.mass * np.multiply.outer(p, self.total)
        self.of_slacks = (cost - state.rows[:, None] - lower + column + row) * state.off
        self.of_diagonal = (
            (1 - x) * (e * self.difference - state.rows) - self.mass * state.base * self.total - x * state.rows.sum()
            - self.truth * p - ((1 - x) * column - x * row).sum(axis=0) - row.sum(axis=1)
        )  # fmt: skip
        self.of_rows = (1 - x) * state.diagonal + x * state.diagonal.sum() + state.slacks.sum(axis=1) - 1
        self.of_level = 1 - self.total @ self.masses
        most, spare = state.level * self.masses, p @ state.diagonal - (1 - program.error)
        held = np.concatenate([most - self.biased, most + self.biased, [spare]])
        self.of_slack = held - state.slack if len(state.slack) else np.zeros(2 * k + 1)

    def direction(self, products: np.ndarray, rest: np.ndarray) -> Step:
        """Return the step along which rooms times prices, and slack times duals, change by so much at first."""
        state, w = self.state, self.weight
        k, x, p, e = state.program.k, state.program.x, state.program.p, state.excess
        wanted = products / state.rooms
        lower, column, row = wanted
        sigma = lower - column - row - self.of_slacks
        moved = w * sigma
        m, y, a, b, level, truth = Unknowns.of(k)
        right = np.empty(len(self.matrix))
        right[m] = (
            ((1 - x) * column - x * row).sum(axis=0) + row.sum(axis=1) - self.of_diagonal
            + (self.both * moved).sum(axis=0) + (self.row * moved).sum(axis=1)
        )  # fmt: skip
        right[y] = self.of_rows + moved.sum(axis=1)
        right[a] = -(e @ moved)
        if state.fair:
            right[a] -= self.biased
            right[-1] = 0
        else:
            above, below, spare = Conditions.of(rest / state.duals - self.of_slack)
            right[a] += (below - above) / 2
            right[b] = self.mass * (p @ moved) - (above + below) / 2
            right[level] = self.turning @ (p @ moved) - self.of_level
            right[truth] = -spare
        found = self._solved(right)
        found += self._solved(right - self.matrix @ found)
        diagonal, rows, difference = found[m], found[y], found[a]
        answer = sigma + rows[:, None] + self.row * diagonal[:, None] + self.both * diagonal
        answer -= np.multiply.outer(e, difference)
        slack, duals, further = state.slack, state.duals, 0.0
        if not state.fair:
            total, further = found[b], float(found[level])
            answer += np.multiply.outer(p, self.mass * total + further * self.turning)
            duals = np.concatenate([(total + difference) / 2, (total - difference) / 2, found[truth:]])
            slack = (rest - state.slack * duals) / state.duals
        slacks = w * answer
        rooms = np.stack([slacks, (1 - x) * diagonal - slacks, diagonal[:, None] - x * diagonal - slacks])
        rooms *= state.off
        return Step(diagonal, rooms, slack, further, wanted - self.ratios * rooms, duals, rows, difference)

    def _solved(self, right: np.ndarray) -> np.ndarray:
        found: np.ndarray = lapack.dgetrs(self.factors, self.pivots, right)[0]
        return found
