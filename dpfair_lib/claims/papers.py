"""The five documents: how pages name them, and which entries judge each of their numbered statements.

Theorems of our own are no document's: `of_papers` and `of_ours` keep the two apart on every page.
"""

from __future__ import annotations

from collections.abc import Iterable

from dpfair_lib.claims.ledger import OURS, Claim, Outcome

NAMES = {"isit": "ISIT", "thesis": "Thesis", "cgkm": "CGKM", "mpbt": "MPBT", "sk": "SK"}
"""Source → its short name on pages."""

OF_THE_GRAPH = NAMES | {OURS: "Ours"}
"""The same, and the band of our own theorems."""

IN_A_SENTENCE = NAMES | {"thesis": "the thesis"}
"""Source → its short name within a sentence."""

AUTHORS = {
    "isit": "Ghoukasian and Asoodeh, Differentially Private Fair Binary Classifications (ISIT 2024)",
    "thesis": "Ghoukasian, Classification Algorithms with Differential Privacy and Fairness Guarantees (2024)",
    "cgkm": "Cummings, Gupta, Kimpara and Morgenstern, On the Compatibility of Privacy and Fairness (2019)",
    "mpbt": "Mangold, Perrot, Bellet and Tommasi, Differential Privacy has Bounded Impact on Fairness in "
    "Classification (ICML 2023)",
    "sk": "Seiders and Kumar, Differentially Private Fair Support Vector Machines (2024)",
}
"""Source → authors, title and year."""

STATEMENTS: dict[str, dict[str, tuple[str, ...]]] = {
    "isit": {
        "Proposition 1": ("isit.prop-1",),
        "Theorem 2": ("isit.thm-2",),
        "Theorem 3": ("isit.thm-3.privacy", "isit.thm-3.fairness", "isit.thm-3.utility"),
        "Proposition 4": ("isit.prop-4.fairness", "isit.prop-4.utility"),
    },
    "thesis": {
        "Lemma 13": ("thesis.lemma-13",),
        "Theorem 14": ("thesis.thm-14", "thesis.thm-14.hypotheses"),
        "Theorem 15": ("thesis.thm-15",),
        "Lemma 16": ("thesis.lemma-16",),
    },
    "cgkm": {
        "Theorem 1": ("cgkm.thm-1.statement", "cgkm.thm-1.proof"),
        "Theorem 2": ("cgkm.thm-2.privacy", "cgkm.thm-2.accuracy", "cgkm.thm-2.sample-size"),
        "Theorem 3": ("cgkm.fairnr-privacy", "cgkm.thm-3"),
    },
    "mpbt": {
        "Theorem 3.1": ("mpbt.thm-3.1",),
        "Theorem 3.2": ("mpbt.thm-3.2",),
        "Corollary 3.3": ("mpbt.cor-3.3",),
        "Lemma 3.4": ("mpbt.lemma-3.4",),
        "Lemma 4.1": ("mpbt.lemma-4.1",),
        "Lemma 4.2": ("mpbt.lemma-4.2",),
        "Theorem 4.4": ("mpbt.thm-4.4",),
    },
    "sk": {
        "privacy of Algorithm 1": ("sk.alg-1-privacy",),
        "Claim A.1": ("sk.claim-a1",),
        "Lemma A.2": tuple(f"sk.lemma-a2.{part}" for part in range(1, 6)),
        "guarantees of Algorithm 1": ("sk.guarantees",),
    },
}
"""Source → its main numbered statements, each with the entries that judge it."""

MATTER_MOST = (
    "sk.alg-1-privacy",
    "mpbt.table-1",
    "isit.noise-multipliers",
    "cgkm.thm-1.statement",
    "mpbt.lemma-4.2",
    "isit.preprocessing-leak",
    "cgkm.fairnr-privacy",
    "thesis.thm-15",
    "thesis.thm-14",
    "thesis.open-2",
)
"""The ten entries that the front page shows, first those that matter most to people whose data are used."""


def of_papers(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the entries that judge a claim of one of the five documents."""
    return [outcome for outcome in outcomes if not outcome.claim.ours]


def of_ours(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the entries that are theorems of our own."""
    return [outcome for outcome in outcomes if outcome.claim.ours]


def place_of(claim: Claim) -> str:
    """Return where a claim stands: the paper's short name and the place in it; of ours, the chapter and the result."""
    if claim.ours:
        return f"this book, {claim.where}"
    name = NAMES[claim.source]
    place = claim.where.removeprefix(f"{name.lower()} ").removeprefix(f"{name} ")
    return f"{name}, {place}"
