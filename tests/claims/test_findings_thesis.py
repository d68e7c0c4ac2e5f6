"""What the ledger says in words about OPT beside Fair Projection is what the recorded trials show."""

import itertools
import re

import pytest

from dpfair_lib.claims import claim, judge
from dpfair_lib.experiments.thesis.projection_tables_records import trials
from dpfair_lib.local.exchange import exchange_optima

DATA = {"compas": "COMPAS", "adult": "Adult"}


@pytest.fixture(scope="module")
def counts():
    """Return for each data set in how many comparisons OPT is ahead, behind, and of how many."""
    facts = judge(claim("thesis.tables-5.1-5.4")).facts
    found = {}
    for data in DATA:
        text = facts[f"leads_{data}"]
        ahead, behind, every = re.match(r"ahead in (\d+), behind in (\d+) of (\d+);", text).groups()
        found[data] = int(ahead), int(behind), int(every)
    return found


def test_where_opt_is_ahead_is_said(counts):
    nowhere = not any(ahead for ahead, _, _ in counts.values())
    assert ("OPT is nowhere seen ahead" in claim("thesis.tables-5.1-5.4").finding) == nowhere
    assert ("never seen ahead of Fair Projection" in claim("thesis.sentences").finding) == nowhere


@pytest.mark.parametrize("data", DATA)
def test_where_opt_is_behind_is_said(counts, data):
    _, behind, every = counts[data]
    said = re.search(rf"in a hundred trials;.* on {DATA[data]} it is behind [^;.]*\.?[^;.]* in (\d+) of (\d+)",
                     claim("thesis.tables-5.1-5.4").finding)  # fmt: skip
    assert (said is not None) == (behind > 0)
    if said:
        assert (int(said[1]), int(said[2])) == (behind, every)
        assert trials(data)["split"].nunique() == 100


def test_both_checks_count_the_same(counts):
    fact = judge(claim("thesis.sentences")).facts["leads"]
    ahead, behind, every = (sum(of) for of in zip(*counts.values(), strict=True))
    assert fact == f"ahead in {ahead}, behind in {behind} of {every}"


def test_theorem_15_says_what_its_check_counts():
    facts, finding = judge(claim("thesis.thm-15")).facts, claim("thesis.thm-15").finding
    assert facts["smallest"] == 5
    assert "five people who can all be distinguished" in finding
    # whichever group they favour: all optima are compared, and some turn the order
    compared = facts["compared"]
    turned = facts["turned"]
    optima = {
        sizes: sum(
            len(exchange_optima(sizes, labels))
            for labels in itertools.product(*(range(n + 1) for n in sizes))
        )
        for sizes in itertools.product(range(1, 5), repeat=2)
    }
    assert compared == sum(count**2 for count in optima.values())
    assert 0 < turned < compared
    assert facts["off"] > 0
