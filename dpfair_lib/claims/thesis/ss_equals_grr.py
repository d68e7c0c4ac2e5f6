"""Thesis, §§ 5.2.3 and 5.7.2: subset selection with sets of one value is generalised randomised response."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.local.response import response_matrix
from dpfair_lib.local.subsets import subset_matrix, subset_size

RATIOS = tuple(sorted({Fraction(i, j) for i in range(1, 25) for j in range(1, 5) if i >= j}))


def check(
    *,
    response: Callable[..., Any] = response_matrix,
    subsets: Callable[..., Any] = subset_matrix,
    size: Callable[..., int] = subset_size,
    search: Search,
) -> Evidence:
    """Judge the two channels entry by entry, and from which ε on the printed size is 1."""
    search.part("sets of one value")
    sizes = range(2, 10)
    for k, ratio in itertools.product(sizes, RATIOS):
        case = {"k": k, "ratio": ratio}
        difference = np.subtract(response(k, 1 / ratio), subsets(k, 1, 1 / ratio))
        search.equal(np.abs(difference).max(), 0, case)
        # 2k/3 − 1 is where k/(e^ε + 1) is one and a half; for k = 2 that is below e^0
        search.agree(size(k, ratio) == 1, ratio > Fraction(2 * k, 3) - 1, case)
    search.exhausts(
        "all k from 2 to 9 with all ratios e^ε of numerator up to 24 and denominator up to 4",
        cases=2 * len(sizes) * len(RATIOS),
    )
    search.part("a binary attribute")
    for ratio in RATIOS:
        search.equal(size(2, ratio), 1, {"ratio": ratio})
    for k in (5, 10):
        from_on = round(float(np.log(2 * k / 3 - 1)), 4)
        search.fact(f"from_epsilon_{k}", from_on, f"ε from which on the printed sets have one value, k = {k}")
    return search.evidence()


FAULTS: dict[str, dict[str, Any]] = {
    "half the budget in one of the two": {"response": lambda k, x: response_matrix(k, x**2)},
    "sets numbered from the end": {"subsets": lambda k, size, x: subset_matrix(k, size, x)[:, ::-1]},
    "sets of all values but one": {"subsets": lambda k, size, x: subset_matrix(k, k - size, x)[:, ::-1]},
    "size rounded down": {"size": lambda k, ratio: max(1, int(k / (ratio + 1)))},
    "size for e^(2ε)": {"size": lambda k, ratio: subset_size(k, ratio**2)},
}


CLAIM = Claim(
    id="thesis.ss-equals-grr",
    where="thesis § 5.2.3 (end), § 5.7.2 (end)",
    statement="Subset selection with ω = 1 is generalised randomised response; "
    "for a binary attribute the two are the same mechanism at every ε.",
    statement_uses=("thesis.grr-ldp", "thesis.ss-ldp"),
    verdict="holds",
    finding="The two channels are equal, entry by entry. The printed size is 1, and SS therefore GRR, exactly for "
    "e^ε > 2k/3 − 1 (halves rounded up): for k = 2 always, for k = 5 from ε = 0.85 on, for k = 10 from 1.74 on.",
    kind="as-printed",
    impact="none",
    because="The two channels are the same, entry by entry, as the thesis uses it.",
    headline="Subset selection with sets of one value is randomised response: always for two groups, from "
    "ε = 0.85 on for five, from 1.74 on for ten.",
    chapter="local-randomisers",
    check=check,
    faults=FAULTS,
)
