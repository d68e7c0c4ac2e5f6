"""Whether scores are those of a linear model of the features, or hide an intercept; judged where the rows are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpfair_lib._arrays import HOST, Space

LONGER = 1e3  # so much longer than most is a row that says nothing of whether scores are linear
SPANNED = (
    1e-3  # a constant that columns make up to this share of it: an intercept times it would pass as rounding
)
EXPECTED = "expected the column of ones, or intercept=False for a model without intercept"


def check_linear(scores: Any, X: Any, intercept: bool | None = None, space: Space = HOST) -> None:
    """Raise if the scores of some rows, from all over the table, are not linear in the features.

    With a constant in addition, they are those of a model with an intercept. It changes with the model too, and the
    margins' constants do not allow for it. Where the features span the constant, or where there are few rows, an
    intercept looks like weights: without a column of ones, `intercept` must say False there.
    Otherwise no linear model has them: they are probabilities or predictions, or belong to other rows.
    """
    if intercept is not None and not isinstance(intercept, bool | np.bool_):
        raise ValueError(f"intercept: found {intercept!r}, expected True, False or None")
    xp = space.xp
    ones = bool(xp.any(xp.all(X == 1, axis=0) | xp.all(X == -1, axis=0)))
    if intercept and not ones:
        raise ValueError("X: found no column of ones, expected one beside intercept=True")
    settled = ones or intercept is not None
    # spread out: tables are often sorted, and a column that is constant over the first rows would span the constant
    some = np.unique(np.linspace(0, X.shape[0] - 1, 4 * X.shape[1] + 100).astype(int))
    rows = space.put(some)
    table, values = (space.astype(xp.take(one, rows, axis=0), space.real) for one in (X, scores))
    # one record that is far longer than the others and has the score 0 would decide what is refused: it is left out
    sizes = xp.abs(table)
    with np.errstate(over="ignore"):
        length = xp.max(sizes / _middle(sizes, space), axis=1)
    usual = length <= LONGER * _middle(length[:, None], space)
    if space.many(usual) < 2 * X.shape[1] + 4:  # too few to decide
        if not settled:
            raise ValueError(f"X: found no column of ones, and too few rows to see an intercept, {EXPECTED}")
        return
    table, values = table[usual], values[usual]
    largest = xp.max(xp.abs(table), axis=0)
    table = table / (
        largest + space.astype(largest == 0, largest.dtype)
    )  # so that no short column is rounded away
    constant = space.number(1, table.dtype) + 0 * table[:, 0]

    def left_over(features: Any, of: Any) -> float:
        # without the part that the features explain: the directions of their columns, up to rounding
        basis, lengths, _ = xp.linalg.svd(features, full_matrices=False)
        cut = float(xp.max(lengths)) * max(features.shape) * xp.finfo(features.dtype).eps
        basis = basis * space.astype(lengths > cut, basis.dtype)[None, :]
        turned = basis.T
        return float(xp.max(xp.abs(of - basis @ (turned @ of))))

    if not settled and left_over(table, constant) < SPANNED:
        raise ValueError(f"X: found no column of ones, but columns that add up to a constant, {EXPECTED}")
    size = float(xp.max(xp.abs(values)))
    if size == 0:
        return
    values = values / size
    without = left_over(table, values)
    if without <= 1e-6:
        return
    with_constant = left_over(xp.concat([constant[:, None], table], axis=1), values)
    if with_constant < 1e-3 * without:
        raise ValueError(
            "X: found no column of ones, but scores with a constant term, expected the column if there is an intercept"
        )
    if with_constant > 1e-4:  # sums in 32 bits are nearer than that
        raise ValueError(
            "scores: found numbers that are not linear in X, expected the decision values of a linear model on these "
            "rows in this order, no probabilities, no predictions, nothing rounded"
        )


def _middle(sizes: Any, space: Space) -> Any:
    """Return the lower median of each column's positive numbers, and 1 for a column without any."""
    xp = space.xp
    infinite, one = space.number(math.inf, sizes.dtype), space.number(1, sizes.dtype)
    ordered = xp.sort(xp.where(sizes > 0, sizes, infinite), axis=0)
    number = xp.sum(space.astype(sizes > 0, space.whole), axis=0)
    place = xp.arange(sizes.shape[0], dtype=space.whole, device=space.device)[:, None]
    nothing = space.number(0, sizes.dtype)
    middle = xp.sum(xp.where(place == (number - 1) // 2, ordered, nothing), axis=0)
    return xp.where(number > 0, middle, one)
