"""``dpfair claims``: the ledger from the shell."""

from __future__ import annotations

import argparse
import json
import sys
from fnmatch import fnmatchcase
from pathlib import Path

from dpfair_lib._commands import add_common
from dpfair_lib._progress import shown
from dpfair_lib.claims import CLAIMS, judge_all
from dpfair_lib.claims.new import new_claim
from dpfair_lib.claims.report import as_row, as_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "new",
        nargs="*",
        metavar="new ID",
        help="write the stub of a new claim and of its chapter, and run nothing",
    )
    parser.add_argument(
        "--after", metavar="ID", help="with new: the claim that it comes after (default: the last)"
    )
    parser.add_argument(
        "--chapter", metavar="NAME", help="with new: its chapter (default: named as the claim)"
    )
    parser.add_argument("--json", action="store_true", help="print a list of entries, every check run now")
    parser.add_argument(
        "--only", metavar="PATTERN", default="*", help="run the claims whose id matches, as in 'isit.*'"
    )
    parser.add_argument("--faults", action="store_true", help="also run every planted fault")
    parser.add_argument(
        "--times", action="store_true", help="also print each run's processor time, and whether it was stored"
    )
    parser.add_argument(
        "--stored", "--kept", action="store_true",
        help="take the outcomes that this build has stored for the same sources, and run only the other checks; "
        "--kept is the old name",
    )  # fmt: skip
    add_common(parser, as_json=False)
    parser.add_argument("--jobs", type=int, metavar="N", help="claims judged at a time (default: the cores)")


def run(args: argparse.Namespace) -> int:
    """Run the checks and print what they found, or write the stub of a new claim.

    Returns
    -------
    int
        0 if every run agrees with its recorded verdict and catches its planted faults, 1 if one does not,
        2 if an option cannot be met.
    """
    if args.new:
        return _new(args)
    chosen = [CLAIMS[claim_id] for claim_id in CLAIMS if fnmatchcase(claim_id, args.only)]
    if not chosen:
        sys.stderr.write(f"--only: no claim matches {args.only!r}; expected a pattern such as 'isit.*'\n")
        return 2
    if args.jobs is not None and args.jobs < 1:
        sys.stderr.write(f"--jobs: found {args.jobs}, expected at least 1\n")
        return 2
    with shown(not (args.quiet or args.verbose)):  # the log has it too
        outcomes = judge_all(chosen, faults=args.faults, fresh=not args.stored, jobs=args.jobs)
    if args.json:
        rows = [as_row(outcome, times=args.times) for outcome in outcomes]
        print(json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False))
    else:
        print(as_table(outcomes, times=args.times))
    for complaint in (complaint for outcome in outcomes for complaint in outcome.complaints()):
        sys.stderr.write(f"{complaint}\n")
    return 0 if all(outcome.sound for outcome in outcomes) else 1


def _new(args: argparse.Namespace) -> int:
    if len(args.new) != 2 or args.new[0] != "new":
        sys.stderr.write(f"claims: found {' '.join(args.new)!r}, expected nothing or 'new ID'\n")
        return 2
    try:
        said = new_claim(Path.cwd(), args.new[1], after=args.after, chapter=args.chapter)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    print("\n".join(said))
    return 0
