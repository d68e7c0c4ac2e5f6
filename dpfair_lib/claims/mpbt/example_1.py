"""MPBT, Example 1: equalized odds as a linear form, for any number of labels and groups."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.margins.linear_forms import (
    accuracy,
    against_the_others,
    judge_form,
    wrong_coefficients,
    wrong_levels,
)
from dpfair_lib.fairness.linear_form import fairness_levels, form_coefficients


def check(
    *,
    coefficients: Callable[..., Any] = form_coefficients,
    levels: Callable[..., Any] = fairness_levels,
    search: Search,
) -> Evidence:
    """Judge the coefficients, and that the mean of |F_k| is half of the mean gap of two groups."""
    judge_form(
        "equalized_odds",
        _literal,
        coefficients=coefficients,
        levels=levels,
        search=search,
        factor=Fraction(1, 2),
        gap=_mean_gap,
    )
    search.fact(
        "mean_level_over_gap",
        "1/2",
        "mean of |F_k| over two sensitive groups, in mean gaps of the labels' true rates",
    )
    return search.evidence()


def _literal(table: np.ndarray, _: Any) -> list[Fraction]:
    return [accuracy(table, [(y, r)]) - accuracy(table, [(y, 0), (y, 1)]) for y in (0, 1) for r in (0, 1)]


def _mean_gap(table: np.ndarray, _: Any) -> Fraction:
    gaps = [abs(accuracy(table, [(y, 0)]) - accuracy(table, [(y, 1)])) for y in (0, 1)]
    return (gaps[0] + gaps[1]) / 2


FAULTS: dict[str, dict[str, Any]] = {
    "shares of the label in the group": {
        "coefficients": wrong_coefficients(
            lambda matrix, joint: (
                np.eye(matrix.shape[-1], dtype=int)
                - (np.eye(matrix.shape[-1], dtype=int) - matrix)
                * (joint.sum(-1, keepdims=True) / joint.sum((-2, -1), keepdims=True))
                .repeat(joint.shape[-1], -1)
                .reshape(*joint.shape[:-2], 1, -1)
            )
        )
    },
    "own share forgotten": {
        "coefficients": wrong_coefficients(
            lambda matrix, _: np.where(np.eye(matrix.shape[-1], dtype=bool), 1 + 0 * matrix, matrix)
        )
    },
    "compared with the others instead of everyone": {"coefficients": against_the_others},
    "sign of F_k": {"levels": wrong_levels(lambda levels: -levels)},
    "labels in another order": {"levels": wrong_levels(lambda levels: levels[..., ::-1])},
}


CLAIM = Claim(
    id="mpbt.example-1",
    where="Example 1, Appendix A",
    statement="Equalized odds, P(H = Y | y, r) − P(H = Y | y), has the form (1) over groups (y′, r′) "
    "with C⁰ = 0, C^(y,r) = 1 − P(S = r | y), C^(y,r′) = −P(S = r′ | y) for r′ ≠ r, and 0 for "
    "y′ ≠ y.",
    verdict="holds",
    kind="as-printed",
    impact="none",
    because="The identity is exact in every table that was enumerated, for any number of labels and groups.",
    headline="Equalized odds has the printed linear form, for every number of labels and groups; with two groups its "
    "mean level is half the mean gap.",
    finding="Exact for every number of labels and groups in which each pair of them occurs. With two groups of "
    "any shares, the mean of |F_k| is half of the mean over the labels of the gap between the groups' "
    "true rates.",
    chapter="mpbt-linear-form",
    check=check,
    faults=FAULTS,
)
