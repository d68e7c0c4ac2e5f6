"""Accuracy at δ = 0 with noise that fits rows coded from columns, beside Laplace noise and diffprivlib.

What is chosen about each was chosen on other data, from eight candidates.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.ours.private_learners import MOST_ROWS, TEST_SHARE, split_rows
from dpfair_lib.experiments.ours.private_learners_fits import (
    Candidate,
    accuracy,
    fit,
    unprotected,
)
from dpfair_lib.experiments.ours.private_learners_peer import peer, peer_provenance
from dpfair_lib.experiments.ours.private_learners_settings import EPSILONS, STANDS_FOR, chosen
from dpfair_lib.experiments.ours.private_learners_settings_blocks import BLOCKS, chosen_blocks, fit_blocks
from dpfair_lib.experiments.recorded_results import read_record
from dpfair_lib.experiments.sources import Source, describe_table, on_data

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset
    from dpfair_lib.privacy.sampling import Noise

METHODS = BLOCKS, "objective, Laplace", "diffprivlib"
TRIALS = 20


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
) -> Iterator[dict[str, Any]]:
    """Fit the three learners, and what has no ε, on one split.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled.
    split, seed : int
        As for `split_rows`; the splits are those of the comparison of all learners.
    settings : dict
        For each of `METHODS` a candidate for each ε, from `chosen` and `chosen_blocks`.
    noise : {"secure", "study"}
        Of our learners; study noise is seeded by the split.
    epsilons : tuple of float
        ε, those of ``settings`` in their order.

    Yields
    ------
    dict
        ``split, method, level`` (ε, or None), ``accuracy`` on the test rows.
    """
    train, test = split_rows(dataset, split, seed)
    blocks = blocks_of(dataset)
    for method, found in unprotected(train):
        yield {"split": split, "method": method, "level": None, "accuracy": accuracy(found, test)}
    peer().rows(train.features, train.labels)
    drawn = None if noise == "secure" else split
    for method in METHODS:
        for epsilon, candidate in zip(epsilons, settings[method], strict=True):
            if method == BLOCKS:
                found = fit_blocks(train, blocks, epsilon, candidate, noise=noise, seed=drawn)
            else:
                found = fit(method, train, epsilon, candidate, delta=0.0, noise=noise, seed=drawn)
            yield {"split": split, "method": method, "level": epsilon, "accuracy": accuracy(found, test)}


def experiment(name: str, *, data: str) -> Experiment:
    """Return the three learners on redrawn splits of one data set, a task per split."""
    held, _ = read_record("private-learners-settings")
    held_blocks, _ = read_record("private-learners-settings-blocks")
    found = chosen(held, data) | {BLOCKS: chosen_blocks(held_blocks, data)}
    settings = {method: found[method] for method in METHODS}
    parameters = {
        "seed": 0, "test_share": TEST_SHARE, "most_rows": MOST_ROWS, "epsilons": EPSILONS, "settings": settings,
        "peer": peer_provenance(),
    }  # fmt: skip
    tasks = [
        {"source": Source(data), "split": split, "seed": 0, "settings": settings} for split in range(TRIALS)
    ]
    return Experiment(name, describe_table(data), parameters, functools.partial(on_data, run_trial), tasks)


EXPERIMENTS: Experiments = {
    f"private-learners-blocks-{data}": functools.partial(experiment, data=data) for data in STANDS_FOR
}
