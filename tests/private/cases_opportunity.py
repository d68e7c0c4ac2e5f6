"""Noisy counts of true positives and false negatives: of three groups, one of them with nobody of true label 1."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from cases import Asked, Case, Data, Pairs, estimator
from neighbours import replaced

import dpfair_lib as dpf

GROUPS = ("a", "b", "c")
EPSILONS = (0.4, 1.1, 0.7)
RELATIONS = ("replace-within-group", "add-remove", "replace-one", "sensitive-attribute")
CELLS = (1, 0)
"""Predicted labels of those of true label 1, in the order of the released counts."""


def table(n: int = 12) -> Data:
    """Return predictions, true labels and groups."""
    at = np.arange(n)
    groups = np.array(GROUPS)[at % 3]
    return {
        "y_pred": (at // 2) % 2,
        "y_true": np.where(groups == "c", 0, (at // 3) % 2),
        "sensitive_features": groups,
    }


def _pairs(relation: str) -> Pairs:
    found: Pairs = {}
    for how in ("both labels", "label 0 only", "label 1 only", "label 1 in b only", "label 1 in c only"):
        whole = table()
        if how.endswith(" in b only") or how.endswith(" in c only"):
            whole = whole | {"y_true": (whole["sensitive_features"] == how[11]).astype(int)}
        elif how != "both labels":
            whole = whole | {"y_true": np.full(12, int(how[6]))}
        if relation == "add-remove":
            for row in range(3):
                less = {name: np.delete(column, row, axis=0) for name, column in whole.items()}
                found[f"{how}, without row {row}"] = (whole, less)
            continue
        for row, label, truth, group in itertools.product(range(3), (0, 1), (0, 1), GROUPS):
            new = {"y_pred": label, "y_true": truth, "sensitive_features": group}
            moved = {name for name, value in new.items() if whole[name][row] != value}
            allowed = {
                "replace-within-group": "sensitive_features" not in moved,
                "replace-one": True,
                "sensitive-attribute": moved == {"sensitive_features"},
            }
            if moved and allowed[relation]:
                found[f"{how}, row {row} to {label}, {truth}, {group}"] = (whole, replaced(whole, row, **new))
    return found


def counts(data: Data) -> list[np.ndarray]:
    """Return each group's numbers of true positives and false negatives."""
    group, label, truth = (np.asarray(data[name]) for name in ("sensitive_features", "y_pred", "y_true"))
    return [
        np.array([int(((group == one) & (truth == 1) & (label == cell)).sum()) for cell in CELLS])
        for one in GROUPS
    ]


def cost(relation: str, epsilons: tuple[float, ...]) -> float:
    """Return what the worst neighbours cost: by hand."""
    largest, second = sorted(epsilons)[:-3:-1]
    return {"add-remove": largest, "sensitive-attribute": largest + second}.get(relation, 2 * largest)


def _opportunity(relation: str, mechanism: str, epsilon: Any = 0.6, **options: Any) -> Case:
    given: dict[str, Any] = (
        {} if relation == "replace-within-group" else {"group_sizes": dict.fromkeys(GROUPS, 4)}
    )
    each = epsilon if isinstance(epsilon, tuple) else (epsilon,) * 3

    def asked(statement: Any, data: Data, _: Any) -> list[Asked]:
        assert math.isclose(statement.epsilon, cost(relation, each), rel_tol=1e-12)
        return [Asked(mechanism, 1 / one, pair) for one, pair in zip(each, counts(data), strict=True)]

    def through(_: Data, answers: list[np.ndarray]) -> np.ndarray:
        positive = [np.maximum(answer.astype(float), 0) for answer in answers]
        rates = [pair[0] / pair.sum() if pair.any() else 0.5 for pair in positive]
        return np.array([*np.concatenate(answers).astype(float), *rates])

    said = "".join(f" {name}={value}" for name, value in ({"epsilon": epsilon} | options).items())
    return Case(
        name=f"opportunity {relation} {mechanism}{said}",
        covers=(dpf.PrivateFairPostprocessor,),
        relation=relation,
        make=estimator(
            dpf.PrivateFairPostprocessor, epsilon=epsilon, relation=relation, mechanism=mechanism,
            notion="equal_opportunity", **given, **options,
        ),
        data=table,
        pairs=lambda: _pairs(relation),
        asked=asked,
        numbers=lambda fitted: np.array(
            [*np.ravel(list(fitted.noisy_counts_.values())), *fitted.noisy_rates_.values()]
        ),
        through=through,
        noisy=frozenset({"noisy_counts_", "noisy_rates_", "target_rate_", "band_", "rules_"}),
    )  # fmt: skip


CASES = [
    *(_opportunity(relation, mechanism) for relation in RELATIONS for mechanism in ("laplace", "geometric")),
    *(_opportunity(relation, "geometric", EPSILONS, rate="most-accurate") for relation in RELATIONS),
    *(_opportunity(relation, "laplace", rate="most-accurate") for relation in RELATIONS),
    _opportunity("add-remove", "laplace", EPSILONS, gamma=0.1),
    _opportunity("replace-one", "laplace", rate="median", gamma=0.2),
]
