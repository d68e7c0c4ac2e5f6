"""The ledger as chapters show it: badges, cards, tables, and the source of what they run."""

from __future__ import annotations

import html
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpfair_lib.claims.ledger import NOT_EXAMINED, NOT_RUN, Claim, Outcome
from dpfair_lib.claims.report import plain

BADGES = {
    "holds": "holds",
    "corrected": "corrected",
    "refuted": "refuted",
    "reproduced": "reproduced",
    "not-reproduced": "not-reproduced",
    "open": "open",
    NOT_EXAMINED: "unexamined",
    NOT_RUN: "unexamined",
    "contradicted": "contradicted",
}
"""Status → the style class of its badge."""


@dataclass(frozen=True)
class Html:
    """A piece of a page, with the plain text that stands for it elsewhere."""

    text: str
    markup: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.markup


def badge(outcome: Outcome) -> Html:
    """Return the computed status of one claim; the badge always carries the word."""
    return Html(f"{outcome.claim.id}: {outcome.status}", _badge(outcome.status, outcome.claim.id))


def card(outcome: Outcome) -> Html:
    """Return what one run found: what was searched, how close it came, which faults were caught."""
    lines = _lines(outcome)
    rows = "".join(
        f"<tr><th scope='row'>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
        for name, text in lines
    )
    text = "\n".join(f"{name}: {text}" for name, text in [("status", outcome.status), *lines])
    return Html(text, f'<div class="claim-card">{_badge(outcome.status)}<table>{rows}</table></div>')


def _badge(status: str, claim_id: str = "") -> str:
    name = f"<code>{html.escape(claim_id)}</code> " if claim_id else ""
    return f'{name}<span class="badge-verdict badge-{BADGES[status]}">{html.escape(status)}</span>'


def _lines(outcome: Outcome) -> list[tuple[str, str]]:
    claim, evidence = outcome.claim, outcome.evidence
    lines = [("claim", claim.id), ("place", claim.where), ("statement", claim.statement)]
    if evidence is None:
        return lines
    lines += [("what survived", claim.finding), ("cases judged", f"{evidence.cases:,}")]
    if evidence.universe:
        lines.append(("enumerated", evidence.universe))
    for key, value in evidence.facts.items():
        shown = f"{value:.7g}" if isinstance(value, float) else str(value)
        lines.append((evidence.says[key] or key, f"{value:,}" if isinstance(value, int) else shown))
    if evidence.slack is not None:
        exact = "all exact" if evidence.tolerance == 0 else f"tolerance at most {evidence.tolerance:g}"
        lines.append(("worst slack", f"{float(evidence.slack):.3g} ({exact})"))
    if evidence.counterexample is not None:
        lines.append(("fails as printed at", _case(evidence.counterexample)))
    if evidence.violation is not None:
        lines.append(("violated at", _case(evidence.violation)))
    if outcome.faults:
        faults = (
            f"{name}: {'caught' if run.caught else 'MISSED'} ({run.how})"
            for name, run in outcome.faults.items()
        )
        lines.append((f"planted faults ({len(outcome.faults)})", "; ".join(faults)))
    return lines


def _case(case: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in plain(dict(case)).items())


def ledger_table(outcomes: Iterable[Outcome]) -> Html:
    """Return every claim with its place, our statement and its computed status, source by source."""
    outcomes = list(outcomes)
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.claim.source, []).append(outcome)
    jumps = " · ".join(f'<a href="#claims-{source}">{source}</a>' for source in groups)
    parts = [f"<p>Sources: {jumps}</p>"]
    for source, group in groups.items():
        examined = sum(outcome.evidence is not None for outcome in group)
        parts.append(f'<h3 id="claims-{source}">{source}: {examined} of {len(group)} examined</h3>')
        header = ("claim and place", "what it says", "status")
        parts.append(_table(header, [_row(outcome) for outcome in group], style="wide-table claims"))
    text = "\n".join(f"{outcome.claim.id}: {outcome.status}" for outcome in outcomes)
    return Html(text, "".join(parts))


def _row(outcome: Outcome) -> list[str]:
    claim = outcome.claim
    name = html.escape(claim.id)
    if claim.chapter:
        name = f'<a href="{claim.chapter}.html">{name}</a>'
    cases = f"<br><small>{outcome.evidence.cases:,} cases</small>" if outcome.evidence else ""
    return [
        f"{name}<br><small>{html.escape(claim.where)}</small>",
        html.escape(claim.statement),
        _badge(outcome.status) + cases,
    ]


def errata_table(claims: Iterable[Claim]) -> Html:
    """Return what the sources misprint or leave open, and what should stand there."""
    errata = [(claim.id, erratum) for claim in claims for erratum in claim.errata]
    rows = [
        [
            f"{html.escape(claim_id)}<br><small>{html.escape(erratum.where)}</small>",
            html.escape(erratum.printed),
            html.escape(erratum.correct),
        ]
        for claim_id, erratum in errata
    ]
    text = "\n".join(f"{claim_id}, {erratum.where}: {erratum.correct}" for claim_id, erratum in errata)
    return Html(text, _table(("claim and place", "printed", "should be"), rows, style="wide-table prose"))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], *, style: str = "wide-table") -> str:
    head = "".join(f"<th scope='col'>{name}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="{style}"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


@dataclass(frozen=True)
class Source:
    """Python source that a page shows as highlighted code."""

    code: str

    def __repr__(self) -> str:
        return self.code

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.code}\n```"


def source(*functions: Callable[..., Any]) -> Source:
    """Return the source of library functions, as it stands in the library, without their docstrings."""
    return Source("\n\n".join(_without_docstring(function) for function in functions))


def _without_docstring(function: Callable[..., Any]) -> str:
    import ast

    code = textwrap.dedent(inspect.getsource(function)).rstrip()
    body = ast.parse(code).body[0].body  # type: ignore[attr-defined]
    if ast.get_docstring(ast.parse(code).body[0]) is None:  # type: ignore[arg-type]
        return code
    lines = code.splitlines()
    return "\n".join(lines[: body[0].lineno - 1] + lines[body[0].end_lineno :])
