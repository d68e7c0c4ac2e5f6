"""Several groups: our post-processing beside fairlearn's on the same rows with the same scores."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.ours.several_groups_data import (
    GROUPS,
    MOST_ROWS,
    SHARES,
    Description,
    Part,
    Split,
    dataset_of,
    split_rows,
)
from dpfair_lib.experiments.ours.several_groups_measures import measures
from dpfair_lib.experiments.ours.several_groups_methods import (
    GAMMAS,
    GRADIENT_BOUND,
    Method,
    fairlearn_version,
    methods,
)

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset

TRIALS = 20
Rows = list[dict[str, Any]]


def run_trial(dataset: Dataset, *, split: int, seed: int) -> Iterator[dict[str, Any]]:
    """Fit every method on one split.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled.
    split, seed : int
        As for `split_rows`.

    Yields
    ------
    dict
        ``split`` and the row of each method.
    """
    warm_up()
    parts = split_rows(dataset, split, seed)
    for method in methods():
        yield {"split": split, **row_of(method, parts)}


def row_of(method: Method, parts: Split) -> dict[str, Any]:
    """Fit a method, and return what it does.

    Parameters
    ----------
    method : Method
        With its settings.
    parts : Split
        The rows.

    Returns
    -------
    dict
        ``method, notion, gamma, epsilon``; ``post_…`` and ``test_…``: what `measures` gives on the rows of
        post-processing and of the test; ``fit_seconds`` and ``predict_seconds`` of the processor, the second for the
        test rows.
    """
    started = time.process_time()
    rule = method.fit(parts)
    fitted = time.process_time()
    tested = rule(parts.test)
    done = time.process_time()
    found = {
        "post": measures(parts.post, rule(parts.post), method.notion),
        "test": measures(parts.test, tested, method.notion),
    }
    return {
        "method": method.name, "notion": method.notion, "gamma": method.gamma, "epsilon": method.epsilon,
        **{f"{part}_{name}": value for part, those in found.items() for name, value in those.items()},
        "fit_seconds": fitted - started, "predict_seconds": done - fitted,
    }  # fmt: skip


@functools.cache
def warm_up() -> None:
    """Fit everything to a few drawn rows, so that no imports are timed."""
    rng = np.random.default_rng(0)
    parts = []
    for _ in range(3):
        scores, groups = rng.random(60), np.repeat(["a", "b", "c"], 20)
        labels = np.tile([0, 1], 30)
        parts.append(Part(np.column_stack([scores, 1 - scores]), labels, groups, scores))
    split = Split(*parts)
    for method in methods():
        method.fit(split)(split.test)


def run_on(*, data: str, **task: Any) -> Rows:
    """Run a trial on the data set of that name."""
    return list(run_trial(dataset_of(data), **task))


def experiment(name: str, *, data: str) -> Experiment:
    """Return all methods on redrawn splits of one data set, a task per split."""
    parameters = {
        "seed": 0, "shares": SHARES, "most_rows": MOST_ROWS, "gammas": GAMMAS,
        "gradient_bound": GRADIENT_BOUND, "fairlearn": fairlearn_version(),
    }  # fmt: skip
    tasks = [{"data": data, "split": split, "seed": 0} for split in range(TRIALS)]
    return Experiment(name, Description(data), parameters, run_on, tasks)


EXPERIMENTS: Experiments = {
    f"several-groups-{data}": functools.partial(experiment, data=data) for data in GROUPS
}
