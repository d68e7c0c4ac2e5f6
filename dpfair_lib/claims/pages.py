"""What was found, as pages: counts, bars, findings by importance, how each numbered statement fares."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dpfair_lib.claims.display import Html, mark, verdict
from dpfair_lib.claims.ledger import Outcome
from dpfair_lib.claims.papers import (
    AUTHORS,
    IN_A_SENTENCE,
    MATTER_MOST,
    NAMES,
    STATEMENTS,
    of_ours,
    of_papers,
    place_of,
)
from dpfair_lib.claims.tables import FOLDER, by_importance, link, table
from dpfair_lib.claims.typeset import anchor, number, spoken, typeset

GROUPS = {
    "holds as printed": ("as-printed", "sharper"),
    "holds after a repair": ("slip", "condition", "constant"),
    "false": ("replaced", "refuted"),
    "breaks a privacy guarantee": ("guarantee-broken",),
    "table or figure run again": ("digits",),
    "open question answered at least in part": ("answered",),
}
"""What happened to a claim of a paper, and the kinds that it covers."""

_SAID = {
    "holds as printed": ("holds as printed", "hold as printed"),
    "holds after a repair": ("holds after a repair", "hold after a repair"),
    "false": ("is false", "are false"),
    "breaks a privacy guarantee": ("breaks a privacy guarantee", "break a privacy guarantee"),
    "table or figure run again": ("is a table or figure run again", "are tables or figures run again"),
    "open question answered at least in part": (
        "is an open question answered at least in part",
        "are open questions answered at least in part",
    ),
}
"""The same of one entry and of several, as a sentence says it."""

_NUMBERS = re.compile(r"(?<![\w.,·])(\d[\d,]*\d|\d)(?:\.(\d+))?(?![\w⁰¹²³⁴⁵⁶⁷⁸⁹])")
_POWERS = re.compile(r"(?<![\w.,·])10([⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_LEVEL = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")

COLORS = ("#00664b", "#e69f00", "#a33c00", "#6b1d00", "#005a8f", "#5b7f95")


def counts(outcomes: Iterable[Outcome]) -> str:
    """Return the sentence that counts the papers' entries by what happened to them; ours are not among them."""
    outcomes = of_papers(outcomes)
    kinds: Counter[str | None] = Counter(outcome.claim.kind for outcome in outcomes if outcome.sound)
    parts = [_counted(total, group) for group in GROUPS if (total := _total(kinds, GROUPS[group]))]
    changed = sum(outcome.claim.impact == "conclusion" for outcome in outcomes)
    listed = f"{', '.join(parts[:-1])}, and {parts[-1]}" if len(parts) > 1 else "".join(parts)
    verb = "changes" if changed == 1 else "change"
    return f"Of {len(outcomes)} examined claims of the papers, {listed}; {changed} {verb} a conclusion of their paper."


def own_counts(outcomes: Iterable[Outcome]) -> str:
    """Return the sentence that counts our own theorems, and says that they are no claims of the papers."""
    outcomes = of_ours(outcomes)
    number, cases = len(outcomes), sum(outcome.evidence.cases for outcome in outcomes if outcome.evidence)
    caught = sum(len(outcome.faults) - len(outcome.missed) for outcome in outcomes)
    planted = sum(len(outcome.faults) for outcome in outcomes)
    stands = "theorem of our own stands" if number == 1 else "theorems of our own stand"
    return (
        f"{number} {stands} apart from them: none of the five documents states one, and no count of them "
        f"includes one. Their checks judged {cases:,} cases and caught {caught} of {planted} planted faults."
    )


def _counted(total: int, group: str) -> str:
    one, many = _SAID[group]
    return f"{total} {one if total == 1 else many}"


def _total(kinds: Mapping[str | None, int], group: Iterable[str]) -> int:
    return sum(kinds[kind] for kind in group)


def paragraphs(sentences: Iterable[str]) -> Html:
    """Return sentences as paragraphs of a page."""
    sentences = list(sentences)
    return Html("\n".join(sentences), "".join(f"<p>{html.escape(said)}</p>" for said in sentences))


def bars(outcomes: Iterable[Outcome]) -> Html:
    """Return a bar for each paper: how many of its entries hold, are repaired, are false."""
    outcomes = of_papers(outcomes)
    rows, text = [], []
    largest = max(Counter(outcome.claim.source for outcome in outcomes).values())
    for row, source in enumerate(dict.fromkeys(outcome.claim.source for outcome in outcomes)):
        kinds: Counter[str | None] = Counter(
            outcome.claim.kind for outcome in outcomes if outcome.claim.source == source
        )
        left, y = 76.0, 6 + 34 * row
        rows.append(f'<text x="0" y="{y + 18}">{NAMES[source]}</text>')
        for (words, group), color in zip(GROUPS.items(), COLORS, strict=True):
            total = _total(kinds, group)
            if not total:
                continue
            width = 580 * total / largest
            middle, ink = left + width / 2, "#1a1a1a" if color == "#e69f00" else "#fff"
            rows.append(
                f'<rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="26" fill="{color}" stroke="#fff">'
                f"<title>{NAMES[source]}: {_counted(total, words)}</title></rect>"
                f'<text x="{middle:.1f}" y="{y + 18}" text-anchor="middle" style="fill:{ink}">{total}</text>'
            )
            text.append(f"{NAMES[source]}: {_counted(total, words)}")
            left += width
    key = "".join(
        f'<li><span style="background:{color}"></span>{words}</li>'
        for words, color in zip(GROUPS, COLORS, strict=True)
    )
    height = 34 * len({outcome.claim.source for outcome in outcomes}) + 8
    drawing = (
        f'<svg class="figure paper-bars" viewBox="0 0 688 {height}" role="img" aria-label="{"; ".join(text)}">'
        f"{''.join(rows)}</svg>"
    )
    return Html("\n".join(text), f'<div class="bars">{drawing}<ul class="key">{key}</ul></div>')


