"""Bounds on errors and rates after noise on a table of counts, for post-processing for equalized odds.

Everything here follows from one event, that no count is moved by more than the radius η. Negative noisy counts are
set to 0, which brings no count further from the truth; a rate of an empty row of the table is ½. Then, for a group's
n rows of one true label, |noisy rate − rate| ≤ min(1, η/n), with n of either table: if the other predicted label has
at least η rows, the share moves by at most η/n; with fewer, it cannot move by more than those rows' share, below η/n.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpfair_lib._arguments import inside_unit, one_of, positive
from dpfair_lib._validation import as_count
from dpfair_lib.privacy import DiscreteLaplaceMechanism, largest_error_bound
from dpfair_lib.privacy.rounding import noise_scale

MECHANISMS = ("geometric", "laplace")
"""What noise a table of counts can get."""

COUNT_SENSITIVITY = {"sensitive-attribute": 2, "replace-one": 2, "add-remove": 1}
"""Relation → by how much, in ℓ₁, a neighbour's table of counts differs at most."""


def noise_radius(
    epsilon: float, *, groups: int, failure: float, relation: str, mechanism: str = "geometric"
) -> float:
    """Return the η that the largest of the 4|A| errors exceeds with probability at most `failure`.

    Parameters
    ----------
    epsilon : float
        ε > 0; the noise has the scale Δ/ε, Δ from `COUNT_SENSITIVITY`.
    groups : int
        |A| ≥ 1.
    failure : float
        β in (0, 1).
    relation : str
        A key of `COUNT_SENSITIVITY`.
    mechanism : {"geometric", "laplace"}
        The noise on the counts.

    Returns
    -------
    float
        In rows. For Laplace noise the probability is exactly β; for geometric noise η is the smallest whole number.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    SK, § 5, prints 2 ln(4|A|/β)/ε, by a union bound.
    """
    cells = 4 * as_count(groups, "groups", 1)
    sensitivity = COUNT_SENSITIVITY[one_of(relation, "relation", COUNT_SENSITIVITY)]
    scale = noise_scale(sensitivity, positive(epsilon, "epsilon"))
    if one_of(mechanism, "mechanism", MECHANISMS) == "laplace":
        return largest_error_bound(failure, scale, cells, "exact")
    each = -math.expm1(math.log1p(-inside_unit(failure, "failure")) / cells)
    return DiscreteLaplaceMechanism(scale, 1).error_bound(each)


def error_deviation(groups: int, radius: Any) -> Any:
    """Return by how much no rule's expected errors differ more between the two tables: 2|A|η.

    The two cells of one predicted label and group enter with weights p and 1 − p, so that together they move the
    errors by at most η. The proof of Lemma A.2 (1) counts both in full, and one of them twice: 6|A|η.
    """
    return 2 * groups * radius


def excess_errors(groups: int, radius: Any) -> Any:
    """Return how many errors more than any rule of the exact program the noisy program's solution makes: 4|A|η.

    With p̃ the solution and p the other rule, a pair of cells moves errors(p̃) − errors(p) by (p − p̃)(δ₀ − δ₁),
    at most 2η. It needs a noisy program in which p is feasible: `slack`.
    """
    return 2 * error_deviation(groups, radius)


def rate_deviation(radius: Any, rows: Any) -> Any:
    """Return by how much a rate differs at most between the two tables: min(1, η/n).

    Parameters
    ----------
    radius : float or Fraction
        η ≥ 0, in rows.
    rows : float, Fraction or array
        n ≥ 0: rows with the one true label in the group, in either table (negative counts set to 0).

    Returns
    -------
    float, Fraction or ndarray
        1 for n = 0.
    """
    rows = np.asarray(rows)
    present = rows > 0
    return np.where(present, np.minimum(radius / np.where(present, rows, 1), 1), 1)[()]


def slack(rows: np.ndarray, pairs: tuple[tuple[int, int], ...], radius: Any) -> np.ndarray:
    """Return what the limits need so that every rule of the exact program is feasible in the noisy one.

    Parameters
    ----------
    rows : ndarray of shape (2, |A|)
        Rows of each true label and group, in either table.
    pairs : tuple of (int, int)
        The groups compared.
    radius : float
        η ≥ 0.

    Returns
    -------
    ndarray of shape (2, number of pairs)
        min(1, η/n_a) + min(1, η/n_b): a rule moves a group's rate by at most what the rate itself moves.
    """
    each = rate_deviation(radius, rows)
    first, second = (list(groups) for groups in zip(*pairs, strict=True))
    return each[:, first] + each[:, second]


def gap_excess(rows: Any, radius: Any) -> Any:
    """Return what the printed noisy program adds to γ at most: 4η/(μ − 2η), for μ > 2η.

    There negative counts stay, the limits get 2η/μ̃ with μ̃ the smaller noisy number of rows of the two groups, and a
    rule's difference moves by 2η/μ̃ more; and μ̃ ≥ μ − 2η.

    Parameters
    ----------
    rows : float or Fraction
        μ: the smaller true number of rows with the one label, of the two groups; or its share.
    radius : float or Fraction
        η ≥ 0, in rows; or as a share.

    Returns
    -------
    float or Fraction
        With η = 2ℓ/ε and μ in rows, 8ℓ/(με − 4ℓ), as SK, § 5, prints it.

    Raises
    ------
    ValueError
        If μ ≤ 2η: then nothing is known of the noisy rates.
    """
    if not rows > 2 * radius:
        raise ValueError(f"rows: found {rows}, expected more than twice the radius {radius}")
    return 4 * radius / (rows - 2 * radius)
