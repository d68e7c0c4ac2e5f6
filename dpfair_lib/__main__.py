"""The command line: ``dpfair claims``, ``data`` and ``randomize``; ``python -m dpfair_lib`` is the same."""

from __future__ import annotations

import argparse
import importlib
import sys

from dpfair_lib._extras import MissingExtraError

COMMANDS = {
    "claims": ("dpfair_lib.claims.cli", "run the checks of the ledger"),
    "data": ("dpfair_lib.datasets.cli", "list or fetch the data sets"),
    "randomize": ("dpfair_lib.local.cli", "replace a column of a file by reports under local privacy"),
}


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(prog="dpfair", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (module, description) in COMMANDS.items():
        importlib.import_module(module).add_arguments(commands.add_parser(name, help=description))
    args = parser.parse_args(argv)
    try:
        return int(importlib.import_module(COMMANDS[args.command][0]).run(args))
    except MissingExtraError as missing:
        print(missing, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
