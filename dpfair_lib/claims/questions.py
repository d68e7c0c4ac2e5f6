"""The questions that readers ask first, each with its answer and the page that shows it."""

from __future__ import annotations

import html
from collections.abc import Iterable

from dpfair_lib.claims.display import Html
from dpfair_lib.claims.ledger import Outcome
from dpfair_lib.claims.pages import fares
from dpfair_lib.claims.tables import FOLDER, how_many_false
from dpfair_lib.claims.typeset import typeset


def questions(outcomes: Iterable[Outcome]) -> Html:
    """Return four questions, with answers that the entries' facts and verdicts give."""
    outcomes = list(outcomes)
    rows = [
        ("What is refuted, and by which witness?", how_many_false(outcomes), "witnesses", "witnesses"),
        (
            "What is the true ε of ISIT's Adult runs?",
            f"With the PRV levels, for a stated ε′: {_fact(outcomes, 'isit.noise-multipliers', 'adult_releases')}.",
            "isit-noise",
            "noise levels",
        ),
        ("Is MPBT's Table 1 right?", _table_1(outcomes), "mpbt-table-1", "Table 1"),
        (
            "Which theorem of CGKM holds?",
            fares("cgkm", outcomes),
            "findings.html#statements-cgkm",
            "statement by statement",
        ),
    ]
    items = "".join(
        f'<h2 id="asked-{at}">{html.escape(asked)}</h2><p>{typeset(answer)} <a href="{_address(page)}">{said}</a></p>'
        for at, (asked, answer, page, said) in enumerate(rows, 1)
    )
    return Html(
        "\n".join(f"{asked} {answer}" for asked, answer, _, _ in rows), f'<div class="asked">{items}</div>'
    )


def _table_1(outcomes: Iterable[Outcome]) -> str:
    outcomes = list(outcomes)
    celeba, income = (
        _fact(outcomes, "mpbt.table-1", f"{data}_as_run_record_epsilon") for data in ("celeba", "acs_income")
    )
    digits = _fact(outcomes, "mpbt.table-1", "celeba_as_run_182338_digits")
    return (
        f"CelebA's numbers come out ({digits}), but as run one replaced record shows ε ≥ {celeba} there "
        f"and ≥ {income} on ACSIncome, where ε = 1 is stated."
    )


def _fact(outcomes: Iterable[Outcome], claim_id: str, key: str) -> object:
    """Return a fact of one entry.

    Raises
    ------
    ValueError
        If the entry is not there, or has no such fact.
    """
    facts = next((outcome.facts for outcome in outcomes if outcome.claim.id == claim_id), {})
    if key not in facts:
        raise ValueError(f"outcomes: found no fact {key!r} of {claim_id}, expected one")
    return facts[key]


def _address(page: str) -> str:
    return FOLDER + (page if "#" in page else f"{page}.html")