def findings(outcomes: Iterable[Outcome]) -> Html:
    """Return what each entry found in a sentence, by importance."""
    return _listed_findings(by_importance(outcomes), "ul")


def ten_findings(outcomes: Iterable[Outcome]) -> Html:
    """Return the findings that matter most, numbered, in the order of `MATTER_MOST`."""
    by_id = {outcome.claim.id: outcome for outcome in outcomes}
    return _listed_findings((by_id[claim_id] for claim_id in MATTER_MOST), "ol")


def _listed_findings(outcomes: Iterable[Outcome], tag: str) -> Html:
    items = [_finding(outcome) for outcome in outcomes]
    text = "\n".join(said for said, _ in items)
    return Html(text, f'<{tag} class="findings">{"".join(shown for _, shown in items)}</{tag}>')


def _finding(outcome: Outcome) -> tuple[str, str]:
    claim = outcome.claim
    said = claim.headline or claim.finding
    place = place_of(claim)
    shown = ""
    shows = claim.shown_by in outcome.facts and not _repeats(said, outcome.facts[claim.shown_by])
    if shows and outcome.evidence is not None:
        fact = f"{spoken(outcome.evidence.says[claim.shown_by])}: {number(outcome.facts[claim.shown_by])}"
        shown = f"<br><small>{typeset(fact[0].upper() + fact[1:] if fact[0].isascii() else fact)}.</small>"
    link = f'<a href="{FOLDER}{claim.chapter}.html#{anchor(claim.id)}">why</a>'
    row = f'<a href="{FOLDER}ledger.html#{anchor(claim.id)}"><code>{claim.id}</code></a>'
    markup = f"<li>{mark(outcome)} {typeset(said)} <small>({html.escape(place)}; {link}, {row})</small>{shown}</li>"
    return f"{verdict(outcome)}: {said} ({place})", markup


def _repeats(said: str, value: object) -> bool:
    """Return whether a sentence already has a number, perhaps with fewer of its digits."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return number(value) in said
    for whole, decimals in _NUMBERS.findall(said):
        if len(whole.lstrip("0") + decimals) > 1 and round(float(value), len(decimals)) == float(
            f"{whole.replace(',', '')}.{decimals or 0}"
        ):
            return True
    return any(value == 10 ** int(found.translate(_LEVEL)) for found in _POWERS.findall(said))


def statements(outcomes: Iterable[Outcome]) -> Html:
    """Return, for each paper, how its numbered statements fare, and the sentence that counts those that hold."""
    by_id = {outcome.claim.id: outcome for outcome in outcomes}
    parts, text = [], []
    for source, named in STATEMENTS.items():
        judged = {name: [by_id[claim_id] for claim_id in ids] for name, ids in named.items()}
        holding = [name for name, parts_of in judged.items() if all(_holds(part) for part in parts_of)]
        said = _how_many(IN_A_SENTENCE[source], list(judged), holding)
        text.append(said)
        rows = [
            [html.escape(name), "".join(_part(part) for part in by_importance(parts_of))]
            for name, parts_of in judged.items()
        ]
        parts.append(
            f'<h3 id="statements-{source}">{NAMES[source]}</h3><p>{html.escape(AUTHORS[source])}.</p>'
        )
        parts.append(f"<p><strong>{html.escape(said)}</strong></p>")
        parts.append(table(("statement", "how each of its parts fares"), rows))
    return Html("\n".join(text), "".join(parts))


def _part(outcome: Outcome) -> str:
    """Return what a reader should know of one part of a statement."""
    return (
        f"<p>{mark(outcome)} {typeset(outcome.claim.headline or outcome.claim.finding)} {link(outcome)}</p>"
    )


def fares(source: str, outcomes: Iterable[Outcome]) -> str:
    """Return the sentence that counts the numbered statements of a paper that hold as printed."""
    by_id = {outcome.claim.id: outcome for outcome in outcomes}
    named = STATEMENTS[source]
    holding = [name for name, ids in named.items() if all(_holds(by_id[claim_id]) for claim_id in ids)]
    return _how_many(IN_A_SENTENCE[source], list(named), holding)


def _holds(outcome: Outcome) -> bool:
    return outcome.sound and outcome.claim.kind in ("as-printed", "sharper")


def _how_many(paper: str, named: Sequence[str], holding: Sequence[str]) -> str:
    of = f"{paper}'s {_listed(named)}"
    if not holding:
        return f"None of {of} holds as printed."
    if len(holding) == len(named):
        return f"{of[0].upper()}{of[1:]} {'holds' if len(named) == 1 else 'hold'} as printed."
    verb = "holds" if len(holding) == 1 else "hold"
    return f"Of {of}, only {_listed(holding)} {verb} as printed."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
