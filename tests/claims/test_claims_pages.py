"""Findings, the ledger's table, witnesses: nothing is lost on the way to a page."""

import dataclasses
import re
from fractions import Fraction

from dpfair_lib.claims import Claim
from dpfair_lib.claims.evidence import Evidence
from dpfair_lib.claims.kinds import WORDS
from dpfair_lib.claims.ledger import KINDS, Outcome
from dpfair_lib.claims.pages import (
    GROUPS,
    bars,
    counts,
    fares,
    findings,
    ledger_table,
    witnesses,
)
from dpfair_lib.claims.papers import STATEMENTS


def outcome(claim_id, kind, impact="none", **evidence):
    """An outcome whose kind needs nothing: its run could not be made."""
    found = Evidence(1, slack=0, not_run="", **evidence)
    entry = Claim(claim_id, "ISIT Thm 1", "x_i ≤ y", verdict=found.finding, check=lambda: found, headline="It <fails>.",
                  chapter="isit-prop-1", impact=impact, because="So.", shown_by="size")  # fmt: skip
    return Outcome(dataclasses.replace(entry, kind=kind), found)


HOLDS = outcome("isit.a", "as-printed")
FAILS = outcome(
    "isit.b", "replaced", "conclusion", counterexample={"epsilon": Fraction(1, 2)}, printed_slack=Fraction(-1, 3),
    readings={"as printed": True}, facts={"size": 12345}, says={"size": "the size"},
)  # fmt: skip


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


def test_the_ledger_has_a_row_for_each_claim_and_filters():
    shown = ledger_table([HOLDS, FAILS])._repr_html_()
    assert re.findall(r'<tr id="([^"]+)" data-paper="isit" data-kind="([^"]+)"', shown) == [
        ("isit-a", "as-printed"),
        ("isit-b", "replaced"),
    ]
    assert "x<sub>i</sub> ≤ y" in shown
    assert "ε = 1/2" in shown
    assert f'<option value="replaced">{WORDS["replaced"]}</option>' in shown


def test_a_witness_is_shown_with_its_slack():
    shown = witnesses([HOLDS, FAILS])
    assert repr(shown) == "isit.b: ε = 1/2"
    assert "−1/3" in shown._repr_html_()


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
