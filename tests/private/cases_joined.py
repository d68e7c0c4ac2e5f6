"""Releases of a learner and of post-processing together, under one statement."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from cases import Asked, Case, Data, Pairs, estimator
from cases_learners import BOUND, objective_asked
from neighbours import feature_pairs, features, replaced

import dpfair_lib as dpf

GROUP = np.array(list("abbabbbabbab"))
SIZES = {"a": 5, "b": 7}
EPSILON, DELTA, SHARE = 0.8, 1e-3, 0.25
MOVED = {"replace-within-group": 1, "replace-one": 2, "sensitive-attribute": 2}
TURN = (math.sqrt(5) - 1) / 2  # the golden ratio, by the real number and not by its 64 bits


def _data() -> Data:
    X, y = features(12)
    return {"X": X, "y": y, "sensitive_features": GROUP}


def _pairs(relation: str) -> Pairs:
    plain = _data()
    if relation == "sensitive-attribute":
        pairs = {f"another group, row {row}": (plain, replaced(plain, row, sensitive_features=other))
                 for row, other in enumerate(np.where(GROUP == "a", "b", "a"))}  # fmt: skip
    else:
        pairs = {
            name: pair
            for name, pair in feature_pairs(sensitive_features=GROUP).items()
            if name != "a row alone"
        }
    if relation == "replace-one":
        pairs["another group"] = (plain, replaced(plain, sensitive_features="b"))
        pairs["all else"] = (plain, replaced(plain, X=np.full(4, 9.0), y=1, sensitive_features="b"))
        alone = plain | {"sensitive_features": np.full(12, "b")}
        pairs["one group only"] = (alone, replaced(alone, sensitive_features="a"))
    return pairs


def _held(rows: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    every = np.arange(n)
    if rows == "shared":
        return every, every
    adjust = (every * TURN) % 1 < SHARE
    return every[~adjust], every[adjust]


def _part(data: Data, rows: np.ndarray) -> Data:
    return {name: np.asarray(column)[rows] for name, column in data.items()}


def _joined(
    relation: str, rows: str, pure: bool = False, opportunity: bool = False, share: float | None = SHARE
) -> Case:
    given: dict[str, Any] = {} if relation == "replace-within-group" else {"group_sizes": SIZES}
    delta, law = (0.0, "laplace") if pure else (DELTA, "gaussian")
    moved = 2 if opportunity else MOVED[relation]

    def asked(statement: Any, data: Data, answers: list[np.ndarray]) -> list[Asked]:
        whole = statement.epsilon
        for_counts = whole if rows == "split" else SHARE * whole
        for_learner = whole if rows == "split" else (1 - SHARE) * whole
        if share is None:
            for_learner, for_counts = (part.epsilon for part in statement.parts)
            assert math.isclose(for_learner + for_counts, whole, rel_tol=1e-12)
        train, adjust = _held(rows, len(data["y"]))
        found = objective_asked((for_learner, statement.delta), _part(data, train), answers, law=law)
        weights = answers[1]
        with np.errstate(all="ignore"):
            score = np.asarray(data["X"], dtype=float)[adjust] @ weights[:-1] + weights[-1]
        group = np.asarray(data["sensitive_features"])[adjust]
        truth = np.asarray(data["y"])[adjust] == 1
        cells = [(score > 0) & truth, ~(score > 0) & truth] if opportunity else [score > 0]
        counts = [[int((cell & (group == one)).sum()) for cell in cells] for one in "ab"]
        return found + [Asked("geometric", moved / for_counts, np.array(each)) for each in counts]

    def through(data: Data, answers: list[np.ndarray]) -> np.ndarray:
        _, adjust = _held(rows, 12)
        group = np.asarray(data["sensitive_features"])[adjust]
        counted = [int((group == one).sum()) for one in "ab"]
        if opportunity:
            pairs = [np.maximum(a.astype(float), 0) for a in answers[2:]]
            return np.array([*answers[1], *(a[0] / a.sum() if a.any() else 0.5 for a in pairs)])
        declared = [max(round(size * len(adjust) / 12), 1) for size in SIZES.values()]
        divisors = declared if given else counted
        rates = [min(max(float(a[0]) / n, 0), 1) for a, n in zip(answers[2:], divisors, strict=True)]
        return np.array([*answers[1], *rates])

    def numbers(fitted: Any) -> np.ndarray:
        learner = fitted.learner_
        return np.array([
            *learner.coef_.ravel(), *learner.intercept_, *fitted.postprocessor_.noisy_rates_.values()
        ])  # fmt: skip

    return Case(
        name=f"joined {'opportunity ' * opportunity}{relation} {rows}"
        + (" pure" if pure else "") + (" share=None" if share is None else ""),
        covers=(dpf.PrivateFairClassifier,),
        relation=relation,
        make=estimator(
            dpf.PrivateFairClassifier, epsilon=EPSILON, delta=delta, feature_bound=BOUND, relation=relation, rows=rows,
            share=share, classes=(0, 1), notion="equal_opportunity" if opportunity else "demographic_parity", **given,
        ),
        data=_data,
        pairs=lambda: _pairs(relation),
        asked=asked,
        numbers=numbers,
        through=through,
        noisy=frozenset({"learner_", "postprocessor_"}),
        by_position=rows == "split",
    )  # fmt: skip


CASES = [
    *(_joined(relation, rows) for relation in MOVED for rows in ("shared", "split")),
    _joined("replace-one", "shared", pure=True),
    # whose share follows from the sizes, declared ones where who is in which group is private
    _joined("replace-one", "shared", share=None),
    _joined("sensitive-attribute", "shared", share=None),
    _joined("replace-within-group", "shared", opportunity=True),
    _joined("replace-one", "split", opportunity=True),
    _joined("sensitive-attribute", "shared", opportunity=True),
]
