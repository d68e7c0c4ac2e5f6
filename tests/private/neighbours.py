"""Neighbouring tables, adversarial ones: of features and labels, of groups and predictions, of people's own values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import torch

LARGEST = float(np.finfo(float).max)
EXTREME: dict[str, list[float]] = {
    "largest": [LARGEST, LARGEST, LARGEST, LARGEST],
    "largest of both signs": [1.7e308, 1.7e308, -1.7e308, -1.7e308],  # sums of halves are ∞ and −∞
    "largest in turn": [1.7e308, -1.7e308, 1.7e308, -1.7e308],
    "smallest": [5e-324, -5e-324, 5e-324, 0.0],
    "zeros": [0.0, 0.0, 0.0, 0.0],
    "minus zeros": [-0.0, -0.0, -0.0, -0.0],
    "half of the largest": [8.9e307, 8.9e307, 8.9e307, -8.9e307],
    "large beside small": [1.7e308, 5e-324, 0.0, 1.0],
    "square overflows": [1e160, -1e160, 1e160, 1.0],
    "exponential overflows": [710.0, -710.0, 1e4, 0.0],
}


def features(n: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of four features, and labels 0 and 1."""
    X = np.random.default_rng(1).normal(size=(n, 4))
    return X, np.tile([0, 1], n // 2)


def replaced(data: dict[str, Any], row: int = 0, **new: Any) -> dict[str, Any]:
    """Return the data with one row of some columns replaced."""
    changed = dict(data)
    for name, value in new.items():
        changed[name] = np.array(data[name], copy=True)
        changed[name][row] = value
    return changed


def feature_pairs(labels: bool = True, **others: Any) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return pairs that differ in one row: its features, or its label; the label also where no other row has it.

    Parameters
    ----------
    labels : bool
        Whether a data set with one label only is one that the statement speaks of.
    others
        Further columns, left as they are.
    """
    X, y = features()
    plain = {"X": X, "y": y, **others}
    pairs = {name: (plain, replaced(plain, X=row)) for name, row in EXTREME.items()}
    pairs |= {f"{name}, last row": (plain, replaced(plain, -1, X=row)) for name, row in EXTREME.items()}
    same = plain | {"X": np.repeat(X[1:2], len(X), axis=0)}
    pairs["equal rows, but for one"] = (same, replaced(same, X=EXTREME["largest of both signs"]))
    nothing = plain | {"X": np.zeros_like(X)}
    pairs["zeros, but for one row"] = (nothing, replaced(nothing, X=EXTREME["largest"]))
    pairs["a copy of another row"] = (plain, replaced(plain, X=X[1], y=y[1]))
    pairs["another label"] = (plain, replaced(plain, y=1 - y[0]))
    narrow = plain | {"X": X.astype(np.float32)}
    pairs["32 bits"] = (narrow, replaced(narrow, X=np.float32(3.4e38) * np.array([1, 1, -1, -1])))
    whole = plain | {"X": np.round(X * 3).astype(np.int64)}
    pairs["whole numbers"] = (whole, replaced(whole, X=[2**63 - 1, -(2**63), 0, 1]))
    framed = plain | {"X": pd.DataFrame(X, columns=list("pqrs"))}
    wide = pd.DataFrame([EXTREME["largest of both signs"], *X[1:]], columns=list("pqrs"))
    pairs["a frame"] = (framed, framed | {"X": wide})
    things = plain | {"X": X.astype(object)}
    pairs["objects"] = (things, replaced(things, X=[1, True, 1.7e308, -1.7e308]))
    alone = {name: column[:1] for name, column in plain.items()}
    pairs["a row alone"] = (alone, replaced(alone, X=EXTREME["largest of both signs"], y=1 - y[0]))
    listed = plain | {"X": X.tolist()}
    pairs["lists"] = (listed, listed | {"X": [EXTREME["largest of both signs"], *X.tolist()[1:]]})
    apart = plain | {"X": np.column_stack([2.0 * y - 1, X[:, 1:]])}
    pairs["separable, but for one"] = (apart, replaced(apart, y=1 - y[0]))
    if labels:
        one = plain | {"y": np.zeros_like(y)}
        pairs["one label only"] = (one, replaced(one, y=1))
        pairs["one label only, 1"] = (
            plain | {"y": np.ones_like(y)},
            replaced(plain | {"y": np.ones_like(y)}, y=0),
        )
    return pairs


def table(
    n: int = 12, *, labels: tuple[str, ...] = ("y_pred",), group: str = "sensitive_features"
) -> dict[str, Any]:
    """Return columns of labels 0 and 1, and of groups "a" and "b"."""
    columns: dict[str, Any] = {name: (np.arange(n) // (at + 1)) % 2 for at, name in enumerate(labels)}
    columns[group] = np.where(np.arange(n) % 3 == 0, "a", "b")
    return columns


def table_pairs(
    relation: str, *, labels: tuple[str, ...] = ("y_pred",), group: str = "sensitive_features"
) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return neighbouring tables under a relation; with one label only, and with a group of nobody or of one, too."""
    pairs: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for size in (12, 2):
        whole = table(size, labels=labels, group=group)
        starts = {"both labels": whole}
        for value in (0, 1):
            starts[f"label {value} only"] = whole | {name: np.full(size, value) for name in labels}
        if relation != "replace-within-group":
            starts["group b only"] = whole | {group: np.full(size, "b")}
        for name, one in starts.items():
            for row in (0, 1):  # of group "a", and of "b"
                moved = _moved(relation, one, row, labels, group)
                pairs |= {f"{name}, {size} rows, row {row}: {how}": (one, two) for how, two in moved}
    words = table(labels=labels, group=group)
    words[group] = words[group].astype(object)
    for row in (0, 1):  # NumPy's string among Python's: the same group, written otherwise
        other = replaced(words, row, **{group: np.str_(words[group][row])})
        gone = {name: np.delete(column, row) for name, column in other.items()}
        pairs[f"row {row} written otherwise"] = (other, gone if relation == "add-remove" else words)
    if relation == "add-remove":
        single = table(1, labels=labels, group=group)
        nobody = {name: column[:0] for name, column in single.items()}
        pairs["one row or none"] = (single, nobody)
        pairs["one row or none, listed"] = tuple(
            {n: c.tolist() for n, c in one.items()} for one in (single, nobody)
        )
        pairs["one row or none, tensors"] = tuple(
            {n: c if n == group else torch.tensor(c) for n, c in one.items()} for one in (single, nobody)
        )
    return pairs


def _moved(
    relation: str, one: dict[str, Any], row: int, labels: tuple[str, ...], group: str
) -> list[tuple[str, dict[str, Any]]]:
    flipped = {name: 1 - one[name][row] for name in labels}
    other = {group: "b" if one[group][row] == "a" else "a"}
    if relation == "add-remove":
        return [("a row less", {name: np.delete(column, row) for name, column in one.items()})]
    changes: dict[str, dict[str, Any]] = {}
    if relation != "sensitive-attribute":
        changes |= {f"another {name}": {name: value} for name, value in flipped.items()}
    if relation != "replace-within-group":
        changes["another group"] = other
    if relation == "replace-one":
        changes["all else"] = flipped | other
    return [(how, replaced(one, row, **new)) for how, new in changes.items()]
