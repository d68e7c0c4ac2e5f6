"""More draws of noise for the comparisons that few draws could not decide.

The interval of a paired difference counts the overlap of the splits: its square has a part in proportion to ¼ of the
variance between splits, which more splits do not lessen. Most of that variance is noise, and more draws of noise on the
same splits lessen that. So those pairs that the bar was missed with are run again: the same splits and settings, new
noise, and a number of draws that was fixed before.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.ours.private_learners import MOST_ROWS, TEST_SHARE, split_rows
from dpfair_lib.experiments.ours.private_learners_blocks import TRIALS, blocks_of
from dpfair_lib.experiments.ours.private_learners_fits import Candidate, accuracy, fit, unprotected
from dpfair_lib.experiments.ours.private_learners_peer import peer, peer_provenance
from dpfair_lib.experiments.ours.private_learners_settings import EPSILONS, chosen
from dpfair_lib.experiments.ours.private_learners_settings_blocks import (
    BLOCKS,
    METHODS,
    chosen_blocks,
    fit_one,
)
from dpfair_lib.experiments.recorded_results import read_record
from dpfair_lib.experiments.sources import Source, describe_table, on_data

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset


class Pair(NamedTuple):
    """A learner of ours and a peer at one ε, and how often each draws its noise on a split."""

    ours: str
    peer: str
    epsilon: float
    draws: int


MISSED: dict[str, tuple[Pair, ...]] = {
    "compas": (
        *(Pair(BLOCKS, "diffprivlib", epsilon, 100) for epsilon in EPSILONS),  # a fit takes some 6 ms
        Pair(BLOCKS, "DP-SGD of Opacus", 1.0, 10),
    ),
    "acs-income": (Pair(BLOCKS, "diffprivlib", 0.1, 20),),
    "adult": (
        Pair(BLOCKS, "DP-SGD of Opacus", 0.1, 40),
        Pair("objective, Gaussian", "diffprivlib", 1.0, 40),
        Pair(BLOCKS, "diffprivlib", 1.0, 40),
    ),
    "credit": (
        Pair(BLOCKS, "diffprivlib", 0.1, 40),
        Pair(BLOCKS, "DP-SGD of Opacus", 0.1, 40),
        Pair(BLOCKS, "diffprivlib", 1.0, 40),
        Pair("objective, Gaussian", "diffprivlib", 1.0, 40),
        Pair(BLOCKS, "DP-SGD of Opacus", 3.0, 40),
    ),
}
"""The pairs by data set, and their draws, fixed before the run. On COMPAS every ε is there."""


def run_trial(
    dataset: Dataset,
    *,
    split: int,
    seed: int,
    pairs: tuple[Pair, ...],
    settings: dict[str, list[Candidate]],
    epsilons: tuple[float, ...] = EPSILONS,
) -> Iterator[dict[str, Any]]:
    """Fit the learners of the pairs, and what has no ε, on one split. Ours draw secure noise.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled.
    split, seed : int
        As for `split_rows`. Opacus' noise is seeded by them and by the draw.
    pairs : tuple of Pair
        What is compared; a learner that stands in two at the same ε is fitted for the larger number of draws.
    settings : dict
        For each learner a candidate for each ε of ``epsilons``.
    epsilons : tuple of float
        ε.

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
    for (method, epsilon), draws in draws_of(pairs).items():
        candidate = settings[method][epsilons.index(epsilon)]
        for draw in range(draws):
            if method in METHODS:
                found = fit_one(method, train, blocks, epsilon, candidate, noise="secure")
            else:
                delta, seeded = len(train.labels) ** -2.0, 1000 * split + draw
                found = fit(method, train, epsilon, candidate, delta=delta, noise="secure", seed=seeded)
            yield {
                "split": split, "draw": draw, "method": method, "level": epsilon, "accuracy": accuracy(found, test),
            }  # fmt: skip


def draws_of(pairs: tuple[Pair, ...]) -> dict[tuple[str, float], int]:
    """Return for each learner and ε of some pairs how often it draws: the largest number of its pairs."""
    found: dict[tuple[str, float], int] = {}
    for pair in pairs:
        for method in (pair.ours, pair.peer):
            found[method, pair.epsilon] = max(pair.draws, found.get((method, pair.epsilon), 0))
    return found


def experiment(name: str, *, data: str) -> Experiment:
    """Return the pairs of one data set on its redrawn splits, a task per split."""
    pairs = MISSED[data]
    known = chosen(read_record("private-learners-settings")[0], data) | chosen_blocks(
        read_record("private-learners-settings-blocks")[0], data
    )
    settings = {method: known[method] for method, _ in draws_of(pairs)}
    parameters = {
        "seed": 0, "test_share": TEST_SHARE, "most_rows": MOST_ROWS, "pairs": [list(pair) for pair in pairs],
        "settings": settings, "peer": peer_provenance(),
    }  # fmt: skip
    tasks = [
        {"source": Source(data), "split": split, "seed": 0, "pairs": pairs, "settings": settings}
        for split in range(TRIALS)
    ]
    return Experiment(name, describe_table(data), parameters, functools.partial(on_data, run_trial), tasks)


EXPERIMENTS: Experiments = {
    f"private-learners-missed-{data}": functools.partial(experiment, data=data) for data in MISSED
}
