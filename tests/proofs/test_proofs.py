"""The Coq sources, the map from the ledger and the recorded result agree; each planted defect is reported."""

import json
import shutil

import pytest

import proofs
from dpfair_lib.claims import CLAIMS


@pytest.fixture
def copy(tmp_path):
    """A copy of the sources and the record, to plant a defect in."""
    shutil.copytree(proofs.ROOT / proofs.SOURCES, tmp_path / proofs.SOURCES)
    (tmp_path / "results").mkdir()
    (tmp_path / proofs.MARKS).parent.mkdir(parents=True)
    for file in (proofs.RECORD, proofs.MARKS):
        shutil.copy(proofs.ROOT / file, tmp_path / file)
    return tmp_path


def replace(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def change_record(root, change):
    path = root / proofs.RECORD
    record = json.loads(path.read_text(encoding="utf-8"))
    change(record)
    path.write_text(json.dumps(record), encoding="utf-8")


def complaints(root):
    return proofs.complaints_about_sources(root) + proofs.complaints_about_record(root)


def test_sources_map_and_record_agree():
    assert complaints(proofs.ROOT) == []


def test_no_theorem_rests_on_more_than_the_real_numbers():
    record = json.loads((proofs.ROOT / proofs.RECORD).read_text(encoding="utf-8"))
    assert {axiom for axioms in record["theorems"].values() for axiom in axioms} <= set(proofs.ALLOWED)


def test_every_entry_is_of_the_ledger_and_at_least_25_are_proved():
    ids = [entry["claim"] for entry in proofs.entries(proofs.ROOT)]
    assert len(ids) == len(set(ids)) >= 25
    assert set(ids) <= set(CLAIMS)


def test_a_checker_of_the_map_is_held_to_its_source(copy):
    replace(copy / proofs.SOURCES / "map.toml", '"refuses_spoiled"', '"refuses_all"')
    found = complaints(copy)
    assert any(
        "refuses_all: in the map, but Certificates/Refusals.v does not state it" in line for line in found
    )
    assert any("in the record, but not in the map" in line for line in found)


def test_only_computations_are_left_to_the_kernel_alone():
    """What has a statement to read is checked twice; a stored certificate is one `vm_compute`."""
    record = json.loads((proofs.ROOT / proofs.RECORD).read_text(encoding="utf-8"))
    assert record["kernel_only"] == list(proofs.COMPUTED)
    texts = [(proofs.ROOT / proofs.SOURCES / file).read_text(encoding="utf-8") for file in proofs.COMPUTED]
    assert all("Proof. apply channels_checker_sound. vm_compute. reflexivity. Qed." in text for text in texts)


@pytest.mark.parametrize(
    "word",
    [
        "Admitted.",
        "admit.",
        "Axiom a : 1 = 2.",
        "Parameter p : nat.",
        "Unset Guard Checking.",
        "Variable v : nat.",
        "Hypothesis h : 1 = 2.",
        "Conjecture c : 1 = 2.",
    ],
)
def test_a_forbidden_word_is_found(copy, word):
    file = copy / proofs.SOURCES / "ISIT/Proposition1.v"
    file.write_text(file.read_text(encoding="utf-8") + f"\n{word}\n", encoding="utf-8")
    assert any("forbidden" in line for line in proofs.complaints_about_sources(copy))


@pytest.mark.parametrize(
    ("opened", "found"),
    [
        ("Section S.\nContext (h : 1 = 2).\n", True),
        ("Section S. End S.\n", False),
        ("Section S. Section T. End T.\n", True),
    ],
)
def test_a_theorem_in_a_section_has_hypotheses_that_its_text_does_not_show(copy, opened, found):
    """Coq itself says nothing: after the section the theorem is an implication, and rests on no axiom."""
    file = copy / proofs.SOURCES / "Privacy/Channels.v"
    text = file.read_text(encoding="utf-8")
    file.write_text(
        text.replace("Theorem response_tight ", f"{opened}Theorem response_tight ", 1), encoding="utf-8"
    )
    said = [line for line in proofs.complaints_about_sources(copy) if "stated in the section S" in line]
    assert ("response_tight: stated in the section S, whose context its text does not show" in said) == found
    assert len(said) == (8 if found else 0)  # what follows stands in it too


@pytest.mark.parametrize("remark", ["(* Admitted. *)", "(* one (* Axiom *) admit *)"])
def test_a_forbidden_word_in_a_comment_is_none(copy, remark):
    file = copy / proofs.SOURCES / "ISIT/Proposition1.v"
    file.write_text(file.read_text(encoding="utf-8") + remark, encoding="utf-8")
    assert proofs.complaints_about_sources(copy) == []


def test_a_changed_source_needs_a_new_record(copy):
    replace(copy / proofs.SOURCES / "ISIT/Theorem3.v", "excess_within 2.", "excess_within 3.")
    assert any("ISIT/Theorem3.v: changed" in line for line in proofs.complaints_about_record(copy))


def test_a_source_that_nothing_checks_is_found(copy):
    (copy / proofs.SOURCES / "ISIT/Other.v").write_text("", encoding="utf-8")
    assert any("not in _CoqProject" in line for line in proofs.complaints_about_sources(copy))


def test_a_theorem_of_the_map_that_is_not_stated_is_found(copy):
    replace(copy / proofs.SOURCES / "map.toml", '"proposition_1"', '"proposition_9"')
    found = complaints(copy)
    assert any("does not state it" in line for line in found)
    assert any("not in the record" in line for line in found)


def test_a_fault_that_is_no_negation_is_found(copy):
    replace(copy / proofs.SOURCES / "map.toml", '"proposition_1_fault_1", ', '"proposition_1_optimum", ')
    assert any("no negation" in line for line in proofs.complaints_about_sources(copy))


def test_a_theorem_with_one_fault_is_found(copy):
    replace(copy / proofs.SOURCES / "map.toml", '"proposition_1_fault_1", ', "")
    assert any("expected at least 2" in line for line in proofs.complaints_about_sources(copy))


def test_faults_of_another_statement_are_found(copy):
    faults = '"theorem_3_{0}_fault_1", "theorem_3_{0}_fault_2"'
    replace(
        copy / proofs.SOURCES / "map.toml", f"[{faults.format('fairness')}]", f"[{faults.format('utility')}]"
    )
    found = proofs.complaints_about_sources(copy)
    assert found == ["theorem_3_fairness: no planted fault is about a definition that its statement uses"]


def test_a_badge_that_says_too_much_is_found(copy):
    replace(
        copy / proofs.MARKS,
        '"isit.prop-1": ("ISIT/Proposition1.v", 2, False)',
        '"isit.prop-1": ("ISIT/Proposition1.v", 3, False)',
    )
    assert any("says otherwise than map and record" in line for line in proofs.complaints_about_record(copy))


def test_a_missing_record_is_found(copy):
    (copy / proofs.RECORD).unlink()
    assert any("missing" in line for line in proofs.complaints_about_record(copy))


def test_a_theorem_that_is_not_in_the_record_is_found(copy):
    change_record(copy, lambda record: record["theorems"].popitem())
    assert any("in the map, but not in the record" in line for line in proofs.complaints_about_record(copy))


@pytest.mark.parametrize(
    ("part", "axiom"),
    [
        ("theorems", "ClassicalEpsilon.choice"),
        ("theorems", "Classical_Prop.classic"),  # loaded with the real numbers, but no theorem may use it
        ("axioms", "Coq.Logic.ClassicalEpsilon.choice"),
    ],
)
def test_another_axiom_is_found(copy, part, axiom):
    def plant(record):
        if part == "theorems":
            record["theorems"][next(iter(record["theorems"]))].append(axiom)
        else:
            record["axioms"].append(axiom)

    change_record(copy, plant)
    assert any("not allowed" in line for line in proofs.complaints_about_record(copy))


def test_without_coq_the_recorded_result_is_named(copy, monkeypatch, capsys):
    monkeypatch.setattr(proofs, "coq_version", lambda: None)
    monkeypatch.setattr("sys.argv", ["proofs.py", "--root", str(copy)])
    proofs.main()
    said = capsys.readouterr().out
    assert "not re-checked here" in said
    assert proofs.RECORD in said


def test_without_coq_a_changed_source_still_fails(copy, monkeypatch):
    replace(copy / proofs.SOURCES / "ISIT/Theorem3.v", "excess_within 2.", "excess_within 3.")
    monkeypatch.setattr(proofs, "coq_version", lambda: None)
    monkeypatch.setattr("sys.argv", ["proofs.py", "--root", str(copy)])
    with pytest.raises(SystemExit, match="changed since the record"):
        proofs.main()


CHECKED = """CONTEXT SUMMARY
===============

* Theory: Set is predicative

* Axioms:
    {axioms}

* Constants/Inductives relying on type-in-type: <none>

* Constants/Inductives relying on unsafe (co)fixpoints: {unsafe}

* Inductives whose positivity is assumed: <none>
"""


def test_the_axioms_of_the_checker_are_read():
    assert proofs.axioms_of_the_checker(CHECKED.format(axioms="<none>", unsafe="<none>")) == []
    two = "Coq.Reals.ClassicalDedekindReals.sig_not_dec\n    Checked.Base.Numbers.wrong"
    found = proofs.axioms_of_the_checker(CHECKED.format(axioms=two, unsafe="<none>"))
    assert found == two.split()
    with pytest.raises(SystemExit, match="unsafe"):
        proofs.axioms_of_the_checker(CHECKED.format(axioms="<none>", unsafe="Checked.Base.Numbers.loop"))


@pytest.mark.skipif(proofs.coq_version() is None, reason="Coq is not installed")
@pytest.mark.parametrize(
    ("end", "found"),
    [
        ("Proof. reflexivity. Qed.", "closed"),
        ("Proof. exact cheat. Qed.", "cheat"),
        ("Proof. reflexivity. Qed.", "failed"),
    ],
)
def test_coq_itself_names_what_a_theorem_rests_on(tmp_path, end, found):
    """A small tree of its own: a sound proof, one from an axiom that no word betrays, and one that does not hold."""
    folder = tmp_path / proofs.SOURCES
    folder.mkdir()
    goal = "1 = 1" if found == "closed" else "1 = 2"
    opened = (
        f"Section S. Context (cheat : {goal}). End S.\nContext (cheat : {goal}).\n"
        if found == "cheat"
        else ""
    )
    lines = f"{opened}Theorem it : {goal}.\n{end}\nTheorem no : ~ 1 = 3.\nProof. discriminate. Qed.\n"
    (folder / "A.v").write_text(lines, encoding="utf-8")
    (folder / "_CoqProject").write_text("-R . Checked\nA.v\n", encoding="utf-8")
    (folder / "map.toml").write_text(
        '[[entry]]\nclaim = "a"\nfile = "A.v"\nhere = "a"\nprinted = "a"\ndifference = "a"\n'
        'theorem = [{ name = "it", faults = ["no", "no"], says = "a" }]\n',
        encoding="utf-8",
    )
    if found == "failed":
        with pytest.raises(SystemExit, match="failed"):
            proofs.build_all(tmp_path)
        return
    record = proofs.build_all(tmp_path)
    assert [bool(record["theorems"]["Checked.A.it"]), bool(record["axioms"])] == [found == "cheat"] * 2
    assert record["theorems"]["Checked.A.no"] == []
