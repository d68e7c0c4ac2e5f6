"""Rows as the metrics read them: checked once, with labels 0 and 1, and rates by group and overall.

Rows of another namespace than NumPy's stay on their device. Only the sums of each group come to the host.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib._arrays import HOST, Space, space_of
from dpfair_lib._validation import (
    as_binary,
    as_groups,
    as_levels,
    as_numbers,
    as_probabilities,
    as_vector,
    check_lengths,
    check_row_labels,
    refuse,
    without_words,
)

PICK = "for other labels, say with pos_label= which is the positive one"
"""What to do with words instead, for messages."""


class Rows(NamedTuple):
    """Rows whose arguments have been checked."""

    y_true: Any
    """Labels 0 and 1; None where no metric asks for them."""
    y_pred: Any
    """Labels 0 and 1, or probabilities of a positive prediction."""
    groups: list[Any]
    """The groups, sorted."""
    codes: Any
    """Each row's index into the groups."""
    weight: Any
    """Weights of the rows; None where all are equal."""
    shown: tuple[str, str]
    """What the labels 0 and 1 are called in messages."""
    space: Space = HOST
    """Where the arrays are."""


def read_rows(
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
    *,
    labels_count: bool = True,
) -> Rows:
    """Check what a metric was given, and return it as arrays.

    Parameters
    ----------
    y_true : array of shape (n,) or None
        Labels; None only if they do not count.
    y_pred : array of shape (n,)
        Predicted labels, or probabilities of a positive prediction.
    sensitive_features : array of shape (n,) or (n, c)
        Groups.
    sample_weight : array of shape (n,) or None
        Weights, at least 0.
    pos_label : label or None
        The positive label; None for labels 0 and 1, and for probabilities.
    labels_count : bool
        Whether the labels enter the metric. If not, ``y_true`` may have any entries, and only its length is checked.

    Returns
    -------
    Rows
        The rows, where they were given.

    Raises
    ------
    ValueError
        If an argument has a missing value, a wrong shape, length or value, or other row labels than another one; if
        one is on another device than the others.
    """
    given = {"y_true": y_true, "y_pred": y_pred}
    if labels_count and y_true is None:
        raise ValueError("y_true: found None, expected labels")
    others = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
    space = space_of(**given, **others)
    check_row_labels(**given, **others)
    shown = ("0", "1")
    if pos_label is not None:
        given, shown = _positive_or_not(given, pos_label, space)
    elif y_true is not None:
        y_true = as_vector(y_true, "y_true", space)
        if labels_count:
            y_true = as_binary(without_words(y_true, "y_true", space, PICK), "y_true", space)
        given["y_true"] = y_true
    if pos_label is None:
        y_pred = without_words(as_vector(y_pred, "y_pred", space), "y_pred", space, PICK)
        given["y_pred"] = as_probabilities(y_pred, "y_pred", space)
    levels, codes = as_groups(sensitive_features, space=space)
    weight = None if sample_weight is None else _weights(sample_weight, space)
    check_lengths(**given, sensitive_features=codes, sample_weight=weight)
    return Rows(given["y_true"], given["y_pred"], levels.tolist(), codes, weight, shown, space)


def rates_by_group(rows: Rows, values: Any, label: int | None = None) -> tuple[np.ndarray, Any]:
    """Return the mean of values in each group and in all rows, or among those of one label.

    Parameters
    ----------
    rows : Rows
        Groups, weights and labels.
    values : array of shape (n,)
        What is averaged.
    label : {0, 1}, optional
        Only rows with this label count.

    Returns
    -------
    by_group : ndarray of shape (groups,)
        Means in the order of the groups.
    overall : float or Fraction
        Mean of all.

    Raises
    ------
    ValueError
        If a group has no row with this label, or only weights 0, since its mean is then not defined.
    """
    named = "" if label is None else f"label {rows.shown[label]}"
    *cells, everybody = _cells(rows, values, label)
    if not everybody.rows:
        raise ValueError(f"y_true: found no {named}, expected at least one in every group")
    for group, cell in zip(rows.groups, cells, strict=True):
        if not cell.rows:
            raise ValueError(f"y_true: found no {named} in group {group!r}, expected at least one")
        if not cell.weight:
            with_label = f" with {named}" if named else ""
            raise ValueError(
                f"sample_weight: found only 0 in group {group!r}{with_label}, expected a positive weight"
            )
    return np.array([cell.mean() for cell in cells]), everybody.mean()


