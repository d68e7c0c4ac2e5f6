"""A record of a few tasks that can be slow, to be killed; ``$STUDY`` names its folder."""

import os
import sys
import time
from pathlib import Path

import joblib  # noqa: F401 (where a disk is full it cannot be imported any more)
import numpy as np

from dpfair_lib.experiments import resumable_runs, sweeps

TASKS = 8
TASK_LIST = [{"at": at} for at in range(TASKS)]


def of_a_test(*_):
    """Stand for a digest of the whole library, which takes longer than all else here."""
    return "of a test"


if "pytest" not in sys.modules:  # in the program and in its workers
    resumable_runs.code_of = sweeps.code = of_a_test


def begin(folder, seconds):
    """Make the folder, and say how long a task takes."""
    folder.mkdir(exist_ok=True)
    (folder / "seconds").write_text(str(seconds))


def draw(at):
    """Note that the task was begun, and draw from its seed."""
    folder = Path(os.environ["STUDY"])
    with (folder / "begun").open("a") as file:
        file.write(f"{at} {os.getpid()}\n")
    time.sleep(float((folder / "seconds").read_text()))
    return [{"at": at, "draw": np.random.default_rng(at).normal(), "count": np.int64(at)}]


def draw_held_up(at):
    """Do the same; who begins with the first task never ends."""
    mark = Path(os.environ["STUDY"]) / "held_up"
    if at == 0 and not mark.exists():
        mark.write_text(str(os.getpid()))
        time.sleep(600)
    return draw(at)


def main(arguments):
    """Run the command that records, for this experiment alone."""
    from dpfair_lib.experiments import __main__ as command
    from dpfair_lib.experiments.experiment import Experiment
    from dpfair_lib.experiments.resumable_runs import run_and_record

    folder = Path(os.environ["STUDY"])
    command.EXPERIMENTS = {
        "study": lambda _: Experiment("study", {"name": "none"}, {"seed": 0}, draw, TASK_LIST)
    }
    command.run_and_record = lambda experiment, **chosen: run_and_record(
        experiment, **chosen, results=folder / "results", parts=folder / "parts"
    )
    command.main(arguments)


if __name__ == "__main__":
    import study  # under its own name, by which a worker can import it

    study.main(sys.argv[1:])
