"""Entries of the ledger: theorems that this book states and proves itself; no claim of a paper."""

ORDER = (
    "equal-together",
    "gap-interval",
    "middle-sums",
    "seen-rows",
    "stable-answers",
    "gaussian-distance",
    "grown-lists",
    "no-exchange",
    "objective-gaussian",
    "objective-pure",
    "sharp-losses",
    "least-change",
    "opportunity-change",
    "group-unknown",
    "both-notions",
    "noisy-rates",
    "noisy-opportunity",
    "opportunity-law",
    "noisy-changes",
    "least-gap",
    "least-gap-groups",
    "channel-audit",
    "fairer-data",
)  # fmt: skip
"""Names of the theorems, as in ``ours.NAME``, in the order of the ledger; each has a module."""
