"""Counts, bars, findings and statements: nothing is lost on the way to a page."""

import dataclasses
import re

import pytest
from shown_outcomes import FAILS, HOLDS, OURS, every_statement, outcome

from dpfair_lib.claims.ledger import KINDS
from dpfair_lib.claims.pages import (
    GROUPS,
    bars,
    counts,
    fares,
    findings,
    own_counts,
    statements,
    ten_findings,
)
from dpfair_lib.claims.papers import MATTER_MOST, NAMES, STATEMENTS


def test_every_kind_is_counted_once():
    assert sorted(kind for group in GROUPS.values() for kind in group) == sorted({*KINDS} - {"theorem"})
    assert counts([HOLDS, FAILS, FAILS]) == (
        "Of 3 examined claims of the papers, 1 holds as printed, and 2 are false; 2 change a conclusion of their paper."
    )
    assert (
        counts([FAILS])
        == "Of 1 examined claims of the papers, 1 is false; 1 changes a conclusion of their paper."
    )


def test_a_theorem_of_our_own_is_in_no_count_of_the_papers():
    assert counts([HOLDS, FAILS, OURS]) == counts([HOLDS, FAILS])
    assert bars([HOLDS, OURS, FAILS])._repr_html_() == bars([HOLDS, FAILS])._repr_html_()
    every = every_statement()
    assert repr(statements([*every, OURS])) == repr(statements(every))
    said = own_counts([HOLDS, OURS, FAILS])
    assert said.startswith(
        "1 theorem of our own stands apart from them: none of the five documents states one"
    )
    assert said.endswith("Their checks judged 1,234 cases and caught 3 of 3 planted faults.")
    assert own_counts([OURS, OURS]).startswith("2 theorems of our own stand apart")
    assert "(this book, A chapter, Result 2)" in repr(findings([OURS]))


def test_a_finding_is_shown_with_its_place_its_number_and_its_reason():
    shown = findings([HOLDS, FAILS])
    assert repr(shown).splitlines()[0] == "false; replaced: It <fails>. (ISIT, Thm 1)"
    assert "It &lt;fails&gt;." in shown._repr_html_()
    assert "The size: 12,345." in shown._repr_html_()
    assert 'href="../notebooks/isit-prop-1.html#isit-b"' in shown._repr_html_()


@pytest.mark.parametrize(
    ("said", "value", "repeated"),
    [
        ("ε ≥ 62.9 there", 62.9, True),
        ("it is 10⁷ times", 10_000_000, True),
        ("n = 10⁷", 1_000_000, False),
        ("by 18,462 norms", 18462, True),
        ("needs δ = 0.97", 0.972, True),
        ("needs δ = 0.96", 0.972, False),
        ("4 of 20 hold", "4 of 20", True),
        ("for t = 8", 8, False),
        ("of 300", 30, False),
    ],
)
def test_a_number_that_the_sentence_has_is_not_said_twice(said, value, repeated):
    shown = outcome("isit.b", "replaced", facts={"size": value}, says={"size": "the size"})
    shown = dataclasses.replace(shown, claim=dataclasses.replace(shown.claim, headline=said))
    assert ("The size" in findings([shown])._repr_html_()) != repeated


def test_bars_count_each_entry():
    assert repr(bars([HOLDS, FAILS])).splitlines() == ["ISIT: 1 holds as printed", "ISIT: 1 is false"]


def test_a_theorem_holds_only_if_all_its_parts_do():
    def of(kinds):
        return [
            outcome(claim_id, kinds.get(claim_id, "as-printed"))
            for ids in STATEMENTS["cgkm"].values()
            for claim_id in ids
        ]

    assert fares("cgkm", of({})) == "CGKM's Theorem 1, Theorem 2 and Theorem 3 hold as printed."
    one = fares("cgkm", of({"cgkm.thm-1.proof": "replaced", "cgkm.thm-2.privacy": "constant"}))
    assert one == "Of CGKM's Theorem 1, Theorem 2 and Theorem 3, only Theorem 3 holds as printed."
    none = {"cgkm.thm-1.statement": "replaced", "cgkm.thm-2.accuracy": "constant", "cgkm.thm-3": "condition"}
    assert fares("cgkm", of(none)) == "None of CGKM's Theorem 1, Theorem 2 and Theorem 3 holds as printed."


def test_every_part_of_a_statement_is_explained_those_that_matter_most_first():
    """ISIT's Theorem 3 has three parts, of which here the last one fails."""
    last = outcome("isit.thm-3.utility", "replaced", "conclusion")
    judged = [last if found.claim.id == last.claim.id else found for found in every_statement()]
    shown = statements(judged)
    assert re.findall(r'<h3 id="statements-(\w+)">', shown._repr_html_()) == list(NAMES)
    linked = re.findall(r"<code>([^<]+)</code>", shown._repr_html_())
    assert sorted(linked) == sorted(found.claim.id for found in judged)
    assert linked.index(last.claim.id) < linked.index("isit.thm-3.privacy")
    assert linked.index("cgkm.thm-1.statement") < linked.index("cgkm.thm-1.proof")
    assert shown._repr_html_().count("<p><span class=") == len(judged)
    assert "The thesis's Lemma 13, Theorem 14, Theorem 15 and Lemma 16 hold as printed." in repr(shown)


def test_the_ten_findings_stand_in_their_order():
    ten = ten_findings([outcome(claim_id, "replaced") for claim_id in reversed(MATTER_MOST)])
    assert ten._repr_html_().startswith("<ol")
    assert [row.split("ledger.html#")[1].split('"')[0] for row in ten._repr_html_().split("<li>")[1:]] == [
        claim_id.replace(".", "-") for claim_id in MATTER_MOST
    ]
