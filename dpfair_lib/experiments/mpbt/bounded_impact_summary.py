"""Summary of Table 1 and Figures 1–3 of MPBT: bounds, fairness levels and true privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpfair_lib.experiments.mpbt.bounded_impact import CELLS, EPSILON, SLACK, noise_scale
from dpfair_lib.fairness.linear_form import form_coefficients
from dpfair_lib.margins.corollary import corollary_constants, theorem_constants
from dpfair_lib.privacy.gaussian import gaussian_epsilon
from dpfair_lib.privacy.minimisers import output_perturbation_sensitivity

COLUMNS = ("equal_opportunity", "equalized_odds", "demographic_parity", "accuracy_parity", "accuracy")
GROUPINGS = ("as run", "as stated")
LABELS, GROUPS = 2, 2
DESIRABLE = np.array([0, 1])
COUNTS = ("right", "within", "late", "empirical", "first", "farthest", "near")
DISTANCES = ("sigma", "radius", "late radius", "empirical radius", "first distance", "farthest distance")


def cell_table(rows: pd.DataFrame, column: str) -> np.ndarray:
    """Return a column of counts by label and group, groups in the order of their names.

    Parameters
    ----------
    rows : DataFrame
        With ``label, group`` and one row for each of the four cells; rows for whole labels or groups are left out.
    column : str
        The counts.

    Raises
    ------
    ValueError
        If there are not four cells.
    """
    cells = rows[(rows["label"] != "") & (rows["group"] != "")].sort_values(["label", "group"])
    if len(cells) != CELLS or cells.duplicated(["label", "group"]).any():
        raise ValueError(f"rows: found {len(cells)} cells, expected one for each of {CELLS}")
    return cells[column].to_numpy(dtype=float).reshape(LABELS, GROUPS)


@dataclass(frozen=True)
class FigurePoint:
    """A point of the figures: counts by label and group.

    Attributes
    ----------
    rows : ndarray of shape (2, 2)
        Test rows.
    counts : dict of ndarrays of shape (2, 2)
        The recorded counts, by column.
    private : ndarray of shape (models, 2, 2)
        Rows that each private model has right.
    distances : dict
        The recorded radii and distances, and ``sigma``.
    """

    rows: np.ndarray
    counts: dict[str, np.ndarray]
    private: np.ndarray
    distances: dict[str, float]


def figure_points(rows: pd.DataFrame) -> dict[tuple[str, str, int, float], FigurePoint]:
    """Return the points of a record of the figures by problem, axis, n and ε.

    Raises
    ------
    ValueError
        If its rows are not four cells for each point, always in the same order.
    """
    shape = (-1, LABELS, GROUPS)
    order = list(zip(rows["label"], rows["group"], strict=True))
    if len(rows) % CELLS or order != sorted(set(order[:CELLS])) * (len(rows) // CELLS):
        raise ValueError(f"rows: found {len(rows)}, expected {CELLS} cells for every point, in one order")
    counts = {name: rows[name].to_numpy(dtype=float).reshape(shape) for name in ("rows", *COUNTS)}
    private = np.array(rows["private"].tolist(), dtype=float).reshape(*counts["rows"].shape, -1)
    keys = list(zip(rows["problem"], rows["axis"], rows["n"].tolist(), rows["epsilon"].tolist(), strict=True))
    distances = rows[list(DISTANCES)].to_dict("records")
    return {
        keys[CELLS * at]: FigurePoint(
            counts["rows"][at], {name: counts[name][at] for name in COUNTS}, np.moveaxis(private[at], -1, 0),
            {str(name): float(value) for name, value in distances[CELLS * at].items()},
        )
        for at in range(len(private))
    }  # fmt: skip


def column_bounds(rows: np.ndarray, shares: np.ndarray, *, grouping: str) -> dict[str, float]:
    """Return the bounds of Corollary 3.3 on the five measures, the mean over the groups, from shares of near rows.

    Parameters
    ----------
    rows : array of shape (2, 2)
        Rows by label and group.
    shares : array of shape (2, 2)
        In place of ‖h − h′‖ E[L/|ρ|]: the share of each cell's rows with |ρ|/L ≤ ‖h − h′‖.
    grouping : {"as run", "as stated"}
        As stated, the mean is over all groups of the notion, those of the other label counting 0 for opportunity.
        As run, it is over those of the desirable label, and equalized odds is grouped as accuracy parity.

    Returns
    -------
    dict
        The five bounds, by notion, in the order of the printed columns.

    References
    ----------
    MPBT, Corollary 3.3 and Table 1.
    """
    joint = rows / rows.sum()
    return _grouped(
        {name: corollary_constants(joint, shares, name, DESIRABLE).mean() for name in COLUMNS}, grouping
    )


def column_interval(
    rows: np.ndarray, within: np.ndarray, *, grouping: str
) -> tuple[dict[str, float], dict[str, float]]:
    """Return lower and upper ends of `column_bounds` for the population, at 95 % for all columns together.

    The four cells' shares are unknown and have Clopper–Pearson intervals; the sizes of the cells are taken as they are.

    Parameters
    ----------
    rows, within : arrays of shape (2, 2)
        Test rows, and those near the boundary.
    grouping : str
        As in `column_bounds`.
    """
    from scipy.stats import beta

    tail = 0.05 / CELLS / 2
    with np.errstate(invalid="ignore"):
        low = np.where(within > 0, beta.ppf(tail, within, rows - within + 1), 0.0)
        high = np.where(within < rows, beta.ppf(1 - tail, within + 1, rows - within), 1.0)
    return column_bounds(rows, low, grouping=grouping), column_bounds(rows, high, grouping=grouping)


def projection_bounds(rows: np.ndarray, near: np.ndarray, *, grouping: str) -> dict[str, float]:
    """Return bounds on the same measures from one projection of the noise per row, at the same probability.

    In every cell, with probability 1 − ζ/4, at most the share of rows within the reach of one projection, and
    the slack, change their prediction. Theorem 3.2's coefficients do the rest.

    Parameters
    ----------
    rows, near : arrays of shape (2, 2)
        Test rows, and those whose distance from the boundary is within the reach for ζ/4 and `SLACK`.
    grouping : str
        As in `column_bounds`.
    """
    joint, shares = rows / rows.sum(), np.minimum(near / rows + SLACK, 1.0)
    return _grouped(
        {name: theorem_constants(joint, shares, name, DESIRABLE).mean() for name in COLUMNS}, grouping
    )


def fairness_columns(rows: np.ndarray, right: Any, *, grouping: str) -> dict[str, np.ndarray]:
    """Return the mean of |F_k| for each notion, and the accuracy.

    Parameters
    ----------
    rows : array of shape (2, 2)
        Rows by label and group.
    right : array of shape (…, 2, 2)
        Those that a model predicts rightly; any number of models.
    grouping : str
        As in `column_bounds`.
    """
    joint, right = rows / rows.sum(), np.asarray(right, dtype=float)
    parts = {
        "accuracy": right.sum((-2, -1))[..., None] / rows.sum(),
        "accuracy_parity": right.sum(-2) / rows.sum(0),
    }
    cells = (right / rows).reshape(*right.shape[:-2], -1)
    found = {}
    for name in COLUMNS:
        constant, matrix = form_coefficients(joint, name, DESIRABLE)
        found[name] = np.abs(constant + parts.get(name, cells) @ matrix.T).mean(-1)
    return _grouped(found, grouping)


def _grouped(found: dict[str, Any], grouping: str) -> dict[str, Any]:
    if grouping not in GROUPINGS:
        raise ValueError(f"grouping: found {grouping!r}, expected one of {', '.join(GROUPINGS)}")
    if grouping == "as run":
        found["equal_opportunity"] = found["equal_opportunity"] * LABELS
        found["equalized_odds"] = found["accuracy_parity"]
    return found


def pair_epsilon(bound: float, n: int, moved: float) -> float:
    """Return the ε, at δ = 1/n², that the noise of Table 1 has on a pair of data sets that moves the weights so far.

    Parameters
    ----------
    bound : float
        Λ, from which the noise is computed.
    n : int
        Training rows.
    moved : float
        Euclidean distance of the weights on the two data sets.
    """
    return gaussian_epsilon(1 / n**2, noise_scale(bound, n, EPSILON), moved)


def guaranteed_epsilon(bound: float, n: int, modulus: float) -> float:
    """Return the ε, at δ = 1/n², that the noise of Table 1 has at the sensitivity 2Λ/(μn) of a modulus μ."""
    moved = output_perturbation_sensitivity(lipschitz=bound, strong_convexity=modulus, n=n)
    return pair_epsilon(bound, n, moved)


def equal_records_move(bound: float, n: int, modulus: float) -> float:
    """Return how far one changed label moves the minimiser on n equal records of label 1 and norm ``bound``.

    Parameters
    ----------
    bound : float
        Norm of the records.
    n : int
        Number of records, 2 or more.
    modulus : float
        μ: the mean loss + μ‖w‖²/2 is minimised.
    """
    from scipy.optimize import brentq
    from scipy.special import expit

    def weight(others: int) -> float:
        def slope(w: float) -> float:
            share = others / n
            return modulus * w - bound * ((1 - share) * expit(-bound * w) - share * expit(bound * w))

        return float(brentq(slope, -bound / modulus, bound / modulus, xtol=1e-14, rtol=1e-14))

    return weight(0) - weight(1)


def rounded(value: float) -> float:
    """Return a number to the four digits of the printed table."""
    return math.floor(value * 10_000 + 0.5) / 10_000
