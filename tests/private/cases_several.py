"""Noisy rates of several groups, also of two sensitive columns: rules for the common rate, and a band."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from cases import Asked, Case, Data, Pairs, estimator
from cases_counts import COUNTS_MOVE
from neighbours import replaced

import dpfair_lib as dpf

SIZES = {("f", "x"): 3, ("f", "y"): 2, ("m", "x"): 6, ("m", "y"): 4}
GROUPS = list(SIZES)
EPSILONS = (0.3, 0.9, 0.5, 0.7)


def table(relation: str, n: int = 12) -> Data:
    """Return predictions and two sensitive columns; of the four groups one is empty where that may be."""
    whole = relation == "replace-within-group"
    at = np.arange(n) % (4 if whole else 3)
    groups = np.array([list(GROUPS[one]) for one in at], dtype=object)
    return {"y_pred": (np.arange(n) // 2) % 2, "sensitive_features": groups}


def _pairs(relation: str) -> Pairs:
    found: Pairs = {}
    for how in ("both labels", "label 0 only", "label 1 only"):
        whole = table(relation)
        if how != "both labels":
            whole = whole | {"y_pred": np.full(12, int(how[6]))}
        for row in range(3):
            flipped = {"y_pred": 1 - whole["y_pred"][row]}
            if relation == "add-remove":
                less = {name: np.delete(column, row, axis=0) for name, column in whole.items()}
                found[f"{how}, without row {row}"] = (whole, less)
            if relation in ("replace-within-group", "replace-one"):
                found[f"{how}, row {row} flipped"] = (whole, replaced(whole, row, **flipped))
            if relation in ("replace-one", "sensitive-attribute"):
                for group in GROUPS:
                    other = {"sensitive_features": list(group)}
                    found[f"{how}, row {row} to {group}"] = (whole, replaced(whole, row, **other))
    return found


def _counts(data: Data) -> list[int]:
    groups, labels = np.asarray(data["sensitive_features"]), np.asarray(data["y_pred"])
    return [int(((groups == one).all(axis=1) & (labels == 1)).sum()) for one in GROUPS]


def _several(relation: str, mechanism: str, epsilon: Any = 0.6, **options: Any) -> Case:
    given: dict[str, Any] = {} if relation == "replace-within-group" else {"group_sizes": SIZES}

    def asked(statement: Any, data: Data, _: Any) -> list[Asked]:
        moved = COUNTS_MOVE[relation]
        each = epsilon if isinstance(epsilon, tuple) else (statement.epsilon / moved,) * len(GROUPS)
        assert math.isclose(statement.epsilon, sum(sorted(each)[-moved:]), rel_tol=1e-12)
        return [
            Asked(mechanism, 1 / one, np.array([count]))
            for one, count in zip(each, _counts(data), strict=True)
        ]

    def through(data: Data, answers: list[np.ndarray]) -> np.ndarray:
        groups = np.asarray(data["sensitive_features"])
        counted = [int((groups == one).all(axis=1).sum()) for one in GROUPS]
        divisors = list(SIZES.values()) if given else counted
        return np.array([min(max(float(a[0]) / n, 0), 1) for a, n in zip(answers, divisors, strict=True)])

    said = "".join(f" {name}={value}" for name, value in ({"epsilon": epsilon} | options).items())
    return Case(
        name=f"several rates {relation} {mechanism}{said}",
        covers=(dpf.PrivateFairPostprocessor,),
        relation=relation,
        make=estimator(
            dpf.PrivateFairPostprocessor, epsilon=epsilon, relation=relation, mechanism=mechanism, **given, **options
        ),
        data=lambda: table(relation),
        pairs=lambda: _pairs(relation),
        asked=asked,
        numbers=lambda fitted: np.array(list(fitted.noisy_rates_.values())),
        through=through,
        noisy=frozenset({"noisy_rates_", "target_rate_", "band_", "rules_"}),
    )  # fmt: skip


CASES = [
    *(_several(relation, mechanism) for relation in COUNTS_MOVE for mechanism in ("laplace", "geometric")),
    *(_several(relation, "geometric", EPSILONS, rate="most-accurate") for relation in COUNTS_MOVE),
    _several("add-remove", "laplace", EPSILONS, gamma=0.1),
    _several("replace-one", "laplace", rate="median", gamma=0.2),
    _several("replace-within-group", "laplace", rate=0.25),
]
