"""The command line: ``dpfair choose``, ``claims``, ``data`` and ``randomize``; ``python -m dpfair_lib`` is the same."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

import dpfair_lib
from dpfair_lib._commands import BUSY, NO_PACKAGE, SIGNAL, Ended, exit_table, logged
from dpfair_lib._extras import MissingExtraError

COMMANDS = {
    "choose": (
        "dpfair_lib.experiments.fair_learners.choose",
        "say which private and fair learner the record recommends",
    ),
    "claims": ("dpfair_lib.claims.cli", "run the checks of the ledger"),
    "data": ("dpfair_lib.datasets.cli", "list or fetch the data sets"),
    "randomize": ("dpfair_lib.local.cli", "replace columns of a file by reports under local privacy"),
}


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status; of the commands' modules only those that are named are imported."""
    argv = sys.argv[1:] if argv is None else argv
    parser = _parser("dpfair", __doc__)
    parser.add_argument("--version", action="version", version=f"%(prog)s {dpfair_lib.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (module, description) in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=description,
            description=description,
            epilog=exit_table(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name in argv:  # no other command can be asked for
            importlib.import_module(module).add_arguments(command)
    args = parser.parse_args(argv)
    try:
        with logged(args.verbose):
            status = int(importlib.import_module(COMMANDS[args.command][0]).run(args))
        sys.stdout.flush()
        return status
    except MissingExtraError as missing:
        print(missing, file=sys.stderr)
        return NO_PACKAGE
    except BlockingIOError as busy:
        print(busy.strerror or busy, file=sys.stderr)  # not its number, and the file by its own name alone
        return BUSY
    except (Ended, KeyboardInterrupt) as ended:
        print(str(ended) or "ended by SIGINT", file=sys.stderr)
        return ended.status if isinstance(ended, Ended) else SIGNAL + 2
    except BrokenPipeError:  # the reader of the output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is buffered is still written at the end
        return SIGNAL + 13


def _parser(name: str, description: str | None) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=name,
        description=description,
        epilog=exit_table(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


if __name__ == "__main__":
    sys.exit(main())
