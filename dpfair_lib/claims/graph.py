"""The graph of claims, as the chapter of the ledger draws it: each node is a link to its entry."""

from __future__ import annotations

import html
from collections.abc import Iterable

from dpfair_lib.claims.display import Html, verdict
from dpfair_lib.claims.ledger import OURS, SOURCES, Outcome
from dpfair_lib.claims.pages import COLORS, GROUPS
from dpfair_lib.claims.papers import OF_THE_GRAPH, of_ours
from dpfair_lib.claims.report import layers
from dpfair_lib.claims.typeset import anchor

OWN = "#4b3b8f"
"""The colour of a theorem of our own."""

COLUMN, ROW = 95, 24  # pixels; the eight columns of the ledger fit beside the list of chapters


def claim_graph(outcomes: Iterable[Outcome]) -> Html:
    """Draw the claims, coloured by what was found, each to the right of what it rests on.

    Solid lines: the statement uses another claim. Dotted lines: only its proof does.
    """
    outcomes = list(outcomes)
    place, bands, height = _places(outcomes)
    lines = []
    for outcome in outcomes:
        claim = outcome.claim
        for other in claim.depends_on:
            dotted = "" if other in claim.statement_uses else ' stroke-dasharray="2 3"'
            lines.append(f'<path d="{_curve(place[other], place[claim.id])}"{dotted}/>')
    nodes = "".join(_node(outcome, *place[outcome.claim.id]) for outcome in outcomes)
    names = "".join(
        f'<text class="band" x="4" y="{at:.0f}">{OF_THE_GRAPH[source]}</text>' for source, at in bands.items()
    )
    width = COLUMN * (1 + max(x for x, _ in place.values()) // COLUMN) + 30
    links = sum(len(outcome.claim.depends_on) for outcome in outcomes)
    own = len(of_ours(outcomes))
    ours = f", {own} theorem{'s' * (own != 1)} of our own" if own else ""
    text = f"Graph of {len(outcomes) - own} claims{ours} and the {links} links between them"
    markup = (
        f'<div class="claim-graph"><svg role="group" aria-label="{text}" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"><g class="links">{"".join(lines)}</g>'
        f"{names}{nodes}</svg></div>"
    )
    return Html(text, markup)


def _places(outcomes: list[Outcome]) -> tuple[dict[str, tuple[float, float]], dict[str, float], float]:
    """Return where each claim stands, where each paper's band begins, and the height of all."""
    depth = layers(outcome.claim for outcome in outcomes)
    place: dict[str, tuple[float, float]] = {}
    bands: dict[str, float] = {}
    top = 0
    for source in SOURCES:
        if source == OURS and not of_ours(outcomes):
            continue
        used: dict[int, int] = {}
        bands[source] = ROW * top + 16
        for outcome in outcomes:
            if outcome.claim.source == source:
                column = depth[outcome.claim.id]
                # every second column stands half a row lower, so that a long name has room beside the next
                y = ROW * (top + used.get(column, 0)) + 36 + ROW / 2 * (column % 2)
                place[outcome.claim.id] = (COLUMN * column + 12, y)
                used[column] = used.get(column, 0) + 1
        top += max(used.values(), default=0) + 1
    return place, bands, ROW * top + 20


def _node(outcome: Outcome, x: float, y: float) -> str:
    claim = outcome.claim
    said = html.escape(f"{claim.id}: {verdict(outcome)}. {claim.headline or claim.statement}")
    colors = {kind: color for group, color in zip(GROUPS.values(), COLORS, strict=True) for kind in group}
    colors["theorem"] = OWN
    name = html.escape(claim.id.partition(".")[2])
    return (
        f'<a href="#{anchor(claim.id)}" aria-label="{said}"><title>{said}</title>'
        f'<circle cx="{x}" cy="{y}" r="6" fill="{colors.get(claim.kind or "", "#bbbbbb")}"/>'
        f'<text x="{x + 10}" y="{y + 4}">{name}</text></a>'
    )


def _curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Lead a line from one claim to another; past others in its own row it goes in an arc."""
    (x0, y0), (x1, y1) = start, end
    if y0 != y1 or x1 - x0 == COLUMN:
        return f"M{x0} {y0} L{x1} {y1}"
    return f"M{x0} {y0} Q{(x0 + x1) / 2} {y0 - 0.8 * ROW} {x1} {y1}"
