"""Releases of learners under fairness constraints, whose multipliers follow noisy counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from cases import Asked, Case, Data, Pairs, estimator
from cases_learners import grouped
from cases_steps import CLIP, COUNT, DIVISOR, GRID, LENGTH, SETTINGS, multiplier
from neighbours import feature_pairs, replaced
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

import dpfair_lib as dpf
from dpfair_lib.learners.counted_steps import count_unit, divided

SHARE, GAMMA, RATE, LARGEST, MEMORY = 0.3, 0.05, 2.0, 3.0, 0.7
ROUNDS, BOUND, MODULUS = 3, 2.0, 0.05
LONGEST = math.hypot(BOUND, 1)
ABOUT = {"demographic_parity": {0: 0, 1: 0}, "equal_opportunity": {1: 0}, "equalized_odds": {0: 0, 1: 1}}
"""Which condition is about which label."""


class Multipliers:
    """The multipliers, moved one by one."""

    def __init__(self, conditions: int) -> None:
        self.counts, self.steps = np.zeros((conditions, 2, 2)), 0.0
        self.above, self.below = np.zeros((conditions, 2)), np.zeros((conditions, 2))

    def move(self, noisy: np.ndarray) -> None:
        self.steps = MEMORY * self.steps + 1
        self.counts = MEMORY * self.counts + noisy.reshape(-1, 2, 2)
        kept = self.counts.clip(0)
        self.sizes = kept.sum(axis=2).clip(1)
        for j, sizes in enumerate(self.sizes):
            rates = [kept[j, k, 1] / sizes[k] for k in (0, 1)]
            mean = (rates[0] * sizes[0] + rates[1] * sizes[1]) / sizes.sum()
            for k in (0, 1):
                self.above[j, k] = min(max(self.above[j, k] + RATE * (rates[k] - mean - GAMMA), 0), LARGEST)
                self.below[j, k] = min(max(self.below[j, k] + RATE * (mean - rates[k] - GAMMA), 0), LARGEST)

    def pull(self, j: int | None, k: int) -> float:
        if j is None:
            return 0.0
        signed, n = self.above[j] - self.below[j], DIVISOR * self.steps
        return float(signed[k] * n / self.sizes[j, k] - signed.sum() * n / self.sizes[j].sum())


def _lagrangian(notion: str, rate: float = 1.0) -> Case:
    about = ABOUT[notion]
    conditions = len(set(about.values()))

    def asked(statement: Any, data: Data, answers: list[np.ndarray]) -> list[Asked]:
        width = np.shape(data["X"])[1] + 1
        unknown = [Asked("discrete gaussian", GRID, np.full(w, np.nan)) for w in (4 * conditions, width)]
        if rate < 1:  # which rows are in a batch is not told
            return unknown * COUNT
        sigma = 1 / statement.mechanism[0].ratio  # the account is known to a ten-thousandth
        assert math.isclose(multiplier(statement.epsilon, statement.delta, "add-remove"), sigma, rel_tol=1e-3)
        unit = count_unit(divided(sigma, SHARE).counts)  # to the last digit, for what is rounded down
        grid = sigma / math.sqrt(1 - SHARE) * CLIP / GRID
        weights, moved, found = np.zeros(width), Multipliers(conditions), []
        people = list(zip(np.asarray(data["X"], float), data["y"], data["sensitive_features"], strict=True))
        for step in range(COUNT):
            if len(answers) < 2 * step + 2:
                return found + unknown * (COUNT - step)
            counts, total = np.zeros((conditions, 2, 2)), np.zeros(width)
            moved.move(answers[2 * step] / unit)
            for x, y, k in people:
                row = np.append(np.clip(x, -1e100, 1e100), 1.0)
                with np.errstate(all="ignore"):
                    score = float(row @ weights)
                    slope = expit(score) - y + moved.pull(about.get(y), k) * expit(score) * expit(-score)
                    if y in about:
                        counts[about[y], k, int(score > 0)] += 1
                    largest = abs(row).max()
                    unit_row, length = row / largest, slope * largest
                    norm = np.linalg.norm(unit_row)
                    if slope:
                        total += np.sign(slope) * min(abs(length) * norm, CLIP) * unit_row / norm
            found.append(Asked("discrete gaussian", GRID, counts.ravel() * unit, near=1e-6 * unit))
            found.append(Asked("discrete gaussian", GRID, total / grid, near=1e-6 * GRID))
            weights = weights - LENGTH / DIVISOR * grid * answers[2 * step + 1]
        return found

    def pairs() -> Pairs:
        plain = feature_pairs(sensitive_features=grouped()["sensitive_features"])
        found = {
            name: (data, {column: values[1:] for column, values in data.items()})
            for name, (_, data) in plain.items()
            if len(data["y"]) > 1
        }
        alone = grouped() | {"sensitive_features": np.append(1, np.zeros(11, dtype=int))}
        found["the only one of a group"] = (alone, {name: column[1:] for name, column in alone.items()})
        return found

    return Case(
        name=f"lagrangian, {notion}, rate {rate:g}",
        covers=(dpf.DPLagrangianClassifier,),
        relation="add-remove",
        make=estimator(
            dpf.DPLagrangianClassifier, notion=notion, gamma=GAMMA, multiplier_rate=RATE, largest_multiplier=LARGEST,
            memory=MEMORY, epsilon=1.0, count_share=SHARE, sample_rate=rate, groups=[0, 1], **SETTINGS,
        ),
        data=grouped,
        pairs=pairs,
        asked=asked,
        numbers=lambda fitted: np.concatenate(
            [fitted.coef_[0], fitted.intercept_, fitted.multipliers_.ravel()]
        ),
        through=None,  # what is released is computed from the answers: equal for neighbours, if these are
        noisy=frozenset({"coef_", "intercept_", "multipliers_"}),
        batches=rate < 1,
        apart=True,
    )  # fmt: skip


def _learned(data: Data, noisy: np.ndarray, multipliers: list[float], about: list[list[bool]]) -> np.ndarray:
    """Return the weights of a round, from sums that are added up row by row."""
    rows, n = _rows(data), len(data["y"])
    matrix = sum(np.outer(x, x) for x in rows) + MODULUS * n * np.eye(rows.shape[1])
    target = sum((2 * y - 1) * x for x, y in zip(rows, data["y"], strict=True))
    for j, price in enumerate(multipliers):
        size, second = max(sum(about[j]), 1), noisy[j] * LONGEST / 2**22
        n1 = min(max(second[-1], 1), max(size - 1, 1))
        every = sum((x for x, one in zip(rows, about[j], strict=True) if one), np.zeros(rows.shape[1]))
        target = target - price * n * (second / n1 - (every - second) / max(size - n1, 1))
    return np.asarray(np.linalg.solve(matrix, target))


def _rows(data: Data) -> np.ndarray:
    X = np.asarray(data["X"], dtype=float)
    return np.array([np.append(x * min(1, BOUND / max(math.hypot(*x), 5e-324)), 1.0) for x in X])


def _game(data: Data, answers: list[np.ndarray], notion: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the exact numbers that the sampler is handed, as far as the answers go, and the weights of every round."""
    place, rows = ABOUT[notion], _rows(data)
    conditions = sorted(set(place.values()))
    about = [[place.get(y) == j for y in data["y"]] for j in conditions]
    second = np.asarray(data["sensitive_features"]) == 1
    exact = [np.concatenate([(rows[second & one] * 2**22 / LONGEST).sum(axis=0) for one in np.array(about)])]
    weights: list[np.ndarray] = []
    exponents = np.zeros((2, len(conditions)))
    noisy = answers[0].reshape(len(conditions), -1) if answers else None
    for answer in [*answers[1 : ROUNDS + 1], None][: ROUNDS if answers else 0]:
        prices = 2.0 * np.exp(exponents) / (1 + np.exp(exponents).sum())
        weights.append(_learned(data, noisy, list(prices[0] - prices[1]), about))
        selected = rows @ weights[-1] > 0
        exact.append(np.array([(selected & second & one).sum() for one in np.array(about)], dtype=float))
        if answer is None:
            break
        for j, one in enumerate(np.array(about)):
            size = max(one.sum(), 1)
            n1 = min(max(noisy[j][-1] * LONGEST / 2**22, 1), max(size - 1, 1))
            rates = answer[j] / n1, ((selected & one).sum() - answer[j]) / max(size - n1, 1)
            gap = min(max(rates[0], 0), 1) - min(max(rates[1], 0), 1)
            exponents[:, j] += 1.5 * (np.array([gap, -gap]) - GAMMA)
    return exact, weights


