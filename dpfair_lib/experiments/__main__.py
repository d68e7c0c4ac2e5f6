"""``make record``: run the long experiments on the real data and write their records into results/.

``python -m dpfair_lib.experiments NAME ...`` runs the named experiments, or all if no name is given. Complete records
made by this code from this data stay. After an interruption, the same command runs only the tasks that had not
finished. DPFAIR_WORKERS is the number of processes; DPFAIR_DASK=tcp://host:port is a Dask cluster to use instead.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Callable
from pathlib import Path

from dpfair_lib.experiments.experiment import Experiment
from dpfair_lib.experiments.resumable_runs import run_and_record

ROOMS = ("ours", "accounting", "fair_learners", "isit", "thesis", "mpbt", "cgkm", "sk")


def all_experiments() -> dict[str, Callable[[str], Experiment]]:
    """Return the `EXPERIMENTS` of the modules in all rooms.

    Raises
    ------
    ValueError
        If two modules have an experiment of the same name.
    """
    found: dict[str, Callable[[str], Experiment]] = {}
    for room in ROOMS:
        for module in pkgutil.iter_modules([str(Path(__file__).with_name(room))]):
            place = f"dpfair_lib.experiments.{room}.{module.name}"
            there = getattr(importlib.import_module(place), "EXPERIMENTS", {})
            if twice := found.keys() & there.keys():
                raise ValueError(
                    f"{place}: found the experiment {min(twice)!r}, which another module has too"
                )
            found |= there
    return found


EXPERIMENTS = all_experiments()


def main(arguments: list[str] | None = None) -> None:
    """Run and record every experiment, or those named, with a line of progress per task."""
    parser = argparse.ArgumentParser(prog="python -m dpfair_lib.experiments", description=__doc__)
    known = ", ".join(EXPERIMENTS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {known}; all without a name")
    parser.add_argument(
        "--force", action="store_true", help="replace records that are whole and up to date too"
    )
    parser.add_argument(
        "--quiet", action="store_true", help="no line for each task; warnings and errors stay"
    )
    chosen = parser.parse_args(arguments)
    if unknown := [name for name in chosen.names if name not in EXPERIMENTS]:
        parser.error(f"found {unknown[0]!r}, expected one of {known}")
    try:
        for name in chosen.names or EXPERIMENTS:
            run_and_record(EXPERIMENTS[name](name), force=chosen.force, quiet=chosen.quiet)
    except KeyboardInterrupt:
        sys.exit("interrupted; finished tasks are kept, and the same command does the others")
    except (
        ValueError,
        OSError,
    ) as error:  # a setting, the data or the cluster; a failed task shows where it failed
        sys.exit(f"{parser.prog}: {error}")


if __name__ == "__main__":
    main()
