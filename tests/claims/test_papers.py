from dpfair_lib.claims import CLAIMS
from dpfair_lib.claims.ledger import Outcome
from dpfair_lib.claims.pages import statements
from dpfair_lib.claims.papers import AUTHORS, IN_A_SENTENCE, MATTER_MOST, NAMES, STATEMENTS, place_of


def test_the_named_entries_exist():
    assert set(NAMES) == set(AUTHORS) == set(STATEMENTS) == {claim.source for claim in CLAIMS.values()}
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
