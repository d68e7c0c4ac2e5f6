"""The ledger's table, witnesses, what is refuted: nothing is lost on the way to a page."""

import dataclasses
import re
from fractions import Fraction

from shown_outcomes import FAILS, HOLDS, OURS, outcome

from dpfair_lib.claims import Claim
from dpfair_lib.claims.evidence import Evidence
from dpfair_lib.claims.kinds import WORDS
from dpfair_lib.claims.ledger import Outcome
from dpfair_lib.claims.tables import by_importance, ledger_table, own_table, refuted, witnesses


def test_the_ledger_has_a_row_for_each_claim_and_filters():
    shown = ledger_table([HOLDS, FAILS])._repr_html_()
    assert re.findall(r'<tr id="([^"]+)" data-paper="isit" data-verdict="([^"]+)"', shown) == [
        ("isit-a", "as-printed"),
        ("isit-b", "replaced"),
    ]
    assert "x<sub>i</sub> ≤ y" in shown
    assert "ε = 1/2" in shown
    assert f'<option value="replaced">{WORDS["replaced"]}</option>' in shown


def test_our_own_theorems_have_a_table_of_their_own_and_no_row_that_a_filter_reaches():
    papers = [HOLDS, FAILS]
    assert ledger_table([HOLDS, OURS, FAILS])._repr_html_() == ledger_table(papers)._repr_html_()
    assert witnesses([OURS, *papers])._repr_html_() == witnesses(papers)._repr_html_()
    assert refuted([OURS, *papers])._repr_html_() == refuted(papers)._repr_html_()
    shown = own_table([HOLDS, OURS, FAILS])._repr_html_()
    assert re.findall(r'<tr id="([^"]+)">', shown) == ["ours-a"]
    assert "data-paper" not in shown
    assert "select" not in shown
    for words in ("this book, A chapter, Result 2", "y<sub>i</sub> ≤ z", "Less is &lt;enough&gt;.", "Not sharp.",
                  "Cannot be left out: the factor x<sub>2</sub> (it fails by 1/3).", "proved in this book",
                  "1,234 cases; 3 of 3 planted faults caught"):  # fmt: skip
        assert words in shown, words


def test_a_witness_is_shown_with_its_slack():
    shown = witnesses([HOLDS, FAILS])
    assert repr(shown) == "isit.b: ε = 1/2"
    assert "slack there −1/3;" in shown._repr_html_()
    long = dataclasses.replace(FAILS.evidence, printed_slack=Fraction(-99999, 100000))
    assert "slack there ≈ −1;" in witnesses([Outcome(FAILS.claim, long)])._repr_html_()


def test_what_matters_more_comes_first():
    kinds = ["slip", "answered", "guarantee-broken", "replaced", "as-printed", "condition"]
    named = [outcome(f"isit.{kind}", kind, "conclusion") for kind in kinds]
    small = outcome("isit.small", "guarantee-broken", "condition")
    shown = outcome("mpbt.table-1", "guarantee-broken", "conclusion")
    order = [found.claim.id for found in by_importance([small, *named, shown])]
    assert order == ["mpbt.table-1", "isit.guarantee-broken", "isit.replaced", "isit.condition", "isit.slip",
                     "isit.answered", "isit.as-printed", "isit.small"]  # fmt: skip


def test_what_is_refuted_is_named_with_its_witness():
    found = Evidence(1, counterexample={"n": 3}, printed_slack=-1, broken=(("δ", 1, 0),))
    entry = Claim("sk.x", "SK § 4", "x", verdict="refuted", check=lambda: found, kind="guarantee-broken",
                  headline="Not private.", chapter="sk-alg-1", impact="none", because="So.",
                  witness="{n} people.")  # fmt: skip
    repaired = dataclasses.replace(found, slack=0)
    kept = Outcome(dataclasses.replace(entry, id="sk.y", verdict="corrected"), repaired)
    shown = refuted([HOLDS, FAILS, Outcome(entry, found), kept])
    assert repr(shown).splitlines() == [
        "3 printed statements are false: 2 broken promises of privacy and 1 replaced by a true statement.",
        "sk.x: 3 people.",
        "sk.y: 3 people.",
        "For one of them nothing true is nearby: SK, § 4.",
    ]
    assert shown._repr_html_().count("<em>Witness:</em> 3 people.") == 2
    assert repr(refuted([FAILS])).splitlines() == [
        "1 printed statement is false: 1 replaced by a true statement.",
        "In the place of each a true statement is proved.",
    ]
    own = Outcome(dataclasses.replace(entry, kind="refuted"), found)
    assert "1 refuted" in repr(refuted([own])).splitlines()[0]


def test_every_cell_but_the_first_names_its_column_and_places_name_their_paper():
    at_sk = Claim("sk.x", "Algorithm 1, § 4", "x")
    for shown in (ledger_table([FAILS]), witnesses([FAILS]), ledger_table([Outcome(at_sk, None)])):
        markup = shown._repr_html_()
        header = re.findall(r"<th scope='col'>([^<]+)</th>", markup)
        assert re.findall(r'<td data-label="([^"]+)">', markup) == header[1:]
    assert header == ["claim and place", "what is claimed", "what was found", "verdict and impact"]
    assert "SK, Algorithm 1, § 4" in markup
