"""Entries of the ledger: the thesis, chapter 5.

Classification Algorithms with Differential Privacy and Fairness Guarantees (2024).
"""

ORDER = (
    "grr-ldp",
    "ss-ldp",
    "ss-equals-grr",
    "lemma-13",
    "thm-14",
    "reduction-5.5.7",
    "program-5.5.9",
    "zeta-min",
    "kamiran-calders-1",
    "thm-15",
    "lemma-16",
    "figs-5.1-5.10",
    "tables-5.1-5.4",
    "thm-14.hypotheses",
    "front",
    "table-2.1",
    "sentences",
    "open-1",
    "open-2",
)
"""Names of the claims, as in ``thesis.NAME``, in the order of the ledger; each has a module."""
