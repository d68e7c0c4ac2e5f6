"""Accuracy at δ = 0 with noise that fits rows coded from columns, beside Laplace noise and diffprivlib.

The regularisation of the new noise is what another data set chose for Laplace noise; nothing was chosen for it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.ours.private_learners import MOST_ROWS, TEST_SHARE, split_rows
from dpfair_lib.experiments.ours.private_learners_fits import (
    Candidate,
    Rows,
    accuracy,
    fit,
    objective_regularization,
    unprotected,
)
from dpfair_lib.experiments.ours.private_learners_peer import Weights, peer, peer_provenance
from dpfair_lib.experiments.ours.private_learners_settings import EPSILONS, STANDS_FOR, chosen
from dpfair_lib.experiments.recorded_results import read_record
from dpfair_lib.experiments.sources import Source, describe_table, on_data

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset
    from dpfair_lib.privacy.sampling import Noise

BLOCKS = "objective, blocks"
SETTINGS_OF = {BLOCKS: "objective, Laplace"}
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


def fit_blocks(
    train: Rows, blocks: list[str], epsilon: float, chosen: Candidate, *, noise: Noise, seed: Any = None
) -> Weights:
    """Return the weights of objective perturbation at δ = 0 with noise for blocks.

    Parameters
    ----------
    train : Rows
        Training rows.
    blocks : list of str
        From `blocks_of`.
    epsilon : float
        ε under replace-one.
    chosen : dict
        ``least`` and ``length``, as in `objective_regularization`.
    noise : {"secure", "study"}
        Of the learner.
    seed : int, optional
        Of study noise.
    """
    from dpfair_lib.learners import ObjectivePerturbation
    from dpfair_lib.learners.block_noise import Block, bundled, deviation, places_of

    (n, p), each = train.features.shape, 1 / math.sqrt(train.columns)
    bundles = bundled([Block(places, each) for places in places_of(blocks)])
    modulus = objective_regularization(deviation(bundles, 2 / epsilon), epsilon, p, **chosen) / n
    model = ObjectivePerturbation(
        regularization=modulus, feature_bound=1.0, epsilon=epsilon, delta=0.0, fit_intercept=False,
        noise_kind="blocks", absolute_bound=each, blocks=blocks, classes=(0, 1), noise=noise, random_state=seed,
    )  # fmt: skip
    model.fit(train.features, train.labels)
    statement = model.privacy_statement_
    assert (statement.relation, statement.epsilon, statement.delta) == ("replace-one", epsilon, 0), statement
    return Weights(model.coef_[0], 0.0)


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
        From `chosen`.
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
        for epsilon, candidate in zip(epsilons, settings[SETTINGS_OF.get(method, method)], strict=True):
            if method == BLOCKS:
                found = fit_blocks(train, blocks, epsilon, candidate, noise=noise, seed=drawn)
            else:
                found = fit(method, train, epsilon, candidate, delta=0.0, noise=noise, seed=drawn)
            yield {"split": split, "method": method, "level": epsilon, "accuracy": accuracy(found, test)}


def experiment(name: str, *, data: str) -> Experiment:
    """Return the three learners on redrawn splits of one data set, a task per split."""
    held, _ = read_record("private-learners-settings")
    found = chosen(held, data)
    settings = {method: found[method] for method in METHODS if method not in SETTINGS_OF}
    parameters = {
        "seed": 0, "test_share": TEST_SHARE, "most_rows": MOST_ROWS, "epsilons": EPSILONS, "settings": settings,
        "settings_of": SETTINGS_OF, "peer": peer_provenance(),
    }  # fmt: skip
    tasks = [
        {"source": Source(data), "split": split, "seed": 0, "settings": settings} for split in range(TRIALS)
    ]
    return Experiment(name, describe_table(data), parameters, functools.partial(on_data, run_trial), tasks)


EXPERIMENTS: Experiments = {
    f"private-learners-blocks-{data}": functools.partial(experiment, data=data) for data in STANDS_FOR
}
