"""CGKM, Lemma 1: how far Γ + err on a sample is from its population value, by the exact law."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import binom

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.compatibility.tails import tails
from dpfair_lib.compatibility.private_learner.loss_concentration import (
    deviation_law,
    printed_utility_bound,
    utility_bound,
)

SIZES = (3, 8, 14)
POSITIVES = ((0.25, 0.25), (0.45, 0.45), (0.03, 0.5))
RATES = ((0.5, 0.5), (0.9, 0.2), (0.5, 1.0))
WRONG = (0.0, 0.5)
"""Pr[h = 1 | Y = 0]."""


def check(*, bound: Callable[..., Any] = utility_bound, search: Search) -> Evidence:
    """Judge our bound and the printed one at every deviation that can occur."""
    search.part("exact tails against the bounds")
    for n, positives, rates, wrong in itertools.product(SIZES, POSITIVES, RATES, WRONG):
        rho, tail = _tails(n, positives, rates, wrong)
        case = {"n": n, "positives": positives, "rates": rates, "wrong": wrong, "rho": rho}
        search.sanity(-abs(float(tail[-1]) - 1), {"n": n}, tolerance=1e-11)
        search.observe(np.asarray(bound(rho, n, positives)) - tail, case, tolerance=1e-11)
        printed = printed_utility_bound(rho, n, positives)
        search.observe(printed - tail, case, tolerance=1e-11)
        search.observe(printed - utility_bound(rho, n, positives), case)
    search.exhausts(
        f"all samples of {', '.join(map(str, SIZES))} examples, for {len(POSITIVES)} × {len(RATES)} × {len(WRONG)} "
        "populations and hypotheses",
        # three slacks at each composition of n into positives of either group and the others, each right or wrong
        cases=3 * sum(math.comb(n + 5, 5) for n in SIZES) * len(POSITIVES) * len(RATES) * len(WRONG),
    )
    _other_shares(bound, search)
    _below_printed(bound, search)
    _where_informative(search)
    return search.evidence()


@functools.cache
def _tails(n: int, positives: Any, rates: Any, wrong: float) -> tuple[np.ndarray, np.ndarray]:
    return tails(deviation_law(n, positives, rates, wrong))


def _other_shares(bound: Callable[..., Any], search: Search) -> None:
    """Whatever share of ρ is left to Γ, the bound is one, and the sum of the two that it is made of."""
    search.part("other shares of ρ")
    for share, positives in itertools.product((0.2, 0.5, 0.9), POSITIVES):
        rho, tail = _tails(8, positives, RATES[1], WRONG[1])
        case = {"share": share, "positives": positives}
        search.observe(
            np.asarray(bound(rho, 8, positives, share)) - tail, case | {"rho": rho}, tolerance=1e-11
        )
        for n in (8, 500):
            # by the binomial law of each group's count, and Γ never off by more than 1
            rho = np.linspace(0.01, 1.9, 40)
            counts = np.arange(n + 1)[:, None]
            tail_of_rate = np.where(share * rho > 1, 0.0, np.exp(-counts * (share * rho) ** 2 / 2))
            chances = [binom.pmf(np.arange(n + 1), n, p) for p in positives]
            expected = 2 * sum(chance @ tail_of_rate for chance in chances)
            expected = expected + 2 * np.exp(-2 * n * ((1 - share) * rho) ** 2)
            off = abs(np.asarray(bound(rho, n, positives, share)) / expected - 1)
            search.observe(-off, case | {"n": n, "rho": rho}, tolerance=1e-9)


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
        search.fact(f"informative_{name}", n, f"n from which the bound is below ½ at ρ = ½, P₁ₐ = ¼: {name}")


FAULTS: dict[str, dict[str, Any]] = {
    "u as a mean of n entries": {"bound": lambda rho, n, *_: 2 * np.exp(-2 * rho**2 * n)},
    "only what err contributes": {"bound": lambda rho, n, *_: 2 * np.exp(-(rho**2) * n / 2)},
    "a tenth of it": {"bound": lambda *given: utility_bound(*given) / 10},
    "ten times it": {"bound": lambda *given: 10 * utility_bound(*given)},
    "an equal share always": {"bound": lambda rho, n, positives, *_: utility_bound(rho, n, positives)},
    "the shares exchanged": {
        "bound": lambda rho, n, positives, share=0.5: utility_bound(rho, n, positives, 1 - share)
    },
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
    headline="Lemma 1 holds; our bound says something from n = 270 on where the printed one needs n = 918.",
    kind="as-printed",
    impact="none",
    because="The bound holds as printed, at every deviation of every sample enumerated.",
    errata=(
        Erratum(
            where="Theorem 2, proof, where u(D, h) is introduced",
            printed="Γ^Z(h) + err(h)",
            correct="Γ(h) + err(h)",
            band="slip",
            why="The population loss has no sample in it.",
            used="the proof of Lemma 1, whose first line has Γ(h) + err(h)",
        ),
    ),
    check=check,
    faults=FAULTS,
)
