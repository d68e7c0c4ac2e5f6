"""Errata, a list for each paper: what changes a result, what a constant or condition, what is a slip."""

from __future__ import annotations

import ast
import html
import textwrap
from collections import Counter
from collections.abc import Iterator

from dpfair_lib.claims.display import Html
from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.papers import AUTHORS, NAMES
from dpfair_lib.claims.rooms import CLAIMS
from dpfair_lib.claims.tables import FOLDER, table
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
    for at, (band, claim, erratum) in enumerate(errata_of(source), 1):
        if band != last:
            parts.append(f'<h2 id="{source}-{band}">{BANDS[band]}</h2>')
            last = band
        place = f"{FOLDER}{claim.chapter}.html#{anchor(claim.id)}"
        row = f'<a href="{FOLDER}ledger.html#{anchor(claim.id)}"><code>{claim.id}</code></a>'
        lines = [
            ("printed", typeset(erratum.printed)),
            ("should be", typeset(erratum.correct)),
            ("why", f'{typeset(erratum.why)} (<a href="{place}">why, in full</a>; {row})'),
        ]
        rows = "".join(f"<tr><th scope='row'>{name}</th><td>{said}</td></tr>" for name, said in lines)
        parts.append(
            f'<div class="erratum findings"><h3 id="{source}-erratum-{at}">{typeset(erratum.where)}</h3>'
            f"<table>{rows}</table>"
        )
        if erratum.shown:
            parts.append(
                "<details><summary>See for yourself (Python, NumPy alone)</summary>"
                f"<pre>{html.escape(lines_to_run(erratum))}</pre></details>"
            )
        parts.append("</div>")
    return Html(errata_text(source), "".join(parts))


def lines_to_run(erratum: Erratum) -> str:
    """Return the lines that show an erratum; the last one prints what their assertion is about."""
    code = erratum.shown.strip()
    asserted = ast.parse(code).body[-1]
    if not isinstance(asserted, ast.Assert):
        raise ValueError(f"{erratum.where}: shown ends in {ast.unparse(asserted)}, expected an assert")
    shown = [ast.unparse(side) for side in _sides(asserted.test) if not isinstance(side, ast.Constant)]
    return f"{code}\nprint({', '.join(dict.fromkeys(shown))})"


def _sides(test: ast.expr) -> list[ast.expr]:
    """Return what a condition compares, part by part."""
    if isinstance(test, ast.BoolOp):
        return [side for part in test.values for side in _sides(part)]
    return [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]


def errata_counts() -> Html:
    """Return how many errata there are of each paper, by band."""
    bands = {source: Counter(band for band, _, _ in errata_of(source)) for source in NAMES}
    rows = [
        [
            f'<a href="errata-{source}.html">{NAMES[source]}</a>',
            *(str(found[band]) for band in BANDS),
            str(found.total()),
        ]
        for source, found in bands.items()
    ]
    total = sum(bands.values(), Counter())
    rows.append(["all", *(str(total[band]) for band in BANDS), str(total.total())])
    text = "\n".join(f"{NAMES[source]}: {found.total()}" for source, found in bands.items())
    return Html(text, table(("paper", *(heading.lower() for heading in BANDS.values()), "all"), rows))


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
            lines += ["Shown by:", textwrap.indent(lines_to_run(erratum), "    ")]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"
