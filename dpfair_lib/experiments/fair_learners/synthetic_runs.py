"""Which data sets private synthetic rows are recorded on."""

from __future__ import annotations

import functools

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.fair_learners.people import MOST_ROWS, TEST_SHARE
from dpfair_lib.experiments.fair_learners.settings import EPSILONS
from dpfair_lib.experiments.fair_learners.synthesizer import provenance
from dpfair_lib.experiments.fair_learners.synthetic import BINS, STEPS, run_trial
from dpfair_lib.experiments.sources import Source, describe_table, on_data

SPLITS = 5
"""The first of those that the other methods have: a release takes many seconds."""
RECORDED = "compas", "lsac", "acs-income", "adult", "credit"


def experiment(name: str, *, data: str) -> Experiment:
    """Return what is learned from synthetic rows of one data set, a task per split and ε."""
    parameters = {
        "seed": 0, "test_share": TEST_SHARE, "most_rows": MOST_ROWS, "epsilons": EPSILONS, "splits": SPLITS,
        "bins": BINS, "steps": STEPS, "synthesizer": provenance(),
        "noise": "of OpenDP, without seed; choice of pairs and draws of rows are seeded",
    }  # fmt: skip
    tasks = [
        {"source": Source(data), "split": split, "seed": 0, "epsilon": epsilon}
        for split in range(SPLITS)
        for epsilon in EPSILONS
    ]
    return Experiment(name, describe_table(data), parameters, functools.partial(on_data, run_trial), tasks)


EXPERIMENTS: Experiments = {
    f"private-synthetic-{data}": functools.partial(experiment, data=data) for data in RECORDED
}
