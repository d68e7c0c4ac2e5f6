"""Errata, a list for each paper: what changes a result, what a constant or condition, what is a slip."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterator

from dpfair_lib.claims.display import Html
from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.papers import AUTHORS
from dpfair_lib.claims.rooms import CLAIMS
from dpfair_lib.claims.tables import FOLDER
from dpfair_lib.claims.typeset import anchor, typeset

BANDS = {
    "result": "What changes a result",
    "condition": "A constant or condition",
    "slip": "Slips",
}
"""Each band of errata as its heading."""


def errata_of(source: str) -> Iterator[tuple[str, Claim, Erratum]]:
    """Yield a paper's errata, band by band: the band, the claim, the erratum."""
    claims = [claim for claim in CLAIMS.values() if claim.source == source]
    for band in BANDS:
        for claim in claims:
            for erratum in claim.errata:
                if erratum.band == band:
                    yield band, claim, erratum


def errata_page(source: str) -> Html:
    """Return a paper's errata as they stand on its page; those that change a result with the lines that show it."""
    parts: list[str] = []
    last = ""
    for band, claim, erratum in errata_of(source):
        if band != last:
            parts.append(f'<h3 id="{source}-{band}">{BANDS[band]}</h3>')
            last = band
        link = f'<a href="{FOLDER}{claim.chapter}.html#{anchor(claim.id)}">why, in full</a>'
        lines = [
            ("printed", typeset(erratum.printed)),
            ("should be", typeset(erratum.correct)),
            ("why", f"{typeset(erratum.why)} ({link})"),
        ]
        rows = "".join(f"<tr><th scope='row'>{name}</th><td>{said}</td></tr>" for name, said in lines)
        parts.append(
            f'<div class="erratum findings"><h4>{html.escape(erratum.where)}</h4><table>{rows}</table>'
        )
        if erratum.shown:
            parts.append(
                "<details><summary>See for yourself (Python, NumPy alone)</summary>"
                f"<pre>{html.escape(erratum.shown.strip())}</pre></details>"
            )
        parts.append("</div>")
    return Html(errata_text(source), "".join(parts))


def errata_text(source: str) -> str:
    """Return a paper's errata as plain text that can be sent to its authors."""
    lines = [f"Errata of {AUTHORS[source]}", ""]
    last = ""
    for band, claim, erratum in errata_of(source):
        if band != last:
            lines += [BANDS[band].upper(), ""]
            last = band
        for name, said in (
            ("Place", erratum.where),
            ("Printed", erratum.printed),
            ("Should be", erratum.correct),
            ("Why", erratum.why),
            ("Entry", claim.id),
        ):
            lines += textwrap.wrap(f"{name}: {said}", 88, subsequent_indent="    ")
        if erratum.shown:
            lines += ["Shown by:", textwrap.indent(erratum.shown.strip(), "    ")]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"
