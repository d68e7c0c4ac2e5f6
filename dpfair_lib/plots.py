"""One style for every figure: colours that colour-blind readers can tell apart, and the graph of claims."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dpfair_lib.claims.ledger import NOT_EXAMINED, NOT_RUN, SOURCES, Outcome
from dpfair_lib.claims.report import layers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette
BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, BLACK = COLORS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#000000",
)  # fmt: skip  (their yellow is too pale on white)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
STATUS_COLORS = {
    "holds": GREEN,
    "corrected": ORANGE,
    "refuted": VERMILION,
    "reproduced": BLUE,
    "not-reproduced": PURPLE,
    "open": SKY,
    NOT_EXAMINED: "#BBBBBB",
    NOT_RUN: "#EEEEEE",
    "contradicted": BLACK,
}


def axes(width: float = 6.4, height: float = 4.0, columns: int = 1, rows: int = 1) -> tuple[Figure, Any]:
    """Return a figure in the book's style and its axes (an array of them for more than one panel)."""
    import matplotlib.pyplot as plt
    from cycler import cycler

    plt.rcParams.update(
        {
            "figure.dpi": 110,
            "figure.facecolor": "white",  # solid, so that the figure reads in the dark theme too
            "axes.prop_cycle": cycler(color=COLORS),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.alpha": 0.3,
            "font.size": 10,
            "legend.frameon": False,
        }
    )
    return plt.subplots(rows, columns, figsize=(width, height), layout="constrained")


def label(ax: Axes, *, x: str, y: str, title: str = "") -> None:
    """Name the axes of one panel."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title(title, fontsize="medium", loc="left")


class Interactive:
    """A plotly figure that a page draws with the vendored script, without any network.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        The figure.
    name : str
        Identifier of the element in the page; unique there.
    text : str
        What the figure shows, for readers who cannot see it.
    """

    # the first place serves the built book, the second a notebook opened in Jupyter
    SCRIPTS = (
        "../_static/vendor/plotly/plotly-basic.min.js",
        "../book/_static/vendor/plotly/plotly-basic.min.js",
    )

    def __init__(self, figure: Any, *, name: str, text: str) -> None:
        self.figure, self.name, self.text = figure, name, text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        drawn = json.loads(self.figure.to_json())
        drawn["layout"].pop("template", None)
        draw = (
            f"Plotly.newPlot({json.dumps(self.name)}, {json.dumps(drawn['data'])}, "
            f"{json.dumps(drawn['layout'])}, {{responsive: true, displaylogo: false}})"
        )
        return (
            '<div style="overflow-x: auto">'  # a figure of fixed width scrolls inside itself
            f'<div id="{self.name}" class="plotly-figure" role="img" aria-label="{html.escape(self.text)}"></div></div>'
            f"<script>(function () {{ const draw = () => {draw};"
            f" if (window.Plotly) return draw(); const places = {json.dumps(self.SCRIPTS)};"
            " const next = () => { const script = document.createElement('script');"
            " script.src = places.shift(); script.onload = draw; if (places.length) script.onerror = next;"
            " document.head.append(script); }; next(); })();</script>"
        )


def claim_graph(outcomes: Iterable[Outcome]) -> Interactive:
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
    return Interactive(figure, name="claim-graph", text=text)


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
