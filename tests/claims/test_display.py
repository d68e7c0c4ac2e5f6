"""Badges and cards of one claim."""

import dataclasses
import re

from dpfair_lib.claims import CLAIMS, Claim, judge
from dpfair_lib.claims.display import badge, card, mark, source
from dpfair_lib.claims.ledger import FaultRun

ALG_1 = judge(CLAIMS["isit.alg-1"], faults=True)


def test_a_card_names_the_witness_and_a_missed_fault():
    assert "fails as printed: The groups have the selection rates 0 and 0." in repr(card(ALG_1))
    missed = dataclasses.replace(ALG_1, faults={"some <fault>": FaultRun(False, "")})
    assert "some &lt;fault&gt;: MISSED" in card(missed)._repr_html_()


def test_a_card_has_at_most_four_rows_before_its_fold():
    for claim_id in ("isit.alg-1", "isit.prop-4.utility"):
        shown = card(judge(CLAIMS[claim_id], faults=True))._repr_html_()
        assert shown.partition("<details>")[0].count("<tr>") <= 4
        assert "planted faults" in shown.partition("<details>")[2]


def test_a_badge_leads_to_its_row_and_a_card_can_be_led_to():
    assert 'href="../notebooks/ledger.html#isit-alg-1"' in badge(ALG_1)._repr_html_()
    assert 'id="isit-alg-1"' in card(ALG_1)._repr_html_()


def test_a_kind_is_shown_only_if_the_run_bears_it_out():
    def check(*, search, value=lambda: 0):
        search.observe(value(), {})
        return search.evidence()

    entry = Claim("isit.x", "here", "x", verdict="holds", check=check, kind="as-printed", impact="none",
                  because="It is an example.")  # fmt: skip
    assert "holds as printed" in mark(judge(entry))
    assert "holds as printed" not in mark(judge(dataclasses.replace(entry, kind="sharper")))
    assert re.search("badge-contradicted", mark(judge(dataclasses.replace(entry, verdict="corrected"))))


def test_source_leaves_the_docstring_out():
    assert repr(source(judge)).startswith("def judge(")
    assert '"""' not in repr(source(judge))
    assert "_run(claim" in source(judge)._repr_markdown_()
