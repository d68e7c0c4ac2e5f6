"""SK, § 5: the printed bound against the generic one, exactly; and what the proved bound makes of the comparison."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.svm import SVC

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.svm.linf_bounds import generic_linf_bound, svm_at_most_generic, svm_linf_bound
from dpfair_lib.svm.perturbation import flippable_share

BETAS = tuple(Fraction(i, 24) for i in range(1, 25))
RECORDS = 24


def check(
    *,
    compare: Callable[..., int] = svm_at_most_generic,
    svm: Callable[..., float] = svm_linf_bound,
    generic: Callable[..., float] = generic_linf_bound,
    search: Search,
) -> Evidence:
    """Judge the comparison at every count of records and vectors, and defend what is true of it."""
    _signs(compare, search)
    _printed(compare, svm, generic, search)
    _proved(svm, generic, search)
    return search.evidence()


def strict_slack(beta: Fraction, m: int, k: int) -> int:
    """Return 0 if the SVM bound is the larger and −1 otherwise: by 2^(m − k) against β^m."""
    return 0 if 2 ** (m - k) > beta**m else -1


@once
def _signs(compare: Any, search: Search) -> None:
    search.part("the printed bounds")
    for m in range(1, RECORDS + 1):
        for k, beta in itertools.product(range(1, m + 1), BETAS):
            case = {"beta": beta, "m": m, "k": k}
            sign = compare(beta=beta, m=m, k=k)
            search.agree(sign >= 0, beta**m >= 2 ** (m - k), case)
            search.agree(sign, 0 if beta == 1 and k == m else -1, case)
            inside = np.array([beta < 1 or k < m])
            search.under(inside, [strict_slack(beta, m, k)], case, verify=strict_slack)
    search.exhausts(
        f"all k ≤ m ≤ {RECORDS}, β in twenty-fourths up to 1",
        cases=3 * len(BETAS) * RECORDS * (RECORDS + 1) // 2,
    )


@once
def _printed(compare: Any, svm: Any, generic: Any, search: Search) -> None:
    for groups, m, k, beta in itertools.product((1, 2, 5), (10, 1000), (1, 7, 10), BETAS[:-1]):
        chosen = {"n_groups": groups, "m": m, "epsilon": 0.3, "beta": float(beta)}
        apart = generic(**chosen) - svm(**chosen, k=k)
        # ln 2/m − ln(2/β)/k, in units of 2/ε
        expected = 2 / 0.3 * (np.log(2) / m - np.log(2 / float(beta)) / k)
        search.equal(apart, float(expected), chosen | {"k": k}, tolerance=1e-11)
        search.agree(np.sign(apart), compare(beta=beta, m=m, k=k), chosen | {"k": k})


@once
def _proved(svm: Any, generic: Any, search: Search) -> None:
    """With half of β for the cells, generic plus flips; with more of it and no flips, below the generic bound."""
    search.part("the proved bounds")
    for groups, m, beta, flips in itertools.product((1, 2, 5), (10, 1000), (0.01, 0.2, 0.9), (0.0, 0.1, 1.0)):
        chosen = {"n_groups": groups, "m": m, "epsilon": 0.3, "beta": beta}
        proved = svm(**chosen, k=m, kind="corrected", flippable=flips)
        search.equal(proved - generic(**chosen), flips, chosen, tolerance=1e-11)
        exact = generic(**chosen, kind="exact")
        search.observe(generic(**chosen) - exact, chosen)
    # 500 records at −1 and 500 at 1: nothing that noise of this size can flip
    x, labels, people = np.repeat([-1.0, 1.0], 500)[:, None], np.repeat([0, 1], 500), np.arange(1000) % 2
    machine = SVC(kernel="linear", C=1.0).fit(x, labels)
    k, epsilon, beta, part = len(machine.support_vectors_), 20.0, 0.05, 0.9
    flips = flippable_share(
        machine, x, labels, sensitive_features=people, epsilon=epsilon, failure=(1 - part) * beta
    )
    chosen = {"n_groups": 2, "m": 1000, "epsilon": epsilon, "beta": beta}
    proved = svm(**chosen, k=k, kind="corrected", flippable=flips, share=part)
    search.equal(flips, 0.0, chosen)
    search.observe(generic(**chosen) - proved, chosen)
    search.agree(generic(**chosen) > proved, True, chosen)
    search.fact("vectors", k, "1000 records in two places, ε = 20, β = 0.05: support vectors")
    search.fact("generic_bound", generic(**chosen), "there the generic bound")
    search.fact("printed_bound", svm(**chosen, k=k), "there the printed SVM bound")
    search.fact(
        "proved_bound",
        proved,
        f"1000 records in two places, ε = 20, β = 0.05: the proved SVM bound, where the generic one is "
        f"{generic(**chosen):.5f}",
    )


FAULTS: dict[str, dict[str, Any]] = {
    "always worse": {"compare": lambda beta, m, k: min(svm_at_most_generic(beta=beta, m=m, k=k), -1)},
    "1/β instead of 2/β": {"compare": lambda beta, m, k: (2**k > (1 / beta) ** m) - (2**k < (1 / beta) ** m)},
    "4|A| cells in both": {
        "svm": lambda *, n_groups, **chosen: svm_linf_bound(n_groups=2 * n_groups, **chosen)
    },
    "m for k": {"svm": lambda *, m, k, **chosen: svm_linf_bound(m=m, k=max(k, m), **chosen)},
    "all of β for the cells": {
        "svm": lambda *, kind="printed", share=0.5, **chosen: svm_linf_bound(
            kind=kind, share=1 - 1e-9 if share == 0.5 else share, **chosen
        )
    },
    "the same number of records in the generic one": {
        "generic": lambda *, m, **chosen: generic_linf_bound(m=min(m, 10), **chosen)
    },
    "2|A| cells in the generic one": {
        "generic": lambda *, n_groups, **chosen: (
            generic_linf_bound(n_groups=n_groups, **chosen)
            - 2 * np.log(2) / (chosen["m"] * chosen["epsilon"])
        )
    },
}


CLAIM = Claim(
    id="sk.comparison",
    where="§ 5",
    statement="The SVM bound ≤ the generic bound 2 ln(4|A|/β)/(mε) exactly if β ≥ 2^(1−k/m) ≥ 1, a "
    "contradiction for β ∈ [0, 1], k ≤ m: it is always strictly worse, and so are the "
    "guarantees built on it.",
    statement_uses=("sk.linf-bound", "sk.jagielski-baseline"),
    verdict="corrected",
    finding="The equivalence is right; at β = 1, k = m the two are equal, else the printed SVM bound is the "
    "larger. That compares formulas: the printed one is no bound. The proved bound is the generic one "
    "plus the flippable share, and with more than β/2 spent on the cells it is smaller where nothing can "
    "flip.",
    headline="The comparison of formulas is right but for β = 1, k = m; the method's proved bound can be the smaller "
    "one, 0.00045 against 0.00051.",
    witness="β = {beta}, m = {m} and k = {k}: the two bounds are equal, and the comparison is printed as "
    "strict.",
    kind="condition",
    impact="conclusion",
    because="It compares with a formula that bounds nothing; where no record can flip, the proved bound is the "
    "smaller.",
    shown_by="proved_bound",
    chapter="sk-linf-bound",
    errata=(
        Erratum(
            where="§ 5, the conclusion of the comparison",
            printed="perturbing support vectors gives strictly worse guarantees than the generic algorithm",
            correct="the printed formula is the larger one, but it is no bound; the proved one can be the smaller",
            band="condition",
            why="The proved bound is the generic one plus the share that noise can flip, which may be 0.",
        ),
        Erratum(
            where="§ 5, last line",
            printed="β ∈ [0, 1] … >",
            correct="0 < β < 1 …, or ≥: at β = 1 and k = m the two are equal; at β = 0 neither is defined",
            band="condition",
            why="For β = 1 and k = m both bounds are 2 ln(4|A|)/(mε).",
        ),
    ),
    check=check,
    faults=FAULTS,
)
