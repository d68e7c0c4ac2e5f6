"""Rows as the metrics read them: checked once, with labels 0 and 1, and rates by group and overall."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib._validation import (
    as_binary,
    as_groups,
    as_levels,
    as_numbers,
    as_probabilities,
    as_vector,
    check_lengths,
    check_row_labels,
)


class Rows(NamedTuple):
    """Rows whose arguments have been checked."""

    y_true: np.ndarray | None
    """Labels 0 and 1; None where no metric asks for them."""
    y_pred: np.ndarray
    """Labels 0 and 1, or probabilities of a positive prediction."""
    groups: list[Any]
    """The groups, sorted."""
    codes: np.ndarray
    """Each row's index into the groups."""
    weight: np.ndarray | None
    """Weights of the rows; None where all are equal."""
    shown: tuple[str, str]
    """What the labels 0 and 1 are called in messages."""


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
        The rows.

    Raises
    ------
    ValueError
        If an argument has a missing value, a wrong shape, length or value, or other row labels than another one.
    """
    given = {"y_true": y_true, "y_pred": y_pred}
    if labels_count and y_true is None:
        raise ValueError("y_true: found None, expected labels")
    check_row_labels(**given, sensitive_features=sensitive_features, sample_weight=sample_weight)
    shown = ("0", "1")
    if pos_label is not None:
        given, shown = _positive_or_not(given, pos_label)
    elif y_true is not None:
        y_true = as_vector(y_true, "y_true")
        given["y_true"] = as_binary(_without_words(y_true, "y_true"), "y_true") if labels_count else y_true
    if pos_label is None:
        given["y_pred"] = as_probabilities(_without_words(as_vector(y_pred, "y_pred"), "y_pred"), "y_pred")
    levels, codes = as_groups(sensitive_features)
    weight = None if sample_weight is None else _weights(sample_weight)
    check_lengths(**given, sensitive_features=codes, sample_weight=weight)
    return Rows(given["y_true"], given["y_pred"], levels.tolist(), codes, weight, shown)


def rates_by_group(rows: Rows, values: np.ndarray, label: int | None = None) -> tuple[np.ndarray, Any]:
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
    counted: Any = None if label is None else rows.y_true == label
    named = "" if label is None else f"label {rows.shown[label]}"
    if counted is not None and not counted.any():
        raise ValueError(f"y_true: found no {named}, expected at least one in every group")
    found = []
    for code, group in enumerate(rows.groups):
        cell = rows.codes == code
        if counted is not None:
            cell = cell & counted
            if not cell.any():
                raise ValueError(f"y_true: found no {named} in group {group!r}, expected at least one")
        if rows.weight is not None and not rows.weight[cell].any():
            with_label = f" with {named}" if named else ""
            raise ValueError(
                f"sample_weight: found only 0 in group {group!r}{with_label}, expected a positive weight"
            )
        found.append(_mean(rows, values, cell))
    return np.array(found), _mean(rows, values, slice(None) if counted is None else counted)


def correct(rows: Rows) -> np.ndarray:
    """Return with which probability each row's prediction is its label."""
    return np.where(rows.y_true == 1, rows.y_pred, 1 - rows.y_pred)


def _mean(rows: Rows, values: np.ndarray, cell: Any) -> Any:
    """Return the mean over a cell; of `Fraction` and integers mixed it is a `Fraction`."""
    chosen = values[cell]
    if rows.weight is None:
        return chosen.sum() / (Fraction(chosen.size) if chosen.dtype == object else chosen.size)
    weight = rows.weight[cell]
    total = weight.sum()
    return (weight * chosen).sum() / (Fraction(total) if weight.dtype == object else total)


def _weights(sample_weight: Any) -> np.ndarray:
    weight = as_numbers(sample_weight, "sample_weight")
    if (weight < 0).any():
        at = int(np.argmax(weight < 0))
        raise ValueError(
            f"sample_weight: found {weight[at]} at position {at}, expected numbers of at least 0"
        )
    if not weight.any():
        raise ValueError("sample_weight: found only 0, expected a positive weight in every group")
    # sums of huge weights would not be finite; exact ones have no largest number
    return weight if weight.dtype == object else weight / weight.max()


def _without_words(values: np.ndarray, name: str) -> np.ndarray:
    """Return labels unless one is a word, which only ``pos_label`` gives a meaning."""
    words = [values[0]] if values.dtype.kind in "US" else []
    if values.dtype == object:
        words = [value for value in values if isinstance(value, str)]
    if words:
        raise ValueError(
            f"{name}: found entries that are not numbers, such as {str(words[0])!r}, expected labels 0 and 1; "
            "for other labels, say with pos_label= which is the positive one"
        )
    return values


def _positive_or_not(given: dict[str, Any], pos_label: Any) -> tuple[dict[str, Any], tuple[str, str]]:
    """Return labels of two kinds as 0 and 1, and what both are called."""
    found = {
        name: as_levels(values, name, of="label") for name, values in given.items() if values is not None
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
        binary[name] = np.array([int(label == pos_label) for label in levels.tolist()])[codes]
    return binary, (others[0], repr(pos_label))
