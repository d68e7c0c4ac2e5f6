import dataclasses

import pytest

from dpfair_lib.claims import CLAIMS, Outcome
from dpfair_lib.claims.graph import STATUS_COLORS, claim_graph
from dpfair_lib.claims.ledger import NOT_EXAMINED
from dpfair_lib.claims.report import layers


@pytest.fixture(scope="module")
def outcomes():
    return [Outcome(claim, None) for claim in CLAIMS.values()]


def test_every_claim_stands_right_of_what_it_rests_on(outcomes):
    shown = claim_graph(outcomes)
    nodes = [trace for trace in shown.figure.data if trace.mode == "markers"]
    places = {
        text.partition("<b>")[2].partition("</b>")[0]: (x, y)
        for trace in nodes
        for text, x, y in zip(trace.hovertext, trace.x, trace.y, strict=True)
    }
    assert set(places) == set(CLAIMS)
    assert len(set(places.values())) == len(CLAIMS), "two claims stand in one place"
    assert {name: x for name, (x, _) in places.items()} == layers(CLAIMS.values())
    for claim in CLAIMS.values():
        assert all(places[other][0] < places[claim.id][0] for other in claim.depends_on)
    links = sum(len(claim.depends_on) for claim in CLAIMS.values())
    assert shown.text == f"Graph of {len(CLAIMS)} claims and the {links} links between them"


def test_a_link_is_dotted_where_only_the_proof_uses_it(outcomes):
    solid, dotted = (trace for trace in claim_graph(outcomes).figure.data if trace.mode == "lines")
    assert (solid.line.dash, dotted.line.dash) == ("solid", "dot")
    stated = sum(len(set(claim.depends_on) & set(claim.statement_uses)) for claim in CLAIMS.values())
    every = sum(len(claim.depends_on) for claim in CLAIMS.values())
    assert (solid.x.count(None), dotted.x.count(None)) == (stated, every - stated)


def test_the_colour_is_that_of_the_status_and_words_are_escaped(outcomes):
    (alone,) = (outcome for outcome in outcomes if outcome.claim.id == "isit.prop-1")
    odd = dataclasses.replace(alone.claim, statement="a < b & so on", where="§ 1 <i>")
    shown = claim_graph([Outcome(odd, None)])
    (nodes,) = (trace for trace in shown.figure.data if trace.mode == "markers")
    assert nodes.marker.color == STATUS_COLORS[NOT_EXAMINED]
    assert "a &lt; b &amp; so on" in nodes.hovertext[0]
    assert "§ 1 &lt;i&gt;" in nodes.hovertext[0]
