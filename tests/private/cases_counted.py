"""Releases of private gradient descent whose clipping follows noisy counts of the batch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from cases import Asked, Case, Data, Pairs, estimator
from cases_learners import grouped
from cases_steps import COUNT, GRID, SETTINGS, multiplier
from neighbours import feature_pairs, features
from scipy.special import expit

import dpfair_lib as dpf
from dpfair_lib.learners.counted_steps import count_unit, divided

SHARE, CLIP, SCALE_NORM, DIVISOR, LENGTH = 0.3, 0.8, 1.5, 6.0, 0.1
OWN: dict[Any, dict[str, Any]] = {
    dpf.DPGroupClippingClassifier: {"groups": [0, 1]},
    dpf.DPGlobalScalingClassifier: {"scale_norm": SCALE_NORM},
}


def _gradients(data: Data, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each record's gradient as a unit vector and a length, in floats."""
    units, lengths = [], []
    for x, label in zip(np.asarray(data["X"], dtype=float), data["y"], strict=True):
        row, sign = np.append(np.clip(x, -1e100, 1e100), 1.0), 2 * label - 1
        largest = abs(row).max()
        length = largest * np.linalg.norm(row / largest)
        with np.errstate(all="ignore"):
            lengths.append(float(expit(-sign * float(row @ weights))) * length)
        units.append(-sign * (row / largest) / np.linalg.norm(row / largest))
    return np.array(units), np.array(lengths)


def _counted(kind: type, rate: float = 1.0) -> Case:
    by_group = kind is dpf.DPGroupClippingClassifier

    def asked(statement: Any, data: Data, answers: list[np.ndarray]) -> list[Asked]:
        width, counted = np.shape(data["X"])[1] + 1, 4 if by_group else 1
        unknown = [Asked("discrete gaussian", GRID, np.full(w, np.nan)) for w in (counted, width)]
        if rate < 1:  # which rows are in a batch is not told
            return unknown * COUNT
        sigma = 1 / statement.mechanism[0].ratio  # the account is known to a ten-thousandth
        assert math.isclose(multiplier(statement.epsilon, statement.delta, "add-remove"), sigma, rel_tol=1e-3)
        unit = count_unit(divided(sigma, SHARE).counts)  # to the last digit, for what is rounded down
        groups = np.asarray(data["sensitive_features"]) if by_group else np.zeros(len(data["y"]), dtype=int)
        weights, scale, found = np.zeros(width), SCALE_NORM, []
        for step in range(COUNT):
            if len(answers) < 2 * step + 2:
                return found + unknown * (COUNT - step)
            units, lengths = _gradients(data, weights)
            noisy = answers[2 * step] / unit
            if by_group:
                long = lengths > CLIP
                counts = [((groups == k) & (long == one)).sum() for k in (0, 1) for one in (False, True)]
                short, long = np.floor(np.maximum(noisy, 0)).reshape(2, 2).T
                rates = [b / (a + b) if a + b else 1.0 for a, b in zip(short, long, strict=True)]
                norms = np.array([CLIP * (1 + one / max(np.mean(rates), 1e-8)) for one in rates])
                used, largest = np.minimum(lengths, norms[groups]), norms.max()
            else:
                counts, largest = [(lengths > scale).sum()], CLIP
                used = np.minimum(lengths * min(1.0, CLIP / scale), CLIP)
                scale *= math.exp(noisy[0] / DIVISOR - 0.1)
            grid = sigma / math.sqrt(1 - SHARE) * largest / GRID
            exact = (units * used[:, None]).sum(axis=0) / grid
            found.append(
                Asked("discrete gaussian", GRID, np.array(counts, dtype=float) * unit, near=1e-6 * unit)
            )
            found.append(Asked("discrete gaussian", GRID, exact, near=1e-6 * GRID))
            weights = weights - LENGTH / DIVISOR * grid * answers[2 * step + 1]
        return found

    def pairs() -> Pairs:
        plain = feature_pairs(**({"sensitive_features": grouped()["sensitive_features"]} if by_group else {}))
        found = {
            name: (data, {column: values[1:] for column, values in data.items()})
            for name, (_, data) in plain.items()
            if len(data["y"]) > 1
        }
        if by_group:
            alone = grouped() | {"sensitive_features": np.append(1, np.zeros(11, dtype=int))}
            found["the only one of a group"] = (alone, {name: column[1:] for name, column in alone.items()})
        return found

    return Case(
        name=f"counted {kind.__name__}, rate {rate:g}",
        covers=(kind,),
        relation="add-remove",
        make=estimator(
            kind, epsilon=1.0, count_share=SHARE, sample_rate=rate, **SETTINGS, **OWN[kind]
        ),
        data=lambda: grouped() if by_group else dict(zip("Xy", features(), strict=True)),
        pairs=pairs,
        asked=asked,
        numbers=lambda fitted: np.append(fitted.coef_[0], fitted.intercept_),
        through=None,  # what is released is computed from the answers: equal for neighbours, if these are
        noisy=frozenset({"coef_", "intercept_"}),
        batches=rate < 1,
        apart=True,
    )  # fmt: skip


CASES = [_counted(kind, rate) for kind in OWN for rate in (1.0, 0.5)]
