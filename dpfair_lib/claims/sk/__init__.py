"""Entries of the ledger: SK, Differentially Private Fair Support Vector Machines (2024)."""

ORDER = (
    "alg-1-privacy",
    "linf-bound",
    "comparison",
    "claim-a1",
    "lemma-a2.1",
    "lemma-a2.2",
    "lemma-a2.3",
    "lemma-a2.4",
    "lemma-a2.5",
    "guarantees",
    "jagielski-baseline",
    "scaling",
    "sentences",
)
"""Names of the claims, as in ``sk.NAME``, in the order of the ledger; each has a module."""
