import dataclasses
import functools
import inspect
import json
import re
import string
from pathlib import Path

import numpy as np
import pytest
from headline_numbers import unshown

from dpfair_lib.claims import CLAIMS, Claim, Erratum, judge
from dpfair_lib.claims import claim as entry
from dpfair_lib.claims.new import unwritten_lines
from dpfair_lib.claims.report import as_row
from dpfair_lib.claims.typeset import witness_in_words

EXAMINED = [claim_id for claim_id, claim in CLAIMS.items() if claim.check]
ROOT = Path(__file__).parents[2]


@functools.cache
def outcome_of(claim_id):
    return judge(CLAIMS[claim_id], faults=True)


# what a sentence on a witness says of these arguments in words of its own
TOLD = {
    "isit.preprocessing-leak": {"before", "after"},
    "thesis.kamiran-calders-1": {"cells"},
    "thesis.sentences": {"contrast"},
    "mpbt.lemma-3.4": {"notion"},
    "mpbt.lemma-4.2": {"power"},
}


def left_out(claim_id, case):
    """The arguments of a case, but for choices of a reading, that the sentence on it neither shows nor tells."""
    shown = {name for _, name, _, _ in string.Formatter().parse(CLAIMS[claim_id].witness)}
    choices = {name for name, value in case.items() if isinstance(value, bool | np.bool_)}
    return set(case) - shown - choices - TOLD.get(claim_id, set())


def digits_of_its_own(sentence):
    """What a sentence says besides values of the case, symbols, indices and the numbers 0 and 1."""
    known = r"\{[^}]*\}|e\^\([^)]*\)|\b(?:Theorem|Algorithm|Lemma|Table|Definition|group) \d+|\b2(?=[εΛ/])|\b[01]\b"
    return re.sub(known, "", sentence)


# one test for each claim, so that of several processes only one judges it
@pytest.mark.parametrize("claim_id", EXAMINED)
def test_a_large_or_exhaustive_search_confirms_the_verdict_and_catches_every_fault(claim_id):
    outcome = outcome_of(claim_id)
    assert outcome.status == CLAIMS[claim_id].verdict, (
        "the check finds another verdict than its CLAIM records"
    )
    assert outcome.missed == (), "faults that the check does not notice: sharpen the check, not the fault"
    assert len(outcome.faults) >= 2, "FAULTS: plant at least two wrong versions"
    assert outcome.evidence.cases >= 100_000 or outcome.evidence.universe, (
        "go through a small universe and say so with search.exhausts, or judge 100,000 cases"
    )
    assert all(run.how for run in outcome.faults.values()), "name the parts of the check: search.part"
    case = outcome.evidence.counterexample
    assert bool(case) == bool(CLAIMS[claim_id].witness), (
        "witness: say in words at which case the printed statement fails, if there is one"
    )
    if case:
        assert "{" not in witness_in_words(CLAIMS[claim_id].witness, case)
        assert not left_out(claim_id, case), "witness: the sentence leaves these arguments out"
        assert not re.search(r"\d", digits_of_its_own(CLAIMS[claim_id].witness)), (
            "witness: take each number from the case, as {name}"
        )
    row = as_row(outcome)
    json.dumps(row, allow_nan=False)
    assert not unshown(CLAIMS[claim_id].headline, row), (
        "headline: a number that no fact of the check rounds to"
    )


def wrongly_planted(claim):
    """What is wrong with the arguments that the faults replace, or nothing."""
    examined = set(inspect.signature(claim.check).parameters) - {"search"}
    planted = {name for wrong in claim.faults.values() for name in wrong}
    if unknown := sorted(planted - examined):
        return f"FAULTS: found {unknown}, expected arguments of check: {sorted(examined)}"
    missing = sorted(examined - planted)
    return (
        f"FAULTS: no fault replaces {missing}; replace each argument of check in at least one"
        if missing
        else ""
    )


@pytest.mark.parametrize("claim_id", EXAMINED)
def test_everything_that_a_check_examines_is_planted_with_a_fault(claim_id):
    assert not wrongly_planted(CLAIMS[claim_id]), wrongly_planted(CLAIMS[claim_id])


def test_faults_that_replace_the_wrong_arguments_are_named():
    def check(*, search, median=max):
        median(search)

    entry = Claim("isit.x", "here", "x", verdict="holds", check=check, faults={"a mean": {"mean": min}})
    assert wrongly_planted(entry) == "FAULTS: found ['mean'], expected arguments of check: ['median']"
    assert "no fault replaces ['median']" in wrongly_planted(dataclasses.replace(entry, faults={}))
    assert wrongly_planted(dataclasses.replace(entry, faults={"a mean": {"median": min}})) == ""


