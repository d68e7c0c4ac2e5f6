import dataclasses
import functools
import importlib
import inspect
import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpfair_lib import __main__ as command_line
from dpfair_lib.claims import CLAIMS, Claim, judge
from dpfair_lib.claims import claim as entry
from dpfair_lib.claims.ledger import NOT_EXAMINED, SOURCES, FaultRun
from dpfair_lib.claims.new import UNWRITTEN, new_claim
from dpfair_lib.claims.report import as_row, as_table, layers, plain, plain_number
from dpfair_lib.claims.rooms import module_of

EXAMINED = [claim_id for claim_id, claim in CLAIMS.items() if claim.check]
ROOT = Path(__file__).parents[2]


@functools.cache
def outcome_of(claim_id):
    return judge(CLAIMS[claim_id], faults=True)


# one test for each claim, so that of several processes only one judges it
@pytest.mark.parametrize("claim_id", EXAMINED)
def test_a_large_or_exhaustive_search_bears_the_verdict_out_and_catches_every_fault(claim_id):
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
    json.dumps(as_row(outcome), allow_nan=False)


@pytest.mark.parametrize("claim_id", EXAMINED)
def test_everything_that_a_check_examines_is_planted_with_a_fault(claim_id):
    claim = CLAIMS[claim_id]
    examined = set(inspect.signature(claim.check).parameters) - {"search"}
    planted = {name for wrong in claim.faults.values() for name in wrong}
    assert planted == examined, "FAULTS: replace each of the check's arguments in one fault at least"


@pytest.mark.parametrize("claim_id", EXAMINED)
def test_an_examined_claim_has_a_chapter_and_a_finding(claim_id):
    claim = CLAIMS[claim_id]
    assert claim.finding, "CLAIM: say in one line what survived"
    chapter = ROOT / "notebooks" / f"{claim.chapter}.md"
    assert chapter.exists(), "CLAIM: name the chapter that treats it, a file of notebooks/"


@pytest.mark.parametrize("source", SOURCES)
def test_each_claim_has_a_module_of_its_name_and_each_module_a_place_in_the_order(source):
    room = importlib.import_module(f"dpfair_lib.claims.{source}")
    found = {path.stem for path in Path(room.__file__).parent.glob("*.py")} - {"__init__"}
    claimed = {module_of(f"{source}.{name}").rpartition(".")[2] for name in room.ORDER}
    assert len(claimed) == len(room.ORDER), "two ids have one module"
    for name in room.ORDER:
        assert CLAIMS[f"{source}.{name}"].id == f"{source}.{name}", "the id in the module is another"
    # the part of a long check is named after its claim
    apart = {stem for stem in found - claimed if not stem.startswith(tuple(f"{own}_" for own in claimed))}
    assert not apart, (
        f"not in ORDER of dpfair_lib/claims/{source}/__init__.py, and no part of a claim: {apart}"
    )


def test_every_entry_is_filled_in():
    for claim in CLAIMS.values():
        assert claim.where, claim.id
        assert claim.statement, claim.id
        assert "\n" not in claim.statement, claim.id
        module = Path(inspect.getfile(claim.check)) if claim.check else None
        chapter = ROOT / "notebooks" / f"{claim.chapter}.md"
        for path in filter(None, (module, chapter if claim.chapter else None)):
            assert UNWRITTEN not in path.read_text(encoding="utf-8"), f"{path.name}: {UNWRITTEN} is left"


def test_dependencies_are_entered_and_free_of_circles():
    assert set(layers(CLAIMS.values())) == set(CLAIMS)
    loop = [
        Claim("isit.a", "here", "a", statement_uses=("isit.b",)),
        Claim("isit.b", "here", "b", proof_uses=("isit.a",)),
    ]
    with pytest.raises(ValueError, match=r"circle isit\.a → isit\.b → isit\.a"):
        layers(loop)
    with pytest.raises(ValueError, match=r"isit\.a: depends on 'isit\.b'"):
        layers(loop[:1])


def test_a_wrong_verdict_is_contradicted():
    wrong = dataclasses.replace(CLAIMS["isit.alg-1"], verdict="holds")
    outcome = judge(wrong)
    assert outcome.status == "contradicted"
    assert not outcome.sound


