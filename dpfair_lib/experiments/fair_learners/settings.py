"""What is chosen about each private and fair learner before it sees the data of the comparison: on CelebA.

Four sizes stand for the five data sets, as for `private_learners_settings`, whose choice the base classifiers take.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.fair_learners.bases import Bases
from dpfair_lib.experiments.fair_learners.methods import METHODS
from dpfair_lib.experiments.fair_learners.people import LABELS, NOTIONS, TEST_ROWS, held_people, measured
from dpfair_lib.experiments.ours.private_learners_fits import Candidate
from dpfair_lib.experiments.ours.private_learners_settings import HELD, SIZES, STANDS_FOR, Size, chosen
from dpfair_lib.experiments.recorded_results import RESULTS, read_record
from dpfair_lib.experiments.sources import Source, describe_table, on_data

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset

EPSILONS = 0.5, 1.0, 3.0, 9.0
DRAWS = {"small": 2, "medium": 2, "wide": 1, "large": 1}
"""Draws of rows and attributes for each label."""


def run_choice(
    dataset: Dataset, *, size: str, label: str, draw: int, seed: int, settings: dict[str, list[Candidate]],
    epsilons: tuple[float, ...] = EPSILONS, shape: Size | None = None,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Try every candidate of every method on the held data, with study noise.

    Parameters
    ----------
    dataset : Dataset
        CelebA or its stand-in.
    size : str
        A key of `SIZES`.
    label : str
        One of `LABELS`.
    draw, seed : int
        Number of the draw of rows and attributes; both seed the noise.
    settings : dict
        For the base classifiers.
    epsilons : tuple of float
        ε.
    shape : Size, optional
        Other numbers of rows and attributes than those of the size.

    Yields
    ------
    dict
        ``size, label, draw, protection, method, level, candidate`` (its number), ``dial``, and what `measured` gives.
    """
    entropy = (seed, list(SIZES).index(size), LABELS.index(label), draw)
    rows, attributes, _ = shape or SIZES[size]
    train, test = held_people(dataset, label, rows, attributes, np.random.default_rng(entropy))
    bases = Bases(train, settings, entropy)
    for method in METHODS:
        for epsilon in epsilons:
            for at, candidate in enumerate(method.candidates):
                for fit in method.fit(bases, test, epsilon, candidate):
                    yield {
                        "size": size, "label": label, "draw": draw, "protection": method.protection,
                        "method": method.name, "level": epsilon, "candidate": at, "dial": fit.dial,
                        **measured(test, fit.chances),
                    }  # fmt: skip


def bases_settings(data: str) -> dict[str, list[Candidate]]:
    """Return what the held data chose for the base classifiers of a data set."""
    held, _ = read_record("private-learners-settings")
    found = chosen(held, data)
    return {name: found[name] for name in ("objective, Gaussian", "DP-SGD")}


def tuned(held: pd.DataFrame, data: str) -> dict[str, list[Candidate]]:
    """Return the candidates that the held data choose for a data set.

    Parameters
    ----------
    held : DataFrame
        From `run_choice`.
    data : str
        A key of `STANDS_FOR`.

    Returns
    -------
    dict
        ``protection/method`` → a candidate for each ε of `EPSILONS`: that with the least sum of error and mean gap, at
        its best setting of the dial, on the mean over labels and draws; the first of equals.
    """
    rows = held[held["size"] == STANDS_FOR[data]]
    cost = rows["error"] + rows[list(NOTIONS)].mean(axis=1)
    keys = ["protection", "method", "level", "candidate"]
    means = rows.assign(cost=cost).groupby([*keys, "dial"], dropna=False)["cost"].mean()
    best = means.groupby(keys).min()
    return {
        f"{method.protection}/{method.name}": [
            method.candidates[int(best[method.protection, method.name, epsilon].idxmin())]
            for epsilon in EPSILONS
        ]
        for method in METHODS
    }


def dials(held: pd.DataFrame, data: str, notion: str) -> dict[tuple[str, str, float], float | None]:
    """Return the dials that the held data choose for a data set and a notion.

    Parameters
    ----------
    held : DataFrame
        From `run_choice`.
    data : str
        A key of `STANDS_FOR`.
    notion : str
        One of `NOTIONS`.

    Returns
    -------
    dict
        (protection, method, ε) → the setting with the least mean sum of error and gap at the candidate of `tuned`; None
        for a method without a dial.
    """
    rows, tuning = held[held["size"] == STANDS_FOR[data]], tuned(held, data)
    found: dict[tuple[str, str, float], float | None] = {}
    for method in METHODS:
        for epsilon, candidate in zip(EPSILONS, tuning[f"{method.protection}/{method.name}"], strict=True):
            those = rows[
                (rows["protection"] == method.protection)
                & (rows["method"] == method.name)
                & (rows["level"] == epsilon)
                & (rows["candidate"] == method.candidates.index(candidate))
            ]
            costs = (those["error"] + those[notion]).groupby(those["dial"]).mean()
            best = None if costs.empty else float(costs.index.to_numpy()[int(costs.argmin())])
            found[method.protection, method.name, epsilon] = best
    return found


def held_rows(data: str, folder: Path = RESULTS) -> pd.DataFrame:
    """Return the recorded choice for a data set: the rows of `run_choice` of its size.

    Parameters
    ----------
    data : str
        A key of `STANDS_FOR`.
    folder : Path
        Where the records are.
    """
    return read_record(f"private-fair-settings-{STANDS_FOR[data]}", folder=folder)[0]


def experiment(name: str, *, size: str) -> Experiment:
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


EXPERIMENTS: Experiments = {
    f"private-fair-settings-{size}": functools.partial(experiment, size=size) for size in SIZES
}
