"""The command ``python -m dpfair_lib data``: list the data sets, say where each was found, download one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from dpfair_lib.datasets.find import Found, find, obtain
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
        Exit status: 1 if a file is there and wrong, or if fetching failed.
    """
    pins = pins_recorded() if pinned is None else pinned
    return (
        _fetch(args.name, args.root, specs, pins) if args.action == "fetch" else _list(args.root, specs, pins)
    )


def _list(root: str | None, specs: Mapping[str, Spec], pins: Mapping[str, Pins]) -> int:
    status, width = 0, 2 + max(map(len, specs), default=0)
    for name, spec in specs.items():
        print(f"{name:<{width}}{spec.title}; {spec.publisher}, {spec.licence}")
        try:
            found = find(spec, root=root)
            if found is None:
                print(f"{'':<{width}}not found; python -m dpfair_lib data fetch {name}")
                continue
            obtain(spec, pins[name], root=root, download=False)
        except (OSError, ValueError) as error:
            print(f"{'':<{width}}wrong: {error}")
            status = 1
        else:
            print(f"{'':<{width}}found in {found.kind}, {_state(found)}: {found.where}")
    return status


def _fetch(name: str, root: str | None, specs: Mapping[str, Spec], pins: Mapping[str, Pins]) -> int:
    try:
        spec = spec_of(name, specs)
        table, found = obtain(spec, pins[name], root=root)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{name}: {len(table):,} rows, {_state(found)}, from {found.kind}: {found.where}")
    return 0


def _state(found: Found) -> str:
    return "verified" if found.verified else "not verified (no checksum is recorded for this form)"
