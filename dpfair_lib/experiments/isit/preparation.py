"""Scaling of features on real data: how far one record moves all others, and what private scaling costs."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dpfair_lib.central.preparation import clipped_gradients, private_constants
from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.printed import BATCH, CLIP, DELTA, LEARNING_RATE
from dpfair_lib.experiments.public_bounds import BOUNDS
from dpfair_lib.experiments.sources import Source, describe_dataset, on_data
from dpfair_lib.privacy import dp_sgd_noise

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset

EPOCHS = 50  # as printed for ε′ = 3
EPSILON, FOR_CONSTANTS = 3.0, 0.3
TRIALS = 10
SCALINGS = ("the data's own", "the data's own, within bounds", "public constants", "private constants")


def others_moves(dataset: Dataset, *, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Replace one training record's numbers and say how far the clipped gradients of all *others* move.

    The columns are standardised by the training rows' own mean and deviation, before and after. New values are
    the largest that the data have, in one column or in all; the record replaced is the first.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled.
    seed : int
        Seed of the split.

    Yields
    ------
    dict
        ``replaced`` (a column or "all numeric columns"), ``model`` ("start" or "trained"), ``sum`` (the norm of
        the move of the others' sum) and ``total`` (the sum of the norms of the others' moves), both over C.
    """
    from dpfair_lib.datasets import split_isit

    rows = split_isit(len(dataset.y), rng=np.random.default_rng([seed, 0])).train
    table, columns = dataset.X.iloc[rows].to_numpy(dtype=float), _positions(dataset)
    labels = dataset.y.iloc[rows].to_numpy()
    before = _standardized(table, columns)
    models = {"start": np.zeros(table.shape[1]), "trained": _trained_without_noise(before, labels)}
    largest = table[:, columns].max(axis=0)
    for at in (*range(len(columns)), None):
        chosen = list(range(len(columns))) if at is None else [at]
        changed = table.copy()
        changed[0, [columns[i] for i in chosen]] = largest[chosen]
        after = _standardized(changed, columns)
        for model, coefficients in models.items():
            pair = [clipped_gradients(x[1:], labels[1:], coefficients, CLIP) for x in (before, after)]
            moved = pair[1] - pair[0]
            yield {
                "replaced": "all numeric columns" if at is None else dataset.numeric_features[at],
                "model": model,
                "sum": float(np.linalg.norm(moved.sum(axis=0)) / CLIP),
                "total": float(np.linalg.norm(moved, axis=1).sum() / CLIP),
            }


