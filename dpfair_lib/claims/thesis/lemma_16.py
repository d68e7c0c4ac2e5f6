"""Thesis, Lemma 16: Δ against Δ′, with both constants and how sharp they are."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.fairness import data_unfairness_from_rates
from dpfair_lib.local.trade_off import unfairness_constants

RATES = tuple(Fraction(i, 4) for i in range(5))


def check(
    *,
    constants: Callable[..., Any] = unfairness_constants,
    unfairness: Callable[..., Any] = data_unfairness_from_rates,
    search: Search,
) -> Evidence:
    """Judge both inequalities on all small laws, the sharper first one, and laws that attain them."""
    search.part("all small laws")
    for k in (2, 3):
        shares = [s for s in itertools.product(range(7), repeat=k) if sum(s) == 6 and min(s) > 0]
        for counts in shares:
            p = [Fraction(s, 6) for s in counts]
            laws = [list(r) for r in itertools.product(RATES, repeat=k) if any(r)]
            p1 = np.array(laws, dtype=object)
            ratio, difference = (unfairness(p, p1, kind) for kind in ("ratio", "difference"))
            overall = p1 @ np.array(p, dtype=object)
            case = {"p": p, "p1": p1}
            (c1, c2), (tight, same) = constants(overall), constants(overall, min(p))
            for slack in (c1 * difference - ratio, c2 * ratio - difference, tight * difference - ratio):
                search.observe(slack, case)
            search.observe(-abs(same - c2), case)  # knowing the smallest share does not lower it
            # never attained with all of c₁, as no share is 0
            search.agree(c1 * difference == ratio, difference == 0, case)
            if k == 2:
                room = c1 * difference - ratio
                search.observe(-abs(tight * difference - ratio), case)
                for at in np.flatnonzero(difference > 0):
                    one = {"p": p, "p1": laws[at]}
                    search.sharper((tight * difference - ratio)[at], room[at], one)
    # 5 and 10 ways to share six sixths, all rates but all 0
    judged = 6 * 5 * (len(RATES) ** 2 - 1) + 5 * 10 * (len(RATES) ** 3 - 1)
    search.exhausts(
        "all distributions of two or three groups, shares in sixths, rates in quarters", cases=judged
    )
    _attained(constants, unfairness, search)
    return search.evidence()


def _attained(constants: Any, unfairness: Any, search: Search) -> None:
    """For every P(Y = 1) and k: c₂ is attained; c₁ is approached as a share vanishes."""
    search.part("sharpness")
    for overall in (Fraction(i, 10) for i in range(1, 10)):
        step = min(overall, 1 - overall) / 2
        case = {"overall": overall}
        third = Fraction(1, 3)
        for p, p1 in (
            ([Fraction(1, 2)] * 2, [overall - step, overall + step]),
            ([third] * 3, [overall - step, overall + step, overall]),
            ([Fraction(3, 5), Fraction(1, 5), Fraction(1, 5)], [overall, overall - step, overall + step]),
        ):
            ratio, difference = (unfairness(p, p1, kind) for kind in ("ratio", "difference"))
            search.equal(difference, constants(overall)[1] * ratio, case)
        for tiny in (Fraction(1, 10**n) for n in (1, 3, 9)):
            # a group of share `tiny` whose rate is `step` above the overall one
            p, p1 = [tiny, 1 - tiny], [overall + step, overall - step * tiny / (1 - tiny)]
            ratio, difference = (unfairness(p, p1, kind) for kind in ("ratio", "difference"))
            search.equal(ratio, (1 - tiny) * constants(overall)[0] * difference, {**case, "share": tiny})


FAULTS: dict[str, dict[str, Any]] = {
    "c₁ halved": {
        "constants": lambda overall, smallest=0: (unfairness_constants(overall, smallest)[0] / 2, 2 * overall)
    },
    "c₂ without the factor 2": {
        "constants": lambda overall, smallest=0: (unfairness_constants(overall, smallest)[0], overall)
    },
    "c₂ = 2": {
        "constants": lambda overall, smallest=0: (unfairness_constants(overall, smallest)[0], overall * 0 + 2)
    },
    "c₂ lowered by the smallest share": {
        "constants": lambda overall, smallest=0: ((1 - smallest) / overall, 2 * overall * (1 - smallest))
    },
    "smallest share twice": {
        "constants": lambda overall, smallest=0: unfairness_constants(overall, 2 * smallest)
    },
    "distance to the unweighted mean": {
        "unfairness": lambda p, p1, kind: data_unfairness_from_rates(
            p if kind == "difference" else [Fraction(1, len(p))] * len(p), p1, kind
        )
    },
    "Δ and Δ′ exchanged": {
        "unfairness": lambda p, p1, kind: data_unfairness_from_rates(
            p, p1, "ratio" if kind == "difference" else "difference"
        )
    },
}


CLAIM = Claim(
    id="thesis.lemma-16",
    where="thesis Lemma 16, App. B; used in § 5.2.1",
    statement="Δ ≤ c₁Δ′ and Δ′ ≤ c₂Δ with c₁ = 1/P(Y = 1) and c₂ = 2P(Y = 1), "
    "where Δ = max over a of |P(Y = 1 | A = a)/P(Y = 1) − 1|.",
    verdict="holds",
    finding="Both hold for P(Y = 1) > 0. c₂ is attained for every P(Y = 1) < 1 and every k ≥ 2. c₁ is the least "
    "constant that knows only P(Y = 1), but never attained (Δ′ > 0): with m the smallest share, "
    "Δ ≤ (1 − m)Δ′/P(Y = 1), with equality for two groups.",
    kind="sharper",
    impact="none",
    because="Both constants are right as printed; the sharper first one takes the smallest share into "
    "account.",
    headline="Both constants are right. With m the smallest share, Δ ≤ (1 − m)Δ′/P(Y = 1), an equality for "
    "two groups; the second constant is attained.",
    chapter="thesis-thm-15",
    errata=(
        Erratum(
            where="thesis App. B, Lemma 16, first part",
            printed="the step to Δ′ follows from min P(Y=1|A=a) ≤ P(Y=1)",
            correct="it needs min P(Y=1|A=a) ≤ P(Y=1) ≤ max P(Y=1|A=a)",
            band="slip",
            why="The distance of a rate above P(Y = 1) is bounded through the least rate, that of one below through "
            "the largest; an overall rate is between the two.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
