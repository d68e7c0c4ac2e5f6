"""Coverage of certificates: the group fairness of many models on the same rows, and how many lie within the bounds.

Only counts are stored, not the table of rows times models. The same code counts NumPy arrays and torch tensors, on a
CPU or a GPU, in 64 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpfair_lib._validation import as_binary, as_groups, check_lengths
from dpfair_lib.fairness.linear_form import (
    NOTIONS,
    check_notion,
    desirable_labels,
    form_coefficients,
    members,
)
from dpfair_lib.margins.certificate import FairnessCertificate
from dpfair_lib.margins.margins import table_of_numbers

BLOCK = 1 << 18  # entries of rows times models at a time: they stay in a processor's cache


def fairness_of_models(
    models: Any, y: Any, *, X: Any, sensitive_features: Any, notions: Sequence[str] = NOTIONS
) -> dict[str, np.ndarray]:
    """Return F_k of every group, for each of many linear models.

    Parameters
    ----------
    models : array of shape (R, d)
        One weight vector for each model.
    y : array of shape (n,)
        Labels 0 and 1.
    X : array of shape (n, d)
        Features, a column of ones included if there is an intercept.
    sensitive_features : array of shape (n,)
        Each row's group; every group needs both labels.
    notions : sequence of str
        As in `fairness_coefficients`.

    Returns
    -------
    dict
        Notion → array of shape (R, K), groups in the order of `fairness_certificate`. A score of 0 counts as a wrong
        prediction, but rows of zeros, whose score is 0 under every model, as predicted 0, as there.

    Raises
    ------
    ValueError
        If an argument is malformed, or a group lacks a label.
    """
    from threadpoolctl import threadpool_limits

    for notion in notions:
        check_notion(notion)
    table, weights = table_of_numbers(X, "X"), table_of_numbers(models, "models")
    if weights.shape[1] != table.shape[1]:
        raise ValueError(
            f"models: found shape {weights.shape}, expected (R, {table.shape[1]}), a column for each feature"
        )
    label = as_binary(y, "y")
    levels, group = as_groups(sensitive_features)
    check_lengths(X=table, y=label, sensitive_features=group)
    parts = signed_cells(table, label, group, len(levels))
    rows = np.array([len(part) for part in parts])
    if not rows.all():
        at = int(np.argmin(rows))
        raise ValueError(
            f"sensitive_features: found no row of group {levels.tolist()[at % len(levels)]!r} with label "
            f"{at // len(levels)}, expected both labels in every group"
        )
    with threadpool_limits(1, user_api="blas"):  # blocks are small: threads would only wait for one another
        right = np.stack(right_counts(parts, weights), axis=1)
    # rows of zeros are predicted 0, and so right, in the cells of label 0, which come first
    right[:, : len(levels)] += [int((~part.any(axis=1)).sum()) for part in parts[: len(levels)]]
    return {notion: levels_of_counts(right, rows.reshape(2, -1), notion) for notion in notions}


def coverage(certificate: FairnessCertificate, levels: np.ndarray) -> float:
    """Return the share of models whose fairness lies in the certificate's intervals, for all groups at once.

    Parameters
    ----------
    certificate : FairnessCertificate
        Of K groups.
    levels : array of shape (R, K)
        As `fairness_of_models` returns them for the certificate's notion.

    Returns
    -------
    float
        Within rounding of the levels.

    Raises
    ------
    ValueError
        If the numbers of groups differ.
    """
    table = table_of_numbers(levels, "levels")
    if table.shape[1] != len(certificate.groups):
        raise ValueError(
            f"levels: found shape {table.shape}, expected (R, {len(certificate.groups)}), a column for each group"
        )
    inside = (certificate.lower - 1e-12 <= table) & (table <= certificate.upper + 1e-12)
    return float(inside.all(axis=1).mean())


def signed_cells(table: Any, label: Any, group: Any, groups: int) -> list[Any]:
    """Return the rows of each cell (label, group), label first; those of label 0 are negated.

    A model is then right about a row where the score is positive. Arguments are all arrays or all tensors.
    """
    code = label * groups + group
    return [table[code == cell] * (1 if cell >= groups else -1) for cell in range(2 * groups)]


def right_counts(parts: Sequence[Any], models: Any, *, block: int = BLOCK) -> list[Any]:
    """Return, for each part, how many of its signed rows every model is right about.

    Parameters
    ----------
    parts : sequence of arrays or tensors of shape (n_k, d)
        As `signed_cells` returns them.
    models : array or tensor of shape (R, d)
        Weight vectors; where they are tensors, on the device of the parts.
    block : int
        Entries of rows times models that are held at a time.

    Returns
    -------
    list of arrays or tensors of shape (R,)
        Counts.
    """
    size = max(1, block // len(models))
    return [
        sum((rows[start : start + size] @ models.T > 0).sum(0) for start in range(0, len(rows), size))
        for rows in parts
    ]


def levels_of_counts(right: np.ndarray, rows: np.ndarray, notion: str) -> np.ndarray:
    """Return F_k of each model, shape (R, K), from its right predictions in each cell.

    Parameters
    ----------
    right : array of shape (R, labels · groups)
        Counts of right predictions.
    rows : array of shape (labels, groups)
        Counts of rows, all positive.
    notion : str
        As in `fairness_coefficients`.
    """
    constant, matrix = form_coefficients(
        rows / rows.sum(), notion, desirable_labels(np.arange(2), notion, None)
    )
    part_of = members(notion, *rows.shape)
    return np.asarray(constant + (right @ part_of.T / (part_of @ rows.ravel())) @ matrix.T)
