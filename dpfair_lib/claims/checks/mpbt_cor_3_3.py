"""MPBT, Corollary 3.3: its constants against those of Theorem 3.2 with the coefficients of Appendix A."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.fairness.linear_form import NOTIONS
from dpfair_lib.margins.corollary import corollary_constants, theorem_constants


def check(
    *,
    theorem: Callable[..., np.ndarray] = theorem_constants,
    corollary: Callable[..., np.ndarray] = corollary_constants,
    search: Search,
) -> Evidence:
    """Judge both constants against the printed formulas, their difference, and the largest ratio of their means."""
    _small_populations(theorem, corollary, search)
    _random_populations(theorem, corollary, search)
    for groups in (2, 3, 4):
        joint = np.full((2, groups), Fraction(1, 2 * groups), dtype=object)
        means = np.full((2, groups), Fraction(1), dtype=object)
        ours, printed = (sum(f(joint, means, "equalized_odds", (1, 1))) for f in (theorem, corollary))
        ratio = str(printed / ours) if ours else "not defined"
        search.fact(f"equal groups and margins, {groups} groups: corollary over theorem", ratio)
        search.fact(
            f"largest ratio of the means over groups, {groups} groups, approached",
            str(Fraction(groups + 1, groups - 1)),
        )
    return search.evidence()


def _small_populations(theorem: Any, corollary: Any, search: Search) -> None:
    """Exact, person by person; two labels, two groups, 1 to 3 people a cell and means 0 or 1, which decide for all."""
    search.part("exact")
    sizes = (1, 3)
    for people, ones in itertools.product(
        itertools.product(sizes, repeat=4), itertools.product((0, 1), repeat=4)
    ):
        joint = np.array([Fraction(count, sum(people)) for count in people], dtype=object).reshape(2, 2)
        means = np.array([Fraction(one) for one in ones], dtype=object).reshape(2, 2)
        for notion in NOTIONS:
            desirable = np.array([0, 1])
            ours = theorem(joint, means, notion, desirable)
            printed = corollary(joint, means, notion, desirable)
            case = {"P(Y, S)": joint.tolist(), "E[L/|ρ|]": means.tolist(), "notion": notion}
            for k, (first, second) in enumerate(zip(ours, printed, strict=True)):
                search.equal(second, _printed(joint, means, notion, k), case)
                search.equal(second - first, _difference(joint, means, notion, k), case)
                search.observe(second - first, case)
    search.exhausts("two labels and groups, 1 or 3 people a cell, all means 0 or 1", cases=2**4 * 2**4)


def _mean(joint: np.ndarray, means: np.ndarray, cells: list[tuple[int, int]]) -> Any:
    total = sum(joint[cell] for cell in cells)
    return sum(joint[cell] * means[cell] for cell in cells) / total


def _parts(notion: str, k: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]], int]:
    """Return the cells of the group, those of everyone compared with, and whether the label is desirable."""
    everyone = [(y, r) for y in (0, 1) for r in (0, 1)]
    if notion == "accuracy_parity":
        return [(0, k), (1, k)], everyone, 1
    y, r = divmod(k, 2)
    if notion == "demographic_parity":
        return [(0, r), (1, r)], everyone, 1
    return [(y, r)], [(y, 0), (y, 1)], y if notion == "equal_opportunity" else 1


def _printed(joint: np.ndarray, means: np.ndarray, notion: str, k: int) -> Any:
    """Return the constant as Corollary 3.3 prints it."""
    if notion == "accuracy":
        return _mean(joint, means, [(0, 0), (0, 1), (1, 0), (1, 1)])
    group, everyone, counts = _parts(notion, k)
    return counts * (_mean(joint, means, group) + _mean(joint, means, everyone))


def _difference(joint: np.ndarray, means: np.ndarray, notion: str, k: int) -> Any:
    """Return how much larger it is: twice the group's part of the mean over everyone."""
    if notion == "accuracy":
        return 0
    group, everyone, counts = _parts(notion, k)
    share = sum(joint[cell] for cell in group) / sum(joint[cell] for cell in everyone)
    return counts * 2 * share * _mean(joint, means, group)


def _random_populations(theorem: Any, corollary: Any, search: Search) -> None:
    """More labels and groups in floats: the order, and the ratio of the sums over the groups."""
    search.part("more labels and groups")
    for labels, groups in itertools.product((2, 3), (2, 3, 5)):
        n = 2500 * search.effort
        joint = search.rng.dirichlet(np.full(labels * groups, 0.4), size=n).reshape(n, labels, groups) + 1e-6
        joint /= joint.sum((1, 2), keepdims=True)
        means = search.rng.exponential(size=joint.shape) ** 3
        for notion in NOTIONS:
            if notion == "demographic_parity" and labels != 2:
                continue
            desirable = np.arange(labels) % 2
            ours, printed = (f(joint, means, notion, desirable) for f in (theorem, corollary))
            case = {"P(Y, S)": joint, "E[L/|ρ|]": means, "notion": notion}
            size = printed.sum(1) + 1
            search.observe(((printed - ours).min(1)) / size, case, tolerance=1e-12)
            most = 1 if notion == "accuracy" else (groups + 1) / (groups - 1)
            search.observe((most * ours.sum(1) - printed.sum(1)) / size, case, tolerance=1e-12)


FAULTS: dict[str, dict[str, Any]] = {
    "the corollary taken for the theorem": {"theorem": corollary_constants},
    "coefficients without bars": {
        "theorem": lambda joint, means, notion, desirable: (
            2 * theorem_constants(joint, means, notion, desirable)
            - corollary_constants(joint, means, notion, desirable)
        )
    },
    "the theorem taken for the corollary": {"corollary": theorem_constants},
    "every label desirable": {
        "corollary": lambda joint, means, notion, desirable: corollary_constants(
            joint, means, notion, 0 * np.asarray(desirable) + 1
        )
    },
}
