"""One judgement for the four examples of MPBT: a notion against its linear form, on tables of labels and groups."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.search import Search
from dpfair_lib.fairness.linear_form import fairness_levels, form_coefficients

Table = tuple[tuple[tuple[int, ...], ...], ...]  # people by label, group and prediction
SIZES = (1, 2)


def small_tables() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Every table of two labels and two groups with 1 or 2 people a cell, all of a cell right or all wrong.

    Both sides of equation (1) are affine in the cells' accuracies, so that these corners decide for all accuracies.
    """
    for sizes in itertools.product(SIZES, repeat=4):
        joint = np.array(sizes).reshape(2, 2)
        for right in itertools.product((0, 1), repeat=4):
            table = np.zeros((2, 2, 2), dtype=int)
            for (y, r), is_right in zip(itertools.product((0, 1), repeat=2), right, strict=True):
                table[y, r, y if is_right else 1 - y] = joint[y, r]
            yield joint, table


SMALL = len(SIZES) ** 4 * 2**4


def as_fractions(table: np.ndarray) -> np.ndarray:
    """Return the table of counts as probabilities."""
    total = int(table.sum())
    return np.array([Fraction(int(entry), total) for entry in table.ravel()], dtype=object).reshape(
        table.shape
    )


def judge_form(
    notion: str,
    literal: Callable[..., list[Fraction]],
    *,
    coefficients: Callable[..., Any],
    levels: Callable[..., Any],
    search: Search,
    desirables: tuple[tuple[int, int], ...] = ((0, 1),),
    factor: Fraction,
    gap: Callable[..., Fraction],
    most_labels: int = 4,
) -> None:
    """Judge a notion's definition, its linear form and the size of its aggregate.

    Parameters
    ----------
    notion : str
        Name of the notion.
    literal : callable
        ``literal(table, desirable)``: F_k from the definition, counted person by person, in fractions.
    coefficients, levels : callable
        The library's functions, or planted faults.
    search : Search
        Where the cases go.
    desirables : tuple
        Which labels are desirable, in turn.
    factor : Fraction
        How often the usual gap the mean of |F_k| is.
    gap : callable
        ``gap(table, desirable)``: the usual gap.
    most_labels : int
        The random tables have up to so many labels.
    """
    search.part("two labels, two groups")
    forms: dict[Any, Any] = {}
    cases = 0
    for joint, table in small_tables():
        for desirable in desirables:
            key = (joint.tobytes(), desirable)
            if key not in forms:
                forms[key] = coefficients(as_fractions(joint), notion, np.array(desirable))
            constant, matrix = forms[key]
            expected = literal(table, desirable)
            case = {"people by label, group, prediction": table.tolist(), "desirable": desirable}
            made = constant + (matrix * grouped_accuracies(table, notion)[None, :]).sum(axis=1)
            defined = levels(as_fractions(table), notion, np.array(desirable))
            search.equal(len(made), len(expected), case)
            for value, formula, truth in zip(defined, made, expected, strict=False):
                search.equal(value, truth, case)
                search.equal(formula, truth, case)
            mean = sum(map(abs, expected), Fraction(0)) / len(expected)
            search.equal(mean, factor * gap(table, desirable), case)
            cases += 1
    size = SMALL * len(desirables)
    search.exhausts(
        "two labels and two groups: all tables with 1 or 2 people a cell, each cell all right or all wrong",
        cases=size,
    )
    _random_tables(notion, coefficients, levels, search, most_labels, len(desirables) > 1)


def grouped_accuracies(table: np.ndarray, notion: str) -> np.ndarray:
    """Return P(H = Y | D_k) of the notion's groups, in fractions."""
    labels, groups, _ = table.shape
    cells = list(itertools.product(range(labels), range(groups)))
    if notion == "accuracy_parity":
        parts = [[(y, r) for y in range(labels)] for r in range(groups)]
    else:
        parts = [[cell] for cell in cells]
    return np.array([accuracy(table, part) for part in parts], dtype=object)


def accuracy(table: np.ndarray, cells: list[tuple[int, int]]) -> Fraction:
    """Return the share of right predictions in some cells."""
    right = sum(int(table[y, r, y]) for y, r in cells)
    return Fraction(right, sum(int(table[y, r].sum()) for y, r in cells))


def _random_tables(
    notion: str,
    coefficients: Callable[..., Any],
    levels: Callable[..., Any],
    search: Search,
    most_labels: int,
    with_desirables: bool,
) -> None:
    """More labels and groups, many tables at once, in floats."""
    search.part("more labels and groups")
    for labels, groups in itertools.product(range(2, most_labels + 1), range(1, 5)):
        tables = search.rng.dirichlet(np.full(labels * groups * labels, 0.7), size=2000 * search.effort)
        tables = tables.reshape(-1, labels, groups, labels) + 1e-3
        tables /= tables.sum((1, 2, 3), keepdims=True)
        chosen = search.rng.integers(0, 2, size=labels) if with_desirables else np.ones(labels, dtype=int)
        constant, matrix = coefficients(tables.sum(-1), notion, chosen)
        right = np.diagonal(tables, axis1=1, axis2=3).swapaxes(1, 2)
        joint = tables.sum(-1)
        accuracies = right.sum(1) / joint.sum(1) if notion == "accuracy_parity" else right / joint
        made = constant + np.einsum("nkl,nl->nk", matrix, accuracies.reshape(len(tables), -1))
        defined = levels(tables, notion, chosen)
        error = -np.abs(made - defined).max(axis=1)
        search.observe(error, {"labels": labels, "groups": groups, "probabilities": tables}, tolerance=1e-11)


def wrong_coefficients(change: Callable[..., np.ndarray]) -> Callable[..., Any]:
    """Return the coefficients with the matrix changed: ``change(matrix, joint)``."""

    def coefficients(joint: np.ndarray, notion: str, desirable: Any) -> Any:
        constant, matrix = form_coefficients(joint, notion, desirable)
        return constant, change(matrix, joint)

    return coefficients


def wrong_levels(change: Callable[..., np.ndarray]) -> Callable[..., Any]:
    """Return the levels changed: ``change(levels)``."""
    return lambda table, notion, desirable: change(fairness_levels(table, notion, desirable))


def against_the_others(joint: np.ndarray, notion: str, desirable: Any) -> Any:
    """The group is compared with the others instead of with everyone: off by the factor 1 − P(S = r | y)."""
    constant, matrix = form_coefficients(joint, notion, desirable)
    size = matrix.shape[-1]
    own = np.eye(size, dtype=int)
    diagonal = (matrix * own).sum(-1, keepdims=True)
    # one group alone has no others; it keeps its zeros
    return constant, matrix / np.where(diagonal == 0, 1, diagonal)
