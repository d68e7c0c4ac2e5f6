"""Entries of the ledger: MPBT (2023).

Differential Privacy has Bounded Impact on Fairness in Classification.
"""

ORDER = (
    "example-1",
    "example-2",
    "example-3",
    "example-4",
    "margin-lipschitz",
    "thm-3.1",
    "remark-b1",
    "remark-b2",
    "thm-3.2",
    "cor-3.3",
    "lemma-3.4",
    "lemma-4.1",
    "sensitivity",
    "gaussian-mechanism",
    "lemma-4.2",
    "thm-4.4",
    "g3-refined",
    "table-1",
    "figs-1-3",
    "large-margin",
    "amplification",
    "remarks",
    "rate",
    "sentences",
)
"""Names of the claims, as in ``mpbt.NAME``, in the order of the ledger; each has a module."""
