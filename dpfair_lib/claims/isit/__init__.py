"""Entries of the ledger: ISIT, Differentially Private Fair Binary Classifications (2024)."""

ORDER = (
    "prop-1",
    "alg-1",
    "thm-2",
    "alg-2",
    "thm-3.privacy",
    "thm-3.fairness",
    "thm-3.utility",
    "prop-4.fairness",
    "prop-4.utility",
    "noise-multipliers",
    "tables-2-5",
    "tables-6-9",
    "tables-10-13",
    "delta-needed",
    "assumptions",
    "preprocessing-leak",
    "sentences",
)
"""Names of the claims, as in ``isit.NAME``, in the order of the ledger; each has a module."""
