"""Badges and cards of one claim."""

import dataclasses
import json
import re
from pathlib import Path

import pytest
from shown_outcomes import theorem

from dpfair_lib.claims import CLAIMS, Claim, judge
from dpfair_lib.claims.display import KERNEL, badge, card, kernel_mark, mark, source
from dpfair_lib.claims.kinds import IMPACTS, WORDS
from dpfair_lib.claims.ledger import FaultRun
from dpfair_lib.claims.proved import PROVED

OURS = dataclasses.replace(theorem("ours.a"), faults={})
NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
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


def test_a_theorem_of_our_own_says_that_it_is_ours_and_changes_no_paper():
    shown = card(OURS)
    assert repr(badge(OURS)) == "ours.a: proved in this book"
    assert "proved here: A chapter, Result 2: y_i ≤ z" in repr(shown)
    assert "cannot be left out: the factor x_2 (it fails by 1/3)" in repr(shown)
    assert not re.search("claimed|printed|what it changes", repr(shown))


def test_a_fact_without_words_is_for_the_chapter_and_not_on_the_card():
    def check(*, search):
        search.observe(0, {})
        search.fact("table", {"a": [1, 23456]})
        search.fact("largest", 34567, "the largest of all")
        return search.evidence()

    outcome = judge(Claim("isit.x", "here", "x", verdict="holds", check=check))
    assert outcome.facts == {"table": {"a": [1, 23456]}, "largest": 34567}
    assert "the largest of all: 34,567" in repr(card(outcome))
    assert "23,456" not in repr(card(outcome))


def test_a_kind_is_shown_only_if_the_run_confirms_it():
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


def badges_of_another_day(cells, claims):
    """The badges and cards that cells of a stored chapter show with another verdict or impact than the ledger has."""
    stale = []
    for cell in cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            markup, text = ("".join(data.get(kind, "")) for kind in ("text/html", "text/plain"))
            if "claim-badge" in markup:
                claim = claims[text.partition(":")[0]]
                impact = f" · {IMPACTS[claim.impact]}" if claim.impact else ""
                proved = f" · {KERNEL}" * (claim.id in PROVED)
                stale += [text] * (text != f"{claim.id}: {WORDS[claim.kind]}{impact}{proved}")
                stale += [claim.id] * (kernel_mark(claim.id) not in markup)
            elif found := re.search(
                r"claim-card.*?badge-verdict[^>]*>([^<]*)<.*?<code>([^<]*)<", markup, re.DOTALL
            ):
                stale += [found[2]] * (found[1] != WORDS[claims[found[2]].kind])
    return stale


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_badges_and_cards_of_a_chapter_show_the_verdict_of_today(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert badges_of_another_day(cells, CLAIMS) == []


def test_a_badge_or_card_with_another_verdict_is_found():
    def cell(shown):
        return {"outputs": [{"data": {"text/html": shown._repr_html_(), "text/plain": repr(shown)}}]}

    cells = [cell(badge(ALG_1)), cell(card(ALG_1))]
    assert badges_of_another_day(cells, CLAIMS) == []
    other = {"isit.alg-1": dataclasses.replace(CLAIMS["isit.alg-1"], kind="as-printed")}
    assert len(badges_of_another_day(cells, other)) == 2
    other = {"isit.alg-1": dataclasses.replace(CLAIMS["isit.alg-1"], impact="conclusion")}
    assert len(badges_of_another_day(cells, other)) == 1
