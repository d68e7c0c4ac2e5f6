"""How the ledger is shown: rows for a table or JSON, a card for a chapter, the graph of claims."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import NOT_EXAMINED, Claim, Outcome

BADGES = {
    "holds": "holds",
    "corrected": "corrected",
    "refuted": "refuted",
    "reproduced": "reproduced",
    "not-reproduced": "refuted",
    "open": "open",
    NOT_EXAMINED: "unexamined",
    "contradicted": "refuted",
}
"""Status → the style class of its badge."""


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


def badge(status: str) -> str:
    """Return the badge of a status as HTML; it always carries the word."""
    return f'<span class="badge-verdict badge-{BADGES[status]}">{html.escape(status)}</span>'


@dataclass(frozen=True)
class Card:
    """An outcome as a chapter shows it: what was searched, how close it came, which faults were caught."""

    outcome: Outcome

    def lines(self) -> list[tuple[str, str]]:
        """Return the label and the text of every line."""
        claim, evidence = self.outcome.claim, self.outcome.evidence
        lines = [("claim", claim.id), ("place", claim.where), ("statement", claim.statement)]
        if evidence is None:
            return lines
        lines += [("what survived", claim.finding), ("cases judged", f"{evidence.cases:,}")]
        if evidence.universe:
            lines.append(("enumerated", evidence.universe))
        lines += [
            (name, f"{value:,}" if isinstance(value, int) else str(value))
            for name, value in evidence.facts.items()
        ]
        if evidence.slack is not None:
            exact = "exact" if evidence.tolerance == 0 else f"tolerance {evidence.tolerance:g}"
            lines.append(("worst slack", f"{float(evidence.slack):.3g} ({exact})"))
        if evidence.counterexample is not None:
            lines.append(("fails as printed at", _case(evidence.counterexample)))
        if evidence.violation is not None:
            lines.append(("violated at", _case(evidence.violation)))
        if self.outcome.caught:
            faults = "; ".join(
                f"{name}: {'caught' if ok else 'MISSED'}" for name, ok in self.outcome.caught.items()
            )
            lines.append((f"planted faults ({len(self.outcome.caught)})", faults))
        return lines

    def __repr__(self) -> str:
        return "\n".join(
            [f"status: {self.outcome.status}", *(f"{name}: {text}" for name, text in self.lines())]
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th scope='row'>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
            for name, text in self.lines()
        )
        return f'<div class="claim-card">{badge(self.outcome.status)}<table>{rows}</table></div>'


def _case(case: Any) -> str:
    return ", ".join(f"{name} = {value}" for name, value in plain(dict(case)).items())


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
