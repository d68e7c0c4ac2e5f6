"""Several groups: fairlearn's `ExponentiatedGradient` whose learner is given the group, as the post-processors are."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from dpfair_lib.experiments.experiment import Experiment, Experiments, Rows
from dpfair_lib.experiments.ours.several_groups import TRIALS, row_of, warm_up
from dpfair_lib.experiments.ours.several_groups_data import (
    GROUPS,
    MOST_ROWS,
    SHARES,
    Description,
    Split,
    dataset_of,
    split_rows,
)
from dpfair_lib.experiments.ours.several_groups_methods import (
    GRADIENT_BOUND,
    NOTIONS,
    Method,
    exponentiated_gradient,
    fairlearn_version,
)

GIVEN = "ExponentiatedGradient, given the group"


def with_groups(split: Split) -> Split:
    """Return a split whose features have a column more for each group: 1 for its people, 0 for others."""
    groups = np.unique(split.train.groups)
    return Split(
        *(
            part._replace(features=np.column_stack([part.features, part.groups[:, None] == groups]))
            for part in split
        )
    )


def run_on(*, data: str, split: int, seed: int) -> Rows:
    """Fit to one split under each notion.

    Parameters
    ----------
    data : str
        A key of `GROUPS`.
    split, seed : int
        As for `split_rows`.

    Returns
    -------
    list of dict
        ``split``, and a row as of `several_groups.row_of` for each notion.
    """
    warm_up()
    parts = with_groups(split_rows(dataset_of(data), split, seed))
    rows: list[dict[str, Any]] = []
    for notion in NOTIONS:
        fit = functools.partial(exponentiated_gradient, notion=notion)
        rows.append({"split": split, **row_of(Method(GIVEN, notion, GRADIENT_BOUND, None, fit), parts)})
    return rows


def experiment(name: str, *, data: str) -> Experiment:
    """Return the splits of `several_groups` on one data set, a task per split."""
    parameters = {
        "seed": 0, "shares": SHARES, "most_rows": MOST_ROWS, "gradient_bound": GRADIENT_BOUND,
        "fairlearn": fairlearn_version(),
    }  # fmt: skip
    tasks = [{"data": data, "split": split, "seed": 0} for split in range(TRIALS)]
    return Experiment(name, Description(data), parameters, run_on, tasks)


EXPERIMENTS: Experiments = {
    f"several-groups-given-{data}": functools.partial(experiment, data=data) for data in GROUPS
}
