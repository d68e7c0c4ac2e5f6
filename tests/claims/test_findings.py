"""What the ledger says in words about Tables II–XIII is what the checks found and the tables print."""

import re

import pytest

from dpfair_lib.claims import claim, judge
from dpfair_lib.claims.isit.sentences_equal_accuracy import LEADS, LEADS_FOR_NEW, TRAILS
from dpfair_lib.experiments.printed import printed_tables

TABLES = {"isit.tables-2-5": "PRV", "isit.tables-6-9": "moments", "isit.tables-10-13": "GDP"}


@pytest.mark.parametrize("name", TABLES)
def test_counts_of_the_finding_are_those_of_the_check(name):
    facts = judge(claim(name)).evidence.facts
    for key, method, total in (("fair", "Algorithm 2", 8), ("fermi", "DP-FERMI", 40)):
        found = [facts[f"{key}_{data}"] for data in ("adult", "credit")]
        agreed = sum(int(text.split(" of ")[0]) for text in found)
        assert sum(int(text.split(" of ")[1]) for text in found) == total
        assert f"{agreed} of {total} of {method}" in claim(name).finding


@pytest.mark.parametrize(("name", "accountant"), TABLES.items())
def test_numbers_of_the_statement_are_printed(name, accountant):
    rows = printed_tables()
    rows = rows[rows["accountant"] == accountant]
    ours = rows[rows["method"] == "Algorithm 2"].sort_values(["data", "epsilon"])
    expected = [
        f"{number:.4f}"
        for data in ("adult", "credit")
        for what in ("accuracy", "gap")
        for number in ours.loc[ours["data"] == data, what]
    ]
    found = re.findall(r"0\.\d{4}", claim(name).statement)
    assert found[:8] == expected
    assert set(found[8:]) <= {f"{gap:.4f}" for gap in rows.loc[rows["method"] == "DP-FERMI", "gap"]}


def test_leads_of_the_sentences_are_those_of_the_check():
    words = {1: "one", 4: "four", 6: "six"}
    leads, trails = ([place for place in places if place[3] == "PLD"] for places in (LEADS, TRAILS))
    as_run = [place for place in LEADS if place[:2] == ("adult", "as run")]
    finding = claim("isit.sentences").finding
    assert f"smaller in {words[len(leads)]} of eight cases, larger in {words[len(trails)]}" in finding
    assert f"on Adult as run, at all {words[len(as_run)]} levels" in finding
    assert len(LEADS_FOR_NEW) < len(as_run) / 2
    assert "For new rows hardly any lead is established" in finding


def test_headlines_tell_what_the_checks_found():
    def found(name):
        return judge(claim(name)).evidence.facts, claim(name).headline

    facts, headline = found("isit.thm-3.fairness")
    assert f"{facts['adult_bound']:.3f}" in headline
    assert f"quantile of the gap is {facts['adult_quantile']:.3f}" in headline
    facts, headline = found("isit.prop-4.fairness")
    assert (
        f"it is {facts['adult_bound']:.4f}, where the exact expected gap is {facts['adult_gap']:.4f}"
        in headline
    )
    facts, headline = found("isit.noise-multipliers")
    assert "at least {} and {}".format(*re.findall(r"(\S+) for", facts["adult_epsilon"])) in headline
    facts, headline = found("isit.preprocessing-leak")
    assert f"by {facts['sum_moved']:,} clipping norms" in headline
    facts, headline = found("isit.sentences")
    assert f"larger by {facts['printed_credit_9'].lstrip('-')}" in headline
