"""Tables of the machine-checked core: what Coq proves of each claim, and who checked which claim."""

from __future__ import annotations

import html
import inspect
import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dpfair_lib.claims.display import LEDGER, Html
from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.papers import OF_THE_GRAPH
from dpfair_lib.claims.proved import PROVED
from dpfair_lib.claims.tables import table
from dpfair_lib.claims.typeset import anchor

MEANS = ("kernel", "every case", "search", "numbers", "paper")
"""Who checked, from the strongest on."""

SAID = {
    "kernel": "A proof kernel accepts a proof of the core; the table above says what is left out.",
    "every case": "The check goes through a finite universe without exception, and searches beyond it.",
    "search": "The check judges random and extreme cases.",
    "numbers": "The check computes printed numbers again.",
    "paper": "A proof or a reading on paper only.",
}


def read_proofs(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the map from claims to theorems, and the record of what Coq accepted, of a repository."""
    mapped = tomllib.loads((folder / "proofs" / "map.toml").read_text(encoding="utf-8"))
    record = json.loads((folder / "results" / "proofs.json").read_text(encoding="utf-8"))
    return mapped, record


def axioms_of(entry: Mapping[str, Any], record: Mapping[str, Any]) -> list[str]:
    """Return the axioms that the theorems of an entry rest on, sorted."""
    module = "Checked." + entry["file"].removesuffix(".v").replace("/", ".")
    names = [theorem["name"] for theorem in entry["theorem"]] + list(entry.get("also", ()))
    return sorted({axiom for name in names for axiom in record["theorems"][f"{module}.{name}"]})


def proof_table(mapped: Mapping[str, Any], record: Mapping[str, Any]) -> Html:
    """Return a row for each claim: theorems, hypotheses here and in the source, what is left out, axioms, file."""
    rows = []
    for entry in mapped["entry"]:
        claim_id = entry["claim"]
        theorems = "".join(
            f"<li><code>{theorem['name']}</code>: {html.escape(theorem['says'])} "
            f"{len(theorem['faults'])} wrong variants disproved.</li>"
            for theorem in entry["theorem"]
        )
        conditions = "".join(
            f"<p><strong>{word}.</strong> {html.escape(entry[part])}</p>"
            for word, part in (("In Coq", "here"), ("Printed", "printed"), ("Differs", "difference"))
        )
        rests = (
            ", ".join(f"<code>{html.escape(axiom)}</code>" for axiom in axioms_of(entry, record))
            or "no axiom"
        )
        link = f'<a href="{LEDGER}#{anchor(claim_id)}"><code>{claim_id}</code></a>'
        name = f'<span id="proof-{anchor(claim_id)}"></span>{link}'
        rows.append((f"{name}<br>{_source_link(entry['file'])}", f"<ul>{theorems}</ul>", conditions, rests))
    text = "\n".join(f"{entry['claim']}: {entry['file']}" for entry in mapped["entry"])
    header = ("claim and source", "what the kernel accepts", "hypotheses", "rests on")
    return Html(text, _wide(table(header, rows)))


def checker_table(mapped: Mapping[str, Any]) -> Html:
    """Return the checkers of certificates, and the channels that they have accepted."""
    rows = [
        (
            html.escape(entry["about"]),
            html.escape(" ".join(theorem["says"] for theorem in entry["theorem"]))
            or "A computation of the kernel.",
            _source_link(entry["file"]),
        )
        for entry in mapped["checker"]
    ]
    text = "\n".join(f"{entry['about']}: {entry['file']}" for entry in mapped["checker"])
    return Html(text, _wide(table(("about", "what is proved", "source"), rows)))


def means_of(claim: Claim) -> str:
    """Return the strongest means by which a claim is checked, by what its check does; nothing is run."""
    if claim.id in PROVED:
        return "kernel"
    if claim.check is None:
        return "paper"
    # a check that a function made stands beside code of other claims
    made = "<locals>" in claim.check.__qualname__
    code = inspect.getsource(claim.check if made else inspect.getmodule(claim.check) or claim.check)
    return "every case" if ".exhausts(" in code else "numbers" if claim.kind == "digits" else "search"


def means_table(claims: Iterable[Claim]) -> Html:
    """Return how many claims of each source are checked by whom, at best, and which."""
    every = [(claim.source, means_of(claim), claim.id) for claim in claims]
    sources = list(dict.fromkeys(source for source, _, _ in every))
    counts = Counter((source, means) for source, means, _ in every)
    total = Counter(means for _, means, _ in every)
    rows = [(OF_THE_GRAPH[source], *(str(counts[source, means]) for means in MEANS)) for source in sources]
    rows.append(("all", *(str(total[means]) for means in MEANS)))
    folds = "".join(
        f"<details><summary>{means}: {total[means]}. {SAID[means]}</summary><p>"
        + ", ".join(
            f'<a href="{LEDGER}#{anchor(one)}"><code>{one}</code></a>'
            for _, how, one in every
            if how == means
        )
        + "</p></details>"
        for means in MEANS
        if total[means]
    )
    text = "\n".join(f"{means}: {total[means]}" for means in MEANS)
    return Html(text, _wide(table(("source", *MEANS), rows)) + folds)


def source_folds(folder: Path, files: Sequence[str]) -> Html:
    """Return each Coq source in a fold, to which the rows lead."""
    parts = [
        f'<details id="source-{_anchor_of(file)}"><summary><code>proofs/{file}</code></summary>'
        f"<pre tabindex='0'>{html.escape((folder / 'proofs' / file).read_text(encoding='utf-8'))}</pre></details>"
        for file in files
    ]
    return Html("\n".join(files), "".join(parts))


def _anchor_of(file: str) -> str:
    return file.removesuffix(".v").replace("/", "-").lower()


def _source_link(file: str) -> str:
    return f'<a href="#source-{_anchor_of(file)}"><code>{file}</code></a>'


def _wide(markup: str) -> str:
    return f'<div class="wide-table claims">{markup}</div>'
