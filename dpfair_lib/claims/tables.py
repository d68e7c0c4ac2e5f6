"""Tables of the ledger: every claim, every witness, what is refuted; with filters that need no server."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

from dpfair_lib.claims.display import Html, mark, needed_in_words, said_of, verdict
from dpfair_lib.claims.kinds import IMPACTS, WORDS
from dpfair_lib.claims.ledger import Kind, Outcome
from dpfair_lib.claims.papers import MATTER_MOST, NAMES, of_ours, of_papers, place_of
from dpfair_lib.claims.typeset import anchor, number, typeset

FOLDER = "../notebooks/"
"""Where the chapters are, from any page of the book."""

ORDER = ("guarantee-broken", "refuted", "replaced", "digits", "constant", "condition", "slip", "answered")
"""The kinds from the worst on; those that hold come after them."""

SHORT = 9
"""Characters of an exact slack that is shown as it is."""

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
    """Return every claim of a paper: what is claimed, what was found, how it fares, what that changes; with filters."""
    outcomes = of_papers(outcomes)
    header = ("claim and place", "what is claimed", "what was found", "verdict and impact")
    markup = _whole(header, [_row(outcome, header, _of_the_ledger(outcome)) for outcome in outcomes])
    text = "\n".join(f"{outcome.claim.id}: {verdict(outcome)}" for outcome in outcomes)
    return Html(text, f'{_filters(outcomes)}<div class="wide-table claims">{markup}</div>')


def own_table(outcomes: Iterable[Outcome]) -> Html:
    """Return every theorem of our own: what it says, what shows that it cannot say more, and how it was searched."""
    outcomes = of_ours(outcomes)
    header = ("theorem and place", "what we prove", "what was found", "verdict and search")
    rows = [
        f'<tr id="{anchor(outcome.claim.id)}">{_cells(header, _of_our_own(outcome))}</tr>'
        for outcome in outcomes
    ]
    text = "\n".join(f"{outcome.claim.id}: {verdict(outcome)}" for outcome in outcomes)
    return Html(text, f'<div class="wide-table claims">{_whole(header, rows)}</div>')


def witnesses(outcomes: Iterable[Outcome]) -> Html:
    """Return the case at which each printed statement fails, and by how much, worst first; with filters."""
    failing = by_importance(outcome for outcome in outcomes if _counterexample(outcome) is not None)
    header = ("claim, place and verdict", "as printed", "fails at")
    markup = _whole(header, [_row(outcome, header, _of_a_witness(outcome)) for outcome in failing])
    text = "\n".join(f"{outcome.claim.id}: {_witness(outcome)}" for outcome in failing)
    return Html(text, f'{_filters(failing)}<div class="wide-table prose findings">{markup}</div>')


FALSE: tuple[Kind, ...] = ("guarantee-broken", "refuted", "replaced")
"""The kinds of printed statements that are false, and not merely without a constant or condition."""


def refuted(outcomes: Iterable[Outcome]) -> Html:
    """Return how many printed statements are false, and each broken promise of privacy with its witness."""
    outcomes = [outcome for outcome in outcomes if outcome.sound]
    named = [outcome for outcome in by_importance(outcomes) if outcome.claim.kind in FALSE[:2]]
    said = how_many_false(outcomes)
    items = [
        f"{mark(outcome)} {html.escape(place_of(outcome.claim))} ({link(outcome)}): "
        f"{typeset(_sentence(outcome))} <em>Witness:</em> {typeset(_witness(outcome))}"
        for outcome in named
    ]
    alone = _alone(outcomes)
    shown = "".join(f"<li>{item}</li>" for item in items)
    text = "\n".join([said, *(f"{outcome.claim.id}: {_witness(outcome)}" for outcome in named), alone])
    return Html(text, f'<p>{said}</p><ul class="findings">{shown}</ul><p>{alone}</p>')


def how_many_false(outcomes: Iterable[Outcome]) -> str:
    """Return the sentence that counts the printed statements that are false, by what became of them."""
    kinds = [outcome.claim.kind for outcome in outcomes if outcome.sound]
    broken, lost, replaced = (kinds.count(kind) for kind in FALSE)
    parts = [
        f"{broken} broken {'promise' if broken == 1 else 'promises'} of privacy" * bool(broken),
        f"{lost} refuted" * bool(lost),
        f"{replaced} replaced by a true statement" * bool(replaced),
    ]
    verb = "statement is" if broken + lost + replaced == 1 else "statements are"
    said = " and ".join(filter(None, parts))
    return f"{broken + lost + replaced} printed {verb} false{': ' * bool(said)}{said}."


def _alone(outcomes: Iterable[Outcome]) -> str:
    """Say for which statements nothing true stands in their place."""
    alone = [outcome.claim for outcome in outcomes if outcome.status == "refuted"]
    if not alone:
        return "In the place of each a true statement is proved."
    places = "; ".join(html.escape(place_of(claim)) for claim in alone)
    return f"For {'one' if len(alone) == 1 else len(alone)} of them nothing true is nearby: {places}."


def _sentence(outcome: Outcome) -> str:
    return outcome.claim.headline or outcome.claim.finding


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


def _row(outcome: Outcome, header: Sequence[str], cells: Sequence[str]) -> str:
    claim = outcome.claim
    data = f'data-paper="{claim.source}" data-verdict="{claim.kind or ""}" data-impact="{claim.impact or ""}"'
    return f'<tr id="{anchor(claim.id)}" {data}>{_cells(header, cells)}</tr>'


def _cells(header: Sequence[str], cells: Sequence[str]) -> str:
    """Return the cells of a row; each but the first names its column, for a phone has no room for a header."""
    first, *others = cells
    named = zip(header[1:], others, strict=True)
    return f"<td>{first}</td>" + "".join(f'<td data-label="{name}">{cell}</td>' for name, cell in named)


def _of_the_ledger(outcome: Outcome) -> tuple[str, ...]:
    claim, evidence = outcome.claim, outcome.evidence
    more = [claim.finding] if claim.headline and claim.finding else []
    if _counterexample(outcome) is not None:
        more.append(f"Fails as printed: {_witness(outcome)}")
    fold = "".join(f"<p>{typeset(line)}</p>" for line in more)
    fold = f"<details><summary>more</summary>{fold}</details>" if fold else ""
    cases = f"<br><small>{evidence.cases:,} cases</small>" if evidence is not None else ""
    return (
        f"{link(outcome)}<br><small>{html.escape(place_of(claim))}</small>",
        typeset(claim.statement),
        typeset(claim.headline or claim.finding) + fold,
        mark(outcome) + _impact(outcome) + cases,
    )


def _of_our_own(outcome: Outcome) -> tuple[str, ...]:
    claim, evidence = outcome.claim, outcome.evidence
    assert evidence is not None
    more = [claim.finding, f"Cannot be left out: {needed_in_words(evidence)}."]
    fold = "".join(f"<p>{typeset(line)}</p>" for line in more)
    caught = f"{len(outcome.faults) - len(outcome.missed)} of {len(outcome.faults)} planted faults caught"
    return (
        f"{link(outcome)}<br><small>{html.escape(place_of(claim))}</small>",
        typeset(claim.statement),
        f"{typeset(claim.headline)}<details><summary>more</summary>{fold}</details>",
        f"{mark(outcome)}<br><small>{evidence.cases:,} cases; {caught}</small>",
    )


def _of_a_witness(outcome: Outcome) -> tuple[str, ...]:
    claim, evidence = outcome.claim, outcome.evidence
    assert evidence is not None
    row = f'<a href="{FOLDER}ledger.html#{anchor(claim.id)}">its row in the ledger</a>'
    return (
        f"{link(outcome)}<br><small>{html.escape(place_of(claim))}</small><br>{mark(outcome)}{_impact(outcome)}",
        typeset(claim.statement),
        f"{typeset(_witness(outcome))}<br><small>slack there {_short(evidence.printed_slack)}; {row}</small>",
    )


def _short(slack: Any) -> str:
    """Return a slack exactly where that is short, else with four digits."""
    exact = number(slack)
    return exact if len(exact) <= SHORT else f"≈ {number(float(slack))}"


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
    body = [f"<tr>{_cells(header, row)}</tr>" for row in rows]
    return f'<div class="wide-table prose findings">{_whole(header, body)}</div>'


def _whole(header: Iterable[str], rows: Iterable[str]) -> str:
    head = "".join(f"<th scope='col'>{name}</th>" for name in header)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
