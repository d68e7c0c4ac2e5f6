"""Whether scores are those of a linear model of the features, and where an intercept hides."""

from __future__ import annotations

import numpy as np

LONGER = 1e3  # so much longer than most is a row that says nothing of whether scores are linear
SPANNED = (
    1e-3  # a constant that columns make up to this share of it: an intercept times it would pass as rounding
)
EXPECTED = "expected the column of ones, or intercept=False for a model without intercept"


def check_linear(scores: np.ndarray, X: np.ndarray, intercept: bool | None = None) -> None:
    """Raise if the scores of some rows, from all over the table, are not linear in the features.

    With a constant in addition, they are those of a model with an intercept. It changes with the model too, and the
    margins' constants do not allow for it. Where the features span the constant, or where there are few rows, an
    intercept looks like weights: without a column of ones, `intercept` must say False there.
    Otherwise no linear model has them: they are probabilities or predictions, or belong to other rows.
    """
    if intercept is not None and not isinstance(intercept, bool | np.bool_):
        raise ValueError(f"intercept: found {intercept!r}, expected True, False or None")
    ones = bool(((X == 1).all(axis=0) | (X == -1).all(axis=0)).any())
    if intercept and not ones:
        raise ValueError("X: found no column of ones, expected one beside intercept=True")
    settled = ones or intercept is not None
    # spread out: tables are often sorted, and a column that is constant over the first rows would span the constant
    rows = np.unique(np.linspace(0, len(X) - 1, 4 * X.shape[1] + 100).astype(int))
    table, values = X[rows].astype(float), scores[rows].astype(float)
    # one record that is far longer than the others and has the score 0 would decide what is refused: it is left out
    sizes = np.where(table == 0, np.nan, abs(table))
    with np.errstate(over="ignore"):
        length = np.nan_to_num(sizes / _middle(sizes), posinf=np.inf).max(axis=1)
    usual = length <= LONGER * np.nan_to_num(_middle(np.where(length > 0, length, np.nan)[:, None]))
    table, values = table[usual], values[usual]
    if len(table) < 2 * X.shape[1] + 4:  # too few to decide
        if not settled:
            raise ValueError(f"X: found no column of ones, and too few rows to see an intercept, {EXPECTED}")
        return
    largest = abs(table).max(axis=0)
    table /= np.where(largest > 0, largest, 1)  # so that no short column is rounded away

    def left_over(features: np.ndarray, of: np.ndarray = values) -> float:
        return float(abs(of - features @ np.linalg.lstsq(features, of)[0]).max())

    if not settled and left_over(table, np.ones(len(table))) < SPANNED:
        raise ValueError(f"X: found no column of ones, but columns that add up to a constant, {EXPECTED}")
    without, size = left_over(table), float(abs(values).max())
    if without <= 1e-6 * size:
        return
    with_constant = left_over(np.insert(table, 0, 1.0, axis=1))
    if with_constant < 1e-3 * without:
        raise ValueError(
            "X: found no column of ones, but scores with a constant term, expected the column if there is an intercept"
        )
    if with_constant > 1e-4 * size:  # sums in 32 bits are nearer than that
        raise ValueError(
            "scores: found numbers that are not linear in X, expected the decision values of a linear model on these "
            "rows in this order, no probabilities, no predictions, nothing rounded"
        )


def _middle(sizes: np.ndarray) -> np.ndarray:
    """Return the lower median of each column without its NaNs, and 1 for a column of NaNs."""
    all_missing = np.isnan(sizes).all(axis=0)
    return np.where(
        all_missing, 1.0, np.nanquantile(np.where(all_missing, 1.0, sizes), 0.5, axis=0, method="lower")
    )
