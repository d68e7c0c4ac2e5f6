"""What is chosen about each learner before it sees the data of the comparison: on CelebA, which is not among them.

Four sizes stand for the five data sets. In each, two attributes take turns as the label, and the features are other
attributes, drawn at random, each coded in two columns.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.ours.private_learners_fits import LEARNERS, Candidate, Rows, accuracy, fit
from dpfair_lib.experiments.ours.private_learners_peer import peer, peer_provenance
from dpfair_lib.experiments.sources import Source, describe_table, on_data

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset

EPSILONS = 0.1, 0.3, 1.0, 3.0
HELD = "celeba"
LABELS = "Smiling", "Young"
"""About 48 and 77 of a hundred rows have them."""
TEST_ROWS = 20_000
SAME = {"DP-SGD of Opacus": "DP-SGD"}
"""Whose settings a learner takes that has none of its own."""


class Size(NamedTuple):
    """Training rows, attributes that become two columns each, and draws of rows and attributes for each label."""

    rows: int
    attributes: int
    draws: int


SIZES = {
    "small": Size(4_000, 4, 4), "medium": Size(16_000, 7, 3),
    "wide": Size(20_000, 38, 1), "large": Size(80_000, 5, 2),
}  # fmt: skip
STANDS_FOR = {"compas": "small", "lsac": "medium", "adult": "wide", "credit": "wide", "acs-income": "large"}
"""By the number of training rows and of columns."""


def held_rows(dataset: Dataset, label: str, size: Size, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Return training and test rows of the held data: some attributes, each coded in two columns, in the unit ball.

    Parameters
    ----------
    dataset : Dataset
        CelebA or its stand-in, attributes −1 and 1.
    label : str
        The attribute to be learned.
    size : Size
        How many training rows and attributes.
    rng : numpy.random.Generator
        Draws rows and attributes.
    """
    table = dataset.X.assign(Smiling=2 * dataset.y.to_numpy() - 1)
    labels = (table.pop(label).to_numpy() > 0).astype(np.int64)
    names = rng.permutation(sorted(map(str, table)))[: size.attributes]
    signs = table[list(names)].to_numpy()
    features = np.hstack([signs > 0, signs <= 0]) / math.sqrt(size.attributes)
    order = rng.permutation(len(labels))
    train, test = order[: size.rows], order[size.rows : size.rows + TEST_ROWS]
    return tuple(Rows(features[at], labels[at], size.attributes) for at in (train, test))  # type: ignore[return-value]


def run_choice(
    dataset: Dataset, *, size: str, label: str, draw: int, seed: int, epsilons: tuple[float, ...] = EPSILONS
) -> Iterator[dict[str, Any]]:
    """Try every candidate of every learner on the held data, with study noise.

    Parameters
    ----------
    dataset : Dataset
        As for `held_rows`.
    size : str
        A key of `SIZES`.
    label : str
        One of `LABELS`.
    draw : int
        Number of the draw of rows and attributes.
    seed : int
        Of rows, attributes and noise. diffprivlib's noise has none.
    epsilons : tuple of float
        ε.

    Yields
    ------
    dict
        ``size, label, draw, method, level`` (ε), ``candidate`` (its number), ``accuracy`` on the test rows.
    """
    entropy = [seed, list(SIZES).index(size), LABELS.index(label), draw]
    train, test = held_rows(dataset, label, SIZES[size], np.random.default_rng(entropy))
    peer().rows(train.features, train.labels)
    draws = np.random.default_rng([*entropy, 1])
    delta = len(train.labels) ** -2.0
    for method, learner in LEARNERS.items():
        if len(learner.candidates) == 1 or method in SAME:
            continue
        for epsilon in epsilons:
            for at, candidate in enumerate(learner.candidates):
                drawn = int(draws.integers(2**31))
                found = fit(method, train, epsilon, candidate, delta=delta, noise="study", seed=drawn)
                yield {
                    "size": size, "label": label, "draw": draw, "method": method, "level": epsilon, "candidate": at,
                    "accuracy": accuracy(found, test),
                }  # fmt: skip


def chosen(rows: pd.DataFrame, data: str) -> dict[str, list[Candidate]]:
    """Return what the held data choose for a data set.

    Parameters
    ----------
    rows : DataFrame
        From `run_choice`.
    data : str
        A key of `STANDS_FOR`.

    Returns
    -------
    dict
        For every learner one candidate for each ε of `EPSILONS`: that of the largest mean accuracy over labels and
        draws, the first of equals.
    """
    means = (
        rows[rows["size"] == STANDS_FOR[data]].groupby(["method", "level", "candidate"])["accuracy"].mean()
    )
    return {
        method: [
            learner.candidates[int(means[SAME.get(method, method), epsilon].idxmax())]
            if len(learner.candidates) > 1
            else learner.candidates[0]
            for epsilon in EPSILONS
        ]
        for method, learner in LEARNERS.items()
    }


def best_of(rows: pd.DataFrame, data: str, methods: tuple[str, ...]) -> list[str]:
    """Return for each ε of `EPSILONS` which of some learners was best on the held data, each at its best candidate."""
    held = rows[(rows["size"] == STANDS_FOR[data]) & rows["method"].isin(methods)]
    means = held.groupby(["level", "method", "candidate"])["accuracy"].mean()
    return [str(means[epsilon].idxmax()[0]) for epsilon in EPSILONS]


def experiment(name: str) -> Experiment:
    """Return the accuracies of all candidates on the held data, a task per size and label."""
    parameters: Mapping[str, Any] = {
        "seed": 0, "sizes": {key: list(size) for key, size in SIZES.items()}, "test_rows": TEST_ROWS,
        "candidates": {method: list(learner.candidates) for method, learner in LEARNERS.items()},
        "peer": peer_provenance(),
    }  # fmt: skip
    tasks = [
        {"source": Source(HELD), "size": name, "label": label, "draw": draw, "seed": 0}
        for name, size in SIZES.items()
        for label in LABELS
        for draw in range(size.draws)
    ]
    return Experiment(name, describe_table(HELD), parameters, functools.partial(on_data, run_choice), tasks)


EXPERIMENTS: Experiments = {"private-learners-settings": experiment}
