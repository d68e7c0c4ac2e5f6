"""The ledger as data: rows for a table or for JSON, and the order of the graph of claims."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import NOT_EXAMINED, Claim, Outcome


def as_row(outcome: Outcome) -> dict[str, Any]:
    """Return one outcome as plain data, as ``python -m dpfair_lib claims --json`` prints it."""
    claim, evidence = outcome.claim, outcome.evidence
    row = {
        "id": claim.id,
        "source": claim.source,
        "where": claim.where,
        "statement": claim.statement,
        "verdict": claim.verdict or NOT_EXAMINED,
        "status": outcome.status,
        "slack": None if evidence is None or evidence.slack is None else float(evidence.slack),
        "cases": evidence.cases if evidence else 0,
        "witness": plain(evidence.witness) if evidence else None,
        "depends_on": list(claim.depends_on),
        "chapter": claim.chapter,
    }
    if outcome.caught:
        row["faults"] = dict(outcome.caught)
    return row


def plain(value: Any) -> Any:
    """Return a witness as data that JSON knows; a `Fraction` becomes text such as ``"3/8"``."""
    if isinstance(value, dict):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    return str(value) if isinstance(value, Fraction) else value


def as_table(outcomes: Iterable[Outcome]) -> str:
    """Return the outcomes as a plain-text table, and a count of each status."""
    rows = [("claim", "verdict", "status", "cases", "worst slack", "faults caught")]
    counts: dict[str, int] = {}
    for outcome in outcomes:
        row = as_row(outcome)
        counts[outcome.status] = counts.get(outcome.status, 0) + 1
        caught = f"{sum(outcome.caught.values())} of {len(outcome.caught)}" if outcome.caught else ""
        slack = "" if row["slack"] is None else f"{row['slack']:.3g}"
        cases = f"{row['cases']:,}" if row["cases"] else ""
        rows.append((row["id"], row["verdict"], row["status"], cases, slack, caught))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    total = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    return "\n".join([*lines, "", f"{sum(counts.values())} claims: {total}"])


def layers(claims: Iterable[Claim]) -> dict[str, int]:
    """Return each claim's depth in the graph: 0 if it rests on none, else one more than the deepest it uses.

    Raises
    ------
    ValueError
        If a claim rests on one that is not entered, or on itself through others.
    """
    entered = {claim.id: claim for claim in claims}
    depth: dict[str, int] = {}

    def visit(claim_id: str, path: tuple[str, ...]) -> int:
        if claim_id in path:
            raise ValueError(f"depends_on: found a circle {' → '.join((*path, claim_id))}, expected none")
        if claim_id not in entered:
            raise ValueError(f"{path[-1]}: depends on {claim_id!r}, expected an id of the ledger")
        if claim_id not in depth:
            used = entered[claim_id].depends_on
            depth[claim_id] = 1 + max((visit(other, (*path, claim_id)) for other in used), default=-1)
        return depth[claim_id]

    for claim_id in entered:
        visit(claim_id, ())
    return depth
