"""The command ``dpfair data``: list the data sets, say where each was found, download one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from dpfair_lib._commands import DONE, REFUSED, USAGE, add_common, ending_in_order, say
from dpfair_lib._progress import Progress, shown
from dpfair_lib.datasets.find import find, obtain
from dpfair_lib.datasets.loading import SPECS, spec_of
from dpfair_lib.datasets.pins import Pins
from dpfair_lib.datasets.pins import pinned as pins_recorded
from dpfair_lib.datasets.spec import Spec


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``data`` to its parser.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser of the subcommand.
    """
    parser.add_argument("--root", help="a folder to look in first")
    add_common(parser)
    actions = parser.add_subparsers(dest="action", metavar="fetch NAME")
    command = actions.add_parser("fetch", help="download a data set from its publisher unless it is there")
    command.add_argument("name", help=", ".join(SPECS))


def run(
    args: argparse.Namespace,
    *,
    specs: Mapping[str, Spec] = SPECS,
    pinned: Mapping[str, Pins] | None = None,
) -> int:
    """List the data sets, or fetch one.

    Parameters
    ----------
    args : argparse.Namespace
        What `add_arguments` parsed.
    specs : mapping
        The data sets, the book's own by default.
    pinned : mapping or None
        Their checksums, the recorded ones by default.

    Returns
    -------
    int
        Exit status: 1 if a file is there and wrong, or if fetching failed; 2 if there is no data set of that name.
    """
    pins = pins_recorded() if pinned is None else pinned
    with ending_in_order(), shown(not (args.quiet or args.verbose)):  # the log has it too
        if args.action == "fetch":
            return _fetch(args.name, args.root, specs, pins, args.json)
        return _list(args.root, specs, pins, args.json)


def _list(root: str | None, specs: Mapping[str, Spec], pins: Mapping[str, Pins], as_json: bool) -> int:
    status, entries, width = DONE, {}, 2 + max(map(len, specs), default=0)
    progress = Progress("data sets", len(specs))
    for name, spec in specs.items():
        entries[name] = entry = _entry(spec, pins[name], root)
        progress.add()
        if entry["wrong"]:
            status = REFUSED
        if as_json:
            continue
        print(f"{name:<{width}}{spec.title}; {spec.publisher}, {spec.licence}")
        if entry["wrong"]:
            print(f"{'':<{width}}wrong: {entry['wrong']}")
        elif entry["found"] is None:
            print(f"{'':<{width}}not found; python -m dpfair_lib data fetch {name}")
        else:
            state = _state(entry["verified"])
            print(f"{'':<{width}}found in {entry['found']}, {state}: {entry['where']}")
    if as_json:
        say(entries)
    return status


def _entry(spec: Spec, pins: Pins, root: str | None) -> dict[str, Any]:
    """Return what is known of a data set, and where it was found."""
    entry: dict[str, Any] = {
        "title": spec.title, "publisher": spec.publisher, "licence": spec.licence,
        "found": None, "where": None, "verified": None, "rows": None, "wrong": None,
    }  # fmt: skip
    try:
        if (found := find(spec, root=root)) is not None:
            table, _ = obtain(spec, pins, root=root, download=False)
            entry |= {
                "found": found.kind,
                "where": found.where,
                "verified": found.verified,
                "rows": len(table),
            }
    except (OSError, ValueError) as error:
        entry["wrong"] = str(error)
    return entry


def _fetch(
    name: str, root: str | None, specs: Mapping[str, Spec], pins: Mapping[str, Pins], as_json: bool
) -> int:
    try:
        spec = spec_of(name, specs)
    except ValueError as error:
        print(error, file=sys.stderr)
        return USAGE
    try:
        table, found = obtain(spec, pins[name], root=root)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return REFUSED
    if as_json:
        say(
            {
                "name": name,
                "rows": len(table),
                "found": found.kind,
                "where": found.where,
                "verified": found.verified,
            }
        )
    else:
        print(f"{name}: {len(table):,} rows, {_state(found.verified)}, from {found.kind}: {found.where}")
    return DONE


def _state(verified: bool) -> str:
    return "verified" if verified else "not verified (no checksum is recorded for this form)"
