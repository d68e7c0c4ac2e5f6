"""What is chosen on CelebA about three learners that perturb the objective, before they are compared on other data.

For noise for blocks it is the loss and the regularisation; for Gaussian noise and diffprivlib, which are compared with
it, the regularisation. Each has eight candidates, and as many draws of noise for each.

At weights near 0 the slope of the logistic loss is ½ and that of the huberised hinge 1, the largest that either may
have. The noise is in proportion to the largest slope. So where it decides, the hinge has twice the signal for it. Where
the rows decide, the logistic loss may err less.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.ours.private_learners_fits import (
    OBJECTIVE,
    Candidate,
    Rows,
    accuracy,
    fit,
    objective_regularization,
)
from dpfair_lib.experiments.ours.private_learners_peer import Weights, peer, peer_provenance
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
METHODS = {
    BLOCKS: CANDIDATES, "objective, Gaussian": OBJECTIVE, "diffprivlib": OBJECTIVE,
}  # fmt: skip
"""What may be chosen about each learner of the comparison."""
REPEATS = 4
"""Draws of noise for each candidate on the same rows."""


def fit_one(
    method: str,
    train: Rows,
    blocks: list[str],
    epsilon: float,
    chosen: Candidate,
    *,
    noise: Noise,
    seed: Any = None,
) -> Weights:
    """Return the weights of one of `METHODS`: at δ = 1/n² with Gaussian noise, else at δ = 0.

    Parameters
    ----------
    method : str
        A key of `METHODS`. diffprivlib fits the rows that were sent to its process last.
    train, blocks, epsilon, chosen, noise, seed
        As for `fit_blocks`, and for `fit` of the other learners.
    """
    if method == BLOCKS:
        return fit_blocks(train, blocks, epsilon, chosen, noise=noise, seed=seed)
    return fit(method, train, epsilon, chosen, delta=len(train.labels) ** -2.0, noise=noise, seed=seed)


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
    """Try every candidate of each learner on the rows of the choice for all learners, with study noise.

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
        Of rows, attributes and noise. diffprivlib's noise has none.
    epsilons : tuple of float
        ε.
    repeats : int
        Draws of noise.

    Yields
    ------
    dict
        ``size, label, draw, method, level`` (ε), ``candidate`` (its number), ``repeat``, ``accuracy`` on the test rows.
    """
    entropy = [seed, list(SIZES).index(size), LABELS.index(label), draw]
    train, test = held_rows(dataset, label, SIZES[size], np.random.default_rng(entropy))
    blocks = [str(at) for at in range(train.columns)] * 2  # each attribute became two columns
    peer().rows(train.features, train.labels)
    draws = np.random.default_rng([*entropy, 2])
    for epsilon in epsilons:
        tries = itertools.product(METHODS, range(len(CANDIDATES)), range(repeats))
        for method, at, repeat in tries:
            candidate, drawn = METHODS[method][at], int(draws.integers(2**31))
            found = fit_one(method, train, blocks, epsilon, candidate, noise="study", seed=drawn)
            yield {
                "size": size, "label": label, "draw": draw, "method": method, "level": epsilon, "candidate": at,
                "repeat": repeat, "accuracy": accuracy(found, test),
            }  # fmt: skip


def chosen_blocks(rows: pd.DataFrame, data: str) -> dict[str, list[Candidate]]:
    """Return for each of `METHODS` and each ε of `EPSILONS` the candidate of the largest mean accuracy.

    The first of equals is chosen.

    Parameters
    ----------
    rows : DataFrame
        From `run_choice`.
    data : str
        A key of `STANDS_FOR`.
    """
    held = rows[rows["size"] == STANDS_FOR[data]]
    means = held.groupby(["method", "level", "candidate"])["accuracy"].mean()
    return {
        method: [candidates[int(means[method, epsilon].idxmax())] for epsilon in EPSILONS]
        for method, candidates in METHODS.items()
    }


def experiment(name: str) -> Experiment:
    """Return the accuracies of all candidates on the held data, a task per size, label and draw."""
    parameters: dict[str, Any] = {
        "seed": 0, "sizes": {key: list(size) for key, size in SIZES.items()}, "test_rows": TEST_ROWS,
        "candidates": {method: list(candidates) for method, candidates in METHODS.items()}, "repeats": REPEATS,
        "peer": peer_provenance(),
    }  # fmt: skip
    tasks = [
        {"source": Source(HELD), "size": key, "label": label, "draw": draw, "seed": 0}
        for key, size in SIZES.items()
        for label in LABELS
        for draw in range(size.draws)
    ]
    return Experiment(name, describe_table(HELD), parameters, functools.partial(on_data, run_choice), tasks)


EXPERIMENTS: Experiments = {"private-learners-settings-blocks": experiment}