def _gradient(notion: str) -> Case:
    conditions = len(set(ABOUT[notion].values()))

    def asked(statement: Any, data: Data, answers: list[np.ndarray]) -> list[Asked]:
        sigma = brentq(
            lambda s: norm.cdf(0.5 / s - statement.epsilon * s)
            - math.exp(statement.epsilon) * norm.cdf(-0.5 / s - statement.epsilon * s)
            - statement.delta,
            1e-3, 1e6, xtol=1e-15, rtol=1e-14,
        )  # fmt: skip
        exact, _ = _game(data, answers, notion)
        width = len(exact[0]) // conditions
        scales = [sigma * (2**22 + 0.501 * math.sqrt(width)) / math.sqrt(SHARE)]
        scales += [sigma * math.sqrt(ROUNDS / (1 - SHARE))] * ROUNDS
        while len(exact) <= ROUNDS:  # what follows from answers that are not there yet
            exact.append(np.full(conditions, np.nan))
        near = [len(data["y"]), *[1e-9] * ROUNDS]
        return [Asked("gaussian", *one) for one in zip(scales, exact, near, strict=True)]

    def pairs() -> Pairs:
        plain = grouped()
        found = {"another group": (plain, replaced(plain, sensitive_features=1))}
        for name, X in (("long", np.full(4, 9.0)), ("zero", np.zeros(4)), ("huge", np.full(4, 1e200))):
            row = replaced(plain, X=X, sensitive_features=0)
            found[name] = (row, replaced(row, sensitive_features=1))
        alone = plain | {"sensitive_features": np.ones(12, dtype=int)}
        found["one group only"] = (alone, replaced(alone, sensitive_features=0))
        return found

    return Case(
        name=f"exponentiated gradient, {notion}",
        covers=(dpf.PrivateExponentiatedGradient,),
        relation="sensitive-attribute",
        make=estimator(
            dpf.PrivateExponentiatedGradient, notion=notion, gamma=GAMMA, feature_bound=BOUND, epsilon=0.8, delta=1e-3,
            rounds=ROUNDS, multiplier_bound=2.0, multiplier_rate=1.5, sums_share=SHARE, regularization=MODULUS,
            classes=(0, 1), groups=(0, 1),
        ),
        data=grouped,
        pairs=pairs,
        asked=asked,
        numbers=lambda fitted: np.column_stack([fitted.coefs_, fitted.intercepts_]).ravel(),
        through=lambda data, answers: np.concatenate(_game(data, answers, notion)[1]),
        noisy=frozenset({"coefs_", "intercepts_"}),
        rounded=1e-8,
    )  # fmt: skip


CASES = [
    *(_lagrangian(notion) for notion in ABOUT), _lagrangian("equalized_odds", 0.5),
    *(_gradient(notion) for notion in ABOUT),
]  # fmt: skip
