"""Releases of a network's private gradient descent: gradients counted anew, record by record, by the textbook."""

from __future__ import annotations

from typing import Any

import numpy as np
from cases import Asked, Case, Data, Pairs, estimator
from cases_steps import CLIP, COUNT, DIVISOR, GRID, LENGTH, SETTINGS, multiplier
from neighbours import feature_pairs, features
from scipy.special import expit

import dpfair_lib as dpf
from dpfair_lib.learners.networks.network_steps import starting_weights

HIDDEN, START = 4, 2


def _gradient(x: np.ndarray, label: int, weights: np.ndarray) -> np.ndarray:
    """Return the clipped gradient of one record, in floats."""
    V, w, b = weights[: -HIDDEN - 1].reshape(HIDDEN, -1), weights[-HIDDEN - 1 : -1], weights[-1]
    z = np.append(np.clip(x, -1e100, 1e100), 1.0)
    with np.errstate(all="ignore"):
        inputs = V @ z
        units, bent = np.tanh(inputs), 1 / np.cosh(inputs) ** 2
        score = float(w @ units) + b
        slope = expit(score) if label == 0 else -expit(-score)
        gradient = np.concatenate([np.outer(w * bent, z).ravel(), units, [1.0]])
    largest = abs(gradient).max()
    unit = gradient / largest
    length = abs(slope) * largest * np.linalg.norm(unit)
    return np.sign(slope) * min(length, CLIP) * unit / np.linalg.norm(unit)


def _network(rate: float) -> Case:
    def asked(statement: Any, data: Data, answers: list[np.ndarray]) -> list[Asked]:
        d = np.shape(data["X"])[1]
        weights, found = starting_weights(d, HIDDEN, START), []
        unknown = Asked("discrete gaussian", GRID, np.full(len(weights), np.nan))
        if rate < 1:  # which rows are in a batch is not told
            return [unknown] * COUNT
        step = multiplier(statement.epsilon, statement.delta, "add-remove") * CLIP / GRID
        for answer in answers[:COUNT]:
            rows = zip(np.asarray(data["X"], dtype=float), data["y"], strict=True)
            exact = sum(_gradient(x, label, weights) for x, label in rows) / step
            # the account is known to a ten-thousandth; 5 % less noise are 5 % larger numbers
            found.append(Asked("discrete gaussian", GRID, exact, near=2e-3 * CLIP / step))
            if len(answer) != len(weights):  # some weights had no noise
                break
            weights = weights - LENGTH / DIVISOR * step * answer
        return found + [unknown] * (COUNT - len(found))

    def pairs() -> Pairs:
        return {
            name: (data, {column: values[1:] for column, values in data.items()})
            for name, (_, data) in feature_pairs().items()
            if len(data["y"]) > 1
        }

    return Case(
        name=f"secure DPNetworkClassifier, rate {rate:g}",
        covers=(dpf.DPNetworkClassifier,),
        relation="add-remove",
        make=estimator(
            dpf.DPNetworkClassifier, hidden=HIDDEN, start=START, epsilon=1.0, sample_rate=rate, **SETTINGS
        ),
        data=lambda: dict(zip("Xy", features(), strict=True)),
        pairs=pairs,
        asked=asked,
        numbers=lambda fitted: np.concatenate(
            [part.ravel() for part in (*fitted.coefs_, *fitted.intercepts_)]
        ),
        through=None,  # what is released is computed from the answers: equal for neighbours, if these are
        noisy=frozenset({"coefs_", "intercepts_"}),
        batches=rate < 1,
        apart=True,
    )


CASES = [_network(rate) for rate in (1.0, 0.5)]
