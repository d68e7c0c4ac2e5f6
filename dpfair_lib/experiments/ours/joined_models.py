"""A private learner and private post-processing on shared and on split rows: accuracy and parity on new rows."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.sk.private_svms import unit_ball
from dpfair_lib.experiments.sources import Source, describe_dataset, on_data

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset

EPSILONS = 0.3, 1.0, 3.0
DELTA = 1e-6
TEST_SHARE = 0.5
TRIALS = 20
WAYS: dict[str, dict[str, Any]] = {
    "shared": {"rows": "shared"},
    "shared, one half": {"rows": "shared", "share": 0.5},
    "split": {"rows": "split"},
    "split, one in ten": {"rows": "split", "share": 0.1},
}
"""Name → parameters of `PrivateFairClassifier`; without ``share`` its default rule applies."""


def run_trial(
    dataset: Dataset, *, split: int, seed: int, epsilons: Iterable[float] = EPSILONS
) -> Iterator[dict[str, Any]]:
    """Fit a model in every way on one half of the rows, and measure it on the other half.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled; two groups.
    split : int
        Number of the split, from 0.
    seed : int
        Seed of splits and (study) noise.
    epsilons : iterable of float
        Total ε.

    Yields
    ------
    dict
        ``split, way, epsilon, share``; on the test rows ``accuracy`` and ``gap``, exact over the flips, and those of
        the learner alone, ``plain_accuracy`` and ``plain_gap``; ``fitted_gap``, on the rows that adjusted;
        ``excess_0`` and ``excess_1``, how much more often the learner selects a group's adjusting rows than its test
        rows.
    """
    from dpfair_lib.central.private_classifier import PrivateFairClassifier
    from dpfair_lib.central.row_parts import held_out

    X, y = unit_ball(dataset), dataset.y.to_numpy().astype(np.int64)
    group = (
        (dataset.sensitive_features == sorted(dataset.sensitive_features.unique())[0]).to_numpy().astype(int)
    )
    order = np.random.default_rng([seed, split]).permutation(len(y))
    test, train = np.split(order, [round(TEST_SHARE * len(y))])
    for epsilon, (way, told) in itertools.product(epsilons, WAYS.items()):
        model = PrivateFairClassifier(
            epsilon=epsilon,
            delta=DELTA,
            feature_bound=1.0,
            noise="study",
            random_state=1000 * seed + split,
            **told,
        ).fit(X[train], y[train], sensitive_features=group[train])
        adjusted = train[held_out(len(train), model.share_)] if told["rows"] == "split" else train
        rates, fitted = (_rates(model, X[rows], group[rows]) for rows in (test, adjusted))
        chance = model.predict_proba(X[test], sensitive_features=group[test])[:, 1]
        yield {
            "split": split, "way": way, "epsilon": epsilon, "share": model.share_,
            "accuracy": float(np.where(y[test] == 1, chance, 1 - chance).mean()),
            "gap": abs(float(np.diff(rates[1])[0])),
            "plain_accuracy": float((model.learner_.predict(X[test]) == y[test]).mean()),
            "plain_gap": abs(float(np.diff(rates[0])[0])), "fitted_gap": abs(float(np.diff(fitted[1])[0])),
            **{f"excess_{a}": float(fitted[0][a] - rates[0][a]) for a in (0, 1)},
        }  # fmt: skip


def _rates(model: Any, X: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both groups' selection rates, of the learner and after post-processing."""
    chosen, chance = model.learner_.predict(X), model.predict_proba(X, sensitive_features=group)[:, 1]
    return tuple(np.array([values[group == a].mean() for a in (0, 1)]) for values in (chosen, chance))  # type: ignore[return-value]


def experiment(name: str, *, data: str) -> Experiment:
    """Return the comparison of sharing and splitting, a task per split."""
    parameters = {
        "trials": TRIALS, "seed": 0, "delta": DELTA, "test_share": TEST_SHARE, "epsilons": EPSILONS, "ways": WAYS
    }  # fmt: skip
    tasks = [{"source": Source(data), "split": split, "seed": 0} for split in range(TRIALS)]
    return Experiment(name, describe_dataset(data), parameters, functools.partial(on_data, run_trial), tasks)


EXPERIMENTS: Experiments = {
    f"joined-models-{data}": functools.partial(experiment, data=data) for data in ("adult", "compas")
}
