"""Which data sets the learners under constraints are recorded on."""

from __future__ import annotations

import functools

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.fair_learners.constrained import METHODS, held_rows, run_choice, run_trial, tuned
from dpfair_lib.experiments.fair_learners.people import LABELS, MOST_ROWS, TEST_ROWS, TEST_SHARE
from dpfair_lib.experiments.fair_learners.settings import DRAWS, EPSILONS, bases_settings
from dpfair_lib.experiments.fair_learners.trials import TRIALS
from dpfair_lib.experiments.ours.private_learners_settings import HELD, SIZES, STANDS_FOR
from dpfair_lib.experiments.sources import Source, describe_table, on_data

CHOSEN = "small", "medium", "wide", "large"
"""Sizes of held data on which candidates and dials were chosen."""
RECORDED = "compas", "lsac", "adult", "credit", "acs-income"
"""Data sets, each on all splits that the other methods have."""


def choice(name: str, *, size: str) -> Experiment:
    """Return errors and gaps of all candidates on the held data of one size, a task per label and draw."""
    parameters = {
        "seed": 0, "size": list(SIZES[size]), "draws": DRAWS[size], "test_rows": TEST_ROWS, "epsilons": EPSILONS,
        "candidates": {f"{one.protection}/{one.name}": list(one.candidates) for one in METHODS},
    }  # fmt: skip
    settings = bases_settings(next(data for data, its in STANDS_FOR.items() if its == size))
    tasks = [
        {"source": Source(HELD), "size": size, "label": label, "draw": draw, "seed": 0, "settings": settings}
        for label in LABELS
        for draw in range(DRAWS[size])
    ]
    return Experiment(name, describe_table(HELD), parameters, functools.partial(on_data, run_choice), tasks)


def experiment(name: str, *, data: str) -> Experiment:
    """Return the methods on the splits of `trials.experiment`, a task per split."""
    settings, tuning = bases_settings(data), tuned(held_rows(data))
    parameters = {
        "seed": 0, "test_share": TEST_SHARE, "most_rows": MOST_ROWS, "epsilons": EPSILONS, "settings": settings,
        "tuning": tuning, "noise": "study",
    }  # fmt: skip
    tasks = [
        {"source": Source(data), "split": split, "seed": 0, "settings": settings, "tuning": tuning}
        for split in range(TRIALS)
    ]
    return Experiment(name, describe_table(data), parameters, functools.partial(on_data, run_trial), tasks)


EXPERIMENTS: Experiments = {
    f"private-constrained-settings-{size}": functools.partial(choice, size=size) for size in CHOSEN
} | {f"private-constrained-{data}": functools.partial(experiment, data=data) for data in RECORDED}