def test_a_check_that_accepts_a_planted_fault_is_found_out():
    def blind(*, search, bound=None):  # looks at nothing that is handed in
        search.observe(0, {"bound": bound})
        return search.evidence()

    lazy = Claim("isit.x", "here", "x", verdict="holds", check=blind, faults={"any": {"bound": 1}})
    outcome = judge(lazy, faults=True)
    assert outcome.status == "holds"
    assert outcome.missed == ("any",)
    assert not outcome.sound
    with pytest.raises(AssertionError, match="planted fault 'any' not caught"):
        outcome.require()


def test_a_fault_that_crashes_the_check_is_not_caught_and_stops_nothing():
    def check(*, search, bound=lambda: 0):
        search.observe(bound(), {})
        return search.evidence()

    faults = {"crashes": {"bound": lambda: 1 / 0}, "wrong": {"bound": lambda: -1}}
    outcome = judge(Claim("isit.x", "here", "x", verdict="holds", check=check, faults=faults), faults=True)
    assert outcome.missed == ("crashes",)
    assert "ZeroDivisionError" in outcome.faults["crashes"].how
    assert outcome.faults["wrong"].caught


def test_a_fault_is_caught_by_a_case_in_which_the_library_is_fine_and_by_nothing_else():
    """What is printed fails in some case, and a table has a number that differs: any fault would do that as well."""

    def check(*, search, bound=lambda: 0):
        search.part("printed")
        search.against(-1 if bound() == 0 else 0, {}, verify=lambda: -1)
        search.part("ours")
        search.observe(bound(), {})
        search.part("the rest")
        if bound() < 0:
            raise AssertionError("a run that has caught its fault is over")
        return search.evidence()

    faults = {"harmless": {"bound": lambda: 1}, "wrong": {"bound": lambda: -1}}
    outcome = judge(
        Claim("isit.x", "here", "x", verdict="corrected", check=check, faults=faults), faults=True
    )
    assert outcome.status == "corrected"
    assert outcome.faults["wrong"] == FaultRun(True, "ours")
    assert outcome.faults["harmless"] == FaultRun(False, "no case is violated; the check finds 'holds'")

    def compares(*, search, number=lambda: 0.0):
        search.compare(number(), 1.0, spread=0.5, case={}, differs=True)
        return search.evidence()

    faults = {"worse": {"number": lambda: -1.0}, "right": {"number": lambda: 1.0}}
    table = Claim("isit.x", "here", "x", verdict="not-reproduced", check=compares, faults=faults)
    assert judge(table, faults=True).missed == ("worse",)


def test_a_check_that_could_not_run_is_no_contradiction():
    def check(*, search):
        search.not_run("no record")
        return search.evidence()

    outcome = judge(Claim("isit.x", "here", "x", verdict="reproduced", check=check))
    assert outcome.status == "not run"
    assert outcome.require() is outcome


def test_an_entry_with_a_verdict_needs_a_check():
    with pytest.raises(ValueError, match="a verdict needs a check"):
        Claim("isit.x", "here", "x", verdict="holds")
    with pytest.raises(ValueError, match="unknown source"):
        Claim("other.x", "here", "x")
    with pytest.raises(ValueError, match=r"claim_id: no entry 'isit\.nothing'.*isit\.prop-1"):
        entry("isit.nothing")


def test_rows_and_tables():
    unexamined = judge(Claim("isit.y", "here", "something"))
    row = as_row(unexamined)
    assert set(row) >= {
        "id", "source", "where", "statement", "verdict", "finding", "status", "slack", "cases", "witness",
        "depends_on", "chapter", "universe", "facts", "faults",
    }  # fmt: skip
    assert row["verdict"] == row["status"] == NOT_EXAMINED
    two = [outcome_of("isit.alg-1"), outcome_of("isit.prop-4.utility")]
    planted = len(entry("isit.prop-4.utility").faults)
    shown = as_row(two[0])
    assert shown["facts"] == plain(two[0].evidence.facts) != {}
    assert shown["universe"] == two[0].evidence.universe
    assert {name: run["caught"] for name, run in shown["faults"].items()} == dict.fromkeys(
        two[0].faults, True
    )
    table = as_table([*two, unexamined])
    assert "3 claims: 1 corrected, 1 holds, 1 not yet examined" in table
    assert f"{planted} of {planted}" in table
    assert "seconds" not in table
    assert "stored 0123abcd" in as_table(
        [dataclasses.replace(two[0], stored_under="0123abcd" * 8)], times=True
    )


