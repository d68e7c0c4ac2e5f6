"""CGKM, Lemma 2: how far Γ and err move when one record is replaced, over all neighbouring samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.compatibility.sensitivity_pairs import (
    EPSILONS,
    SIZES,
    printed_bound,
    worst_pair,
)
from dpfair_lib.compatibility.private_learner.sample_losses import sample_losses
from dpfair_lib.compatibility.private_learner.sensitivity import (
    Counts,
    Moves,
    discrimination_sensitivity,
    enumerate_moves,
)


def check(
    *,
    sensitivity: Callable[[Counts], Fraction] = discrimination_sensitivity,
    moves: Callable[..., Moves] = enumerate_moves,
    search: Search,
) -> Evidence:
    """Judge our exact sensitivity, the bound of the printed proof, and the bound of the printed statement."""
    pairs = 0
    for levels, largest in SIZES.items():
        search.part(f"every neighbouring pair, {levels} values of h")
        for n in range(1, largest + 1):
            found = moves(n, levels)
            pairs += found.pairs
            _judge(found, n, levels, sensitivity, search)
        search.exhausts(
            f"all ordered pairs of neighbouring samples of up to {largest} records, up to order and names, for every "
            f"h with {levels} values",
            # for each size the error and the two counts, and all pairs of counts of at least 1 that leave room
            cases=sum(3 + math.comb(n, 2) for n in range(1, largest + 1)),
        )
    search.fact("pairs_compared", pairs, "ordered pairs of neighbouring samples compared")
    _attained(sensitivity, search)
    return search.evidence()


def _judge(
    found: Moves, n: int, levels: int, sensitivity: Callable[[Counts], Fraction], search: Search
) -> None:
    search.equal(found.error, Fraction(1, n), {"n": n, "levels": levels})
    # one record can change both counts, and the smaller one by 1; with a single record the smaller one is always 0
    search.equal(found.smallest_count, min(n - 1, 1), {"n": n, "levels": levels, "claim": "smaller count"})
    search.equal(found.both_counts, 2, {"n": n, "levels": levels, "claim": "both counts move"})
    for counts, moved in found.discrimination.items():
        case = {"counts": counts, "n": n}
        low, high = sorted(counts)
        search.observe(sensitivity(counts) - moved, case)
        # with two values of h it is reached where the smaller count divides the larger
        if levels == 2:
            search.agree(sensitivity(counts) == moved, high % low == 0, case)
        search.observe(Fraction(2, low + 1) - sensitivity(counts), case)
        if low >= 2:
            search.observe(Fraction(2, low - 1) - moved, case | {"claim": "the bound of the printed proof"})
        if math.isqrt(n) ** 2 == n:
            for epsilon in EPSILONS:
                judged = {"counts": counts, "n": n, "epsilon": epsilon}
                printed = printed_bound(counts, n, epsilon)
                if printed is not None and low >= 2:
                    search.against(printed - moved, judged, verify=printed_slack)


def printed_slack(counts: Counts, n: int, epsilon: Fraction) -> Fraction:
    """Return the printed bound less what one explicit pair of samples and one explicit h move."""
    before, after = (
        sample_losses(*arrays).discrimination[0] for arrays in worst_pair(counts, n, deterministic=True)
    )
    bound = printed_bound(counts, n, epsilon)
    assert bound is not None
    return bound - abs(after - before)


def _attained(sensitivity: Callable[[Counts], Fraction], search: Search) -> None:
    """Randomised h reach the exact sensitivity for every pair of counts."""
    search.part("attained by randomised hypotheses")
    least: list[tuple[Fraction, Counts]] = []
    for counts in ((i, j) for i in range(2, 13) for j in range(2, 13)):
        n = sum(counts)
        before, after = (sample_losses(*arrays).discrimination[0] for arrays in worst_pair(counts, n))
        search.equal(after - before, sensitivity(counts), {"counts": counts, "n": n})
        least.append((sensitivity(counts) - (after - before), counts))
    search.exhausts("both counts from 2 to 12", cases=11 * 11)
    slack, counts = min(least)
    search.constant(
        "max_a 2/(|Z₁ₐ| − ln(1/δ)/ε − 1)", "(m + m′)/(m(m′ + 1)) for counts m ≤ m′", slack=slack,
        case={"counts": counts},
    )  # fmt: skip


def _one_group_only(counts: Counts) -> Fraction:
    return Fraction(1, max(min(counts), 1))


def _error_per_group(n: int, levels: int) -> Moves:
    found = enumerate_moves(n, levels)
    return Moves(**{**found.__dict__, "error": Fraction(2, n)})


FAULTS: dict[str, dict[str, Any]] = {
    "a record never changes its group": {"sensitivity": _one_group_only},
    "the larger group counts": {
        "sensitivity": lambda counts: discrimination_sensitivity((max(counts), max(counts)))
    },
    "always 2/(m + 1)": {"sensitivity": lambda counts: Fraction(2, min(counts) + 1)},
    "err moves by 2/n": {"moves": _error_per_group},
}


CLAIM = Claim(
    id="cgkm.lemma-2",
    where="Lemma 2, § 4 and Appendix B",
    statement="Changing one entry of Z moves Γ^Z(h) by at most max_a 2/(|Z₁ₐ| − ln(1/δ)/ε − 1) (the "
    "proof: max_a 2/(|Z₁ₐ| − 1) if both |Z₁ₐ| ≥ 2) and err^Z(h) by at most 1/n.",
    verdict="corrected",
    finding="A sensitivity cannot depend on ε and δ: where |Z₁ₐ| ≤ √n/ε + 1 the printed bound is negative, or "
    "that of the larger group. 2/(|Z₁ₐ| − 1), as proved, is true. Exact: (m + m′)/(m(m′ + 1)) for counts m ≤ "
    "m′, between 1/m and 2/(m + 1), attained by randomised h always, by deterministic h where m divides m′. "
    "err: 1/n.",
    statement_uses=("cgkm.definitions",),
    chapter="cgkm-thm-2",
    headline="The printed sensitivity of Γ turns negative for small groups; exactly it is (m + m′)/(m(m′ "
    "+ 1)) for group counts m ≤ m′.",
    witness="{n} people, with {counts} positives in the two groups, and ε = {epsilon}. One changed record "
    "moves Γ by more than the printed sensitivity.",
    kind="constant",
    impact="condition",
    because="The bound that the proof shows, 2/(|Z₁ₐ| − 1), is true and nearly as small, so the algorithm "
    "stands with another constant.",
    errata=(
        Erratum(
            where="Lemma 2, § 4 and Appendix B",
            printed="ΔΓ = max_a 2/(|Z₁ₐ| − ln(1/δ)/ε − 1)",
            correct="ΔΓ ≤ max_a 2/(|Z₁ₐ| − 1), which its proof shows; the term with ε and δ belongs to "
            "the noisy count",
            band="condition",
            why="Where |Z₁ₐ| ≤ √n/ε + 1 the printed bound is negative, or that of the larger group, while "
            "Γ still moves.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
