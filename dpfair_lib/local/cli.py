"""The command ``python -m dpfair_lib randomize IN OUT``: copy a file with one column replaced by random reports."""

from __future__ import annotations

import argparse
import csv
import math
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from dpfair_lib._arguments import positive
from dpfair_lib.local.optimal.search import optimal_randomizer
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.response import generalized_randomized_response
from dpfair_lib.local.subsets import subset_selection

MECHANISMS = {
    "grr": "generalised randomised response",
    "ss": "subset selection",
    "optimal": "optimal channel",
}
GIVEN_RATES = (
    "the channel was chosen by shares and rates of the groups that were given with it and are assumed to be public: "
    "if they were computed from the values of the same people, that use of them is not counted here"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``randomize`` to its parser.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser of the subcommand.
    """
    add = parser.add_argument
    add("source", metavar="IN", type=Path, help="a .csv or .parquet file")
    add("target", metavar="OUT", type=Path, help="the file to write; OUT.privacy.json is its statement")
    add("--column", required=True, help="the column of the sensitive attribute")
    add("--epsilon", required=True, type=float, help="level of local privacy, above 0")
    add("--labels", help="all possible values, A,B,C; public knowledge, never taken from the file")
    add("--mechanism", choices=MECHANISMS, default="grr", help="default: grr")
    add("--population", type=Path, metavar="FILE", help="for optimal: CSV with the columns label,share,rate")
    add("--shares", help="for optimal: share of each label in the population, in the order of --labels")
    add("--rates", help="for optimal: P(Y = 1) within each, in the order of --labels")
    add(
        "--error",
        type=float,
        help="for optimal: largest P(report is wrong) allowed; default: the least possible",
    )
    add("--size", type=int, help="for ss: labels per report; default: k/(e^epsilon + 1), rounded")
    add("--seed", type=int, help="UNSAFE, for studies: draw from this seed; the statement promises nothing")
    add("--overwrite", action="store_true", help="replace OUT if it is there")


def run(args: argparse.Namespace) -> int:
    """Randomise one column of a file, and print the privacy statement.

    Parameters
    ----------
    args : argparse.Namespace
        What `add_arguments` parsed.

    Returns
    -------
    int
        Exit status: 1 if it was refused, with the reason on the standard error, and nothing was written; 128 and the
        signal's number if a signal ended it.
    """
    from dpfair_lib.local.files import randomize_file

    try:
        labels, randomizer, terms = _channel(args)
        with _signals(), warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            statement = randomize_file(
                args.source, args.target, args.column, randomizer, labels=labels, seed=args.seed,
                overwrite=args.overwrite, terms=terms,
                note=GIVEN_RATES if args.mechanism == "optimal" else "",
                progress=_progress if sys.stderr.isatty() else None,
            )  # fmt: skip
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except _Ended as ended:
        print(f"{ended}; the part of {args.target} that was written is removed", file=sys.stderr)
        return 128 + ended.args[0]
    for warning in raised:
        print(f"warning: {warning.message}", file=sys.stderr)
    clauses = str(statement).split("; ")
    print("\n  ".join([f"{args.target}: {clauses[0]}", *clauses[1:]]))
    return 0


class _Ended(BaseException):
    """A signal came, whose number this carries; what is under way is given up in good order."""

    def __str__(self) -> str:
        return f"ended by {signal.Signals(self.args[0]).name}"


@contextmanager
def _signals() -> Iterator[None]:
    """Let a signal that would end the process end it in good order; those that are ignored stay so."""

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        raise _Ended(number)

    before = {}
    if threading.current_thread() is threading.main_thread():  # no other may set them
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _channel(args: argparse.Namespace) -> tuple[list[str], Randomizer, dict[str, Any]]:
    """Return the labels, the channel, and how it was chosen."""
    epsilon = positive(args.epsilon, "--epsilon")
    terms: dict[str, Any] = {"mechanism": MECHANISMS[args.mechanism], "epsilon_asked": epsilon}
    for option, mechanism in (
        ("population", "optimal"), ("shares", "optimal"), ("rates", "optimal"), ("error", "optimal"), ("size", "ss"),
    ):  # fmt: skip
        if getattr(args, option) is not None and args.mechanism != mechanism:
            raise ValueError(f"--{option}: found beside --mechanism {args.mechanism}, expected {mechanism}")
    if args.mechanism == "optimal":
        return _optimal(args, epsilon, terms)
    labels = _labels(args.labels)
    if args.mechanism == "grr":
        return labels, generalized_randomized_response(len(labels), epsilon), terms
    sets = subset_selection(len(labels), epsilon, size=args.size)
    if sets.size == len(labels):
        raise ValueError(
            f"--size: found {sets.size}, expected fewer labels than there are: a full set says nothing"
        )
    return labels, sets, {**terms, "labels_per_report": sets.size}


def _optimal(
    args: argparse.Namespace, epsilon: float, terms: dict[str, Any]
) -> tuple[list[str], Randomizer, dict[str, Any]]:
    labels, shares, rates = _population(args)
    # a little less, so that neither the solver's rounding nor that of the drawing goes beyond what was asked
    channel = optimal_randomizer(shares, rates, epsilon * (1 - 2.0**-40), error=args.error)
    if not channel.realized_epsilon <= epsilon:
        raise ValueError(f"--epsilon: found {epsilon}, but the channel has {channel.realized_epsilon}")
    population = [
        {"label": label, "share": share, "rate": rate}
        for label, share, rate in zip(labels, shares, rates, strict=True)
    ]
    chosen = {"population": population, "error_allowed": args.error, "channel": channel.matrix.tolist()}
    return labels, channel, {**terms, **chosen}


def _population(args: argparse.Namespace) -> tuple[list[str], list[float], list[float]]:
    """Return labels, shares and rates, from a file or from the options; never from the data."""
    options = [name for name in ("labels", "shares", "rates") if getattr(args, name) is not None]
    if args.population is None:
        if len(options) < 3:
            raise ValueError(
                "--mechanism optimal: found no shares and rates, expected --population FILE, or --labels, --shares "
                "and --rates; they are public knowledge, and never taken from the file"
            )
        labels = _labels(args.labels)
        return labels, _numbers(args.shares, "--shares", labels), _numbers(args.rates, "--rates", labels)
    if options:
        raise ValueError(f"--{options[0]}: found beside --population, expected one of them")
    with args.population.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.DictReader(file)
        if set(lines.fieldnames or ()) != {"label", "share", "rate"}:
            raise ValueError(
                f"{args.population}: found the columns {lines.fieldnames}, expected label, share, rate"
            )
        table = list(lines)
    try:
        return (
            [line["label"] for line in table], [float(line["share"]) for line in table],
            [float(line["rate"]) for line in table],
        )  # fmt: skip
    except (TypeError, ValueError) as error:
        raise ValueError(f"{args.population}: found a share or rate that is no number ({error})") from None


def _labels(text: str | None) -> list[str]:
    if text is None:
        raise ValueError(
            "--labels: found none, expected all possible values, as A,B,C; they are public knowledge, and never taken "
            "from the file, since the list would tell who is in it"
        )
    labels = next(csv.reader([text]), [])  # a label with a comma is quoted
    if len(labels) < 2:
        raise ValueError(f"--labels: found {text!r}, expected at least two, as A,B")
    return labels


def _numbers(text: str, name: str, labels: list[str]) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name}: found {text!r}, expected numbers, as 0.5,0.3,0.2") from None
    if len(numbers) != len(labels) or not all(map(math.isfinite, numbers)):
        raise ValueError(f"{name}: found {text!r}, expected {len(labels)} numbers, one for each label")
    return numbers


def _progress(done: int, total: int) -> None:
    end = "\n" if done >= total else ""
    print(f"\r{done / max(total, 1):6.1%}  {done:,} of {total:,}", end=end, file=sys.stderr, flush=True)