def test_json_holds_whatever_a_witness_holds():
    witness = {
        "a": float("inf"),
        "b": Fraction(1, 3),
        "c": {2},
        "d": 1 + 2j,
        "e": np.float64("nan"),
        "f": (True, None),
    }
    text = json.dumps(plain(witness), allow_nan=False)
    assert json.loads(text)["b"] == "1/3"
    assert plain_number(Fraction(-1, 10**400)) == str(Fraction(-1, 10**400))
    assert plain_number(10**400) == str(10**400)
    assert plain_number(float("-inf")) == "-inf"
    assert plain_number(Fraction(-1, 4)) == -0.25


def test_shell_exit_status(capsys, monkeypatch):
    assert command_line.main(["claims", "--only", "isit.alg-*", "--faults", "--jobs", "1"]) == 0
    assert "6 of 6" in capsys.readouterr().out
    assert command_line.main(["claims", "--jobs", "0"]) == 2
    assert "--jobs: found 0" in capsys.readouterr().err
    assert command_line.main(["claims", "--only", "nothing.*"]) == 2
    assert "no claim matches" in capsys.readouterr().err
    wrong = dataclasses.replace(CLAIMS["isit.alg-1"], verdict="holds")
    monkeypatch.setattr("dpfair_lib.claims.cli.CLAIMS", {"isit.alg-1": wrong})
    assert command_line.main(["claims", "--only", "isit.alg-1"]) == 1
    assert "recorded as 'holds', the run found 'corrected'" in capsys.readouterr().err


@pytest.fixture
def repository(tmp_path):
    """The places that a new claim is entered in, copied."""
    for name in ("_toc.yml", "dpfair_lib/claims/isit/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    return tmp_path


def test_a_new_claim_runs_at_once_and_says_where_to_write(repository):
    said = new_claim(repository, "isit.prop-9", after="isit.alg-2")
    assert said[0] == "wrote dpfair_lib/claims/isit/prop_9.py"
    scope = {}
    exec(compile((repository / "dpfair_lib/claims/isit/prop_9.py").read_text(), "prop_9", "exec"), scope)
    outcome = judge(scope["CLAIM"], faults=True)
    assert outcome.sound
    assert len(outcome.faults) == 2
    assert UNWRITTEN in scope["CLAIM"].statement
    order = (repository / "dpfair_lib/claims/isit/__init__.py").read_text()
    assert '    "alg-2",\n    "prop-9",\n' in order
    contents = (repository / "_toc.yml").read_text()
    assert f"notebooks/{CLAIMS['isit.alg-2'].chapter}\n      - file: notebooks/isit-prop-9\n" in contents
    assert UNWRITTEN in (repository / "notebooks/isit-prop-9.md").read_text()


@pytest.mark.parametrize(
    ("claim_id", "options", "found"),
    [
        ("other.prop-9", {}, "found 'other.prop-9', expected SOURCE.NAME"),
        ("isit.Prop 9", {}, "expected SOURCE.NAME"),
        ("isit.prop-9", {"after": "sk.alg-1"}, "--after: found 'sk.alg-1'"),
    ],
)
def test_a_new_claim_that_cannot_be_entered_writes_nothing(repository, claim_id, options, found):
    before = {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match=re.escape(found)):
        new_claim(repository, claim_id, **options)
    (repository / "dpfair_lib/claims/isit/prop_1.py").write_text("")
    with pytest.raises(ValueError, match="found the module"):
        new_claim(repository, "isit.prop-1")
    (repository / "dpfair_lib/claims/isit/prop_1.py").unlink()
    assert {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()} == before


def test_no_claim_s_module_imports_another_s():
    """What two claims need stands in ``claims/shared``; the parts of a long check are named after its claim."""
    rooms = "|".join(SOURCES)
    for path in sorted((ROOT / "dpfair_lib" / "claims").glob("*/*.py")):
        text = path.read_text(encoding="utf-8")
        for room, name in re.findall(
            rf"^\s*from dpfair_lib\.claims\.({rooms})(?:\.(\w+))? import", text, re.M
        ):
            own = room == path.parent.name and name.startswith(f"{path.stem}_")
            assert own, f"{path}: move what it takes from {room}.{name} to claims/shared"
