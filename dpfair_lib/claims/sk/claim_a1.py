"""SK, Claim A.1: by how much one changed sensitive attribute moves the joint law, for every small sample."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search

SIZES = ((1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3))
"""(m, |A|)"""


def joint_law(
    predicted: Sequence[int], group: Sequence[int], label: Sequence[int], groups: int
) -> np.ndarray:
    """Return the empirical joint law of (Ŷ, A, Y), exact."""
    law = np.full((2, groups, 2), Fraction(0), dtype=object)
    for cell in zip(predicted, group, label, strict=True):
        law[cell] += Fraction(1, len(label))
    return law


def sensitivity(m: int, groups: int) -> Fraction:
    """Return 2/m; 0 where there is one group only."""
    return Fraction(2, m) if groups > 1 else Fraction(0)


def check(
    *,
    law: Callable[..., Any] = joint_law,
    bound: Callable[[int, int], Fraction] = sensitivity,
    search: Search,
) -> Evidence:
    """Judge every sample of up to three records and three groups, and every change of one entry of A."""
    search.part("one entry of A changed")
    for m, groups in SIZES:
        largest = Fraction(0)
        for rows in itertools.combinations_with_replacement(itertools.product((0, 1), repeat=2), m):
            predicted, label = zip(*rows, strict=True)
            for group in itertools.product(range(groups), repeat=m):
                before = law(predicted, group, label, groups)
                for at, other in itertools.product(range(m), range(groups)):
                    changed = (*group[:at], other, *group[at + 1 :])
                    moved = abs(law(predicted, changed, label, groups) - before).sum()
                    largest = max(largest, moved)
                    search.observe(
                        bound(m, groups) - moved, {"m": m, "rows": rows, "A": group, "A′": changed}
                    )
        search.equal(largest, bound(m, groups), {"m": m, "groups": groups})
    count = sum(math.comb(m + 3, m) * groups**m * m * groups for m, groups in SIZES)
    search.exhausts(
        "all samples of at most 3 records and 3 groups, up to the order of the records", cases=count
    )
    search.part("a whole record replaced")
    for m, groups in SIZES[:5]:
        cells = list(itertools.product((0, 1), range(groups), (0, 1)))
        for rows in itertools.combinations_with_replacement(cells, m):
            for cell in cells:
                laws = [law(*zip(*table, strict=True), groups) for table in (rows, (cell, *rows[1:]))]
                search.observe(Fraction(2, m) - abs(laws[1] - laws[0]).sum(), {"rows": rows, "other": cell})
    search.fact(
        "trained", _trained_on_groups(), "largest ℓ₁ change, m = 3, if the classifier was trained on A"
    )
    return search.evidence()


def _trained_on_groups() -> Fraction:
    """Return the largest change if all predictions follow the majority of A, as a classifier trained on A can."""
    largest = Fraction(0)
    for group, label in itertools.product(itertools.product((0, 1), repeat=3), repeat=2):
        laws = [
            joint_law([int(sum(a) > 1)] * 3, a, label, 2)
            for a in (group, *((*group[:at], 1 - group[at], *group[at + 1 :]) for at in range(3)))
        ]
        largest = max(largest, *(abs(law - laws[0]).sum() for law in laws[1:]))
    return largest


def _shares_within_cells(predicted: Any, group: Any, label: Any, groups: int) -> np.ndarray:
    law = joint_law(predicted, group, label, groups)
    cells = law.sum(axis=0)
    return law / np.array([[cell or Fraction(1) for cell in row] for row in cells], dtype=object)


FAULTS: dict[str, dict[str, Any]] = {
    "one cell moves, not two": {"bound": lambda m, groups: sensitivity(m, groups) / 2},
    "2/m for a single group too": {"bound": lambda m, _: Fraction(2, m)},
    "1/m more than needed": {"bound": lambda m, groups: sensitivity(m, groups) + Fraction(1, m)},
    "rates instead of joint shares": {"law": _shares_within_cells},
}


CLAIM = Claim(
    id="sk.claim-a1",
    where="Claim A.1, Appendix A",
    statement="Changing one entry of the sensitive attribute A moves the empirical joint distribution q̂ of "
    "(Ŷ, A, Y) on m points by at most 2/m in ℓ₁, and 2/m is attained.",
    verdict="holds",
    finding="For |A| ≥ 2, m = 1 included (with one group nothing can change). So it is when a whole "
    "record is replaced; counts move by 1 when one is added. All of it needs predictions that "
    "stay: a classifier trained on A can move all of them, and q̂ by 2.",
    headline="The sensitivity 2/m is right and attained, as long as the predictions do not depend on the attribute.",
    kind="as-printed",
    impact="none",
    because="The generic algorithm, which uses it, changes labels after training and keeps the predictions.",
    chapter="sk-equalized-odds",
    check=check,
    faults=FAULTS,
)
