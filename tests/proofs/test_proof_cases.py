"""The library answers as the Coq definitions do; a wrong function, or one that was not compared, is reported."""

import dataclasses
import json
import shutil
from fractions import Fraction

import proof_cases
import pytest
from proof_pairs import pairs

import proofs


@pytest.fixture
def copy(tmp_path):
    """A copy of the sources and of both records, to plant a defect in."""
    shutil.copytree(proofs.ROOT / proofs.SOURCES, tmp_path / proofs.SOURCES)
    (tmp_path / "results").mkdir()
    shutil.copy(proofs.ROOT / proof_cases.RECORD, tmp_path / proof_cases.RECORD)
    return tmp_path


@pytest.fixture
def few(monkeypatch):
    """Only one definition is compared: the others take seconds."""
    first = pairs()[0]
    monkeypatch.setattr(proof_cases, "pairs", lambda: [first])
    return first


def about(root, name):
    return [line for line in proof_cases.complaints_about_record(root) if line.startswith(f"{name}:")]


def change_record(root, change):
    path = root / proof_cases.RECORD
    record = json.loads(path.read_text(encoding="utf-8"))
    change(record)
    path.write_text(json.dumps(record), encoding="utf-8")


def test_the_library_answers_as_coq_did():
    assert proof_cases.complaints_about_record(proofs.ROOT) == []


def test_every_definition_has_a_thousand_cases():
    record = json.loads((proofs.ROOT / proof_cases.RECORD).read_text(encoding="utf-8"))
    assert len(record["definitions"]) >= 25
    assert min(found["cases"] for found in record["definitions"].values()) >= 1000


def test_a_wrong_function_is_found_without_coq(monkeypatch, few):
    wrong = dataclasses.replace(few, library=lambda a, b, g: [abs(a - b) - g / 2])
    monkeypatch.setattr(proof_cases, "pairs", lambda: [wrong])
    assert any("answers otherwise" in line for line in about(proofs.ROOT, few.name))


def test_a_changed_definition_is_found(copy, few):
    path = copy / proofs.SOURCES / few.file
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert any("changed since" in line for line in about(copy, few.name))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda record: record["definitions"]["change_lower_bound"].update(cases=999), "found 999 cases"),
        (lambda record: record["definitions"]["change_lower_bound"].update(function="x"), "found x"),
        (lambda record: record["definitions"].pop("change_lower_bound"), "not in the record"),
    ],
)
def test_a_defect_of_the_record_is_found(copy, few, change, found):
    change_record(copy, change)
    assert any(found in line for line in about(copy, few.name))


def test_a_definition_of_the_map_that_is_not_compared_is_found(copy, few):
    path = copy / proofs.SOURCES / "map.toml"
    text = path.read_text(encoding="utf-8").replace(
        "stands_for = { change_lower_bound", "stands_for = { other", 1
    )
    path.write_text(text, encoding="utf-8")
    assert any("not in both" in line for line in about(copy, "other") + about(copy, few.name))


def test_answers_that_differ_are_named_with_their_case():
    pair = pairs()[0]
    library = proof_cases.by_library(pair, 3)
    assert proof_cases.disagreements(pair, library, library) == []
    wrong = [*library[:2], [library[2][0] + 1]]
    assert len(proof_cases.disagreements(pair, wrong, library)) == 1
    assert "3 answers" in proof_cases.disagreements(pair, library, library[:2])[0]


def test_what_coq_prints_is_read():
    said = "     = (1 :: 2 :: nil) :: (-3 :: 4 :: 0 :: 1 :: nil) :: nil\n     : list (list Z)\n"
    bracketed = "     = [[1; 2]; [-3; 4; 0; 1]]\n     : list (list Z)\n"
    for text in (said, bracketed):
        assert proof_cases.read_answers(text) == [[Fraction(1, 2)], [Fraction(-3, 4), Fraction(0)]]


@pytest.mark.skipif(
    proofs.coq_version() is None or not (proofs.ROOT / proofs.BUILD / "Ours/LeastChange.vo").exists(),
    reason="the proofs are not built here",
)
def test_coq_computes_the_cases_again():
    pair = pairs()[0]
    coq = proof_cases.by_coq(pair, proofs.ROOT / proofs.BUILD, 20)
    assert proof_cases.disagreements(pair, coq, proof_cases.by_library(pair, 20)) == []
