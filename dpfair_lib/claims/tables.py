"""Tables of the ledger: every claim, every witness, what is refuted; with filters that need no server."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from dpfair_lib.claims.display import Html, mark, said_of, verdict
from dpfair_lib.claims.kinds import IMPACTS, WORDS
from dpfair_lib.claims.ledger import Outcome
from dpfair_lib.claims.papers import MATTER_MOST, NAMES
from dpfair_lib.claims.typeset import anchor, number, typeset

FOLDER = "../notebooks/"
"""Where the chapters are, from any page of the book."""

ORDER = ("guarantee-broken", "refuted", "replaced", "digits", "constant", "condition", "slip", "answered")
"""The kinds from the worst on; those that hold come after them."""

FILTER = """<script>
(() => {
  const form = document.currentScript.previousElementSibling;
  const rows = () => document.querySelectorAll("tr[data-paper]");
  form.addEventListener("change", () => {
    let shown = 0;
    for (const row of rows()) {
      const fits = ["paper", "verdict", "impact"].every(
        (name) => !form.elements[name].value || row.dataset[name] === form.elements[name].value);
      row.hidden = !fits;
      shown += fits;
    }
    form.querySelector("output").textContent = `${shown} shown`;
  });
})();
</script>"""


def by_importance(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Sort entries: those first that change a conclusion, of these the broken guarantees, then what is false.

    Among equals, those that the front page shows come first.
    """
    return sorted(outcomes, key=lambda outcome: (_impact_rank(outcome), rank(outcome), _place(outcome)))


def rank(outcome: Outcome) -> int:
    """Return the place of an entry's kind from the worst on."""
    kind = outcome.claim.kind or ""
    return ORDER.index(kind) if kind in ORDER else len(ORDER) + (kind == "as-printed")


def _place(outcome: Outcome) -> int:
    shown = outcome.claim.id in MATTER_MOST
    return MATTER_MOST.index(outcome.claim.id) if shown else len(MATTER_MOST)


def _impact_rank(outcome: Outcome) -> int:
    return [*IMPACTS, None].index(outcome.claim.impact)


def ledger_table(outcomes: Iterable[Outcome]) -> Html:
    """Return every claim: what is claimed, what survived, how it fares and what that changes; with filters."""
    outcomes = list(outcomes)
    header = ("claim and place", "what is claimed", "what survived", "verdict and impact")
    markup = _whole(header, [_row(outcome, _of_the_ledger(outcome)) for outcome in outcomes])
    text = "\n".join(f"{outcome.claim.id}: {verdict(outcome)}" for outcome in outcomes)
    return Html(text, f'{_filters(outcomes)}<div class="wide-table claims">{markup}</div>')


def witnesses(outcomes: Iterable[Outcome]) -> Html:
    """Return the case at which each printed statement fails, and by how much, worst first; with filters."""
    failing = by_importance(outcome for outcome in outcomes if _counterexample(outcome) is not None)
    header = ("claim, place and verdict", "as printed", "fails at")
    markup = _whole(header, [_row(outcome, _of_a_witness(outcome)) for outcome in failing])
    text = "\n".join(f"{outcome.claim.id}: {_witness(outcome)}" for outcome in failing)
    return Html(text, f'{_filters(failing)}<div class="wide-table prose findings">{markup}</div>')


def refuted(outcomes: Iterable[Outcome]) -> Html:
    """Return what is refuted: what nothing true replaces, with its witness, and how many others are false."""
    outcomes = list(outcomes)
    alone = [outcome for outcome in outcomes if outcome.sound and outcome.status == "refuted"]
    items = [
        f"{link(outcome)} {mark(outcome)} {typeset(outcome.claim.headline or outcome.claim.finding)} "
        f"<em>Witness:</em> {typeset(_witness(outcome))}"
        for outcome in alone
    ]
    said = _how_many_refuted(outcomes, len(alone))
    shown = "".join(f"<li>{item}</li>" for item in items)
    text = "\n".join([said[0], *(f"{outcome.claim.id}: {_witness(outcome)}" for outcome in alone), *said[1:]])
    rest = "".join(f"<p>{sentence}</p>" for sentence in said[1:])
    return Html(text, f'<p>{said[0]}</p><ul class="findings">{shown}</ul>{rest}')


