"""Runs the checks of claims and their planted faults, one claim or many at a time."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from dpfair_lib._processes import end_with
from dpfair_lib._progress import Progress
from dpfair_lib.claims.ledger import Claim, FaultRun, Outcome, Verdict
from dpfair_lib.claims.rooms import CLAIMS, in_ledger
from dpfair_lib.claims.search import Search, Violated
from dpfair_lib.claims.stored_outcomes import Found, place_of


def judge(
    claim: Claim, *, faults: bool = False, seed: int = 0, effort: int = 1, fresh: bool = False
) -> Outcome:
    """Run a claim's check, and its planted faults if asked.

    A fault counts as caught when the check, handed the wrong function, sees a case that what we defend fails: one in
    which the library's own function is fine. The run of a fault ends there. That what is printed fails elsewhere, or
    nowhere any more, catches nothing, and neither does a crash before.

    Parameters
    ----------
    claim : Claim
        The entry.
    faults : bool
        Also run the check once for every planted fault.
    seed, effort : int
        See `Search`.
    fresh : bool
        Run the check even if its outcome is stored. Only sound outcomes with all faults, of the usual seed and
        effort, are stored, and only within a build: see `dpfair_lib.claims.stored_outcomes`.

    Returns
    -------
    Outcome
        The evidence, and what became of each fault.

    Examples
    --------
    >>> from dpfair_lib.claims import claim, judge
    >>> outcome = judge(claim("isit.prop-1"), faults=True)
    >>> outcome.status, all(run.caught for run in outcome.faults.values())
    ('holds', True)
    """
    search = Searched(faults, seed, effort)
    outcome = None if fresh else _stored(claim, search)
    return _store(_run(claim, search), search) if outcome is None else outcome


def judge_all(
    claims: Iterable[Claim],
    *,
    faults: bool = False,
    seed: int = 0,
    effort: int = 1,
    fresh: bool = False,
    jobs: int | None = None,
) -> list[Outcome]:
    """Judge several claims, some at the same time in processes of their own.

    Parameters
    ----------
    claims : iterable of Claim
        The entries.
    faults, seed, effort, fresh
        As in `judge`.
    jobs : int, optional
        How many claims to run at a time; by default one per core. With 1 all run in this process.

    Returns
    -------
    list of Outcome
        One for each claim, in their order, the same whatever `jobs` is.

    Raises
    ------
    ValueError
        If `jobs` is below 1.

    Examples
    --------
    >>> from dpfair_lib.claims import claim, judge_all
    >>> outcomes = judge_all([claim("isit.prop-1"), claim("ours.equal-together")])
    >>> [(outcome.claim.id, outcome.status) for outcome in outcomes]
    [('isit.prop-1', 'holds'), ('ours.equal-together', 'holds')]
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs: found {jobs}, expected at least 1")
    claims, search = list(claims), Searched(faults, seed, effort)
    outcomes = [None if fresh else _stored(claim, search) for claim in claims]
    due = [index for index, outcome in enumerate(outcomes) if outcome is None]
    # another process finds a claim of the ledger by its id, and no other claim
    movable = [index for index in due if in_ledger(claims[index])]
    if jobs != 1 and len(movable) > 1:
        progress = Progress("claims judged", len(movable))
        for index, found in zip(
            movable, _apart([claims[index] for index in movable], search, jobs), strict=True
        ):
            outcomes[index] = _store(Outcome(claims[index], *found), search)
            progress.add()
    return [
        _store(_run(claim, search), search) if outcome is None else outcome
        for claim, outcome in zip(claims, outcomes, strict=True)
    ]


class Searched(NamedTuple):
    """How a claim is judged: whether with its faults, from which seed, how hard."""

    faults: bool
    seed: int
    effort: int

    @property
    def usual(self) -> bool:
        """Whether it is what every chapter asks for."""
        return self == (True, 0, 1)


def _run(claim: Claim, search: Searched) -> Outcome:
    if claim.check is None:
        return Outcome(claim, None)
    start = time.process_time()  # the machine's other work does not count
    evidence = claim.check(search=Search(seed=search.seed, effort=search.effort))
    planted = claim.faults.items() if search.faults else ()
    caught = {name: _plant(claim, wrong, search) for name, wrong in planted}
    return Outcome(claim, evidence, caught, time.process_time() - start)


def _plant(claim: Claim, wrong: Mapping[str, Any], search: Searched) -> FaultRun:
    assert claim.check is not None
    asked = Search(seed=search.seed, effort=search.effort, ends_at_a_violation=True)
    try:
        evidence = claim.check(search=asked, **wrong)
    except Violated as seen:
        return FaultRun(True, str(seen))
    except Exception as error:  # however a wrong function fails, the others still run
        return FaultRun(False, f"the check crashed: {type(error).__name__}: {error}")
    return FaultRun(False, f"no case is violated; the check finds {evidence.finding!r}")


def _apart(claims: list[Claim], search: Searched, jobs: int | None) -> Iterator[Found]:
    """Run claims of the library in fresh processes, each with one thread, and yield what each found in turn."""
    import joblib

    with joblib.parallel_config(backend="loky", inner_max_num_threads=1), warnings.catch_warnings():
        # a process that has grown is replaced by a new one, and no task is lost
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", category=UserWarning)
        parallel = joblib.Parallel(n_jobs=jobs or joblib.cpu_count(), batch_size=1, return_as="generator")
        calls = ((os.getpid(), claim.id, claim.verdict, search) for claim in claims)
        yield from parallel(joblib.delayed(_run_by_id)(*call) for call in calls)


def _run_by_id(parent: int, claim_id: str, verdict: Verdict, search: Searched) -> Found:
    end_with(parent)
    outcome = _run(replace(CLAIMS[claim_id], verdict=verdict), search)
    assert outcome.evidence is not None
    return Found(outcome.evidence, outcome.faults, outcome.seconds)


def _stored(claim: Claim, search: Searched) -> Outcome | None:
    place = place_of(claim) if search.usual else None
    found = place.read() if place else None
    return Outcome(claim, *found) if found else None


def _store(outcome: Outcome, search: Searched) -> Outcome:
    """Store an outcome. What failed is not stored, so that the next run of the check shows the failure again."""
    place = place_of(outcome.claim) if search.usual and outcome.sound else None
    if place and outcome.evidence and outcome.status == outcome.claim.verdict:
        try:
            place.write(Found(outcome.evidence, outcome.faults, outcome.seconds))
        except OSError as error:  # a full disk costs time, and no outcome
            warnings.warn(
                f"{outcome.claim.id}: its outcome is not stored ({error})", RuntimeWarning, stacklevel=3
            )
    return outcome