def sums_by_group(rows: Rows, values: Any, label: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum of values in each group and its number of rows, or those among the rows of one label.

    Parameters
    ----------
    rows : Rows
        Groups and labels; weights do not count.
    values : array of shape (n,)
        What is added up.
    label : {0, 1}, optional
        Only rows with this label count.

    Returns
    -------
    totals, sizes : ndarray of shape (groups,)
        In the order of the groups, as floats.
    """
    space, groups = rows.space, len(rows.groups)
    values = space.astype(values, space.real)
    if label is None:
        return space.totals(rows.codes, values, groups), space.counts(rows.codes, groups).astype(float)
    counted = space.astype(rows.y_true == label, space.real)
    return space.totals(rows.codes, values * counted, groups), space.totals(rows.codes, counted, groups)


def correct(rows: Rows) -> Any:
    """Return with which probability each row's prediction is its label."""
    return rows.space.xp.where(rows.y_true == 1, rows.y_pred, 1 - rows.y_pred)


class _Cell(NamedTuple):
    """Sums over the rows of one cell."""

    rows: int
    weight: Any
    """The number of rows where all weights are equal."""
    total: Any
    """Of the weighted values."""
    exact: bool = False

    def mean(self) -> Any:
        """Return the mean; of `Fraction` and integers mixed it is a `Fraction`."""
        return self.total / (Fraction(self.weight) if self.exact else self.weight)


def _cells(rows: Rows, values: Any, label: int | None) -> list[_Cell]:
    """Return the sums of each group, and last those of all groups."""
    counted = None if label is None else rows.y_true == label
    inside = (rows.codes == code for code in range(len(rows.groups)))
    chosen = (
        cell if counted is None else cell & counted for cell in inside
    )  # one at a time: each has n entries
    if rows.space.host:
        everybody = slice(None) if counted is None else counted
        return [_host_cell(rows, values, cell) for cell in itertools.chain(chosen, [everybody])]
    return _cells_elsewhere(
        rows, values, itertools.chain(chosen, [rows.codes >= 0 if counted is None else counted])
    )


def _host_cell(rows: Rows, values: np.ndarray, cell: Any) -> _Cell:
    own = values[cell]
    if rows.weight is None:
        return _Cell(own.size, own.size, own.sum(), own.dtype == object)
    weight = rows.weight[cell]
    return _Cell(own.size, weight.sum(), (weight * own).sum(), weight.dtype == object)


def _cells_elsewhere(rows: Rows, values: Any, chosen: Iterable[Any]) -> list[_Cell]:
    """Add up on the device; three sums of each cell come to the host."""
    space, weight = rows.space, rows.weight
    values = space.astype(values, space.real)
    weighted = values if weight is None else values * weight
    sizes, weights, totals = [], [], []
    for cell in chosen:
        sizes.append(space.xp.sum(space.astype(cell, space.whole)))
        weights.append(sizes[-1] if weight is None else space.sum_where(cell, weight))
        totals.append(space.sum_where(cell, weighted))
    sums = (space.table(sizes).tolist(), space.table(weights), space.table(totals).astype(float))
    return [_Cell(*cell) for cell in zip(*sums, strict=True)]


def _weights(sample_weight: Any, space: Space) -> Any:
    weight = as_numbers(sample_weight, "sample_weight", space)
    refuse(weight < 0, weight, "sample_weight", "numbers of at least 0", space)
    if not space.any(weight != 0):
        raise ValueError("sample_weight: found only 0, expected a positive weight in every group")
    # sums of huge weights would not be finite; exact ones have no largest number
    return weight if weight.dtype == object else weight / space.xp.max(weight)


def _positive_or_not(
    given: dict[str, Any], pos_label: Any, space: Space
) -> tuple[dict[str, Any], tuple[str, str]]:
    """Return labels of two kinds as 0 and 1, and what both are called."""
    found = {
        name: as_levels(values, name, of="label", space=space)
        for name, values in given.items()
        if values is not None
    }
    known = list(dict.fromkeys(label for levels, _ in found.values() for label in levels.tolist()))
    if len(known) > 2 or len({isinstance(label, str) for label in known}) > 1:
        raise ValueError(
            f"{', '.join(found)}: found the labels {', '.join(map(repr, known[:5]))}, "
            "expected at most two, of one type"
        )
    if np.ndim(pos_label) or pos_label not in known:
        raise ValueError(f"pos_label: found {pos_label!r}, expected one of {known}")
    others = [repr(label) for label in known if label != pos_label] or [f"other than {pos_label!r}"]
    binary: dict[str, Any] = dict.fromkeys(given)
    for name, (levels, codes) in found.items():
        table = np.array([int(label == pos_label) for label in levels.tolist()])
        binary[name] = space.take(table, codes)
    return binary, (others[0], repr(pos_label))