def _how_many_refuted(outcomes: Sequence[Outcome], alone: int) -> list[str]:
    kinds = [outcome.claim.kind for outcome in outcomes if outcome.sound]
    own = kinds.count("refuted")
    first = f"Refuted, with nothing true nearby: {alone} of {len(outcomes)} entries."
    name = WORDS["refuted"]
    label = (
        f"No entry has “{name}” as its verdict" if not own else f"Entries with the verdict “{name}”: {own}"
    )
    return [
        first,
        f"{label}. Where a promise of privacy fails, the verdict is “{WORDS['guarantee-broken']}” "
        f"(entries: {kinds.count('guarantee-broken')}).",
        f"A statement that is false in every reading, with a true one proved in its place, has the verdict "
        f"“{WORDS['replaced']}” (entries: {kinds.count('replaced')}).",
    ]


def _filters(outcomes: Sequence[Outcome]) -> str:
    chosen = {
        "paper": {outcome.claim.source: NAMES[outcome.claim.source] for outcome in outcomes},
        "verdict": {kind: words for kind, words in WORDS.items() if _any(outcomes, "kind", kind)},
        "impact": {impact: words for impact, words in IMPACTS.items() if _any(outcomes, "impact", impact)},
    }
    selects = "".join(
        f'<label>{name} <select name="{name}"><option value="">all</option>'
        + "".join(f'<option value="{value}">{words}</option>' for value, words in options.items())
        + "</select></label> "
        for name, options in chosen.items()
    )
    return f'<form class="ledger-filter">{selects}<output>{len(outcomes)} shown</output></form>{FILTER}'


def _any(outcomes: Iterable[Outcome], name: str, value: str) -> bool:
    return any(getattr(outcome.claim, name) == value for outcome in outcomes)


def _row(outcome: Outcome, cells: Iterable[str]) -> str:
    claim = outcome.claim
    data = f'data-paper="{claim.source}" data-verdict="{claim.kind or ""}" data-impact="{claim.impact or ""}"'
    return f'<tr id="{anchor(claim.id)}" {data}>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _of_the_ledger(outcome: Outcome) -> tuple[str, ...]:
    claim, evidence = outcome.claim, outcome.evidence
    more = [claim.finding] if claim.headline and claim.finding else []
    if _counterexample(outcome) is not None:
        more.append(f"Fails as printed: {_witness(outcome)}")
    fold = "".join(f"<p>{typeset(line)}</p>" for line in more)
    fold = f"<details><summary>more</summary>{fold}</details>" if fold else ""
    cases = f"<br><small>{evidence.cases:,} cases</small>" if evidence is not None else ""
    return (
        f"{link(outcome)}<br><small>{html.escape(claim.where)}</small>",
        typeset(claim.statement),
        typeset(claim.headline or claim.finding) + fold,
        mark(outcome) + _impact(outcome) + cases,
    )


def _of_a_witness(outcome: Outcome) -> tuple[str, ...]:
    claim, evidence = outcome.claim, outcome.evidence
    assert evidence is not None
    row = f'<a href="{FOLDER}ledger.html#{anchor(claim.id)}">its row in the ledger</a>'
    return (
        f"{link(outcome)}<br><small>{html.escape(claim.where)}</small><br>{mark(outcome)}{_impact(outcome)}",
        typeset(claim.statement),
        f"{typeset(_witness(outcome))}<br><small>slack there {number(evidence.printed_slack)}; {row}</small>",
    )


def _impact(outcome: Outcome) -> str:
    impact = outcome.claim.impact
    return f"<br><small>{IMPACTS[impact]}</small>" if impact else ""


def _counterexample(outcome: Outcome) -> object | None:
    return None if outcome.evidence is None else outcome.evidence.counterexample


def _witness(outcome: Outcome) -> str:
    assert outcome.evidence is not None
    assert outcome.evidence.counterexample is not None
    return said_of(outcome.claim, outcome.evidence.counterexample)


def link(outcome: Outcome) -> str:
    """Return an entry's id as a link to its card."""
    claim = outcome.claim
    return f'<a href="{FOLDER}{claim.chapter}.html#{anchor(claim.id)}"><code>{claim.id}</code></a>'


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose cells are HTML."""
    body = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
    return f'<div class="wide-table prose findings">{_whole(header, body)}</div>'


def _whole(header: Iterable[str], rows: Iterable[str]) -> str:
    head = "".join(f"<th scope='col'>{name}</th>" for name in header)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
