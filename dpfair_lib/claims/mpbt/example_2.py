"""MPBT, Example 2: equality of opportunity as a linear form, for every set of desirable labels."""

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
    wrong_levels,
)
from dpfair_lib.fairness.linear_form import fairness_levels, form_coefficients


def check(
    *,
    coefficients: Callable[..., Any] = form_coefficients,
    levels: Callable[..., Any] = fairness_levels,
    search: Search,
) -> Evidence:
    """Judge the coefficients for each desirable set, and the size of the aggregate."""
    judge_form(
        "equal_opportunity",
        _literal,
        coefficients=coefficients,
        levels=levels,
        search=search,
        desirables=((0, 1), (1, 0), (1, 1), (0, 0)),
        factor=Fraction(1, 4),
        gap=_gaps,
    )
    search.fact(
        "mean_level_over_gap",
        "1/4",
        "mean of |F_k| over two sensitive groups and two labels, in true positive gaps",
    )
    return search.evidence()


def _literal(table: np.ndarray, desirable: tuple[int, int]) -> list[Fraction]:
    return [
        desirable[y] * (accuracy(table, [(y, r)]) - accuracy(table, [(y, 0), (y, 1)]))
        for y in (0, 1)
        for r in (0, 1)
    ]


def _gaps(table: np.ndarray, desirable: tuple[int, int]) -> Fraction:
    """The gap of the desirable labels' true rates, added up."""
    return sum(
        (desirable[y] * abs(accuracy(table, [(y, 0)]) - accuracy(table, [(y, 1)])) for y in (0, 1)),
        Fraction(0),
    )


FAULTS: dict[str, dict[str, Any]] = {
    "every label desirable": {
        "coefficients": lambda joint, notion, desirable: form_coefficients(
            joint, notion, 0 * np.asarray(desirable) + 1
        )
    },
    "compared with the others instead of everyone": {"coefficients": against_the_others},
    "the other labels desirable": {
        "levels": lambda table, notion, desirable: fairness_levels(table, notion, 1 - np.asarray(desirable))
    },
    "sign of F_k": {"levels": wrong_levels(lambda levels: -levels)},
}


CLAIM = Claim(
    id="mpbt.example-2",
    where="Example 2, Appendix A",
    statement="Equality of opportunity has the form (1) with C⁰ = 0, C^(y,r) = 1 − P(S = r | y), "
    "C^(y,r′) = −P(S = r′ | y) if the label y is desirable, and with all coefficients 0 "
    "otherwise.",
    verdict="holds",
    kind="as-printed",
    impact="none",
    because="The identity is exact in every table that was enumerated, for each set of desirable labels.",
    headline="Equality of opportunity has the printed linear form; averaged over both labels its level is a quarter of "
    "the true positive gap.",
    finding="Exact for every number of labels and every desirable set. The groups of other labels count with 0 "
    "in the mean of |F_k|: with two labels and two groups, it is a quarter of the true positive gap.",
    chapter="mpbt-linear-form",
    check=check,
    faults=FAULTS,
)
