"""The graph: every claim is a link to its row, with words for those who do not see it."""

import re

import pytest

from dpfair_lib.claims import CLAIMS, Claim
from dpfair_lib.claims.graph import claim_graph
from dpfair_lib.claims.ledger import Outcome

WIDEST = 798  # pixels beside the list of chapters, in a window of 1280
LETTER = 6.2


def test_every_claim_is_a_link_with_words_and_a_place_of_its_own():
    shown = claim_graph(Outcome(claim, None) for claim in CLAIMS.values())._repr_html_()
    assert re.findall(r'<a href="#([^"]+)" aria-label="([^":]+):', shown) == [
        (name.replace(".", "-"), name) for name in CLAIMS
    ]
    places = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', shown)
    assert len(set(places)) == len(CLAIMS), "two claims stand in one place"
    wide = float(re.search(r'<svg [^>]*width="(\d+)"', shown)[1])
    assert wide <= WIDEST
    names = re.findall(r'<text x="([\d.]+)" y="[\d.]+">([^<]+)</text>', shown)
    assert max(float(x) + LETTER * len(name) for x, name in names) <= wide, "a name is cut off"
    across = {name: float(x) for name, (x, _) in zip(CLAIMS, places, strict=True)}
    for claim in CLAIMS.values():
        assert all(across[other] < across[claim.id] for other in claim.depends_on), claim.id
    links = [(claim, other) for claim in CLAIMS.values() for other in claim.depends_on]
    assert shown.count("<path") == len(links)
    assert shown.count("dasharray") == sum(other not in claim.statement_uses for claim, other in links)


def test_our_own_theorems_have_a_band_and_are_counted_apart():
    claims = [
        Claim("isit.a", "here", "a"),
        Claim("ours.b", "A chapter, Result 1", "b", proof_uses=("isit.a",)),
    ]
    shown = claim_graph(Outcome(claim, None) for claim in claims)
    assert repr(shown) == "Graph of 1 claims, 1 theorem of our own and the 1 links between them"
    assert ">Ours</text>" in shown._repr_html_()
    alone = claim_graph([Outcome(claims[0], None)])
    assert repr(alone) == "Graph of 1 claims and the 0 links between them"
    assert ">Ours</text>" not in alone._repr_html_()


def test_words_are_escaped():
    shown = claim_graph([Outcome(Claim("isit.a", "here", "a < b & so on"), None)])._repr_html_()
    assert "a &lt; b &amp; so on" in shown


def test_proofs_are_dotted_and_statements_solid():
    claims = [
        Claim("isit.a", "here", "a"),
        Claim("isit.b", "here", "b", statement_uses=("isit.a",)),
        Claim("isit.c", "here", "c", statement_uses=("isit.b",), proof_uses=("isit.a",)),
    ]
    shown = claim_graph(Outcome(claim, None) for claim in claims)._repr_html_()
    assert shown.count("<path") == 3
    assert shown.count("stroke-dasharray") == 1
    with pytest.raises(ValueError, match="expected an id of the ledger"):
        claim_graph([Outcome(claims[1], None)])
