"""Releases of preparation: noisy moments, frequent categories, pipelines, and a choice among models."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from cases import Asked, Case, Data, Pairs, estimator
from cases_learners import BOUND, MODULUS, TOLERANCE, _gaussian_deviation, _minimiser, _sensitivity
from neighbours import LARGEST, feature_pairs, features, replaced

import dpfair_lib as dpf

LIMITS = {0: (-2.0, 2.0), 2: (-1.0, 3.0), 3: (0.0, 1.5)}
UNIT = 2**22  # of the sums: a range
CELLS = {
    "nothing": None, "not a number": math.nan, "a word": "some", "a number in words": "0.5", "no single value": [1.0],
    "a large whole number": 10**400, "minus infinity": -math.inf, "a fraction": Fraction(1, 3), "missing": pd.NA,
    "a date": pd.Timestamp(2020, 1, 1), "1j": 1j, "one value, as an array": np.array([1.0]),
    "a wide float": np.longdouble(1),
}  # fmt: skip


def _number(cell: Any) -> float:
    """Return a cell's number, NaN if it holds none."""
    if isinstance(cell, bool | int | float | str | Fraction | np.number) and not isinstance(
        cell, np.complexfloating
    ):
        try:
            return float(cell)
        except (OverflowError, ValueError):
            return math.nan if isinstance(cell, str) else math.inf if cell > 0 else -math.inf
    return math.nan


def _cells(X: Any) -> list[list[Any]]:
    return X.to_numpy(dtype=object).tolist() if hasattr(X, "iloc") else [list(row) for row in X]


