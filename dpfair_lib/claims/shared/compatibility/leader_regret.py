"""Small losses and the exact expected cost of the perturbed leader, for CGKM's Theorem 8 and Lemma 5."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

import numpy as np


def small_losses(n: int, *, signed: bool) -> np.ndarray:
    """Return all vectors of n halves with ‖ℓ‖₁ ≤ 1."""
    values = range(-2 if signed else 0, 3)
    return np.array([v for v in itertools.product(values, repeat=n) if sum(map(abs, v)) <= 2]) / 2


def expected_costs(
    law: Callable[..., np.ndarray], losses: np.ndarray, rounds: int, epsilon: float, kind: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the exact expected cost of each sequence, its final totals, and the slack of each single step.

    The perturbed leader of a total is drawn afresh in each round, so that the cost of a round depends on the total
    before it and on the loss alone.
    """
    n = losses.shape[1]
    totals, costs, steps = np.zeros((1, n)), np.zeros(1), []
    for _ in range(rounds):
        before = _means(law, totals, epsilon, kind)
        after = (totals[:, None, :] + losses).reshape(-1, n)
        now = (before[:, None, :] * losses).sum(axis=-1).reshape(-1)
        seen = _means(law, after, epsilon, kind) * np.tile(losses, (len(totals), 1))
        norms = np.tile(abs(losses).sum(axis=1), len(totals))
        steps.append(np.exp(epsilon * norms) * seen.sum(axis=1) - now)
        costs = np.repeat(costs, len(losses)) + now
        totals = after
    return costs, totals, np.concatenate(steps)


def _means(law: Callable[..., np.ndarray], totals: np.ndarray, epsilon: float, kind: str) -> np.ndarray:
    """Return E[h] for each total; for experts only differences of totals matter."""
    if kind == "cube":
        return law(totals, epsilon)
    halves = np.rint(2 * (totals - totals.min(axis=1, keepdims=True))).astype(int)
    unique, where = np.unique(halves, axis=0, return_inverse=True)
    rows = np.array([_expert(law, tuple(state), epsilon) for state in unique.tolist()])
    return rows[where.reshape(-1)]


@functools.cache
def _expert(law: Callable[..., np.ndarray], halves: tuple[int, ...], epsilon: float) -> tuple[float, ...]:
    return tuple(law(np.array(halves) / 2, epsilon))
