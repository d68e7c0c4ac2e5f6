"""SK § 2, the private learner: by a sum over its noisy count, and what the best Γ + err may keep."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.claims.shared.compatibility.hypotheses_on_points import (
    constant_error,
    error_by_definition,
    gap_by_definition,
)
from dpfair_lib.claims.shared.compatibility.learner_privacy import shapes
from dpfair_lib.compatibility.impossibility.acceptable import hypothesis_grid
from dpfair_lib.compatibility.private_learner.choice_law import learner_delta


@once
def private_learner(learner: Callable[..., Any], search: Search) -> None:
    """§ 2, "a private learner with nearly equal true positive rates": repaired it is private; how fair, OPT says."""
    search.part("the private learner")
    before, after = shapes(16, (2, 2))
    copies = np.array([[(1, 100)]])
    for smallest in ((2, 2), (2, 1), (1, 2)):
        both = before[None], after[None]
        settings: dict[str, Any] = {"at": 1.0, "epsilon": 0.5, "delta": 1e-3, "copies": copies}
        delta, alone = learner(both, smallest, 16, **settings), learner_delta(both, smallest, 16, **settings)
        case = {"smallest": smallest, "epsilon": 0.5}
        search.observe((1e-3 - delta).ravel(), case, tolerance=1e-13)
        # the noisy count is released too: h alone would hide what it reveals
        search.observe((delta - alone).ravel(), case, tolerance=1e-13)
        search.agree(bool(delta.max() > alone.max()), True, case)
    _by_a_sum(learner, search)
    # the best Γ + err may keep a gap for good, although a fair and better hypothesis is there
    law, grid = skewed_law(), hypothesis_grid(2)
    sums = [gap_by_definition(law, h.tolist()) + error_by_definition(law, h.tolist()) for h in grid]
    best = [h.tolist() for h, value in zip(grid, sums, strict=True) if value == min(sums)]
    search.equal(len(best), 1, {"law": "skewed"})
    search.equal(gap_by_definition(law, best[0]), Fraction(1, 10), {"law": "skewed", "h": best[0]})
    fair = [h for h in grid.tolist() if gap_by_definition(law, h) == 0]
    search.equal(
        min(error_by_definition(law, h) for h in fair), Fraction(1, 4), {"law": "skewed", "among": "fair"}
    )
    search.agree(constant_error(law) > Fraction(1, 4), True, {"law": "skewed"})
    search.fact(
        "left",
        Fraction(1, 10),
        "gap of true positive rates of the best Γ + err, a fair h of error ¼ being there",
    )


@once
def _by_a_sum(learner: Callable[..., Any], search: Search) -> None:
    """The excess of one joint law of (M, h) over the other, by a sum over M: each argument on its own, both scales."""
    search.part("the private learner, by a sum")
    usual: dict[str, Any] = {
        "n": 16, "smallest": (8, 7), "at": 0.5, "epsilon": 0.5, "delta": 0.1, "many": (1, 20), "rule": "repaired",
    }  # fmt: skip
    others: list[dict[str, Any]] = [
        {"n": 11}, {"smallest": (7, 8)}, {"smallest": (2, 2)}, {"at": 0.25}, {"epsilon": 1.0}, {"delta": 0.02},
        {"many": (20, 1)}, {"rule": "printed"}, {"rule": "printed", "n": 11},
    ]  # fmt: skip
    before, after = shapes(16, (2, 2))
    for changed, row in itertools.product((usual, *others), (8, 10)):
        case = usual | changed
        for pair in ((before[row], after[row]), (after[row], before[row])):
            n, smallest, many = case["n"], case["smallest"], case["many"]
            settings = {name: case[name] for name in ("at", "epsilon", "delta", "rule")}
            found = learner(pair, smallest, n, copies=np.array(many), **settings)
            exact = excess_by_a_sum(*map(tuple, pair), smallest, n, many, **settings)
            # steps of at most 1/600, of a function with kinks
            search.equal(float(found), exact, case | {"row": row}, tolerance=1e-6)


@cache
def excess_by_a_sum(
    first: Any, second: Any, smallest: Any, n: int, many: Any, *, at: float, epsilon: float, delta: float, rule: str
) -> float:  # fmt: skip
    """Return Σ_h ∫ max(p(M) c(h | M) − e^ε′ p′(M) c′(h | M), 0) dM, with the printed or the repaired scale."""
    off = math.log(1 / delta if rule == "printed" else 1 / (2 * delta)) / epsilon
    reach = 40 / epsilon
    M = np.linspace(min(smallest) - off - reach, max(smallest) - off + reach, 100_000) + 1e-7
    joint = []
    for losses, count in ((first, smallest[0]), (second, smallest[1])):
        if rule == "printed":
            inverse = n * (M - 1) / (2 * n + M - 1)
        else:
            at_least_one = np.maximum(M, 1)
            inverse = 1 / np.maximum(2 / (at_least_one + 1), 1 / at_least_one + 1 / n)
        odds = np.outer(np.log(many), np.ones_like(M)) - np.outer(losses, epsilon / 2 * inverse)
        weights = np.exp(odds - odds.max(axis=0))
        joint.append(weights / weights.sum(axis=0) * epsilon / 2 * np.exp(-epsilon * abs(M - (count - off))))
    return float(np.maximum(joint[0] - math.exp(at) * joint[1], 0).sum() * (M[1] - M[0]))


def skewed_law() -> list[list[list[Fraction]]]:
    """Return a law on two points that determine the label, but for a tenth of one group's positives."""
    quarter = Fraction(1, 4)
    return [
        [[quarter, Fraction(0)], [quarter, quarter / 10]],
        [[Fraction(0), quarter], [Fraction(0), quarter * Fraction(9, 10)]],
    ]
