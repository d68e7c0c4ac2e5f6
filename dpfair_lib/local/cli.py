"""The command ``dpfair randomize IN OUT``: copy a file with columns replaced by random reports."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dpfair_lib._arguments import positive
from dpfair_lib._commands import (
    DONE,
    REFUSED,
    USAGE,
    Ended,
    add_common,
    ending_in_order,
    progress_on,
    say,
    warn_on_error_output,
)
from dpfair_lib.local.frames import MISSING, Missing
from dpfair_lib.local.optimal.search import optimal_randomizer
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.response import generalized_randomized_response
from dpfair_lib.local.subsets import subset_selection

if TYPE_CHECKING:
    from dpfair_lib.local.reported_columns import ReportedColumn
    from dpfair_lib.privacy.statements import PrivacyStatement

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
    add("source", metavar="IN", type=Path, help="a .parquet or .csv file, also .csv.gz, .csv.bz2 or .csv.xz")
    add("target", metavar="OUT", type=Path, help="the file to write; OUT.privacy.json is its statement")
    each = "; once for each column"
    every = "; once for all columns, or once for each"
    add("--column", required=True, action="append", help="a column to randomise; may be given several times")
    add(
        "--epsilon", required=True, type=float, action="append", help="level of local privacy, above 0" + each
    )
    add(
        "--labels",
        action="append",
        help="all possible values, A,B,C; public knowledge, never taken from the file" + each,
    )
    add("--mechanism", choices=MECHANISMS, action="append", help="default: grr" + every)
    add(
        "--missing", choices=MISSING, action="append",
        help="; ".join(f"{name}: {meaning}" for name, meaning in MISSING.items()) + "; default: refuse" + every,
    )  # fmt: skip
    add(
        "--delimiter",
        default=",",
        help="the character between two fields of a CSV file, \\t for a tab; default: a comma",
    )
    add("--population", type=Path, metavar="FILE", action="append",
        help="for optimal: CSV with the columns label,share,rate" + each)  # fmt: skip
    add(
        "--shares",
        help="for optimal, with one column: share of each label in the population, in the order of --labels",
    )
    add("--rates", help="for optimal, with one column: P(Y = 1) within each, in the order of --labels")
    add(
        "--error",
        type=float,
        help="for optimal: largest P(report is wrong) allowed; default: the least possible",
    )
    add("--size", type=int, help="for ss: labels per report; default: k/(e^epsilon + 1), rounded")
    add("--seed", type=int, help="UNSAFE, for studies: draw from this seed; the statement promises nothing")
    add("--overwrite", action="store_true", help="replace OUT if it is there")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Randomise columns of a file, and print the privacy statement.

    Parameters
    ----------
    args : argparse.Namespace
        What `add_arguments` parsed.

    Returns
    -------
    int
        Exit status, see `dpfair_lib._commands.EXITS`. If it is not 0, nothing was written.
    """
    from dpfair_lib.local.files import randomize_columns

    try:
        columns = _columns(args)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return USAGE
    try:
        with ending_in_order(), warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            statement = randomize_columns(
                args.source, args.target, columns, seed=args.seed, overwrite=args.overwrite,
                delimiter=args.delimiter,
                progress=None if args.quiet else progress_on(sys.stderr, _counted(args.source)),
            )  # fmt: skip
    except BlockingIOError:
        raise
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return REFUSED
    except Ended as ended:
        print(f"{ended}; the part of {args.target} that was written is removed", file=sys.stderr)
        return ended.status
    said = [str(warning.message) for warning in raised]
    warn_on_error_output(said)
    _print(args, columns, statement, said)
    return DONE


def _counted(source: Path) -> str:
    return "rows" if source.suffix.lower() in (".parquet", ".pq") else "bytes"


def _print(
    args: argparse.Namespace, columns: list[ReportedColumn], statement: PrivacyStatement, said: list[str]
) -> None:
    """Print the statement, and after it those of the columns where there are several."""
    from dpfair_lib.local.releases import statement_path

    if args.json:
        say({
            "target": str(args.target), "statement_file": str(statement_path(args.target)),
            "columns": {one.name: {"labels": one.labels, "missing": one.missing} for one in columns},
            "statement": json.loads(statement.to_json()), "warnings": said,
        })  # fmt: skip
        return
    listed = [(str(args.target), statement)]
    if len(columns) > 1:
        listed += [(one.name, part) for one, part in zip(columns, statement.parts, strict=True)]
    for name, one in listed:
        clauses = str(one).split("; ")
        print("\n  ".join([f"{name}: {clauses[0]}", *clauses[1:]]))


