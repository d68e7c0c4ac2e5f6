"""Whether scores are those of a linear model on the features, judged by some of the rows where they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpfair_lib._arrays import HOST, Space

LONGER = 1e3  # so much longer than most is a row that says nothing of whether scores are linear


def check_linear(scores: Any, X: Any, space: Space = HOST) -> None:
    """Raise if the scores of some rows, from all over the table, are not linear in the features.

    With a constant in addition, they are those of a model with an intercept. It changes with the model too, and the
    margins' constants do not allow for it. Where the features span the constant, an intercept looks like weights.
    Otherwise no linear model has them: they are probabilities or predictions, or belong to other rows.
    """
    xp = space.xp
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
        return
    table, values = table[usual], values[usual]
    largest = xp.max(xp.abs(table), axis=0)
    table = table / (
        largest + space.astype(largest == 0, largest.dtype)
    )  # so that no short column is rounded away
    size = float(xp.max(xp.abs(values)))
    if size == 0:
        return
    values = values / size

    def left_over(features: Any) -> float:
        # without the part that the features explain: the directions of their columns, up to rounding
        basis, lengths, _ = xp.linalg.svd(features, full_matrices=False)
        cut = float(xp.max(lengths)) * max(features.shape) * xp.finfo(features.dtype).eps
        basis = basis * space.astype(lengths > cut, basis.dtype)[None, :]
        turned = basis.T
        return float(xp.max(xp.abs(values - basis @ (turned @ values))))

    without = left_over(table)
    if without <= 1e-6:
        return
    ones = space.number(1, table.dtype) + 0 * table[:, :1]
    with_constant = left_over(xp.concat([ones, table], axis=1))
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
