"""One claim as chapters show it: its badge, its card, and the source of what they run."""

from __future__ import annotations

import html
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dpfair_lib.claims.evidence import Evidence
from dpfair_lib.claims.kinds import IMPACTS, WORDS
from dpfair_lib.claims.ledger import Claim, Outcome
from dpfair_lib.claims.proved import PROVED
from dpfair_lib.claims.typeset import anchor, case_in_words, number, spoken, typeset, witness_in_words

LEDGER = "../notebooks/ledger.html"
PROOFS = "../notebooks/machine-checked.html"
KERNEL = "core machine-checked"
"""What a badge says of a claim whose core Coq has checked; the page says what is left out."""


@dataclass(frozen=True)
class Html:
    """A piece of a page, with the plain text that stands for it elsewhere."""

    text: str
    markup: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.markup


def verdict(outcome: Outcome) -> str:
    """Return how the printed statement fares, in words; the computed status where no kind is recorded or confirmed."""
    kind = outcome.claim.kind
    return WORDS[kind] if kind and outcome.sound and outcome.status != "not run" else outcome.status


def mark(outcome: Outcome) -> str:
    """Return a claim's verdict as a coloured mark; it always carries the words."""
    words = verdict(outcome)
    style = {text: kind for kind, text in WORDS.items()}.get(words, words.replace(" ", "-"))
    return f'<span class="badge-verdict badge-{style}">{html.escape(words)}</span>'


def badge(outcome: Outcome) -> Html:
    """Return a claim's id, which leads to its row in the ledger, its verdict, what that changes, and who checked it."""
    claim = outcome.claim
    impact = f" · {IMPACTS[claim.impact]}" if claim.impact else ""
    text = f"{claim.id}: {verdict(outcome)}{impact}"
    link = f'<a href="{LEDGER}#{anchor(claim.id)}"><code>{html.escape(claim.id)}</code></a>'
    if claim.id in PROVED:
        text += f" · {KERNEL}"
    return Html(
        text, f'<p class="claim-badge">{link} {mark(outcome)}{html.escape(impact)}{kernel_mark(claim.id)}</p>'
    )


def kernel_mark(claim_id: str) -> str:
    """Return a link to a claim's proof in Coq, its source and what it rests on; nothing where there is none."""
    if claim_id not in PROVED:
        return ""
    _, theorems, reals = PROVED[claim_id]
    rests = "the axioms of the real numbers" if reals else "no axiom"
    said = f"{theorems} theorem{'s' * (theorems > 1)} in Coq, resting on {rests}"
    return f' · <a class="badge-kernel" title="{said}" href="{PROOFS}#proof-{anchor(claim_id)}">{KERNEL}</a>'


def card(outcome: Outcome) -> Html:
    """Return what one run found in four rows, and all the rest of it in a fold."""
    head, rest = _head(outcome), _rest(outcome)
    text = "\n".join(f"{name}: {said}" for name, said in [("status", outcome.status), *head, *rest])
    fold = f"<details><summary>How it was checked</summary>{_rows(rest)}</details>" if rest else ""
    claim_id = html.escape(outcome.claim.id)
    top = f'<p>{mark(outcome)} <a href="{LEDGER}#{anchor(claim_id)}"><code>{claim_id}</code></a></p>'
    return Html(text, f'<div class="claim-card" id="{anchor(claim_id)}">{top}{_rows(head)}{fold}</div>')


def said_of(claim: Claim, case: Mapping[str, Any]) -> str:
    """Return the case at which a printed statement fails, in words."""
    return witness_in_words(claim.witness, case) if claim.witness else case_in_words(case)


def _rows(lines: Iterable[tuple[str, str]]) -> str:
    rows = "".join(
        f"<tr><th scope='row'>{html.escape(name)}</th><td>{typeset(said)}</td></tr>" for name, said in lines
    )
    return f"<table>{rows}</table>"


def _head(outcome: Outcome) -> list[tuple[str, str]]:
    claim, evidence = outcome.claim, outcome.evidence
    lines = [("proved here" if claim.ours else "claimed", f"{claim.where}: {claim.statement}")]
    if evidence is None:
        return lines
    lines.append(("what was found", claim.finding))
    if evidence.counterexample is not None:
        lines.append(("fails as printed", said_of(outcome.claim, evidence.counterexample)))
    searched = f"{evidence.cases:,} cases"
    if outcome.faults:
        caught = len(outcome.faults) - len(outcome.missed)
        searched += f"; {caught} of {len(outcome.faults)} planted faults caught"
    return [*lines, ("searched", searched)]


def _rest(outcome: Outcome) -> list[tuple[str, str]]:
    claim, evidence = outcome.claim, outcome.evidence
    if evidence is None:
        return []
    lines = [("what it changes", claim.because)] if claim.because else []
    if evidence.universe:
        lines.append(("enumerated", evidence.universe))
    shown = {key: value for key, value in evidence.facts.items() if evidence.says[key]}
    lines += [(spoken(evidence.says[key]), number(value)) for key, value in shown.items()]
    if evidence.slack is not None:
        exact = "all exact" if evidence.tolerance == 0 else f"tolerance at most {number(evidence.tolerance)}"
        lines.append(("smallest slack", f"{number(float(evidence.slack))} ({exact})"))
    if evidence.needed:
        lines.append(("cannot be left out", needed_in_words(evidence)))
    if evidence.violation is not None:
        lines.append(("violated at", case_in_words(evidence.violation)))
    if outcome.faults:
        faults = (
            f"{name}: {'caught' if run.caught else 'MISSED'} ({run.how})"
            for name, run in outcome.faults.items()
        )
        lines.append((f"planted faults ({len(outcome.faults)})", "; ".join(faults)))
    return lines


def needed_in_words(evidence: Evidence) -> str:
    """Return what a theorem of ours cannot do without, each with the amount by which it fails otherwise."""
    return "; ".join(f"{what} (it fails by {number(-slack)})" for what, slack in evidence.needed)


@dataclass(frozen=True)
class Source:
    """Python source that a page shows as highlighted code."""

    code: str

    def __repr__(self) -> str:
        return self.code

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.code}\n```"


def source(*functions: Callable[..., Any]) -> Source:
    """Return the source of library functions, as in the library, without their docstrings."""
    return Source("\n\n".join(_without_docstring(function) for function in functions))


def _without_docstring(function: Callable[..., Any]) -> str:
    import ast

    code = textwrap.dedent(inspect.getsource(function)).rstrip()
    body = ast.parse(code).body[0].body  # type: ignore[attr-defined]
    if ast.get_docstring(ast.parse(code).body[0]) is None:  # type: ignore[arg-type]
        return code
    lines = code.splitlines()
    return "\n".join(lines[: body[0].lineno - 1] + lines[body[0].end_lineno :])