@pytest.mark.parametrize("claim_id", EXAMINED)
def test_an_examined_claim_has_a_chapter_and_a_finding(claim_id):
    claim = CLAIMS[claim_id]
    assert claim.finding, "CLAIM: say in one line what was found"
    chapter = ROOT / "notebooks" / f"{claim.chapter}.md"
    assert chapter.exists(), "CLAIM: name the chapter that treats it, a file of notebooks/"


def left_unwritten(paths):
    """Which lines of which files an author has still to write, a sentence for each file."""
    found = {path.name: unwritten_lines(path.read_text("utf-8")) for path in sorted(set(paths))}
    return [
        f"{name}:{', '.join(map(str, lines))}: replace each <write>" for name, lines in found.items() if lines
    ]


def test_every_entry_is_filled_in():
    for claim in CLAIMS.values():
        assert claim.where, claim.id
        assert claim.statement, claim.id
        assert "\n" not in claim.statement, claim.id
    left = left_unwritten(Path(inspect.getfile(claim.check)) for claim in CLAIMS.values() if claim.check)
    assert not left, "\n".join(left)


def test_no_chapter_has_a_gap_left():
    """`make check` leaves this out: the chapter is written after the claim."""
    left = left_unwritten(
        ROOT / "notebooks" / f"{claim.chapter}.md" for claim in CLAIMS.values() if claim.chapter
    )
    assert not left, "\n".join(left)


def test_what_is_left_to_write_is_named_in_every_file_with_its_lines(tmp_path):
    for name, text in (("a.py", "<write>: one\ndone\n<write>\n"), ("b.md", "done\n"), ("c.md", "\n<write>")):
        (tmp_path / name).write_text(text)
    assert left_unwritten(tmp_path.iterdir()) == [
        "a.py:1, 3: replace each <write>",
        "c.md:2: replace each <write>",
    ]


def test_an_entry_that_is_not_of_the_ledger_s_form_is_refused():
    with pytest.raises(ValueError, match="a verdict needs a check"):
        Claim("isit.x", "here", "x", verdict="holds")
    with pytest.raises(ValueError, match="unknown source"):
        Claim("other.x", "here", "x")
    for field, known in (("verdict", "holds"), ("kind", "as-printed"), ("impact", "conclusion")):
        with pytest.raises(ValueError, match=rf"isit\.x: {field}: found 'corect', expected one of .*{known}"):
            Claim("isit.x", "here", "x", **{"verdict": "holds", "check": max, field: "corect"})
    with pytest.raises(ValueError, match=r"claim_id: no entry 'isit\.nothing'.*isit\.prop-1"):
        entry("isit.nothing")


@pytest.mark.parametrize(
    ("claim_id", "fields", "said"),
    [
        ("isit.x", {"kind": "theorem"}, "expected it of ids ours"),
        ("ours.x", {"kind": "as-printed"}, "expected 'theorem' of our own theorem"),
        ("ours.x", {"verdict": "corrected", "check": max}, "expected 'holds' of our own theorem"),
        ("ours.x", {"impact": "none"}, "no paper prints our theorem"),
        ("ours.x", {"because": "So."}, "no paper prints our theorem"),
        ("ours.x", {"shown_by": "size"}, "no paper prints our theorem"),
        ("ours.x", {"witness": "At {x}."}, "no paper prints our theorem"),
        ("ours.x", {"errata": (Erratum("p. 1", "4", "2"),)}, "no paper prints our theorem"),
    ],
)
def test_a_theorem_of_our_own_cannot_be_entered_as_a_claim_of_a_paper(claim_id, fields, said):
    with pytest.raises(ValueError, match=said):
        Claim(claim_id, "here", "x", **fields)


def test_a_headline_s_number_must_be_one_that_the_check_found():
    row = {
        "facts": {"a": 0.6823, "b": 14637902, "c": ["5/8"]},
        "says": {},
        "witness": None,
        "statement": "§ 1",
    }
    assert unshown("It is 0.68, or 62.5 %, in 14.6 million; see Theorem 3.2.", row) == []
    assert unshown("It is 0.71, or 61.5 %, in 14.9 million.", row) == ["0.71", "61.5", "14.9 million"]
