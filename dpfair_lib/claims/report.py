"""The ledger as data: rows for a table or for JSON, and the order of the graph of claims."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import NOT_EXAMINED, Claim, Outcome
from dpfair_lib.claims.papers import of_ours, of_papers


def as_row(outcome: Outcome, *, times: bool = False) -> dict[str, Any]:
    """Return one outcome as plain data, as ``python -m dpfair_lib claims --json`` prints it.

    With ``times`` it also has the run's seconds of processor time, and ``stored_under``: the digest of what an
    earlier run depended on, empty for a run made now.
    """
    claim, evidence = outcome.claim, outcome.evidence
    row = {
        "id": claim.id,
        "source": claim.source,
        "where": claim.where,
        "statement": claim.statement,
        "verdict": claim.verdict or NOT_EXAMINED,
        "finding": claim.finding,
        "status": outcome.status,
        "slack": plain_number(evidence.slack) if evidence else None,
        "cases": evidence.cases if evidence else 0,
        "witness": plain(evidence.witness) if evidence else None,
        "depends_on": list(claim.depends_on),
        "chapter": claim.chapter,
        "universe": evidence.universe if evidence else "",
        "kind": claim.kind,
        "impact": claim.impact,
        "headline": claim.headline,
        "facts": plain(evidence.facts) if evidence else {},
        "says": dict(evidence.says) if evidence else {},
        "faults": {name: {"caught": run.caught, "by": run.how} for name, run in outcome.faults.items()},
    }
    if times:
        row |= {"seconds": round(outcome.seconds, 2), "stored_under": outcome.stored_under}
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


def as_table(outcomes: Iterable[Outcome], *, times: bool = False) -> str:
    """Return the outcomes as a plain-text table, a count of each status, and how many runs are not of now."""
    outcomes = list(outcomes)
    header = ("claim", "verdict", "status", "cases", "worst slack", "faults caught")
    rows = [(*header, "seconds", "run") if times else header]
    for outcome in outcomes:
        row = as_row(outcome)
        planted = len(outcome.faults)
        caught = f"{planted - len(outcome.missed)} of {planted}" if planted else ""
        cases = f"{row['cases']:,}" if row["cases"] else ""
        cells = (row["id"], row["verdict"], row["status"], cases, _short(row["slack"]), caught)
        run = f"stored {outcome.stored_under[:8]}" if outcome.stored_under else "now"
        taken = (f"{outcome.seconds:.2f}", run) if outcome.evidence else ("", "")
        rows.append((*cells, *taken) if times else cells)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    lines += ["", *_totals("claim", of_papers(outcomes)), *_totals("theorem of our own", of_ours(outcomes))]
    if times:
        lines.append(f"{sum(outcome.seconds for outcome in outcomes):.1f} s of processor time in all")
    if stored := sum(bool(outcome.stored_under) for outcome in outcomes):
        lines.append(
            f"{stored} of these runs were made and stored earlier in this build, from the same sources"
        )
    return "\n".join(lines)


def _totals(what: str, outcomes: list[Outcome]) -> list[str]:
    """Return how many entries there are of each status; nothing where there are none."""
    counts = Counter(outcome.status for outcome in outcomes)
    total = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    noun, *rest = what.split(" ", 1)
    named = " ".join([noun if len(outcomes) == 1 else f"{noun}s", *rest])
    return [f"{len(outcomes)} {named}: {total}"] if outcomes else []


def _short(slack: float | str | None) -> str:
    if slack is None:
        return ""
    return slack if isinstance(slack, str) else f"{slack:.3g}"


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
