"""Releases of learners by private gradient descent with secure noise: sums on a grid, handed to the sampler."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from cases import Asked, Case, Data, Pairs, estimator
from cases_learners import grouped
from neighbours import feature_pairs, features
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

import dpfair_lib as dpf

GRID = 2.0**40
COUNT, CLIP, LENGTH, DIVISOR = 3, 0.8, 0.1, 6.0
SETTINGS: dict[str, Any] = {
    "delta": 1e-3, "max_grad_norm": CLIP, "steps": COUNT, "learning_rate": LENGTH, "classes": (0, 1),
    "expected_batch_size": DIVISOR,
}  # fmt: skip


def multiplier(epsilon: float, delta: float, relation: str) -> float:
    """Return σ where all rows are in every batch: T sums with Gaussian noise are one, √T times as long."""
    move = 2 if relation == "replace-one" else 1

    def excess(mu: float) -> float:
        return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu) - delta

    return move * math.sqrt(COUNT) / brentq(excess, 1e-4, 1e3, xtol=1e-15)


def _sums(data: Data, weights: np.ndarray, loss: str) -> np.ndarray:
    """Return the sum of the clipped gradients, one by one and in floats."""
    total = np.zeros(len(weights))
    for x, label in zip(np.asarray(data["X"], dtype=float), data["y"], strict=True):
        row, sign = np.append(np.clip(x, -1e100, 1e100), 1.0), 2 * label - 1
        with np.errstate(all="ignore"):
            margin = sign * float(row @ weights)
            slope = expit(-margin) if loss == "logistic" else np.clip(1.5 - margin, 0, 1)
            unit = row / (largest := abs(row).max())
            length = slope * largest * np.linalg.norm(unit)
            if length > 0:
                total -= sign * min(length, CLIP) * unit / np.linalg.norm(unit)
    return total


def _descent(kind: type, relation: str, rate: float = 1.0) -> Case:
    loss = "logistic" if kind is dpf.DPLogisticRegression else "hinge"

    def asked(statement: Any, data: Data, answers: list[np.ndarray]) -> list[Asked]:
        width = np.shape(data["X"])[1] + 1
        if rate < 1:  # which rows are in a batch is not told
            return [Asked("discrete gaussian", GRID, np.full(width, np.nan))] * COUNT
        sigma = multiplier(statement.epsilon, statement.delta, relation)
        step, weights, found = sigma * CLIP / GRID, np.zeros(width), []
        for answer in answers[:COUNT]:
            exact = _sums(data, weights, loss) / step
            # the account is known to a ten-thousandth; 5 % less noise are 5 % larger numbers
            found.append(Asked("discrete gaussian", GRID, exact, near=2e-3 * CLIP / step))
            weights = weights - LENGTH / DIVISOR * step * answer
        return found if len(found) == COUNT else found + [found[0]] * (COUNT - len(found))

    def pairs() -> Pairs:
        found = feature_pairs()
        if relation == "add-remove":
            found = {
                name: (data, {column: values[1:] for column, values in data.items()})
                for name, (_, data) in found.items()
                if len(data["y"]) > 1
            }
        return found

    return Case(
        name=f"secure {kind.__name__}, {relation}, rate {rate:g}",
        covers=(kind,),
        relation=relation,
        make=estimator(kind, epsilon=1.0, relation=relation, sample_rate=rate, **SETTINGS),
        data=lambda: dict(zip("Xy", features(), strict=True)),
        pairs=pairs,
        asked=asked,
        numbers=lambda fitted: np.append(fitted.coef_[0], fitted.intercept_),
        through=None,  # what is released is computed from the answers: equal for neighbours, if these are
        noisy=frozenset({"coef_", "intercept_"}),
        batches=rate < 1,
        apart=True,
    )


def _fermi(rate: float, **options: Any) -> Case:
    """Return the case of penalised steps; the number of rows, labels and groups are public, and all occur."""
    counted = "frequency_epsilon" in options

    def asked(_: Any, data: Data, __: list[np.ndarray]) -> list[Asked]:
        counts = np.bincount(data["sensitive_features"]).astype(float)
        width = np.shape(data["X"])[1] + 1 + 2 * len(counts)
        noisy = [Asked("discrete gaussian", GRID, np.full(width, np.nan))] * COUNT
        share = options.get("frequency_epsilon")
        return [Asked("laplace", 1 / share, counts), *noisy] if counted else noisy

    def pairs() -> Pairs:
        found = feature_pairs(labels=False, sensitive_features=grouped()["sensitive_features"])
        return {name: pair for name, pair in found.items() if name != "a row alone"}

    return Case(
        name=f"secure fermi, {next(iter(options))}, rate {rate:g}",
        covers=(dpf.DPFermiClassifier,),
        relation="add-remove",
        make=estimator(
            dpf.DPFermiClassifier, penalty=1.0, epsilon=5.0, delta=1e-3, steps=COUNT, batch_size=int(12 * rate),
            **options,
        ),
        data=grouped,
        pairs=pairs,
        asked=asked,
        numbers=lambda fitted: np.concatenate([fitted.coef_[0], fitted.intercept_, fitted.W_.ravel()]),
        through=None,
        noisy=frozenset({"coef_", "intercept_", "W_", *(["group_frequencies_"] if counted else [])}),
        batches=rate < 1,
        apart=True,
    )  # fmt: skip


CASES = [
    *(
        _descent(kind, relation)
        for kind in (dpf.DPLogisticRegression, dpf.DPLinearSVM)
        for relation in ("add-remove", "replace-one")
    ),
    _descent(dpf.DPLogisticRegression, "add-remove", 0.5),
    _fermi(1.0, group_frequencies={0: 0.5, 1: 0.5}),
    _fermi(0.5, frequency_epsilon=1.0),
]
