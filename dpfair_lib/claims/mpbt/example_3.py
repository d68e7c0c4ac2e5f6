"""MPBT, Example 3: accuracy parity as a linear form, for any number of labels and groups."""

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

GROUPS = ([(0, 0), (1, 0)], [(0, 1), (1, 1)])


def check(
    *,
    coefficients: Callable[..., Any] = form_coefficients,
    levels: Callable[..., Any] = fairness_levels,
    search: Search,
) -> Evidence:
    """Judge the coefficients, and that the mean of |F_k| is half of the gap of two groups."""
    judge_form(
        "accuracy_parity",
        _literal,
        coefficients=coefficients,
        levels=levels,
        search=search,
        factor=Fraction(1, 2),
        gap=lambda table, _: abs(accuracy(table, GROUPS[0]) - accuracy(table, GROUPS[1])),
    )
    search.fact("mean_level_over_gap", "1/2", "mean of |F_k| over two sensitive groups, in accuracy gaps")
    return search.evidence()


def _literal(table: np.ndarray, _: Any) -> list[Fraction]:
    return [accuracy(table, group) - accuracy(table, GROUPS[0] + GROUPS[1]) for group in GROUPS]


FAULTS: dict[str, dict[str, Any]] = {
    "the mean of the groups, not of the people": {
        "coefficients": wrong_coefficients(
            lambda matrix, _: np.eye(matrix.shape[-1], dtype=int) - (0 * matrix + 1) / matrix.shape[-1]
        )
    },
    "compared with the others instead of everyone": {"coefficients": against_the_others},
    "rows and columns exchanged": {
        "coefficients": wrong_coefficients(lambda matrix, _: matrix.swapaxes(-1, -2))
    },
    "halved": {"levels": wrong_levels(lambda levels: levels / 2)},
}


CLAIM = Claim(
    id="mpbt.example-3",
    where="Example 3, Appendix A",
    statement="Accuracy parity, P(H = Y | r) − P(H = Y), has the form (1) over groups r′ with C⁰ = 0, "
    "C^(r) = 1 − P(S = r) and C^(r′) = −P(S = r′) for r′ ≠ r.",
    verdict="holds",
    kind="as-printed",
    impact="none",
    because="The identity is exact in every table that was enumerated, for any number of labels and groups.",
    headline="Accuracy parity has the printed linear form; with two groups of any shares its mean level is half of "
    "their accuracy gap.",
    finding="Exact for every number of labels and groups. With two groups of any shares, the mean of |F_k| is "
    "half of their accuracy gap.",
    chapter="mpbt-linear-form",
    check=check,
    faults=FAULTS,
)
