import dataclasses
import functools

from dpfair_lib.claims import CLAIMS, judge
from dpfair_lib.claims.display import card, errata_table, ledger_table, source
from dpfair_lib.claims.ledger import FaultRun


@functools.cache
def outcome_of(claim_id):
    return judge(CLAIMS[claim_id], faults=True)


def test_pages_name_the_witness_and_a_missed_fault():
    alg_1 = outcome_of("isit.alg-1")
    assert "fails as printed at: alpha = 0, beta = 0" in repr(card(alg_1))
    missed = dataclasses.replace(alg_1, faults={"some <fault>": FaultRun(False, "")})
    assert "some &lt;fault&gt;: MISSED" in card(missed)._repr_html_()
    assert 'href="isit-thm-2.html"' in ledger_table([alg_1])._repr_html_()
    assert alg_1.claim.errata[0].correct in repr(errata_table([alg_1.claim]))


def test_source_leaves_the_docstring_out():
    assert repr(source(judge)).startswith("def judge(")
    assert '"""' not in repr(source(judge))
    assert "_run(claim" in source(judge)._repr_markdown_()
