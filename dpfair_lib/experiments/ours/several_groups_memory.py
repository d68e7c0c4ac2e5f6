"""Memory of what makes several groups equal, on the rows of the data sets: ours and both of fairlearn's.

Each measurement is taken in a fresh process, which has loaded the rows, fitted the learner and fitted a few drawn rows.
Memory is what the process held at its peak while it fitted and predicted, above what it held just before.
"""

from __future__ import annotations

import functools
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from dpfair_lib.experiments.experiment import Experiment, Experiments, Rows
from dpfair_lib.experiments.ours.several_groups import warm_up
from dpfair_lib.experiments.ours.several_groups_data import (
    GROUPS,
    MOST_ROWS,
    SHARES,
    Description,
    dataset_of,
    split_rows,
)
from dpfair_lib.experiments.ours.several_groups_methods import (
    ERRORS,
    GRADIENT,
    GRADIENT_BOUND,
    NOTIONS,
    OPTIMIZER,
    exponentiated_gradient,
    fairlearn_version,
    ours,
    threshold_optimizer,
)
from dpfair_lib.experiments.peak_memory import forget_peak, mebibytes_above

SPLITS = 3
FITS = {
    ERRORS: functools.partial(ours, gamma=0.0, objective="errors"),
    OPTIMIZER: functools.partial(threshold_optimizer, gamma=0.0),
    GRADIENT: exponentiated_gradient,
}
IMPORTS = [
    __name__,
    "dpfair_lib.central.postprocessor",
    "fairlearn.postprocessing",
    "fairlearn.reductions",
    "scipy.optimize",
]


def measure(*, data: str, split: int, seed: int, notion: str, method: str) -> dict[str, Any]:
    """Fit a method to the rows of a split and predict its test rows; meant for a fresh process.

    Parameters
    ----------
    data : str
        A key of `GROUPS`.
    split, seed : int
        As for `split_rows`.
    notion : str
        One of `NOTIONS`.
    method : str
        A key of `FITS`.

    Returns
    -------
    dict
        ``split, notion, method``, and ``mebibytes`` (None where the system does not tell).
    """
    warm_up()
    parts = split_rows(dataset_of(data), split, seed)
    before = forget_peak()
    FITS[method](parts, notion=notion)(parts.test)  # type: ignore[operator]  # to mypy a partial and a function have only "object" in common
    return {"split": split, "notion": notion, "method": method, "mebibytes": mebibytes_above(before)}


def measure_afresh(**task: Any) -> Rows:
    """Measure in a fresh process, forked from a server that has imported what is needed and done nothing."""
    context = get_context("forkserver")
    context.set_forkserver_preload(IMPORTS)
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as one:
        return [one.submit(measure, **task).result()]


def experiment(name: str, *, data: str) -> Experiment:
    """Return the peaks of memory on redrawn splits of one data set, a task for each method and notion on each split."""
    parameters = {
        "seed": 0, "shares": SHARES, "most_rows": MOST_ROWS, "gamma": 0.0, "gradient_bound": GRADIENT_BOUND,
        "fairlearn": fairlearn_version(),
    }  # fmt: skip
    tasks = [
        {"data": data, "split": split, "seed": 0, "notion": notion, "method": method}
        for split in range(SPLITS)
        for notion in NOTIONS
        for method in FITS
    ]
    return Experiment(name, Description(data), parameters, measure_afresh, tasks)


EXPERIMENTS: Experiments = {
    f"several-groups-memory-{data}": functools.partial(experiment, data=data) for data in GROUPS
}
