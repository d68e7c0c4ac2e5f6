"""The longer searches by the entries that they search, and the record of what they found: ``make further``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd

from dpfair_lib.claims.further import (
    both_notions,
    group_unknown,
    least_gap,
    opportunity_change,
    several_columns,
)
from dpfair_lib.claims.rooms import CLAIMS
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.experiments.provenance import code_of
from dpfair_lib.experiments.recorded_results import RESULTS, read_record, write_record

RECORD, SEED = "searched-further", 1


class Searched(NamedTuple):
    """What one longer search found, as a row of the record."""

    claim: str
    statement: str
    draws: int
    cases: int
    slack: float
    tolerance: float
    code: str


class Further(NamedTuple):
    """A longer search of an entry, and how many random cases it draws; each is judged in one or more ways."""

    search_on: Callable[..., None]
    draws: int


FURTHER = {
    "ours.opportunity-change": Further(opportunity_change.search_on, 110_000),
    "ours.group-unknown": Further(group_unknown.search_on, 110_000),
    "ours.both-notions": Further(both_notions.search_on, 110_000),
    "ours.several-columns": Further(several_columns.search_on, 40_000),
    "ours.least-gap": Further(least_gap.search_on, 110_000),
}


def search_further(claim_id: str, *, draws: int | None = None, seed: int = SEED, **examined: Any) -> Evidence:
    """Run one longer search.

    Parameters
    ----------
    claim_id : str
        One of `FURTHER`.
    draws : int, optional
        How many random cases to draw; by default as many as are recorded.
    seed : int
        Of the draws.
    **examined : callable
        Functions to examine instead of the library's, as in the faults of the entry.

    Returns
    -------
    Evidence
        What was seen; all draws are random, so nothing is exhausted.
    """
    search, further = Search(seed=seed), FURTHER[claim_id]
    further.search_on(draws=further.draws if draws is None else draws, search=search, **examined)
    return search.evidence()


def main(arguments: list[str] | None = None) -> int:
    """Search on, print what was found, and record it if nothing failed; rows of entries that are not named stay.

    Returns
    -------
    int
        1 if some case failed; then its entry is not recorded, and no later one is searched.
    """
    parser = argparse.ArgumentParser(prog="python -m dpfair_lib.claims.further.run", description=__doc__)
    parser.add_argument("claims", nargs="*", metavar="ID", help="some entries; all without an id")
    for claim_id in parser.parse_args(arguments).claims or FURTHER:
        found = search_further(claim_id)
        sys.stdout.write(f"{claim_id}: {found.cases:,} cases, slack {found.slack}\n")
        if found.violation is not None or found.slack is None:
            sys.stdout.write(f"{claim_id} FAILS in {found.part!r} at {found.violation}; seed {SEED}\n")
            return 1
        record(claim_id, found)
    return 0


def record(claim_id: str, found: Evidence) -> None:
    """Write or replace the row of one entry."""
    row = Searched(
        claim_id, CLAIMS[claim_id].statement, FURTHER[claim_id].draws, found.cases, float(found.slack or 0),
        found.tolerance, code_of(FURTHER[claim_id].search_on),
    )  # fmt: skip
    rows: dict[str, Any] = {}
    if (RESULTS / f"{RECORD}.json").exists():
        rows = {str(old.claim): old for old in read_record(RECORD)[0].itertuples(index=False)}
    rows[claim_id] = row
    table = pd.DataFrame([rows[one] for one in FURTHER if one in rows], columns=Searched._fields)
    write_record(RECORD, table, parameters={"seed": SEED}, data={})


if __name__ == "__main__":
    sys.exit(main())
