"""Accuracy with noise that fits rows coded from columns, beside Gaussian noise and diffprivlib.

What is chosen about each was chosen on other data, from eight candidates. Each learner draws its noise several times
on each split, since the noise is most of what differs between splits.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.ours.private_learners import MOST_ROWS, TEST_SHARE, split_rows
from dpfair_lib.experiments.ours.private_learners_fits import Candidate, accuracy, unprotected
from dpfair_lib.experiments.ours.private_learners_peer import peer, peer_provenance
from dpfair_lib.experiments.ours.private_learners_settings import EPSILONS, STANDS_FOR
from dpfair_lib.experiments.ours.private_learners_settings_blocks import (
    METHODS,
    chosen_blocks,
    fit_one,
)
from dpfair_lib.experiments.recorded_results import read_record
from dpfair_lib.experiments.sources import Source, describe_table, on_data

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset
    from dpfair_lib.privacy.sampling import Noise

TRIALS = 20
DRAWS = 2
"""Of noise, for each learner and ε on each split."""


def blocks_of(dataset: Dataset) -> list[str]:
    """Return for each feature of `unit_ball` the column from which it was coded.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled. A feature of a coded column is called by the column, "_" and the category.
    """
    numeric = list(dataset.numeric_features)
    coded = [str(name).rpartition("_")[0] for name in dataset.X.columns if name not in numeric]
    return [*numeric, *(coded or ["constant"])]


def run_trial(
    dataset: Dataset,
    *,
    split: int,
    seed: int,
    settings: dict[str, list[Candidate]],
    noise: Noise = "secure",
    epsilons: tuple[float, ...] = EPSILONS,
    draws: int = DRAWS,
) -> Iterator[dict[str, Any]]:
    """Fit the three learners, and what has no ε, on one split.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled.
    split, seed : int
        As for `split_rows`; the splits are those of the comparison of all learners.
    settings : dict
        For each of `METHODS` a candidate for each ε, from `chosen_blocks`.
    noise : {"secure", "study"}
        Of our learners; study noise is seeded by split and draw.
    epsilons : tuple of float
        ε, those of ``settings`` in their order.
    draws : int
        Of noise.

    Yields
    ------
    dict
        ``split, draw, method, level`` (ε, or None), ``accuracy`` on the test rows. What has no ε has one draw.
    """
    train, test = split_rows(dataset, split, seed)
    blocks = blocks_of(dataset)
    for method, found in unprotected(train):
        yield {"split": split, "draw": 0, "method": method, "level": None, "accuracy": accuracy(found, test)}
    peer().rows(train.features, train.labels)
    for draw, method in itertools.product(range(draws), METHODS):
        seeded = None if noise == "secure" else draws * split + draw
        for epsilon, candidate in zip(epsilons, settings[method], strict=True):
            found = fit_one(method, train, blocks, epsilon, candidate, noise=noise, seed=seeded)
            yield {
                "split": split, "draw": draw, "method": method, "level": epsilon, "accuracy": accuracy(found, test),
            }  # fmt: skip


def over_draws(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean accuracy over draws of noise: a row for each split, method and ε.

    Parameters
    ----------
    rows : DataFrame
        From `run_trial`.
    """
    means = rows.groupby(["split", "method", "level"], dropna=False, sort=False)["accuracy"].mean()
    return means.reset_index()


def experiment(name: str, *, data: str) -> Experiment:
    """Return the three learners on redrawn splits of one data set, a task per split."""
    settings = chosen_blocks(read_record("private-learners-settings-blocks")[0], data)
    parameters = {
        "seed": 0, "test_share": TEST_SHARE, "most_rows": MOST_ROWS, "epsilons": EPSILONS, "settings": settings,
        "draws": DRAWS, "peer": peer_provenance(),
    }  # fmt: skip
    tasks = [
        {"source": Source(data), "split": split, "seed": 0, "settings": settings} for split in range(TRIALS)
    ]
    return Experiment(name, describe_table(data), parameters, functools.partial(on_data, run_trial), tasks)


EXPERIMENTS: Experiments = {
    f"private-learners-blocks-{data}": functools.partial(experiment, data=data) for data in STANDS_FOR
}
