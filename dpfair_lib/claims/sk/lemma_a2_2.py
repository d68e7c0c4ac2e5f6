"""SK, Lemma A.2 (2): how often a noisy cell of (A, Y) is not positive, exactly."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.svm.noisy_tables import log_ceiling

GROUPS = (1, 2, 3, 5, 10, 100)
FAILURES = (
    Fraction(1, 10**6),
    Fraction(1, 100),
    Fraction(1, 20),
    Fraction(1, 2),
    Fraction(9, 10),
    Fraction(1),
)


def tail_lengths() -> Fraction:
    """Return how many lengths 2 ln(2|A|/β)/(mε) of the tail the condition leaves between a cell and 0: two at least."""
    return Fraction(2)


def noisy_cells_failure(tail: Any, groups: Any) -> Any:
    """Return the chance that one of 2|A| cells with its own noise is not positive; tail = e^(−q̂/b) of the smallest."""
    return 1 - (1 - tail / 2) ** (2 * groups)


def check(
    *,
    lengths: Callable[[], Fraction] = tail_lengths,
    failure: Callable[[Any, Any], Any] = noisy_cells_failure,
    search: Search,
) -> Evidence:
    """Judge the exact chance at the condition's edge, for the algorithm's own noise and for noise on 4|A| cells.

    At q̂ = c·b·ln(2|A|/β), b = 2/(mε), the tail e^(−q̂/b) is (β/(2|A|))^c, a fraction for a whole c. The condition's
    second summand only makes q̂ larger.
    """
    power = lengths()
    for case in search.grid(groups=GROUPS, beta=FAILURES):
        groups, beta = case["groups"], case["beta"]
        # a power that is not whole is rounded down, which makes the tail larger
        tail = (beta / (2 * groups)) ** int(power)
        search.part("noise on the cells of (A, Y), as Algorithm 1 has it")
        search.observe(beta - failure(tail, groups), case)
        search.observe(beta**2 / (4 * groups) - failure(tail, groups), case)
        # by the first two terms of the binomial series
        low = groups * tail - Fraction(groups * (2 * groups - 1), 4) * tail**2
        search.observe(failure(tail, groups) - low, case)
        search.part("a cell as the sum of two noisy ones, as the proof has it")
        # P(sum of two ≤ −t) = e^(−t/b)(2 + t/b)/4
        both = 2 * groups * tail * (2 + int(power) * log_ceiling(2 * groups / beta)) / 4
        search.observe(beta - both, case)
        search.part("half of the condition")
        half = noisy_cells_failure(beta / (2 * groups), groups)
        search.sanity(beta / 2 - half, case)
    search.part("many groups and confidences, in floats")
    grid = np.array(list(itertools.product(range(1, 401), np.linspace(0.003, 1, 300))))
    many, betas = grid.T
    slack = betas - failure((betas / (2 * many)) ** int(power), many)
    search.observe(slack, {"groups": many, "beta": betas}, tolerance=1e-14)
    search.fact(
        "failure",
        float(failure(Fraction(1, 80) ** int(power), 2)),
        "chance of failure at the condition, |A| = 2, β = 1/20",
    )
    return search.evidence()


FAULTS: dict[str, dict[str, Any]] = {
    "no condition": {"lengths": lambda: Fraction(0)},
    "one length, which noise on 4|A| cells exceeds": {"lengths": lambda: Fraction(1)},
    "both tails counted": {"failure": lambda tail, groups: noisy_cells_failure(2 * tail, groups)},
    "half of the cells": {"failure": lambda tail, groups: 1 - (1 - tail / 2) ** groups},
}


CLAIM = Claim(
    id="sk.lemma-a2.2",
    where="Lemma A.2 (2), Appendix A",
    statement="If min q̂_ay > 4 ln(2|A|/β)/(mε) + 4 ln(2/β)/(kε), then w.p. ≥ 1 − β every q̃_ay > 0; "
    "the proof: |q̃_ay − q̂_ay| ≤ 4 ln(2|A|/β)/(mε) + 4 ln(2/β)/(kε).",
    statement_uses=("sk.alg-1-privacy",),
    proof_uses=("sk.linf-bound",),
    verdict="holds",
    finding="It fails with probability at most β²/(4|A|), so that half of the condition is enough, as "
    "q̃_ay has noise of its own. The proof's chain over q̃_1ay + q̃_0ay, for noise on 4|A| "
    "cells, holds at the same condition.",
    headline="Every noisy cell is positive but for probability β²/(4|A|), so half of the condition is enough.",
    kind="as-printed",
    impact="none",
    because="The noise on the cells is drawn apart from that on the support vectors, so the statement stands.",
    chapter="sk-guarantees",
    check=check,
    faults=FAULTS,
)
