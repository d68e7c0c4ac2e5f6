from dpfair_lib.claims import CLAIMS
from dpfair_lib.claims.ledger import OURS, SOURCES, Outcome
from dpfair_lib.claims.pages import statements
from dpfair_lib.claims.papers import (
    AUTHORS,
    IN_A_SENTENCE,
    MATTER_MOST,
    NAMES,
    OF_THE_GRAPH,
    STATEMENTS,
    of_ours,
    of_papers,
    place_of,
)


def test_the_named_entries_exist():
    assert set(NAMES) == set(AUTHORS) == set(STATEMENTS) == {*SOURCES} - {OURS}
    assert set(OF_THE_GRAPH) == {*SOURCES} == {claim.source for claim in CLAIMS.values()}
    named = {claim_id for of in STATEMENTS.values() for ids in of.values() for claim_id in ids}
    assert named <= set(CLAIMS)
    assert len(MATTER_MOST) == len(set(MATTER_MOST)) == 10
    assert set(MATTER_MOST) <= set(CLAIMS)
    every = [Outcome(claim, None) for claim in CLAIMS.values()]
    assert all(name in repr(statements(every)) for name in IN_A_SENTENCE.values())
    assert place_of(CLAIMS["cgkm.thm-3"]).startswith("CGKM, Theorem 3")
    assert [
        place
        for place in map(place_of, CLAIMS.values())
        if place.count("ISIT,") > 1 or "esis, thesis" in place
    ] == []


def test_our_own_theorems_stand_apart_from_the_claims_of_the_papers():
    every = [Outcome(claim, None) for claim in CLAIMS.values()]
    papers, ours = of_papers(every), of_ours(every)
    assert len(papers) + len(ours) == len(every)
    assert {outcome.claim.source for outcome in papers} == {*NAMES}
    assert {claim_id for claim_id in CLAIMS if not claim_id.startswith("ours.")} == {
        outcome.claim.id for outcome in papers
    }
    assert ours
    assert all(outcome.claim.id.startswith("ours.") for outcome in ours)
    named = {claim_id for of in STATEMENTS.values() for ids in of.values() for claim_id in ids}
    assert not {outcome.claim.id for outcome in ours} & ({*MATTER_MOST} | named)
    for outcome in ours:
        claim = outcome.claim
        assert place_of(claim) == f"this book, {claim.where}"
        assert (claim.kind, claim.verdict, claim.impact, claim.errata) == ("theorem", "holds", None, ())
