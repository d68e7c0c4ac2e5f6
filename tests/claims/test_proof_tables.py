"""The tables of the machine-checked core name what the map says, and lead to their sources."""

import re
from pathlib import Path

import pytest

from dpfair_lib.claims import CLAIMS, Claim
from dpfair_lib.claims.display import badge, kernel_mark
from dpfair_lib.claims.judging import judge
from dpfair_lib.claims.proof_tables import (
    checker_table,
    means_of,
    means_table,
    proof_table,
    read_proofs,
    source_folds,
)

ROOT = Path(__file__).parents[2]
MAPPED, RECORD = read_proofs(ROOT)
OVER_THE_REALS = ("cgkm.laplace", "cgkm.alg-1", "sk.alg-1-privacy", "thesis.open-2")
"""Entries with a theorem about e^x or √13, which the fractions do not hold."""


def test_every_row_has_its_theorems_hypotheses_and_axioms():
    shown = proof_table(MAPPED, RECORD)._repr_html_()
    for entry in MAPPED["entry"]:
        assert f'id="proof-{entry["claim"].replace(".", "-")}"' in shown
        assert all(theorem["name"] in shown for theorem in entry["theorem"])
    assert shown.count("Printed.") == shown.count("Differs.") == len(MAPPED["entry"])
    assert shown.count("no axiom") == len(MAPPED["entry"]) - len(OVER_THE_REALS)
    assert "sig_forall_dec" in shown
    assert "classic" not in shown


def test_a_link_leads_to_a_fold_with_the_source():
    files = [entry["file"] for part in ("entry", "checker") for entry in MAPPED[part]]
    led = set(re.findall(r'href="#(source-[^"]+)"', proof_table(MAPPED, RECORD)._repr_html_()))
    led |= set(re.findall(r'href="#(source-[^"]+)"', checker_table(MAPPED)._repr_html_()))
    folds = source_folds(ROOT, list(dict.fromkeys(files)))._repr_html_()
    assert led <= set(re.findall(r'<details id="([^"]+)"', folds))
    assert "Theorem proposition_1 : changes_at_least change_lower_bound." in folds


def test_each_claim_is_counted_once_under_its_strongest_means():
    text = repr(means_table(CLAIMS.values()))
    counts = {means: int(count) for means, count in (line.split(": ") for line in text.splitlines())}
    assert sum(counts.values()) == len(CLAIMS)
    assert counts["kernel"] == len(MAPPED["entry"])


@pytest.mark.parametrize(
    ("claim_id", "means"),
    [("isit.prop-1", "kernel"), ("isit.tables-2-5", "numbers"), ("ours.both-notions", None)],
)
def test_the_means_are_what_the_check_does(claim_id, means):
    found = means_of(CLAIMS[claim_id])
    assert found == means if means else found != "kernel"


def test_a_claim_without_a_check_is_of_paper_alone():
    assert means_of(Claim("isit.x", "here", "x")) == "paper"


def test_a_badge_says_that_the_core_is_proved_only_where_it_is():
    proved, other = (badge(judge(CLAIMS[one])) for one in ("isit.prop-1", "isit.tables-2-5"))
    assert repr(proved).endswith(" · core machine-checked")
    assert 'href="../notebooks/machine-checked.html#proof-isit-prop-1"' in proved._repr_html_()
    assert "resting on no axiom" in kernel_mark("isit.prop-1")
    assert "axioms of the real numbers" in kernel_mark("cgkm.laplace")
    assert "machine-checked" not in repr(other) + other._repr_html_()
    assert kernel_mark("isit.tables-2-5") == ""
