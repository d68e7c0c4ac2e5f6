"""Algorithm 1 of ISIT on real data: accuracy and parity gap, against a constant and a group-blind classifier."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dpfair_lib.central import FairPostprocessor
from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.sources import Source, describe_dataset, on_data
from dpfair_lib.fairness import selection_rates

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset, Split

FAIR = {
    "Algorithm 1 (midpoint)": ("midpoint", False),
    "most accurate rate": ("accuracy", False),
    "midpoint, flips by score": ("midpoint", True),
    "most accurate rate, flips by score": ("accuracy", True),
}
METHODS = ("constant", "group-blind", "group-aware", *FAIR)
SPLITS = 20


def compare_on_splits(
    dataset: Dataset, *, splits: int, seed: int = 0, fixed_test: bool = True
) -> Iterator[dict[str, Any]]:
    """Give the rows of `compare_on_split` for several splits of one data set, split by split.

    Parameters
    ----------
    dataset, seed, fixed_test
        As for `compare_on_split`.
    splits : int
        Number of splits.
    """
    for split in range(splits):
        yield from compare_on_split(dataset, split=split, seed=seed, fixed_test=fixed_test)


def compare_on_split(
    dataset: Dataset, *, split: int, seed: int = 0, fixed_test: bool = True
) -> Iterator[dict[str, Any]]:
    """Train, post-process and test on one split of a data set.

    Logistic regression on half of the rows, rates and flips from a quarter, accuracy and parity gap on the
    last quarter. Both are exact expectations over the flips: no draw is made.

    Parameters
    ----------
    dataset : Dataset
        With a sensitive attribute of two groups.
    split : int
        Number of the split, from 0.
    seed : int
        Seed of the splits.
    fixed_test : bool
        Keep the test rows of the published split in all splits, or draw them anew.

    Yields
    ------
    dict
        ``split, method, accuracy, rate_0, rate_1`` for every method of `METHODS`; the rates are the groups'
        selection rates, in sorted order of the groups.

    Raises
    ------
    ValueError
        If there are not two groups.

    References
    ----------
    ISIT, § IV and Appendix B, without privacy.
    """
    from dpfair_lib.datasets import split_isit

    rng = np.random.default_rng([seed, split])
    parts = split_isit(len(dataset.y), rng=rng, fixed_test=fixed_test)
    predictions = plain_predictions(dataset, parts)
    truth, group = dataset.y.iloc[parts.test], dataset.sensitive_features.iloc[parts.test]
    for method in METHODS:
        probability = predictions[method]
        rates = selection_rates(probability, sensitive_features=group)
        yield {
            "split": split,
            "method": method,
            "accuracy": float(np.where(truth == 1, probability, 1 - probability).mean()),
            **{f"rate_{at}": float(rate) for at, rate in enumerate(rates.values())},
        }


def plain_predictions(dataset: Dataset, parts: Split) -> dict[str, np.ndarray]:
    """Return P(Ŷ = 1) of every test row, for every method without privacy.

    Parameters
    ----------
    dataset : Dataset
        With a sensitive attribute of two groups.
    parts : Split
        Rows to train, post-process and test on.

    Returns
    -------
    dict
        Method of `METHODS` → array of shape (test rows,).

    Raises
    ------
    ValueError
        If a group is missing from one of the parts.
    """
    from dpfair_lib.datasets import check_groups

    check_groups(parts, dataset.sensitive_features)
    truth = {name: dataset.y.iloc[rows] for name, rows in parts._asdict().items()}
    groups = {name: dataset.sensitive_features.iloc[rows] for name, rows in parts._asdict().items()}
    blind = _scores(dataset, parts, aware=False)
    aware = _scores(dataset, parts, aware=True)
    labels = {name: (score > 0.5).astype(int) for name, score in aware.items()}
    done = {
        "constant": np.full(len(parts.test), float(truth["train"].mean() > 0.5)),
        "group-blind": (blind["test"] > 0.5).astype(float),
        "group-aware": labels["test"].astype(float),
    }
    for method, (rate, by_score) in FAIR.items():
        fair = FairPostprocessor(rate=rate).fit(
            labels["post"],
            sensitive_features=groups["post"],
            y_true=truth["post"],
            scores=aware["post"] if by_score else None,
        )
        probabilities = fair.predict_proba(
            labels["test"],
            sensitive_features=groups["test"],
            scores=aware["test"] if by_score else None,
        )
        done[method] = probabilities[:, 1]
    return done


def _scores(dataset: Dataset, parts: Split, *, aware: bool) -> dict[str, np.ndarray]:
    """Return the regression's probabilities on the post-processing and the test rows."""
    from sklearn.linear_model import LogisticRegression

    train, post, test = feature_arrays(dataset, parts, aware=aware)
    model = LogisticRegression(max_iter=1000, tol=1e-4).fit(train, dataset.y.iloc[parts.train])
    return {"post": model.predict_proba(post)[:, 1], "test": model.predict_proba(test)[:, 1]}


def feature_arrays(dataset: Dataset, parts: Split, *, aware: bool) -> list[np.ndarray]:
    """Return the standardised features of the three parts.

    Parameters
    ----------
    dataset : Dataset
        With a sensitive attribute of two groups.
    parts : Split
        Rows of the parts.
    aware : bool
        Whether the group is a further feature, last: 0 for the first in sorted order, 1 for the second.

    Returns
    -------
    list of ndarray
        The parts' features, standardised with the mean and deviation of the training rows.
    """
    from dpfair_lib.datasets import standardize

    features = dataset.X
    if aware:
        second = sorted(dataset.sensitive_features.unique())[-1]
        features = features.assign(sensitive=(dataset.sensitive_features == second).astype(float))
    frames = standardize(*(features.iloc[rows] for rows in parts), columns=dataset.numeric_features)
    return [frame.to_numpy(dtype=float) for frame in frames]


def experiment(name: str, *, data: str, fixed_test: bool) -> Experiment:
    """Return the comparison on a data set, a task per split."""
    chosen = {"seed": 0, "fixed_test": fixed_test}
    return Experiment(
        name,
        describe_dataset(data),
        {"splits": SPLITS, **chosen},
        functools.partial(on_data, compare_on_split),
        [{"source": Source(data), "split": split, **chosen} for split in range(SPLITS)],
    )


EXPERIMENTS: Experiments = {
    "isit-alg-1-adult": functools.partial(experiment, data="adult", fixed_test=True),
    "isit-alg-1-adult-fresh-test": functools.partial(experiment, data="adult", fixed_test=False),
}
