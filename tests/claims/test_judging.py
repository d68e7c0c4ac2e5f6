import dataclasses
import warnings

import joblib
import pytest

from dpfair_lib.claims import CLAIMS, Claim, judge, judge_all
from dpfair_lib.claims.ledger import FaultRun
from dpfair_lib.claims.stored_outcomes import VARIABLE

UNEXAMINED = Claim("isit.y", "here", "something")
SOME = [CLAIMS["isit.prop-4.utility"], UNEXAMINED, CLAIMS["isit.assumptions"]]


def own(*, search, bound=lambda: 0):
    search.observe(bound(), {})
    return search.evidence()


OWN = Claim("isit.x", "here", "x", verdict="holds", check=own, faults={"wrong": {"bound": lambda: -1}})


def test_side_by_side_finds_what_one_after_another_does(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    claims = [*SOME, OWN]  # a check of no module of the library runs here
    parallel = judge_all(claims, faults=True, jobs=2)
    assert [outcome.claim for outcome in parallel] == claims
    assert (
        parallel == judge_all(claims, faults=True, jobs=1) == [judge(claim, faults=True) for claim in claims]
    )
    assert [outcome.seconds > 0 for outcome in parallel] == [True, False, True, True]


def test_side_by_side_a_contradiction_stays_one(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    wrong = [dataclasses.replace(claim, verdict="refuted") for claim in (SOME[0], SOME[2])]
    assert [outcome.status for outcome in judge_all(wrong, jobs=2)] == ["contradicted", "contradicted"]


def test_side_by_side_outcomes_are_kept_and_taken(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setattr("dpfair_lib.claims.stored_outcomes.STARTED", float("inf"))
    first = judge_all(SOME, faults=True, jobs=2)
    second = judge_all(SOME, faults=True, jobs=2)
    assert first == second
    assert [bool(outcome.stored_under) for outcome in first] == [False, False, False]
    assert [bool(outcome.stored_under) for outcome in second] == [True, False, True]
    assert not any(outcome.stored_under for outcome in judge_all(SOME, faults=True, jobs=2, fresh=True))
    assert not any(outcome.stored_under for outcome in judge_all(SOME, faults=True, effort=2, jobs=2))


@pytest.mark.parametrize("jobs", [0, -1])
def test_at_least_one_claim_at_a_time(jobs):
    with pytest.raises(ValueError, match=f"jobs: found {jobs}"):
        judge_all(SOME, jobs=jobs)


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


def test_a_process_that_is_replaced_leaves_no_warning_in_a_page(monkeypatch):
    """joblib replaces one that has grown, and warns: a chapter would store that. Other warnings are shown."""

    class Replacing(joblib.Parallel):
        def __call__(self, calls):
            warnings.warn("A worker stopped while some jobs were given to the executor.", stacklevel=1)
            warnings.warn("something else", stacklevel=1)
            return super().__call__(calls)

    monkeypatch.setattr(joblib, "Parallel", Replacing)
    claims = [CLAIMS["isit.prop-1"], CLAIMS["ours.gaussian-distance"]]
    with warnings.catch_warnings(record=True, action="always") as seen:
        assert [outcome.status for outcome in judge_all(claims, jobs=2, fresh=True)] == ["holds", "holds"]
    assert [str(warning.message) for warning in seen] == ["something else"]
