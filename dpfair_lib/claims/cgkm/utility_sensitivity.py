"""CGKM, § 4: how far Γ + err moves, both terms together, and how far the count times it moves."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.compatibility.sensitivity_pairs import (
    EPSILONS,
    SIZES,
    printed_bound,
    worst_pair,
)
from dpfair_lib.compatibility.private_learner.choice_law import SCALED_RANGE
from dpfair_lib.compatibility.private_learner.sample_losses import sample_losses
from dpfair_lib.compatibility.private_learner.sensitivity import (
    Counts,
    discrimination_sensitivity,
    enumerate_moves,
    utility_sensitivity,
)


def check(
    *,
    joint: Callable[[Counts, int], Fraction] = utility_sensitivity,
    spread: Fraction | int = SCALED_RANGE,
    search: Search,
) -> Evidence:
    """Judge our joint sensitivity, that of the scaled loss, and the printed bound."""
    pairs, widest = 0, Fraction(0)
    least: list[tuple[Fraction, Counts, int]] = []
    for levels, largest in SIZES.items():
        search.part(f"every neighbouring pair, {levels} values of h")
        judged = 0
        for n in range(1, largest + 1):
            found = enumerate_moves(n, levels)
            pairs, judged = pairs + found.pairs, judged + 1 + len(found.utility)
            widest = max(widest, found.scaled_range)
            search.observe(
                spread - found.scaled_range, {"n": n, "levels": levels, "claim": "range of min count times u"}
            )
            for counts, moved in found.utility.items():
                case = {"counts": counts, "n": n}
                low, high = sorted(counts)
                apart = discrimination_sensitivity(counts) + Fraction(1, n)
                search.observe(joint(counts, n) - moved, case)
                least.append((joint(counts, n) - moved, counts, n))
                if levels == 2 and high % low == 0:
                    search.equal(joint(counts, n), moved, case)
                search.observe(apart - joint(counts, n), case)
                search.agree(joint(counts, n) < apart, low >= 2, case | {"claim": "less than the sum"})
                _against_printed(counts, n, moved, search)
        search.exhausts(
            f"all ordered pairs of neighbouring samples of up to {largest} records, up to order and names, for every "
            f"h with {levels} values",
            cases=judged,
        )
    search.fact("pairs_compared", pairs, "ordered pairs of neighbouring samples compared")
    search.fact("widest_range", str(widest), "widest range of moves of the smaller count times u")
    slack, counts, n = min(least)
    search.constant(
        "max_a 2/(|Z₁ₐ| − ln(1/δ)/ε − 1) + 1/n", "max{(m + m′)/(m(m′ + 1)), 1/m + 1/n} for counts m ≤ m′",
        slack=slack, case={"counts": counts, "n": n},
    )  # fmt: skip
    _near_five(spread, search)
    return search.evidence()


def _against_printed(counts: Counts, n: int, moved: Fraction, search: Search) -> None:
    if math.isqrt(n) ** 2 != n or min(counts) < 2:
        return
    for epsilon in EPSILONS:
        case = {"counts": counts, "n": n, "epsilon": epsilon}
        printed = printed_bound(counts, n, epsilon)
        if printed is not None:
            search.against(printed + Fraction(1, n) - moved, case, verify=printed_slack)


def printed_slack(counts: Counts, n: int, epsilon: Fraction) -> Fraction:
    """Return the printed bound on the move of u less the move between one explicit pair of samples."""
    before, after = (sample_losses(*arrays).total[0] for arrays in worst_pair(counts, n, deterministic=True))
    bound = printed_bound(counts, n, epsilon)
    assert bound is not None
    return bound + Fraction(1, n) - abs(after - before)


def _near_five(spread: Fraction | int, search: Search) -> None:
    """The moves of two hypotheses' smaller count times u come as near to 5 apart as one likes, and never there.

    Two groups of m positives each; a record of group 0 on which both hypotheses are 0 becomes one of group 1. The
    first is 0 on the other positives of group 0, 1 on those of group 1, and wrong on all negatives; the second is
    (m − 1)/m on average on either group, and right on all negatives.
    """
    search.part("scaled losses move nearly 5 apart")
    for m in (2, 5, 12, 40, 400):
        n = 40 * m
        ones = [Fraction(1)]
        first = [Fraction(0)] * m + ones * m + ones * (n - 2 * m)
        second = ([Fraction(0)] + ones * (m - 1)) * 2 + [Fraction(0)] * (n - 2 * m)
        y = np.array([1] * (2 * m) + [0] * (n - 2 * m))
        group = np.array([0] * m + [1] * m + [0] * (n - 2 * m))
        moved = group.copy()
        moved[0] = 1
        h = np.array([first, second], dtype=object)
        before, after = sample_losses(h, y, group), sample_losses(h, y, moved)
        falls = min(before.counts) * before.total - min(after.counts) * after.total
        case = {"m": m, "n": n}
        search.equal(falls[0], Fraction(2 * m, m + 1) + Fraction(n - m, n), case)
        search.equal(falls[1], Fraction(2, n) - Fraction(2 * (m - 1), m + 1), case)
        search.observe(spread - (falls[0] - falls[1]), case)


FAULTS: dict[str, dict[str, Any]] = {
    "the sum of the two sensitivities": {
        "joint": lambda counts, n: discrimination_sensitivity(counts) + Fraction(1, n)
    },
    "error forgotten": {"joint": lambda counts, n: discrimination_sensitivity(counts) + 0 * n},
    "only one group moves": {"joint": lambda counts, n: Fraction(1, min(counts)) + Fraction(1, n)},
    "the range of the scaled loss is 4": {"spread": 4},
    "the range of the scaled loss is 9/2": {"spread": Fraction(9, 2)},
    "the range of the scaled loss is 4.95": {"spread": Fraction(99, 20)},
}


CLAIM = Claim(
    id="cgkm.utility-sensitivity",
    where="§ 4, between Algorithm 1 and Assumption 1",
    statement="Δu ≤ ΔΓ + Δerr ≤ max_a 2/(|Z₁ₐ| − ln(1/δ)/ε − 1) + 1/n for u = Γ^Z + err^Z, by the "
    "triangle inequality.",
    verdict="corrected",
    finding="The triangle inequality holds, the printed bound fails with Lemma 2. Jointly u moves by at most "
    "max{(m + m′)/(m(m′ + 1)), 1/m + 1/n}, less than the sum for m ≥ 2: the largest moves of Γ leave err as it "
    "was. The moves of m·u are less than 5 apart, so that exp(−2ε·m·u/5) is (2ε, 0)-private without any noisy "
    "count.",
    statement_uses=("cgkm.definitions",),
    proof_uses=("cgkm.lemma-2",),
    chapter="cgkm-thm-2",
    headline="The printed bound fails with Lemma 2; exactly, Γ + err moves by at most max{(m + m′)/(m(m′ "
    "+ 1)), 1/m + 1/n}.",
    witness="{n} people, with {counts} positives in the two groups, and ε = {epsilon}. One changed record "
    "moves the utility by more than the printed bound.",
    kind="constant",
    impact="condition",
    because="With the exact sensitivity the algorithm stands, and needs a slightly smaller scale.",
    errata=(
        Erratum(
            where="§ 4, after the definition of Δu",
            printed="Δu ≤ max_a 2/(|Z₁ₐ| − ln(1/δ)/ε − 1) + 1/n",
            correct="Δu = max{(m + m′)/(m(m′ + 1)), 1/m + 1/n} for counts m ≤ m′, over randomised h",
            band="condition",
            why="The term with ε and δ belongs to the noisy count; it makes the bound negative for small "
            "groups.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
