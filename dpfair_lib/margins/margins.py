"""Margins of classifiers: the score of the true label minus the largest other score."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpfair_lib._arrays import HOST, Space, host_array, space_of
from dpfair_lib._validation import as_binary, as_numbers, as_vector, check_lengths, even, refuse, same_rows

NORMS = ("frobenius", "spectral", "largest-row")


@same_rows
def margins(scores: Any, y: Any) -> Any:
    """Return the margin of each row: the score of the true label minus the largest score of another label.

    The prediction is right where the margin is positive, and wrong where it is negative. Where it is 0, the
    classifier's rule for ties decides.

    Parameters
    ----------
    scores : array of shape (n,) or (n, K)
        One score for each of K ≥ 2 labels. For two labels also one decision value wᵀx, positive for the label 1; it
        stands for the scores 0 and wᵀx.
    y : array of shape (n,)
        Labels 0 … K − 1, the numbers of the columns of ``scores``.

    Returns
    -------
    array of shape (n,)
        The margins, in the units of the scores, where these are and as floats of 64 bits. (A device without them
        computes in 32 bits.)

    Raises
    ------
    ValueError
        If a score is not a finite number, if a label is not the number of a column, or if both are on two devices.

    References
    ----------
    Mangold et al. (2023), § 2.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> dpf.margins([[2.0, 1.0, 0.5], [0.0, 3.0, 2.0]], [0, 2])
    array([ 1., -1.])
    """
    space = space_of(scores=scores, y=y)
    xp, table = space.xp, _scores(scores, space)
    if table.ndim == 1:
        labels = as_binary(_numbers(y, space), "y", space)
        check_lengths(scores=table, y=labels)
        return xp.where(labels == 1, table, -table)
    labels = _numbers(y, space)
    check_lengths(scores=table, y=labels)
    columns = table.shape[1]
    bad = (labels < 0) | (labels >= columns) | (labels % 1 != 0)
    refuse(bad, labels, "y", f"a column of scores, 0 to {columns - 1}", space)
    labels = space.astype(labels, space.whole)
    if not space.host:
        own = labels[:, None] == xp.arange(columns, dtype=space.whole, device=space.device)[None, :]
        others = xp.where(own, space.number(-math.inf, table.dtype), table)
        return xp.sum(xp.where(own, table, space.number(0, table.dtype)), axis=1) - xp.max(others, axis=1)
    rows = np.arange(len(table))
    own = table[rows, labels]
    others = table.copy()
    others[rows, labels] = -np.inf
    return own - others.max(axis=1)


def margin_lipschitz(X: Any, *, norm: str = "frobenius", binary: bool = False) -> Any:
    """Return, for each row, how fast its margin can change with the weights of a linear model.

    This is the smallest L with |ρ(h, x, y) − ρ(h′, x, y)| ≤ L · ‖h − h′‖ for all linear models h, h′ and all labels y,
    where ρ is the margin.

    Parameters
    ----------
    X : array of shape (n, d)
        Features; a column of ones stands for an intercept.
    norm : {"frobenius", "spectral", "largest-row"}
        Norm of the difference of the two K × d weight matrices. L is √2‖x‖, √2‖x‖ and 2‖x‖ respectively, for every K ≥
        2.
    binary : bool
        True if the model is one weight vector for two labels, with the Euclidean norm. L is then ‖x‖ for every
        ``norm``.

    Returns
    -------
    array of shape (n,)
        L, in the units of the features, where these are and as floats of 64 bits, as `margins`.

    Raises
    ------
    ValueError
        If X is not a table of finite numbers, or if the norm is unknown.

    References
    ----------
    Mangold et al. (2023), Assumption 2.1, uses 2‖x‖ for all linear models.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> dpf.margin_lipschitz([[3.0, 4.0], [0.0, 1.0]], binary=True)
    array([5., 1.])
    """
    if norm not in NORMS:
        raise ValueError(f"norm: found {norm!r}, expected one of {', '.join(NORMS)}")
    if not isinstance(binary, bool | np.bool_):
        raise ValueError(f"binary: found {binary!r}, expected True or False")
    space = space_of(X=X)
    xp, table = space.xp, table_of_numbers(X, "X", space)
    # squares are summed after scaling, so that they neither overflow nor vanish
    scale = xp.max(xp.abs(table), axis=1, keepdims=True)
    scale = scale + space.astype(scale == 0, scale.dtype)
    lengths = scale[:, 0] * xp.sqrt(xp.sum(xp.square(table / scale), axis=1))
    if binary:
        return lengths
    return (2.0 if norm == "largest-row" else math.sqrt(2.0)) * lengths


def _numbers(y: Any, space: Space) -> Any:
    labels = as_vector(y, "y", space)
    if space.host and labels.dtype.kind in "USO" and any(isinstance(label, str | bytes) for label in labels):
        raise ValueError(
            "y: found labels that are strings, expected the numbers of the scores' columns; of a model with "
            "two labels pass (y == model.classes_[1])"
        )
    return as_numbers(labels, "y", space)


def _scores(scores: Any, space: Space) -> Any:
    table = plain_array(scores, "scores", space)
    if table.ndim == 1:
        return space.astype(as_numbers(table, "scores", space), space.real)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(
            f"scores: found shape {tuple(table.shape)}, expected (n,) or (n, K) with at least two columns"
        )
    return _entries(table, "scores", space)


def table_of_numbers(values: Any, name: str, space: Space = HOST) -> Any:
    """Return a table of finite floats, with at least one row and one column."""
    table = plain_array(values, name, space)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(
            f"{name}: found shape {tuple(table.shape)}, expected two axes with at least one row and one column"
        )
    return _entries(table, name, space)


def _entries(table: Any, name: str, space: Space) -> Any:
    flat = as_numbers(space.xp.reshape(table, (-1,)), name, space)
    return space.xp.reshape(space.astype(flat, space.real), tuple(table.shape))


def plain_array(values: Any, name: str, space: Space = HOST) -> Any:
    """Return NumPy, pandas, Arrow or list input as an array; an array of another space as it is, there."""
    return even(host_array(values, name), name) if space.host else space.read(values)