def _columns(args: argparse.Namespace) -> list[ReportedColumn]:
    """Return the columns with their channels, as the options say."""
    from dpfair_lib.local.files_csv import checked_delimiter
    from dpfair_lib.local.reported_columns import ReportedColumn, checked

    args.delimiter = checked_delimiter("\t" if args.delimiter == "\\t" else args.delimiter)
    if args.seed is not None and args.seed < 0:
        raise ValueError(f"--seed: found {args.seed}, expected a whole number of at least 0")
    names, n = args.column, len(args.column)
    if len(args.epsilon) != n:
        raise ValueError(
            f"--epsilon: found {len(args.epsilon)}, expected {n}: one for each --column, in their order"
        )
    mechanisms = _for_each(args.mechanism, "--mechanism", n, "grr")
    missing = _for_each(args.missing, "--missing", n, "refuse")
    labels = _one_each(
        args.labels, "--labels", [m != "optimal" or args.population is None for m in mechanisms]
    )
    populations = _one_each(args.population, "--population", [m == "optimal" for m in mechanisms])
    columns = []
    for at, name in enumerate(names):
        own = argparse.Namespace(
            epsilon=args.epsilon[at], labels=labels[at], mechanism=mechanisms[at], population=populations[at],
            missing=missing[at] == "label", **{key: getattr(args, key) for key in ("shares", "rates", "error", "size")},
        )  # fmt: skip
        if n > 1 and (
            given := [key for key in ("shares", "rates", "error", "size") if getattr(args, key) is not None]
        ):
            raise ValueError(f"--{given[0]}: found beside {n} columns, expected one column")
        listed, randomizer, terms = _channel(own)
        note = GIVEN_RATES if own.mechanism == "optimal" else ""
        columns.append(ReportedColumn(name, randomizer, listed, cast(Missing, missing[at]), terms, note))
    return checked(columns)


def _for_each(given: list[str] | None, option: str, n: int, default: str) -> list[str]:
    """Return an option that is given once for all columns, or once for each."""
    listed = given or [default]
    if len(listed) not in (1, n):
        raise ValueError(f"{option}: found {len(listed)}, expected one for all columns, or {n}: one for each")
    return listed * n if len(listed) == 1 else listed


def _one_each(given: list[Any] | None, option: str, needed: list[bool]) -> list[Any]:
    """Return an option for each column, and None for those that do not need it."""
    if given is None:
        return [None] * len(needed)
    if len(needed) == 1 and len(given) == 1:
        return given
    if len(given) != sum(needed):
        raise ValueError(
            f"{option}: found {len(given)}, expected {sum(needed)}: one for each --column that needs it, in their order"
        )
    rest = iter(given)
    return [next(rest) if needs else None for needs in needed]


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
    k = len(labels) + args.missing  # missing is one more label
    if args.mechanism == "grr":
        return labels, generalized_randomized_response(k, epsilon), terms
    sets = subset_selection(k, epsilon, size=args.size)
    if sets.size == k:
        raise ValueError(
            f"--size: found {sets.size}, expected fewer labels than there are: a full set says nothing"
        )
    return labels, sets, {**terms, "labels_per_report": sets.size}


def _optimal(
    args: argparse.Namespace, epsilon: float, terms: dict[str, Any]
) -> tuple[list[str], Randomizer, dict[str, Any]]:
    labels, shares, rates = _population(args)
    # a little less, so that neither the solver's rounding nor that of the drawing goes beyond what was asked
    try:
        channel = optimal_randomizer(shares, rates, epsilon * (1 - 2.0**-40), error=args.error)
    except ValueError as refused:
        raise ValueError(_as_given(str(refused), args.population)) from None
    if not channel.realized_epsilon <= epsilon:
        raise ValueError(f"--epsilon: found {epsilon}, but the channel has {channel.realized_epsilon}")
    population = [
        {"label": label, "share": share, "rate": rate}
        for label, share, rate in zip(labels, shares, rates, strict=True)
    ]
    chosen = {"population": population, "error_allowed": args.error, "channel": channel.matrix.tolist()}
    if args.missing:
        if labels[-1]:
            raise ValueError(
                f"--population: found {labels[-1]!r} as the last label beside --missing label, expected an empty one: "
                "the share and the rate of the people whose value is missing"
            )
        labels = labels[:-1]
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
        labels = [*_labels(args.labels), *[""] * args.missing]
        return labels, _numbers(args.shares, "--shares", labels), _numbers(args.rates, "--rates", labels)
    if options:
        raise ValueError(f"--{options[0]}: found beside --population, expected one of them")
    try:
        text = args.population.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(
            f"--population: found {args.population}, expected a file to read ({error.strerror})"
        ) from None
    with io.StringIO(text, newline="") as file:
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


def _as_given(message: str, population: Path | None) -> str:
    """Return a message of `optimal_randomizer` with what the caller wrote in place of its arguments."""
    argument, colon, rest = message.partition(": ")
    shares, rates = (
        ("--shares", "--rates") if population is None else (f"{population}, share", f"{population}, rate")
    )
    return {"p": shares, "p1": rates, "error": "--error"}.get(argument, argument) + colon + rest


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
