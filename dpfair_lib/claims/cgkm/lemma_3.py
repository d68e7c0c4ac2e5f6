"""CGKM, Lemma 3: how far Γ on a sample is from Γ, by the exact law, with the group counts random."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.compatibility.tails import tails
from dpfair_lib.compatibility.private_learner.loss_concentration import (
    deviation_law,
    discrimination_bound,
    printed_discrimination_bound,
)

SIZES = (3, 8, 14, 20)
POSITIVES = ((0.25, 0.25), (0.45, 0.45), (0.1, 0.6), (0.03, 0.5))
RATES = ((0.5, 0.5), (0.9, 0.2), (0.5, 1.0), (0.0, 0.05))


def check(*, bound: Callable[..., Any] = discrimination_bound, search: Search) -> Evidence:
    """Judge our bound, the printed one, and the printed one with a minus sign at every deviation that can occur."""
    for n in SIZES:
        for positives in POSITIVES:
            for rates in RATES:
                law = deviation_law(n, positives, rates)
                _judge(law, n, positives, {"rates": rates}, bound, search)
    search.exhausts(
        f"all samples of {', '.join(map(str, SIZES))} examples, for {len(POSITIVES)} × {len(RATES)} populations",
        # four slacks at each composition of n into positives of either group, hit or missed, and the others
        cases=4 * sum(math.comb(n + 4, 4) for n in SIZES) * len(POSITIVES) * len(RATES),
    )
    _least_printed(search)
    _exact(bound, search)
    _conditional(search)
    return search.evidence()


def _judge(
    law: Any, n: int, positives: Any, case: dict[str, Any], bound: Callable[..., Any], search: Search
) -> None:
    search.part("exact tails against the bounds")
    rho, tail = tails(law)
    case = {"n": n, "positives": positives, **case, "rho": rho}
    search.sanity(-abs(float(tail[-1]) - 1), {"n": n}, tolerance=1e-11)
    search.observe(np.asarray(bound(rho, n, positives)) - tail, case, tolerance=1e-11)
    search.observe(printed_discrimination_bound(rho, n, positives) - tail, case, tolerance=1e-11)
    search.observe(printed_discrimination_bound(rho, n, positives, -1) - tail, case, tolerance=1e-11)
    # ours is below the printed one with its sign mended
    search.observe(
        printed_discrimination_bound(rho, n, positives, -1) - discrimination_bound(rho, n, positives), case
    )


def printed_level_slack(rho: Fraction, n: int, least: Fraction) -> Fraction:
    """Return a number above 1 − δ, for the failure probability δ = 16·exp(+¼ρ²n·min P) of the print; e^x ≥ 1 + x."""
    return 1 - 16 * (1 + rho**2 * n * least / 4)


def _least_printed(search: Search) -> None:
    """With the sign in print the bound, which is called δ, is at least 16, whatever is put in: it rules out nothing."""
    search.part("the printed sign")
    values = []
    for rho, n, least in itertools.product(
        (Fraction(0), Fraction(1, 10), Fraction(1)), SIZES, (Fraction(1, 4), Fraction(3, 100))
    ):
        case: dict[str, Any] = {"rho": rho, "n": n, "least": least}
        level = float(printed_discrimination_bound(float(rho), n, (least, least)))
        search.sanity(level * (1 + 1e-12) - float(1 - printed_level_slack(**case)), case)
        search.against(printed_level_slack(**case), case, verify=printed_level_slack)
        values.append(level)
    search.fact("least_printed", min(values), "least value of the bound as printed, a probability")


def _exact(bound: Callable[..., Any], search: Search) -> None:
    """In fractions, at a sample so small that cells are often empty."""
    search.part("exact small samples")
    for n in (1, 2, 5):
        for p in (Fraction(1, 4), Fraction(1, 3)):
            law = deviation_law(n, (p, p), (Fraction(1, 2), Fraction(1, 5)))
            search.equal(sum(law[1], Fraction(0)), 1, {"n": n, "p": p})
            rho, tail = tails(law)
            found = np.asarray(bound(rho.astype(float), n, (p, p)), dtype=float)
            search.observe(found - tail.astype(float), {"n": n, "p": p, "rho": rho}, tolerance=1e-12)


def _conditional(search: Search) -> None:
    """Random counts cost something: our bound is above the conditional one at the expected counts."""
    search.part("random counts against their expectation")
    for n in SIZES:
        for positives in POSITIVES:
            rho = np.linspace(0, 1, 21)
            at_mean = 2 * sum(np.exp(-n * p * rho**2 / 2) for p in positives)
            search.observe(discrimination_bound(rho, n, positives) - at_mean, {"n": n}, tolerance=1e-12)
    positives = (1 / 20, 0.5)
    deviation, weights = deviation_law(20, positives, (1.0, 0.0))
    empty = float(weights[deviation >= 1 - 1e-12].sum())
    none = [(1 - p) ** 20 for p in positives]
    both = (1 - sum(positives)) ** 20
    search.equal(empty, sum(none) - both, {"n": 20, "positives": positives}, tolerance=1e-12)
    search.fact(
        "undefined_chance", empty,
        "chance that Γ of the sample is undefined, with one positive of the rarer group expected",
    )  # fmt: skip


FAULTS: dict[str, dict[str, Any]] = {
    "Γ as a mean of n entries": {"bound": lambda rho, n, _: 2 * np.exp(-2 * rho**2 * n)},
    "probability of the group forgotten": {"bound": lambda rho, n, _: 4 * np.exp(-(rho**2) * n / 2)},
    "the larger group's probability": {
        "bound": lambda rho, n, positives: 4 * np.exp(-(rho**2) * n * float(max(positives)) / 2)
    },
    "one group only": {
        "bound": lambda rho, n, positives: discrimination_bound(rho, n, (positives[1], positives[1])) / 2
    },
    "a quarter of it": {"bound": lambda rho, n, positives: discrimination_bound(rho, n, positives) / 4},
}


CLAIM = Claim(
    id="cgkm.lemma-3",
    where="Lemma 3, Appendix B",
    statement="For a fixed h and n i.i.d. examples, Pr[|Γ(h) − Γ^Z(h)| > ρ] ≤ 16·exp(¼ρ²n·min_{y,a} "
    "P_{ya}) = δ (no minus sign in print).",
    verdict="corrected",
    finding="Void as printed: the δ is at least 16, no failure probability. With a minus sign it is true, with "
    "random group counts and empty cells counted as failures too. Sharper: 2·Σ_a (1 − P₁ₐ(1 − exp(−ρ²/2)))ⁿ, at "
    "most 4·exp(−0.39·ρ²n·min_a P₁ₐ), and only the cells with label 1 matter.",
    statement_uses=("cgkm.definitions",),
    chapter="cgkm-thm-2",
    headline="A minus sign is missing: the printed failure probability is at least 16. With it the lemma "
    "holds.",
    witness="{n} people, ρ = {rho}, and a smallest cell of probability {least}. The printed failure "
    "probability is above 1.",
    kind="slip",
    impact="none",
    because="The proof of Lemma 1 uses the bound with the minus sign.",
    errata=(
        Erratum(
            where="Lemma 3, Appendix B",
            printed="16·exp(¼ρ²n·min P_ya) = δ",
            correct="16·exp(−¼ρ²n·min P_ya)",
            band="slip",
            why="Without the minus sign the bound grows with n and is at least 16.",
            used="the proof of Lemma 1, third inequality, where the exponent is negative",
        ),
    ),
    check=check,
    faults=FAULTS,
)
