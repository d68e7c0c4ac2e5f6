"""CGKM, Lemma 2: how far Γ and err move when one record is replaced, over all neighbouring samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.compat.losses import sample_losses
from dpfair_lib.compat.sensitivity import Counts, Moves, discrimination_sensitivity, enumerate_moves

SIZES = {2: 9, 3: 7}
"""Values of h → the largest sample that is enumerated here; the recorded run goes to 12 records."""
EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))


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
    search.fact("ordered pairs of neighbouring samples compared", pairs)
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


def printed_bound(counts: Counts, n: int, epsilon: Fraction) -> Fraction | None:
    """Return max_a 2/(|Z₁ₐ| − √n/ε − 1), for n a square; None where a denominator is 0."""
    rest = [count - math.isqrt(n) / epsilon - 1 for count in counts]
    return None if 0 in rest else max(2 / Fraction(value) for value in rest)


def printed_slack(counts: Counts, n: int, epsilon: Fraction) -> Fraction:
    """Return the printed bound less what one explicit pair of samples and one explicit h move."""
    before, after = (
        sample_losses(*arrays).discrimination[0] for arrays in worst_pair(counts, n, deterministic=True)
    )
    bound = printed_bound(counts, n, epsilon)
    assert bound is not None
    return bound - abs(after - before)


def worst_pair(counts: Counts, n: int, *, deterministic: bool = False) -> tuple[Any, Any]:
    """Return two neighbouring samples, as (predictions, y, group), between which Γ moves the most.

    The smaller group loses the one positive on which h is 0, and the larger gains one. h is 1 on the other positives of
    the smaller group; on the larger it is (m − 1)/m everywhere, or for a deterministic h as nearly so as can be.
    """
    giver = 0 if counts[0] <= counts[1] else 1
    low, high = counts[giver], counts[1 - giver]
    level = Fraction(low - 1, low)
    ones = high * (low - 1) // low
    taken = [Fraction(1)] * ones + [Fraction(0)] * (high - ones) if deterministic else [level] * high
    h = [Fraction(0)] + [Fraction(1)] * (low - 1) + taken + [Fraction(0)] * (n - low - high)
    y = np.array([1] * (low + high) + [0] * (n - low - high))
    group = np.array([giver] * low + [1 - giver] * high + [0] * (n - low - high))
    moved = group.copy()
    moved[0] = 1 - giver
    predictions = np.array([h], dtype=object)
    return (predictions, y, group), (predictions, y, moved)


def _attained(sensitivity: Callable[[Counts], Fraction], search: Search) -> None:
    """Randomised h reach the exact sensitivity for every pair of counts."""
    search.part("attained by randomised hypotheses")
    for counts in ((i, j) for i in range(2, 13) for j in range(2, 13)):
        n = sum(counts)
        before, after = (sample_losses(*arrays).discrimination[0] for arrays in worst_pair(counts, n))
        search.equal(after - before, sensitivity(counts), {"counts": counts, "n": n})
    search.exhausts("both counts from 2 to 12", cases=11 * 11)


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
