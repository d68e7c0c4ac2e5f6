"""The graph of claims, as the chapter of the ledger draws it."""

from __future__ import annotations

import html
from collections.abc import Iterable

from dpfair_lib import plots
from dpfair_lib.claims.ledger import NOT_EXAMINED, NOT_RUN, SOURCES, Outcome
from dpfair_lib.claims.report import layers

STATUS_COLORS = {
    "holds": plots.GREEN,
    "corrected": plots.ORANGE,
    "refuted": plots.VERMILION,
    "reproduced": plots.BLUE,
    "not-reproduced": plots.PURPLE,
    "open": plots.SKY,
    NOT_EXAMINED: "#BBBBBB",
    NOT_RUN: "#EEEEEE",
    "contradicted": plots.BLACK,
}


def claim_graph(outcomes: Iterable[Outcome]) -> plots.Interactive:
    """Draw the claims, coloured by status, each to the right of what it rests on.

    Solid lines: the statement uses another claim. Dotted lines: only its proof does.
    """
    import plotly.graph_objects as go

    outcomes = list(outcomes)
    depth = layers(outcome.claim for outcome in outcomes)
    place: dict[str, tuple[int, int]] = {}
    bands, top = [], 0
    for source in SOURCES:
        used: dict[int, int] = {}
        for outcome in outcomes:
            if outcome.claim.source == source:
                column = depth[outcome.claim.id]
                place[outcome.claim.id] = (column, -(top + used.get(column, 0)))
                used[column] = used.get(column, 0) + 1
        bands.append((source, top))
        top += max(used.values(), default=0) + 1
    figure = go.Figure()
    for proof_only, dash in ((False, "solid"), (True, "dot")):
        x: list[float | None] = []
        y: list[float | None] = []
        for outcome in outcomes:
            claim = outcome.claim
            for other in claim.depends_on:
                if (other not in claim.statement_uses) == proof_only:
                    curve = _curve(place[other], place[claim.id])
                    x += [*(across for across, _ in curve), None]
                    y += [*(up for _, up in curve), None]
        line = {"color": "#BBBBBB", "width": 0.8, "dash": dash}
        name = "used by the proof" if proof_only else "used by the statement"
        figure.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", name=name)
    for status, color in STATUS_COLORS.items():
        nodes = [outcome for outcome in outcomes if outcome.status == status]
        if not nodes:
            continue
        figure.add_scatter(
            x=[place[node.claim.id][0] for node in nodes],
            y=[place[node.claim.id][1] for node in nodes],
            hovertext=[_hover(node) for node in nodes],
            hoverinfo="text",
            mode="markers",
            marker={"color": color, "size": 11, "line": {"color": "#333333", "width": 0.6}},
            name=status,
        )
    # on a ground of their own, so that no line runs through a name
    name_style = {"showarrow": False, "xanchor": "left", "bgcolor": "rgba(255,255,255,0.8)", "borderpad": 0}
    for claim_id, (across, up) in place.items():
        text = claim_id.partition(".")[2]
        figure.add_annotation(x=across, y=up, text=text, font={"size": 10}, xshift=7, **name_style)
    for source, at in bands:
        figure.add_annotation(x=-0.2, y=-at + 0.9, text=f"<b>{source}</b>", **name_style)
    figure.update_layout(
        width=115 * max(depth.values()) + 125,
        height=24 * top + 80,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        paper_bgcolor="white",
        plot_bgcolor="white",
        # a finger that moves over it scrolls the page
        dragmode=False,
        xaxis={"visible": False, "fixedrange": True, "range": [-0.25, max(depth.values()) + 0.8]},
        yaxis={"visible": False, "fixedrange": True, "range": [-top, 1.6]},
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0},
        hoverlabel={"align": "left"},
    )
    links = sum(len(outcome.claim.depends_on) for outcome in outcomes)
    text = f"Graph of {len(outcomes)} claims and the {links} links between them"
    return plots.Interactive(figure, name="claim-graph", text=text)


def _curve(start: tuple[int, int], end: tuple[int, int]) -> list[tuple[float, float]]:
    """Lead a line from one claim to another; past others in its own row it goes in an arc."""
    (x0, y0), (x1, y1) = start, end
    if y0 != y1 or x1 - x0 == 1:
        return [start, end]
    steps = [k / 12 for k in range(13)]
    return [(x0 + (x1 - x0) * t, y0 + 1.6 * t * (1 - t)) for t in steps]


def _hover(outcome: Outcome) -> str:
    words, lines = outcome.claim.statement.split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) > 60:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    head = f"<b>{outcome.claim.id}</b>: {outcome.status}<br>{html.escape(outcome.claim.where)}"
    return "<br>".join([head, *(html.escape(line) for line in lines)])
