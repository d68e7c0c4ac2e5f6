"""Releases of noisy counts and sums: the post-processors, the certificate, and the constants for scaling."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from cases import Asked, Case, Data, Pairs, estimator, function
from neighbours import LARGEST, replaced, table, table_pairs

import dpfair_lib as dpf
from dpfair_lib.central.preparation import ScalingConstants, private_constants
from dpfair_lib.margins.private_certificate import PrivateCertificate

GROUPS = ("a", "b")
COUNTS_MOVE = {"replace-within-group": 1, "add-remove": 1, "replace-one": 2, "sensitive-attribute": 2}
"""How many of the two groups' counts one record can move by 1; with equal ε the statement's is that often ε."""


def _positives(data: Data) -> list[int]:
    group, label = np.asarray(data["sensitive_features"]), np.asarray(data["y_pred"])
    return [int(((group == one) & (label == 1)).sum()) for one in GROUPS]


def _rates(relation: str, mechanism: str, epsilon: Any) -> Case:
    sizes = {"a": 5, "b": 7}
    given = {} if relation == "replace-within-group" else {"group_sizes": sizes}

    def asked(statement: Any, data: Data, _: Any) -> list[Asked]:
        moved = COUNTS_MOVE[relation]
        if isinstance(epsilon, tuple):
            whole = max(epsilon) if moved == 1 else sum(epsilon)
            assert math.isclose(statement.epsilon, whole, rel_tol=1e-12)
            each = epsilon
        else:
            each = (statement.epsilon / moved,) * 2
        return [
            Asked(mechanism, 1 / one, np.array([count]))
            for one, count in zip(each, _positives(data), strict=True)
        ]

    def through(data: Data, answers: list[np.ndarray]) -> np.ndarray:
        counted = [int((np.asarray(data["sensitive_features"]) == one).sum()) for one in GROUPS]
        divisors = list(sizes.values()) if given else counted
        return np.array([min(max(float(a[0]) / n, 0), 1) for a, n in zip(answers, divisors, strict=True)])

    return Case(
        name=f"rates {relation} {mechanism} {epsilon}",
        covers=(dpf.PrivateFairPostprocessor,),
        relation=relation,
        make=estimator(
            dpf.PrivateFairPostprocessor, epsilon=epsilon, relation=relation, mechanism=mechanism, **given
        ),
        data=table,
        pairs=lambda: table_pairs(relation),
        asked=asked,
        numbers=lambda fitted: np.array(list(fitted.noisy_rates_.values())),
        through=through,
        noisy=frozenset({"noisy_rates_", "target_rate_", "band_", "rules_"}),
    )


CELLS_MOVE = {"sensitive-attribute": 2, "replace-one": 2, "add-remove": 1}
LABELS = ("y_pred", "y_true")


def _odds(relation: str, mechanism: str, epsilon: float = 0.7, **options: Any) -> Case:
    def asked(statement: Any, data: Data, _: Any) -> list[Asked]:
        columns = [np.asarray(data[name]) for name in ("y_pred", "sensitive_features", "y_true")]
        cells = itertools.product((0, 1), GROUPS, (0, 1))
        counts = [
            int(np.logical_and.reduce([c == v for c, v in zip(columns, cell, strict=True)]).sum())
            for cell in cells
        ]
        return [Asked(mechanism, CELLS_MOVE[relation] / statement.epsilon, np.array(counts))]

    told = options if epsilon == 0.7 else {"epsilon": epsilon} | options
    more = "".join(f" {name}={value}" for name, value in told.items())
    return Case(
        name=f"odds {relation} {mechanism}{more}",
        covers=(dpf.EqualizedOddsPostprocessor,),
        relation=relation,
        make=estimator(
            dpf.EqualizedOddsPostprocessor, gamma=0.1, epsilon=epsilon, relation=relation, mechanism=mechanism,
            groups=GROUPS, **options,
        ),
        data=lambda: table(labels=LABELS),
        pairs=lambda: table_pairs(relation, labels=LABELS),
        asked=asked,
        numbers=lambda fitted: np.asarray(fitted.counts_, dtype=float).ravel(),
        through=lambda _, answers: answers[0].astype(float),
        noisy=frozenset({
            "counts_", "program_", "solution_", "probabilities_", "gap_bound_",
        }),
    )  # fmt: skip


WEIGHTS = np.array([1.0, -0.5])


def _margin_rows() -> Data:
    X = np.random.default_rng(2).normal(size=(12, 2))
    y, group = np.tile([0, 1], 6), np.repeat([0, 1], 6)
    return {"X": X, "y": y, "sensitive_features": group, "scores": X @ WEIGHTS}


def _margin_pairs() -> Pairs:
    plain = _margin_rows()
    rows = {
        "zeros": [0.0, 0.0],
        "far right": [1e3, 0.0],
        "far wrong": [-1e3, 0.0],
        "on the boundary": [0.5, 1.0],
        "a copy": plain["X"][2].tolist(),
        "smallest": [5e-324, 0.0],
        "square overflows": [1e200, 1e200],
        "largest": [LARGEST, LARGEST],
        "largest of both signs": [LARGEST / 2, -LARGEST / 2],
        "length overflows": [LARGEST, 0.0],
        "largest, with the score 0": [LARGEST / 2, LARGEST],
        "long, with the score 0": [1e20, 2e20],
    }
    pairs: Pairs = {}
    for at in (0, 1):
        for name, row in rows.items():
            score = float(np.dot(row, WEIGHTS))
            pairs[f"{name}, row {at}"] = (plain, replaced(plain, at, X=row, scores=score))
    return pairs


CERTIFICATE = {"notion": "equalized_odds", "sigma": 0.05, "zeta": 0.1}


def _settled(statement: Any, data: Data, _: Any) -> list[Asked]:
    from dpfair_lib.margins.projections import markov_reach

    reach = markov_reach(CERTIFICATE["sigma"], zeta=CERTIFICATE["zeta"] / 2, slack=1e-4, groups=4)
    counts = np.zeros((2, 2, 2), dtype=int)
    for x, y, group, score in zip(
        *(data[k] for k in ("X", "y", "sensitive_features", "scores")), strict=True
    ):
        length = math.hypot(*x)
        if not 0 < length < math.inf:
            continue
        signed = (1 if y == 1 else -1) * score / length
        if abs(signed) > reach:
            counts[y, group, 0 if signed > 0 else 1] += 1
    return [Asked("geometric", 2 / statement.epsilon, counts.ravel())]


def certificate(epsilon: float = 0.8) -> Case:
    """Return the case of the certificate that may be published."""
    return Case(
        name="certificate" if epsilon == 0.8 else f"certificate epsilon={epsilon}",
        covers=(dpf.private_certificate, PrivateCertificate),
        relation="replace-within-group",
        make=function(dpf.private_certificate, **CERTIFICATE, epsilon=epsilon),
        data=_margin_rows,
        pairs=_margin_pairs,
        asked=_settled,
        numbers=lambda found: np.concatenate([found.lower, found.upper]),
        through=None,
        noisy=frozenset({"lower", "upper"}),
    )


BOUNDS = np.array([[0.0, 1.0], [-2.0, 2.0]])


def _values() -> Data:
    return {"values": np.random.default_rng(3).uniform(-1, 1, size=(12, 2))}


def _value_pairs() -> Pairs:
    plain = _values()
    whole = {"values": np.round(plain["values"]).astype(int)}
    narrow = {"values": plain["values"].astype(np.float32)}
    rows = {
        "largest": [LARGEST, -LARGEST], "at the bounds": [1.0, -2.0], "smallest": [5e-324, -5e-324],
        "minus zeros": [-0.0, -0.0], "infinite": [math.inf, -math.inf], "a copy": plain["values"][3].tolist(),
    }  # fmt: skip
    pairs = {name: (plain, replaced(plain, values=row)) for name, row in rows.items()}
    pairs["whole numbers"] = (whole, replaced(whole, values=[2**62, -(2**62)]))
    pairs["32 bits"] = (narrow, replaced(narrow, values=[3e38, -3e38]))
    same = {"values": np.full((12, 2), 1.0)}
    pairs["equal rows, but for one"] = (same, replaced(same, values=[0.0, -2.0]))
    return pairs


def _sums(statement: Any, data: Data, _: Any) -> list[Asked]:
    unit = (np.clip(data["values"], BOUNDS[:, 0], BOUNDS[:, 1]) - BOUNDS[:, 0]) / (
        BOUNDS[:, 1] - BOUNDS[:, 0]
    )
    sums = np.concatenate([unit.sum(axis=0), (unit**2).sum(axis=0)])
    # a replaced row moves each of the four sums by at most 1
    return [Asked("laplace", len(sums) / statement.epsilon, sums)]


def constants() -> Case:
    """Return the case of the constants for scaling."""

    def through(_: Data, answers: list[np.ndarray]) -> np.ndarray:
        (noisy,) = (np.clip(answer / 12, 0, 1) for answer in answers)
        width = BOUNDS[:, 1] - BOUNDS[:, 0]
        spread = np.sqrt(np.maximum(noisy[2:] - noisy[:2] ** 2, 0.02**2))
        return np.concatenate([BOUNDS[:, 0] + width * noisy[:2], width * spread])

    return Case(
        name="constants for scaling",
        covers=(private_constants, ScalingConstants),
        relation="replace-one",
        make=function(private_constants, bounds=BOUNDS, epsilon=0.9),
        data=_values,
        pairs=_value_pairs,
        asked=_sums,
        numbers=lambda found: np.concatenate([found.center, found.deviation]),
        through=through,
        noisy=frozenset({"center", "deviation"}),
    )


CASES = [
    *(_rates(relation, mechanism, 0.6) for relation in COUNTS_MOVE for mechanism in ("laplace", "geometric")),
    *(_rates(relation, "laplace", (0.4, 0.9)) for relation in COUNTS_MOVE),
    *(_odds(relation, mechanism) for relation in CELLS_MOVE for mechanism in ("laplace", "geometric")),
    _odds("replace-one", "geometric", relaxed=False),
    # with so little noise that bounds on twelve rows are not simply 1, or from 0 to 1
    _odds("replace-one", "geometric", epsilon=8.0),
    _odds("add-remove", "laplace", epsilon=8.0),
    certificate(),
    certificate(epsilon=12.0),
    constants(),
]
