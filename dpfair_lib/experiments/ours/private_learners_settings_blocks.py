"""What is chosen about noise for blocks, on CelebA: the loss and the regularisation, by the protocol of the others.

At weights near 0 the slope of the logistic loss is ½ and that of the huberised hinge 1, the largest that either may
have. The noise is in proportion to the largest slope. So where it decides, the hinge has twice the signal for it. Where
the rows decide, the logistic loss may err less. The held data choose, from as many candidates as diffprivlib has.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.ours.private_learners_fits import (
    Candidate,
    Rows,
    accuracy,
    objective_regularization,
)
from dpfair_lib.experiments.ours.private_learners_peer import Weights
from dpfair_lib.experiments.ours.private_learners_settings import (
    EPSILONS,
    HELD,
    LABELS,
    SIZES,
    STANDS_FOR,
    TEST_ROWS,
    held_rows,
)
from dpfair_lib.experiments.sources import Source, describe_table, on_data

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset
    from dpfair_lib.privacy.sampling import Noise

# the hinge's curvature is four times the logistic's, so the same price asks for four times the regularisation; its
# weights are shorter, since margins beyond 3⁄2 gain nothing
CANDIDATES: tuple[Candidate, ...] = (
    *({"hinge": 0.0, "least": 1.0, "length": length} for length in (3.0, 10.0, 30.0, 100.0)),
    *({"hinge": 1.0, "least": 4.0, "length": length} for length in (1.0, 3.0, 10.0, 30.0)),
)
BLOCKS = "objective, blocks"
REPEATS = 4
"""Draws of noise for each candidate on the same rows."""


def fit_blocks(
    train: Rows, blocks: list[str], epsilon: float, chosen: Candidate, *, noise: Noise, seed: Any = None
) -> Weights:
    """Return the weights of objective perturbation at δ = 0 with noise for blocks.

    Parameters
    ----------
    train : Rows
        Training rows.
    blocks : list of str
        For each feature the column from which it was coded.
    epsilon : float
        ε under replace-one.
    chosen : dict
        ``least`` and ``length``, as in `objective_regularization`; and ``hinge``, if the loss is the huberised hinge.
    noise : {"secure", "study"}
        Of the learner.
    seed : int, optional
        Of study noise.
    """
    from dpfair_lib.learners import ObjectivePerturbation
    from dpfair_lib.learners.block_noise import Block, bundled, deviation, places_of

    (n, p), each = train.features.shape, 1 / math.sqrt(train.columns)
    bundles = bundled([Block(places, each) for places in places_of(blocks)])
    kept = {"least": chosen["least"], "length": chosen["length"]}
    modulus = objective_regularization(deviation(bundles, 2 / epsilon), epsilon, p, **kept) / n
    model = ObjectivePerturbation(
        loss="huberised-hinge" if chosen.get("hinge") else "logistic", regularization=modulus, feature_bound=1.0,
        epsilon=epsilon, delta=0.0, fit_intercept=False, noise_kind="blocks", absolute_bound=each, blocks=blocks,
        classes=(0, 1), noise=noise, random_state=seed,
    )  # fmt: skip
    model.fit(train.features, train.labels)
    statement = model.privacy_statement_
    assert (statement.relation, statement.epsilon, statement.delta) == ("replace-one", epsilon, 0), statement
    return Weights(model.coef_[0], 0.0)


def run_choice(
    dataset: Dataset,
    *,
    size: str,
    label: str,
    draw: int,
    seed: int,
    epsilons: tuple[float, ...] = EPSILONS,
    repeats: int = REPEATS,
) -> Iterator[dict[str, Any]]:
    """Try every candidate on the rows on which the other learners tried theirs, with study noise.

    Parameters
    ----------
    dataset : Dataset
        CelebA or its stand-in.
    size : str
        A key of `SIZES`.
    label : str
        One of `LABELS`.
    draw : int
        Number of the draw of rows and attributes.
    seed : int
        Of rows, attributes and noise.
    epsilons : tuple of float
        ε.
    repeats : int
        Draws of noise.

    Yields
    ------
    dict
        ``size, label, draw, level`` (ε), ``candidate`` (its number), ``repeat``, ``accuracy`` on the test rows.
    """
    entropy = [seed, list(SIZES).index(size), LABELS.index(label), draw]
    train, test = held_rows(dataset, label, SIZES[size], np.random.default_rng(entropy))
    blocks = [str(at) for at in range(train.columns)] * 2  # each attribute became two columns
    draws = np.random.default_rng([*entropy, 2])
    for epsilon in epsilons:
        for at, candidate in enumerate(CANDIDATES):
            for repeat in range(repeats):
                drawn = int(draws.integers(2**31))
                found = fit_blocks(train, blocks, epsilon, candidate, noise="study", seed=drawn)
                yield {
                    "size": size, "label": label, "draw": draw, "level": epsilon, "candidate": at, "repeat": repeat,
                    "accuracy": accuracy(found, test),
                }  # fmt: skip


def chosen_blocks(rows: pd.DataFrame, data: str) -> list[Candidate]:
    """Return for each ε of `EPSILONS` the candidate of the largest mean accuracy, the first of equals.

    Parameters
    ----------
    rows : DataFrame
        From `run_choice`.
    data : str
        A key of `STANDS_FOR`.
    """
    means = rows[rows["size"] == STANDS_FOR[data]].groupby(["level", "candidate"])["accuracy"].mean()
    return [CANDIDATES[int(means[epsilon].idxmax())] for epsilon in EPSILONS]


def experiment(name: str) -> Experiment:
    """Return the accuracies of all candidates on the held data, a task per size, label and draw."""
    parameters: dict[str, Any] = {
        "seed": 0, "sizes": {key: list(size) for key, size in SIZES.items()}, "test_rows": TEST_ROWS,
        "candidates": list(CANDIDATES), "repeats": REPEATS,
    }  # fmt: skip
    tasks = [
        {"source": Source(HELD), "size": key, "label": label, "draw": draw, "seed": 0}
        for key, size in SIZES.items()
        for label in LABELS
        for draw in range(size.draws)
    ]
    return Experiment(name, describe_table(HELD), parameters, functools.partial(on_data, run_choice), tasks)


EXPERIMENTS: Experiments = {"private-learners-settings-blocks": experiment}