def _sums(X: Any, limits: dict[Any, tuple[float, float]], squares: bool) -> np.ndarray:
    """Return the sums, each in steps of a range over 2²², row by row in whole numbers."""
    found = []
    for column, (low, high) in sorted(limits.items()):
        first = second = present = 0
        for row in _cells(X):
            value = _number(row[column])
            if value == value:
                k = round((min(max(value, low), high) - low) / (high - low) * UNIT) - UNIT // 2
                first, second, present = first + k, second + k * k // UNIT, present + 1
        found += [first, second, present * UNIT // 4] if squares else [first, present * UNIT // 2]
    return np.array(found, dtype=float)


def _with_cells(data: Data) -> Pairs:
    """Return pairs of which one data set holds something odd in a cell."""
    plain = data | {"X": np.asarray(data["X"]).astype(object)}
    pairs = {}
    for name, cell in CELLS.items():
        other = plain["X"].copy()
        other[0, 2] = cell
        pairs[name] = (plain, plain | {"X": other})
    framed = {name: plain | {"X": pd.DataFrame(plain["X"])} for name in ("one", "two")}
    other = pd.DataFrame(plain["X"])
    other.iloc[0, 3] = None
    return pairs | {"a frame": (framed["one"], framed["two"] | {"X": other})}


def _less(pairs: Pairs) -> Pairs:
    """Return the second data set of each pair, and the same without the row that is special."""
    found = {}
    for name, (_, two) in pairs.items():
        row = len(two["y"]) - 1 if "last row" in name else 0
        kept = [at for at in range(len(two["y"])) if at != row]
        less = {
            key: column.iloc[kept] if hasattr(column, "iloc") else column[kept] if hasattr(column, "shape")
            else [column[at] for at in kept]
            for key, column in two.items()
        }  # fmt: skip
        found[name] = (two, less)
    return found


def _scaler_pairs(relation: str) -> Pairs:
    pairs = {name: pair for name, pair in feature_pairs().items() if name != "a frame"}
    pairs |= _with_cells(dict(zip("Xy", features(), strict=True)))
    return _less(pairs) if relation == "add-remove" else pairs


def _moments(answers: np.ndarray, each: int, squares: bool) -> list[tuple[float, float]]:
    found = []
    for first, *second, present in answers.reshape(-1, each).tolist():
        rows = max(present / UNIT * (4 if squares else 2), 0.5)
        mean = min(max(first / UNIT / rows, -0.5), 0.5)
        found.append((mean, min(max(second[0] / UNIT / rows, 0), 0.25) if squares else 0.0))
    return found


def _scaled(answers: np.ndarray, limits: dict[Any, tuple[float, float]]) -> list[tuple[float, float]]:
    """Return mean and deviation of each column."""
    return [
        (low + (high - low) * (0.5 + mean), (high - low) * math.sqrt(max(square - mean**2, 0.02**2)))
        for (low, high), (mean, square) in zip(limits.values(), _moments(answers, 3, True), strict=True)
    ]


def _scaler(relation: str) -> Case:
    def asked(statement: Any, data: Data, _: Any) -> list[Asked]:
        # one row moves the three sums of a column by a range at most, whether it is replaced, or one more
        scale = len(LIMITS) * UNIT / statement.epsilon
        return [Asked("laplace", scale, _sums(data["X"], LIMITS, squares=True))]

    return Case(
        name=f"scaler {relation}",
        covers=(dpf.PrivateScaler,),
        relation=relation,
        make=estimator(dpf.PrivateScaler, bounds=LIMITS, epsilon=0.9, relation=relation),
        data=lambda: dict(zip("Xy", features(), strict=True)),
        pairs=lambda: _scaler_pairs(relation),
        asked=asked,
        numbers=lambda fitted: np.array([*fitted.means_.values(), *fitted.deviations_.values()]),
        through=lambda _, answers: np.array(_scaled(answers[0], LIMITS)).T.ravel(),
        noisy=frozenset({"means_", "deviations_", "cells_"}),
    )


NAMED = {1: (10, 20, 30), 3: (1, 2)}
NUMBERS = {0: (-2.0, 2.0), 2: (-1.0, 3.0)}


def _people() -> Data:
    X, y = features()
    table = X.astype(object)
    table[:, 1] = list(itertools.islice(itertools.cycle([10, 20, 20, None, "z"]), len(X)))
    table[:, 3] = list(itertools.islice(itertools.cycle([1, 2, 2]), len(X)))
    table[::4, 0] = None
    return {"X": table, "y": y}


def _people_pairs(relation: str) -> Pairs:
    plain = _people()
    pairs = _with_cells(plain)
    for name, row in {
        "another category": (0.5, 30, 0.5, 1), "all missing": (None,) * 4, "unknown": (1.0, "q", 1.0, "q"),
        "unhashable": (1.0, ["a"], 1.0, {"x": 1}), "largest": (LARGEST, 10, -LARGEST, 2), "numbers": (1, 1, 1, 1),
    }.items():  # fmt: skip
        other = plain["X"].copy()
        for at, cell in enumerate(row):
            other[0, at] = cell
        pairs[name] = (plain, plain | {"X": other})
    even = plain["X"].copy()
    even[:, 1] = [10, 20] * (len(even) // 2)
    pairs["the more frequent of two alike"] = (plain | {"X": even}, replaced(plain | {"X": even}, X=even[1]))
    return _less(pairs) if relation == "add-remove" else pairs


def _is(one: Any, name: Any) -> bool:
    try:
        return bool(one == name) and hash(one) == hash(name)
    except TypeError:  # of what is missing, or no single value
        return False


def _imputer(relation: str) -> Case:
    def asked(statement: Any, data: Data, _: Any) -> list[Asked]:
        each = statement.epsilon / 4
        calls = [Asked("laplace", 2 * UNIT / (2 * each), _sums(data["X"], NUMBERS, squares=False))]
        for column, names in NAMED.items():
            held = [row[column] for row in _cells(data["X"])]
            counts = [sum(_is(one, name) for one in held) for name in names]
            # a row that is replaced may raise one count and lower another
            weight = each if relation == "add-remove" else each / 2
            calls.append(Asked("choice", 1.0, weight * np.array(counts), near=1e-4))
        return calls

    def through(_: Data, answers: list[np.ndarray]) -> np.ndarray:
        means = [
            low + (high - low) * (0.5 + mean)
            for (low, high), (mean, _) in zip(NUMBERS.values(), _moments(answers[0], 2, False), strict=True)
        ]
        return np.array([*means, *(float(answer[0]) for answer in answers[1:])])

    def numbers(fitted: Any) -> np.ndarray:
        places = [NAMED[column].index(fitted.values_[column]) for column in NAMED]
        return np.array([*(fitted.values_[column] for column in NUMBERS), *places], dtype=float)

    return Case(
        name=f"imputer {relation}",
        covers=(dpf.PrivateImputer,),
        relation=relation,
        make=estimator(dpf.PrivateImputer, bounds=NUMBERS, categories=NAMED, epsilon=0.9, relation=relation),
        data=_people,
        pairs=lambda: _people_pairs(relation),
        asked=asked,
        numbers=numbers,
        through=through,
        noisy=frozenset({"values_", "cells_"}),
    )


ALL = dict.fromkeys(range(4), (-2.0, 2.0))


def _steps(noise: str, seed: Any) -> dpf.PrivatePipeline:
    given = {"noise": noise, "random_state": seed}
    learner = dpf.OutputPerturbation(
        regularization=MODULUS,
        feature_bound=BOUND,
        epsilon=0.6,
        delta=1e-3,
        classes=(0, 1),
        tolerance=TOLERANCE,
        **given,
    )
    return dpf.PrivatePipeline([
        ("fill", dpf.PublicImputer(dict.fromkeys(ALL, 0.25))),
        ("scale", dpf.PrivateScaler(ALL, epsilon=0.2, **given)),
        ("learn", learner),
    ])  # fmt: skip


def _pipeline() -> Case:
    def filled(data: Data) -> np.ndarray:
        cells = [[_number(cell) for cell in row] for row in _cells(data["X"])]
        return np.where(np.isnan(cells), 0.25, cells)

    def asked(statement: Any, data: Data, answers: list[np.ndarray]) -> list[Asked]:
        X, scaler, learner = filled(data), statement.epsilon / 4, 3 * statement.epsilon / 4
        shift, width = np.array(_scaled(answers[0], ALL)).T
        rows = {"X": (np.clip(X, -2, 2) - shift) / width, "y": data["y"]}
        sigma = _gaussian_deviation(
            learner, statement.delta, _sensitivity(len(X), "logistic", True), "analytic"
        )
        optimum = _minimiser(rows, "logistic", True, (0, 1))
        return [
            Asked("laplace", 4 * UNIT / scaler, _sums(X, ALL, squares=True)),
            Asked("gaussian", sigma, optimum, near=2 * TOLERANCE),
        ]

    def numbers(fitted: Any) -> np.ndarray:
        scaler, learner = fitted.named_steps["scale"], fitted.named_steps["learn"]
        return np.array([*scaler.means_.values(), *learner.coef_[0], *learner.intercept_])

    return Case(
        name="pipeline",
        covers=(dpf.PrivatePipeline,),
        relation="replace-one",
        make=_steps,
        data=lambda: dict(zip("Xy", features(), strict=True)),
        pairs=lambda: _scaler_pairs("replace-one"),
        asked=asked,
        numbers=numbers,
        through=lambda _, answers: np.array([*(mean for mean, _ in _scaled(answers[0], ALL)), *answers[1]]),
        noisy=frozenset({"steps_"}),
    )


MODULI = (0.3, MODULUS, 0.7)


def _candidates(noise: str, seed: Any) -> dpf.PrivateSelection:
    return dpf.PrivateSelection(
        [
            dpf.OutputPerturbation(
                regularization=modulus, feature_bound=BOUND, epsilon=0.3, delta=1e-4, classes=(0, 1),
                tolerance=TOLERANCE, noise=noise, random_state=None if seed is None else seed + 1 + at,
            )
            for at, modulus in enumerate(MODULI)
        ],
        epsilon=0.7, holdout_every=3, noise=noise, random_state=seed,
    )  # fmt: skip


def _selection() -> Case:
    def asked(_: Any, data: Data, answers: list[np.ndarray]) -> list[Asked]:
        held = np.arange(len(data["y"])) % 3 == 2
        X, y = np.array(_cells(data["X"]), dtype=float), np.asarray(data["y"])
        part, calls, correct = {"X": X[~held], "y": y[~held]}, [], []
        for at, modulus in enumerate(MODULI):
            moved = _sensitivity_at(int((~held).sum()), modulus)
            optimum = _minimiser(part, "logistic", True, (0, 1), modulus)
            calls.append(
                Asked(
                    "gaussian", _gaussian_deviation(0.3, 1e-4, moved, "analytic"), optimum, near=2 * TOLERANCE
                )
            )
            weights = answers[at]
            with np.errstate(all="ignore"):
                correct.append(((X[held] @ weights[:-1] + weights[-1] > 0) == (y[held] == 1)).sum())
        # a replaced row may make one candidate right and another wrong
        return [*calls, Asked("choice", 1.0, 0.35 * np.array(correct), near=1e-4)]

    return Case(
        name="selection",
        by_position=True,
        covers=(dpf.PrivateSelection,),
        relation="replace-one",
        make=_candidates,
        data=lambda: dict(zip("Xy", features(), strict=True)),
        pairs=_selection_pairs,
        asked=asked,
        numbers=lambda fitted: np.array([*fitted.best_estimator_.coef_[0], fitted.best_index_], dtype=float),
        through=lambda _, answers: np.array([*answers[int(answers[3][0])][:4], float(answers[3][0])]),
        noisy=frozenset({"best_index_", "best_estimator_"}),
    )


def _selection_pairs() -> Pairs:
    pairs = {
        name: pair
        for name, pair in feature_pairs().items()
        if name not in ("a frame", "a row alone", "objects", "whole numbers", "lists")
    }
    X, y = features()
    plain = {"X": X, "y": y}
    return pairs | {
        "a held-out row": (plain, replaced(plain, 2, X=[50.0, 0.0, -50.0, 0.0], y=1)),
        "a held-out label": (plain, replaced(plain, 5, y=1 - y[5])),
    }


def _sensitivity_at(n: int, modulus: float) -> float:
    """Return `_sensitivity` of the logistic loss with intercept at another modulus."""
    longest, s = math.hypot(BOUND, 1), np.linspace(0, 1, 100_001)
    reach = math.sqrt(longest**2 / modulus * 0.2784645427610738)
    m = float((np.sqrt(1 - s**2) / (1 + np.exp(-reach * s))).max())
    return 2 * longest * (m + TOLERANCE) / (modulus * n)


CASES = [
    *(_scaler(relation) for relation in ("replace-one", "add-remove")),
    *(_imputer(relation) for relation in ("replace-one", "add-remove")),
    _pipeline(),
    _selection(),
]
