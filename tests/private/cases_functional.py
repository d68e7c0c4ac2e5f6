"""Releases of the functional mechanism: the sums of an objective, with Gaussian noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from cases import Asked, Case, Data, Pairs, estimator
from cases_learners import grouped
from neighbours import feature_pairs, replaced
from scipy.optimize import brentq
from scipy.stats import norm

import dpfair_lib as dpf

BOUND, GRID, PENALTY, MODULUS = 2.0, 2.0**22, 0.7, 0.05
LONGEST = math.hypot(BOUND, 1)


def _deviation(epsilon: float, delta: float) -> float:
    """Return σ in steps of the grid: where the exact profile of a move by √2 is δ."""

    def excess(sigma: float) -> float:
        a, b = math.sqrt(0.5) / sigma, epsilon * sigma / math.sqrt(2)
        return norm.cdf(a - b) - math.exp(epsilon) * norm.cdf(-a - b) - delta

    return brentq(excess, 1e-3, 1e6, xtol=1e-15, rtol=1e-14) * GRID


def _sums(data: Data) -> np.ndarray:
    """Return the three sums, row by row and in floats."""
    total: Any = 0.0
    for x, y, a in zip(
        np.asarray(data["X"], dtype=float), data["y"], data["sensitive_features"], strict=True
    ):
        row = np.append(x * min(1, BOUND / max(math.hypot(*x), 5e-324)), 1.0)
        second = [row[i] * row[j] * (1 if i == j else math.sqrt(2)) for i in range(5) for j in range(i, 5)]
        total = total + np.concatenate(
            [np.array(second[:-1]) / (2 * LONGEST), (y - 0.5) * row, (a - 0.5) * row]
        )
    return np.asarray(total) * GRID / LONGEST


def _asked(statement: Any, data: Data, _: Any) -> list[Asked]:
    # √2 grows by 5 in four million for what is rounded to the grid
    sigma = _deviation(statement.epsilon, statement.delta) * (
        1 + 1.002 * math.sqrt(24) / (math.sqrt(2) * GRID)
    )
    return [Asked("gaussian", sigma, _sums(data), near=len(data["y"]))]


def _through(data: Data, answers: list[np.ndarray]) -> np.ndarray:
    n, noisy = len(data["y"]), answers[0] * LONGEST / GRID
    second, at = np.zeros((5, 5)), 0
    for i in range(5):
        for j in range(i, 5):
            if (i, j) != (4, 4):
                second[i, j] = second[j, i] = noisy[at] * 2 * LONGEST / (1 if i == j else math.sqrt(2))
                at += 1
    second[4, 4] = n
    levels, axes = np.linalg.eigh(second)
    g = (noisy[19:] - noisy[23] / n * second[4]) / n
    g[4] = 0
    matrix = axes @ np.diag(np.clip(levels, 0, None)) @ axes.T / (4 * n)
    matrix += MODULUS * np.eye(5) + 2 * PENALTY * np.outer(g, g)
    return np.concatenate([np.linalg.solve(matrix, noisy[14:19] / n), g[:4]])


def _pairs() -> Pairs:
    plain = grouped()
    pairs = feature_pairs(sensitive_features=plain["sensitive_features"])
    pairs["another group"] = (plain, replaced(plain, sensitive_features=1))
    alone = plain | {"sensitive_features": np.ones(12, dtype=int)}
    pairs["one group only"] = (alone, replaced(alone, sensitive_features=0))
    pairs["all else"] = (plain, replaced(plain, X=np.full(4, 9.0), y=1, sensitive_features=1))
    return pairs


CASES = [
    Case(
        name="functional mechanism",
        covers=(dpf.FairFunctionalClassifier,),
        relation="replace-one",
        make=estimator(
            dpf.FairFunctionalClassifier, penalty=PENALTY, feature_bound=BOUND, epsilon=0.8, delta=1e-3,
            regularization=MODULUS, classes=(0, 1), groups=(0, 1),
        ),
        data=grouped,
        pairs=_pairs,
        asked=_asked,
        numbers=lambda fitted: np.concatenate([fitted.coef_[0], fitted.intercept_, fitted.covariance_]),
        through=_through,
        noisy=frozenset({"coef_", "intercept_", "covariance_"}),
        rounded=1e-7,  # noisy squares are nearly singular, and their axes are found in another order
    )
]  # fmt: skip
