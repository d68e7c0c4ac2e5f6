"""Accuracy at the same certified ε: our private learners, those of other libraries, no privacy, and a constant."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.ours.private_learners_fits import (
    LEARNERS,
    Candidate,
    Rows,
    accuracy,
    fit,
    unit_ball,
    unprotected,
)
from dpfair_lib.experiments.ours.private_learners_peer import peer, peer_provenance
from dpfair_lib.experiments.ours.private_learners_settings import EPSILONS, STANDS_FOR, chosen
from dpfair_lib.experiments.recorded_results import read_record
from dpfair_lib.experiments.sources import Source, describe_table, on_data

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset

TEST_SHARE = 0.2
TRIALS = 20
"""Splits of each data set."""
MOST_ROWS = 100_000
"""Rows that a data set has here at most: of ACSIncome these are drawn once, for all splits."""


def split_rows(dataset: Dataset, split: int, seed: int) -> tuple[Rows, Rows]:
    """Return training and test rows in the unit ball.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled.
    split : int
        Number of the split, from 0.
    seed : int
        Of the rows that a large data set keeps, and of the splits.
    """
    kept = np.random.default_rng(seed).permutation(len(dataset.y))[:MOST_ROWS]
    order = np.random.default_rng([seed, split]).permutation(kept)
    (features, columns), labels = unit_ball(dataset), dataset.y.to_numpy().astype(np.int64)
    cut = round(len(order) * TEST_SHARE)
    train, test = (Rows(features[at], labels[at], columns) for at in (order[cut:], order[:cut]))
    return train, test


def run_trial(
    dataset: Dataset,
    *,
    split: int,
    seed: int,
    settings: dict[str, list[Candidate]],
    epsilons: tuple[float, ...] = EPSILONS,
) -> Iterator[dict[str, Any]]:
    """Fit every learner on one split. Ours draw secure noise.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled.
    split, seed : int
        As for `split_rows`. The seed is that of Opacus' noise too; secure noise has none.
    settings : dict
        From `chosen`: a candidate for each learner and ε.
    epsilons : tuple of float
        ε, those of `settings` in their order.

    Yields
    ------
    dict
        ``split, method, level`` (ε, or None), ``accuracy`` on the test rows, ``warnings`` of diffprivlib.
    """
    train, test = split_rows(dataset, split, seed)
    for method, found in unprotected(train):
        yield _row(split, method, None, accuracy(found, test))
    peer().rows(train.features, train.labels)
    delta = len(train.labels) ** -2.0
    draws = np.random.default_rng([seed, split, 1])
    for method in LEARNERS:
        for epsilon, candidate in zip(epsilons, settings[method], strict=True):
            drawn = int(draws.integers(2**31))
            found = fit(method, train, epsilon, candidate, delta=delta, noise="secure", seed=drawn)
            yield _row(split, method, epsilon, accuracy(found, test), ", ".join(found.warnings))


def _row(split: int, method: str, level: float | None, right: float, words: str = "") -> dict[str, Any]:
    return {"split": split, "method": method, "level": level, "accuracy": right, "warnings": words}


def experiment(name: str, *, data: str) -> Experiment:
    """Return all learners on redrawn splits of one data set, a task per split."""
    held, _ = read_record("private-learners-settings")
    settings = chosen(held, data)
    parameters = {
        "seed": 0, "test_share": TEST_SHARE, "most_rows": MOST_ROWS, "epsilons": EPSILONS, "settings": settings,
        "peer": peer_provenance(),
    }  # fmt: skip
    tasks = [
        {"source": Source(data), "split": split, "seed": 0, "settings": settings} for split in range(TRIALS)
    ]
    return Experiment(name, describe_table(data), parameters, functools.partial(on_data, run_trial), tasks)


EXPERIMENTS: Experiments = {
    f"private-learners-{data}": functools.partial(experiment, data=data) for data in STANDS_FOR
}
