"""Counts, bars, findings and statements: nothing is lost on the way to a page."""

from shown_outcomes import FAILS, HOLDS, outcome

from dpfair_lib.claims.ledger import KINDS
from dpfair_lib.claims.pages import GROUPS, bars, counts, fares, findings, ten_findings
from dpfair_lib.claims.papers import MATTER_MOST, STATEMENTS


def test_every_kind_is_counted_once():
    assert sorted(kind for group in GROUPS.values() for kind in group) == sorted(KINDS)
    assert counts([HOLDS, FAILS, FAILS]) == (
        "Of 3 examined entries 1 hold as printed, and 2 are false; 2 change a conclusion of their paper."
    )


def test_a_finding_is_shown_with_its_place_its_number_and_its_reason():
    shown = findings([HOLDS, FAILS])
    assert repr(shown).splitlines()[0] == "false; replaced: It <fails>. (ISIT, Thm 1)"
    assert "It &lt;fails&gt;." in shown._repr_html_()
    assert "The size: 12,345." in shown._repr_html_()
    assert 'href="../notebooks/isit-prop-1.html#isit-b"' in shown._repr_html_()


def test_bars_count_each_entry():
    assert repr(bars([HOLDS, FAILS])).splitlines() == ["ISIT: 1 hold as printed", "ISIT: 1 are false"]


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


def test_the_ten_findings_stand_in_their_order():
    ten = ten_findings([outcome(claim_id, "replaced") for claim_id in reversed(MATTER_MOST)])
    assert ten._repr_html_().startswith("<ol")
    assert [row.split("ledger.html#")[1].split('"')[0] for row in ten._repr_html_().split("<li>")[1:]] == [
        claim_id.replace(".", "-") for claim_id in MATTER_MOST
    ]
