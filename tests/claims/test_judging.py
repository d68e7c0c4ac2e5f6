import dataclasses

import pytest

from dpfair_lib.claims import CLAIMS, Claim, judge, judge_all
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
