"""CGKM, Lemma 1: how far Γ + err on a sample is from its population value, by the exact law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.tails import tails
from dpfair_lib.compat.loss_concentration import deviation_law, printed_utility_bound, utility_bound

SIZES = (3, 8, 14)
POSITIVES = ((0.25, 0.25), (0.45, 0.45), (0.03, 0.5))
RATES = ((0.5, 0.5), (0.9, 0.2), (0.5, 1.0))
WRONG = (0.0, 0.5)
"""Pr[h = 1 | Y = 0]."""


def check(*, bound: Callable[..., Any] = utility_bound, search: Search) -> Evidence:
    """Judge our bound and the printed one at every deviation that can occur."""
    judged = 0
    for n in SIZES:
        for positives in POSITIVES:
            for rates in RATES:
                for wrong in WRONG:
                    rho, tail = tails(deviation_law(n, positives, rates, wrong))
                    case = {"n": n, "positives": positives, "rates": rates, "wrong": wrong, "rho": rho}
                    search.part("exact tails against the bounds")
                    search.sanity(-abs(float(tail[-1]) - 1), {"n": n}, tolerance=1e-11)
                    search.observe(np.asarray(bound(rho, n, positives)) - tail, case, tolerance=1e-11)
                    printed = printed_utility_bound(rho, n, positives)
                    search.observe(printed - tail, case, tolerance=1e-11)
                    search.observe(printed - utility_bound(rho, n, positives), case)
                    judged += 3 * len(rho)
    search.exhausts(
        f"all samples of {', '.join(map(str, SIZES))} examples, for {len(POSITIVES)} × {len(RATES)} × {len(WRONG)} "
        "populations and hypotheses",
        cases=judged,
    )
    _below_printed(bound, search)
    _where_informative(search)
    return search.evidence()


def _below_printed(bound: Callable[..., Any], search: Search) -> None:
    """At sizes where either says something, ours is below the printed one."""
    search.part("against the printed bound, larger samples")
    rho = np.linspace(0.01, 2, 200)
    for n in (100, 1000, 10_000):
        for positives in POSITIVES:
            slack = printed_utility_bound(rho, n, positives) - bound(rho, n, positives)
            search.observe(slack, {"n": n, "positives": positives, "rho": rho})


def _where_informative(search: Search) -> None:
    """From which n either bound is below ½, for ρ = ½ and a quarter of positives in each group."""
    for name, value in (("printed", printed_utility_bound), ("ours", utility_bound)):
        n = next(n for n in range(1, 10**5) if float(value(0.5, n, (0.25, 0.25))) < 0.5)
        search.fact(f"n from which the bound is below ½ at ρ = ½, P₁ₐ = ¼: {name}", n)


FAULTS: dict[str, dict[str, Any]] = {
    "u as a mean of n entries": {"bound": lambda rho, n, _: 2 * np.exp(-2 * rho**2 * n)},
    "only what err contributes": {"bound": lambda rho, n, _: 2 * np.exp(-(rho**2) * n / 2)},
    "a tenth of it": {"bound": lambda rho, n, positives: utility_bound(rho, n, positives) / 10},
    "ten times it": {"bound": lambda rho, n, positives: 10 * utility_bound(rho, n, positives)},
}


CLAIM = Claim(
    id="cgkm.lemma-1",
    where="Lemma 1, § 4 and Appendix B",
    statement="For a fixed h and n i.i.d. examples, Pr[|u(Z, h) − u(D, h)| > ρ] ≤ 18·exp(−min_a "
    "ρ²nP₁ₐ/16), where u adds up Γ and err.",
    verdict="holds",
    finding="True, since the Lemma 3 that it uses is the one with the minus sign. With our form of it, "
    "6·exp(−0.098·ρ²n·min_a P₁ₐ) does. In the proof of Theorem 2 u(D, h) is written Γ^Z + err once; Γ + err is "
    "meant.",
    statement_uses=("cgkm.definitions",),
    proof_uses=("cgkm.lemma-3", "cgkm.hoeffding"),
    chapter="cgkm-thm-2",
    errata=(
        Erratum(
            where="Theorem 2, proof, where u(D, h) is introduced",
            printed="Γ^Z(h) + err(h)",
            correct="Γ(h) + err(h)",
        ),
    ),
    check=check,
    faults=FAULTS,
)
