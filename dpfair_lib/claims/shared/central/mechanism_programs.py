"""Linear programs over all private mechanisms that see the counts of several groups."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np


def least_loss(
    laws: np.ndarray,
    losses: np.ndarray,
    neighbours: Sequence[tuple[int, int]],
    odds: float,
    prior: bool = False,
) -> float:
    """Return the least worst (or mean, for a uniform prior) loss of all private mechanisms from states to actions.

    Parameters: laws of shape (populations, states), losses of shape (populations, actions), pairs of states that are
    neighbours in either order.
    """
    return float(_solved(laws, losses, neighbours, odds, prior).fun)


def solved_program(
    laws: np.ndarray, losses: np.ndarray, neighbours: Sequence[tuple[int, int]], odds: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mechanism of the least worst loss, the price of each constraint of privacy, and the weights.

    Their shapes are (states, actions), (pairs, actions) and (populations,).
    """
    solved, states, actions = _solved(laws, losses, neighbours, odds, False), laws.shape[1], losses.shape[1]
    private = len(neighbours) * actions
    prices = -solved.ineqlin.marginals
    return (
        solved.x[:-1].reshape(states, actions),
        prices[:private].reshape(len(neighbours), actions),
        prices[private:],
    )


def _solved(
    laws: np.ndarray, losses: np.ndarray, neighbours: Sequence[tuple[int, int]], odds: float, prior: bool
) -> Any:
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, csr_array, eye_array, hstack, kron, vstack

    states, actions = laws.shape[1], losses.shape[1]
    at = np.arange(len(neighbours))
    one, two = np.array(neighbours).T
    signs = coo_array(
        (np.r_[np.ones(len(at)), np.full(len(at), -odds)], (np.r_[at, at], np.r_[one, two])),
        shape=(len(at), states),
    )
    private = kron(signs, eye_array(actions))
    risks = csr_array(np.einsum("ps,pa->psa", laws, losses).reshape(len(laws), -1))
    if prior:
        risks = csr_array(risks.sum(axis=0).reshape(1, -1) / len(laws))
    worst = -csr_array(np.ones((risks.shape[0], 1)))
    below = vstack([hstack([private, csr_array((private.shape[0], 1))]), hstack([risks, worst])]).tocsr()
    sums = hstack([kron(eye_array(states), np.ones((1, actions))), csr_array((states, 1))]).tocsr()
    cost = np.zeros(states * actions + 1)
    cost[-1] = 1
    solved = linprog(
        cost, below, np.zeros(below.shape[0]), sums, np.ones(states), bounds=(0, None), method="highs"
    )
    assert solved.success, solved.message
    return solved


def binomials(n: int, rates: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return P(count | rate), of shape (rates, n + 1)."""
    from scipy.stats import binom

    return np.array(binom.pmf(np.arange(n + 1), n, np.array(rates)[:, None]))


def products(sizes: Sequence[int], populations: Sequence[Sequence[float]] | np.ndarray) -> np.ndarray:
    """Return P(counts of all groups | rates of all groups), counts in the order of `itertools.product`."""
    rates, law = np.asarray(populations, dtype=float), np.ones((len(populations), 1))
    for n, own in zip(sizes, rates.T, strict=True):
        law = (law[:, :, None] * binomials(n, own)[:, None, :]).reshape(len(rates), -1)
    return law


def one_apart(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pairs of states, in both orders, of which one group's count differs by 1."""
    states = list(itertools.product(*(range(n + 1) for n in sizes)))
    place = {state: at for at, state in enumerate(states)}
    moves = [tuple(step * (a == b) for b in range(len(sizes))) for a in range(len(sizes)) for step in (-1, 1)]
    pairs = (
        (place[state], place.get(tuple(x + y for x, y in zip(state, move, strict=True)), -1))
        for state in states
        for move in moves
    )
    return [pair for pair in pairs if pair[1] >= 0]
