"""Record how long each part of ``.ci/run`` took: ``python -m benchmarks.ci_times FILE lint=20 book=300``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.recorded_timings import load_average, provenance
from dpfair_lib._files import whole_file

LIMIT = 40 * 60
"""Seconds that all parts together are to take at most, on the machine of the record."""


def main(arguments: list[str] | None = None) -> int:
    """Write the record, and print the sum and the limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ci_times", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("parts", nargs="+", type=part, metavar="PART=SECONDS")
    args = parser.parse_args(arguments)
    record = recorded(dict(args.parts))
    args.file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(args.file) as partial:
        partial.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    total = sum(record["seconds"].values())
    sys.stdout.write(f"all parts took {total} s, at most {LIMIT} s are wanted; see {args.file}\n")
    return 0


def part(text: str) -> tuple[str, int]:
    """Take ``lint=20`` apart."""
    name, _, seconds = text.rpartition("=")
    if not name or not seconds.isdecimal():
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a part and its whole seconds, as lint=20")
    return name, int(seconds)


def recorded(seconds: dict[str, int]) -> dict[str, Any]:
    """Return the record: the parts in their order, the limit, and on what they ran."""
    return {"seconds": seconds, "limit": LIMIT, "load at the end": load_average(), **provenance(threads=1)}


if __name__ == "__main__":
    sys.exit(main())
