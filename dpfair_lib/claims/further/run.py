"""The longer searches by the entries that they search, and the record of what they found: ``make further``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from dpfair_lib.claims.further import (
    both_notions,
    group_unknown,
    least_gap,
    opportunity_change,
    several_columns,
)
from dpfair_lib.claims.rooms import CLAIMS
from dpfair_lib.claims.search import Evidence, Search

RECORD = "searched-further"
DRAWS, SEED = 110_000, 1  # a few draws are alike: 1 in 2000 of the first 20,000 at most


class Searched(NamedTuple):
    """What one longer search found, as a row of the record."""

    claim: str
    statement: str
    draws: int
    cases: int
    slack: float
    tolerance: float
    code: str


FURTHER: dict[str, Callable[..., None]] = {
    "ours.opportunity-change": opportunity_change.search_on,
    "ours.group-unknown": group_unknown.search_on,
    "ours.both-notions": both_notions.search_on,
    "ours.several-columns": several_columns.search_on,
    "ours.least-gap": least_gap.search_on,
}


def search_further(claim_id: str, *, draws: int = DRAWS, seed: int = SEED, **examined: Any) -> Evidence:
    """Run one longer search.

    Parameters
    ----------
    claim_id : str
        One of `FURTHER`.
    draws : int
        How many random cases to draw; each is judged in one or more ways, which the evidence counts.
    seed : int
        Of the draws.
    **examined : callable
        Functions to examine instead of the library's, as in the faults of the entry.

    Returns
    -------
    Evidence
        What was seen; all draws are random, so nothing is exhausted.
    """
    search = Search(seed=seed)
    FURTHER[claim_id](draws=draws, search=search, **examined)
    return search.evidence()


def main(arguments: list[str] | None = None) -> int:
    """Search on, print what was found, and record it if nothing failed.

    Returns
    -------
    int
        1 if some case failed; then no record is written.
    """
    import pandas as pd

    from dpfair_lib.experiments.provenance import code_of
    from dpfair_lib.experiments.recorded_results import write_record

    parser = argparse.ArgumentParser(prog="python -m dpfair_lib.claims.further.run", description=__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS, help="random cases for each entry")
    parser.add_argument("--dry", action="store_true", help="write no record")
    chosen = parser.parse_args(arguments)
    rows = []
    for claim_id, function in FURTHER.items():
        found = search_further(claim_id, draws=chosen.draws)
        sys.stdout.write(
            f"{claim_id}: {found.cases:,} cases of {chosen.draws:,} draws, slack {found.slack}\n"
        )
        sys.stdout.flush()
        if found.violation is not None or found.slack is None:
            sys.stdout.write(f"{claim_id} FAILS in {found.part!r} at {found.violation}; seed {SEED}\n")
            return 1
        statement = CLAIMS[claim_id].statement
        rows.append(
            Searched(
                claim_id, statement, chosen.draws, found.cases, float(found.slack), found.tolerance,
                code_of(function),
            )
        )  # fmt: skip
    if not chosen.dry:
        write_record(RECORD, pd.DataFrame(rows), parameters={"draws": chosen.draws, "seed": SEED}, data={})
    return 0


if __name__ == "__main__":
    sys.exit(main())