def compare_scaling_once(dataset: Dataset, *, trial: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Train by DP-SGD on columns that are scaled in four ways, and measure accuracy on the test rows.

    ε = 3 in all at δ = 1e-5, one record replaced: for the training alone with public constants, and with the
    data's own (where it leaves the constants out of the account); with private constants ε = 0.3 is theirs.
    "Within bounds" is the control: the data's own constants, of values clipped as for the two repairs.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled, with numeric columns named in `BOUNDS`.
    trial : int
        Number of the trial, from 0; it has its own split.
    seed : int
        Seed of splits, batches and (study) noise.

    Yields
    ------
    dict
        ``trial, scaling, accuracy``.
    """
    from dpfair_lib.datasets import split_isit

    columns = _positions(dataset)
    bounds = np.array([BOUNDS[name] for name in dataset.numeric_features])
    batches = math.ceil(len(dataset.y) / 2 / BATCH)
    parts = split_isit(len(dataset.y), rng=np.random.default_rng([seed, trial]), fixed_test=False)
    labels = dataset.y.to_numpy()
    for scaling in SCALINGS:
        rng = np.random.default_rng([seed, trial, SCALINGS.index(scaling)])
        table = _scaled(dataset, parts.train, columns, bounds, scaling, rng)
        noise = _noise(FOR_CONSTANTS if scaling == "private constants" else 0, batches)
        coefficients = _train(table[parts.train], labels[parts.train], noise, batches, rng)
        correct = (table[parts.test] @ coefficients > 0) == (labels[parts.test] == 1)
        yield {"trial": trial, "scaling": scaling, "accuracy": float(correct.mean())}


@functools.lru_cache
def _noise(spent: float, batches: int) -> float:
    """Return the noise multiplier of a training that may cost what is left of ε."""
    return dp_sgd_noise(EPSILON - spent, DELTA, 1 / batches, EPOCHS * batches, "pld", relation="replace-one")


def _positions(dataset: Dataset) -> list[int]:
    return [dataset.feature_names.index(name) for name in dataset.numeric_features]


def _standardized(table: np.ndarray, columns: list[int]) -> np.ndarray:
    done = table.copy()
    done[:, columns] = (table[:, columns] - table[:, columns].mean(axis=0)) / table[:, columns].std(
        axis=0, ddof=1
    )
    return done


def _trained_without_noise(table: np.ndarray, labels: np.ndarray) -> np.ndarray:
    coefficients = np.zeros(table.shape[1])
    for _ in range(EPOCHS * math.ceil(len(labels) / BATCH)):
        gradient = clipped_gradients(table, labels, coefficients, CLIP).mean(axis=0)
        coefficients = coefficients - LEARNING_RATE * gradient
    return coefficients


def _scaled(
    dataset: Dataset, train: np.ndarray, columns: list[int], bounds: np.ndarray, scaling: str,
    rng: np.random.Generator,
) -> np.ndarray:  # fmt: skip
    """Return all rows with scaled numbers, the one-hot columns, the group and a column of ones."""
    table = dataset.X.to_numpy(dtype=float)
    numbers = table[:, columns]
    if scaling != "the data's own":
        numbers = numbers.clip(*bounds.T)
    if scaling == "public constants":  # the middle of the range, and a quarter of it
        center, deviation = bounds.mean(axis=1), (bounds[:, 1] - bounds[:, 0]) / 4
    elif scaling == "private constants":
        center, deviation, _ = private_constants(
            numbers[train], bounds, FOR_CONSTANTS, noise="study", rng=rng
        )
    else:
        center, deviation = numbers[train].mean(axis=0), numbers[train].std(axis=0, ddof=1)
    scaled = (numbers - center) / deviation
    group = dataset.sensitive_features.to_numpy()
    done = np.delete(table, columns, axis=1)
    return np.column_stack([scaled, done, group == np.unique(group)[-1], np.ones(len(table))])


def _train(
    table: np.ndarray, labels: np.ndarray, noise_multiplier: float, batches: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the coefficients after DP-SGD with Poisson batches; the divisor is the public expected size."""
    coefficients = np.zeros(table.shape[1])
    for _ in range(EPOCHS * batches):
        batch = rng.random(len(labels)) < 1 / batches
        total = clipped_gradients(table[batch], labels[batch], coefficients, CLIP).sum(axis=0)
        total += rng.normal(scale=noise_multiplier * CLIP, size=total.shape)
        coefficients -= LEARNING_RATE * total * batches / len(labels)
    return coefficients


def moves_experiment(name: str, *, data: str) -> Experiment:
    """Return how far one record moves the others: a single task, because one training serves all its rows."""
    function = functools.partial(on_data, others_moves)
    return Experiment(
        name, describe_dataset(data), {"seed": 0}, function, [{"source": Source(data), "seed": 0}]
    )


def scaling_experiment(name: str, *, data: str) -> Experiment:
    """Return what scaling without leaks costs, a task per trial."""
    tasks = [{"source": Source(data), "trial": trial, "seed": 0} for trial in range(TRIALS)]
    function = functools.partial(on_data, compare_scaling_once)
    return Experiment(name, describe_dataset(data), {"seed": 0, "trials": TRIALS}, function, tasks)


EXPERIMENTS: Experiments = {
    f"isit-preparation-{data}-{what}": functools.partial(experiment, data=data)
    for data in ("adult", "credit")
    for what, experiment in (("moves", moves_experiment), ("scaling", scaling_experiment))
}
