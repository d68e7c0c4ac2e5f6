"""The ledger as data: rows for a table or for JSON, and the order of the graph of claims."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
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
        "slack": plain_number(evidence.slack) if evidence else None,
        "cases": evidence.cases if evidence else 0,
        "witness": plain(evidence.witness) if evidence else None,
        "depends_on": list(claim.depends_on),
        "chapter": claim.chapter,
    }
    if outcome.faults:
        row["faults"] = {name: {"caught": run.caught, "by": run.how} for name, run in outcome.faults.items()}
    return row


def plain_number(value: Any) -> float | str | None:
    """Return a slack as a number that JSON knows; what a float cannot hold becomes text."""
    if value is None:
        return None
    try:
        number = float(value)
    except OverflowError:
        return str(value)
    return number if math.isfinite(number) and (number != 0 or value == 0) else str(value)


def plain(value: Any) -> Any:
    """Return a witness as data that JSON knows; a `Fraction` becomes text such as ``"3/8"``."""
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def as_table(outcomes: Iterable[Outcome]) -> str:
    """Return the outcomes as a plain-text table, and a count of each status."""
    rows = [("claim", "verdict", "status", "cases", "worst slack", "faults caught")]
    counts: dict[str, int] = {}
    for outcome in outcomes:
        row = as_row(outcome)
        counts[outcome.status] = counts.get(outcome.status, 0) + 1
        planted = len(outcome.faults)
        caught = f"{planted - len(outcome.missed)} of {planted}" if planted else ""
        slack = (
            row["slack"]
            if isinstance(row["slack"], str)
            else ""
            if row["slack"] is None
            else f"{row['slack']:.3g}"
        )
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
