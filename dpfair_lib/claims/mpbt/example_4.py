"""MPBT, Example 4: demographic parity as a linear form, for two labels; for three there is none."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.margins.linear_forms import (
    as_fractions,
    grouped_accuracies,
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
    """Judge the coefficients, the size of the aggregate, and that a third label leaves no form."""
    judge_form(
        "demographic_parity",
        _literal,
        coefficients=coefficients,
        levels=levels,
        search=search,
        factor=Fraction(1, 2),
        gap=_gap,
        most_labels=2,
    )
    search.fact(
        "mean_level_over_gap",
        "1/2",
        "mean of |F_k| over two sensitive groups and two labels, in parity gaps",
    )
    _three_labels(levels, search)
    return search.evidence()


def _literal(table: np.ndarray, _: Any) -> list[Fraction]:
    return [_rate(table, y, [r]) - _rate(table, y, [0, 1]) for y in (0, 1) for r in (0, 1)]


def _gap(table: np.ndarray, _: Any) -> Fraction:
    return abs(_rate(table, 1, [0]) - _rate(table, 1, [1]))


def _rate(table: np.ndarray, y: int, groups: list[int]) -> Fraction:
    """Return how often label y is predicted in some groups."""
    return Fraction(int(table[:, groups, y].sum()), int(table[:, groups].sum()))


def three_label_tables() -> tuple[np.ndarray, np.ndarray]:
    """Return two tables with the same labels, groups and accuracies: one person is wrong in two different ways."""
    first = np.zeros((3, 2, 3), dtype=int)
    for y in range(3):
        first[y, :, y] = 1
    second = first.copy()
    first[0, 0], second[0, 0] = (0, 1, 0), (0, 0, 1)
    return first, second


def _three_labels(levels: Callable[..., Any], search: Search) -> None:
    search.part("three labels")
    first, second = three_label_tables()
    same = (
        grouped_accuracies(first, "demographic_parity") == grouped_accuracies(second, "demographic_parity")
    ).all()
    apart = [levels(as_fractions(table), "demographic_parity", np.ones(3)) for table in (first, second)]
    difference = max(abs(apart[0] - apart[1]))
    expected = (
        _rate(first, 1, [0]) - _rate(first, 1, [0, 1]) - (_rate(second, 1, [0]) - _rate(second, 1, [0, 1]))
    )
    search.equal(difference, abs(expected), {"tables": [first.tolist(), second.tolist()]})
    search.agree(bool(same) and expected != 0, True, {"tables": [first.tolist(), second.tolist()]})
    search.fact(
        "three_labels_differ_by",
        str(difference),
        "three labels: two classifiers of the same accuracies in every group differ in F_k by",
    )
    search.fact(
        "three_label_tables",
        (first.tolist(), second.tolist()),
        "the two classifiers, as people by label, group and prediction",
    )


def _constant_as(change: Callable[[np.ndarray], np.ndarray]) -> Callable[..., Any]:
    def coefficients(joint: np.ndarray, notion: str, desirable: Any) -> Any:
        constant, matrix = form_coefficients(joint, notion, desirable)
        return change(constant), matrix

    return coefficients


FAULTS: dict[str, dict[str, Any]] = {
    "constant of the other sign": {"coefficients": _constant_as(lambda constant: -constant)},
    "constant forgotten": {"coefficients": _constant_as(lambda constant: 0 * constant)},
    "all signs alike": {"coefficients": wrong_coefficients(lambda matrix, _: -abs(matrix))},
    "own share forgotten": {
        "coefficients": lambda joint, notion, desirable: (
            form_coefficients(joint, notion, desirable)[0],
            form_coefficients(joint, notion, desirable)[1]
            + np.eye(joint.shape[-2] * joint.shape[-1], dtype=int) * joint.reshape(*joint.shape[:-2], 1, -1),
        )
    },
    "twice the difference": {"levels": wrong_levels(lambda levels: 2 * levels)},
}


CLAIM = Claim(
    id="mpbt.example-4",
    where="Example 4, Appendix A",
    statement="For two labels y, ȳ demographic parity has the form (1): C⁰ = P(y) − P(y|r), C^(y,r) = "
    "P(y|r) − P(y,r), C^(ȳ,r) = P(ȳ,r) − P(ȳ|r), and C^(y,r′) = −P(y,r′), C^(ȳ,r′) = P(ȳ,r′) "
    "for r′ ≠ r.",
    verdict="holds",
    kind="as-printed",
    impact="none",
    because="The paper claims the form for two labels only, and there it is exact in every table that was enumerated.",
    headline="Demographic parity has the printed linear form for two labels; for three there is none: equal "
    "accuracies, levels that differ by 1/6.",
    finding="Exact for two labels, which is what it claims; with three there is no such form: two classifiers "
    "of equal accuracies in all groups differ in F_k. With two groups the mean of |F_k| is half of the "
    "parity gap.",
    chapter="mpbt-linear-form",
    check=check,
    faults=FAULTS,
)
