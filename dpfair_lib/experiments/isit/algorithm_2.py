"""Algorithm 2 of ISIT on real data: DP-SGD, private post-processing, and constant classifiers."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.isit.algorithm_1 import feature_arrays, plain_predictions
from dpfair_lib.experiments.printed import (
    CLIP,
    DELTA,
    EPOCHS,
    GROUP_EPSILON,
    LEARNING_RATE,
    printed_sampling,
    printed_tables,
)
from dpfair_lib.experiments.sources import Source, describe_dataset, on_data
from dpfair_lib.fairness import selection_rates
from dpfair_lib.privacy import PrivacyStatement, compose, convert, dp_sgd_noise, dp_sgd_statement, mark_noise
from dpfair_lib.privacy.statements import without_guarantee

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset, Split

RELATION = "replace-within-group"
NOISES = ("printed", "stated")
LEAK = "features standardised by means and deviations of the training rows, which nothing here covers"
PLAIN = {
    "constant": "reads which label the training rows have more often; fixed beforehand it would use no data",
    "group-blind": "no privacy: trained without noise",
    "group-aware": "no privacy: trained without noise",
    "Algorithm 1 (midpoint)": "no privacy: trained and post-processed without noise",
}
"""Methods without a privacy parameter → what they promise."""
PRIVATE = ("DP-SGD", "Algorithm 2", "coin")
TRIALS = 10


@dataclass(frozen=True)
class Target:
    """One private configuration of the published tables.

    Parameters
    ----------
    epsilon : float
        ε′ that training and post-processing are said to cost together.
    sigma : float
        Printed standard deviation of the noise: the multiplier times the clipping norm.
    epochs : int
        Number of passes.
    """

    epsilon: float
    sigma: float
    epochs: int


class Training(NamedTuple):
    """Noise and sampling of one DP-SGD run."""

    noise_multiplier: float
    sample_rate: float
    steps: int


def published_targets(name: str) -> tuple[Target, ...]:
    """Return the configurations of the printed Tables II–V (accountant PRV) for one data set."""
    tables = printed_tables().query("accountant == 'PRV' and method == 'Algorithm 2' and data == @name")
    return tuple(
        Target(float(row["epsilon"]), row["sigma"], EPOCHS[name, row["epsilon"]])
        for row in tables.to_dict("records")
    )


@functools.lru_cache
def training(target: Target, *, n_train: int, group_epsilon: float, noise: str) -> Training:
    """Return how DP-SGD is run for one target.

    Parameters
    ----------
    target : Target
        Which.
    n_train : int
        Number of training rows.
    group_epsilon : float
        ε₀ = ε₁, spent in post-processing.
    noise : {"printed", "stated"}
        The printed standard deviation, or noise calibrated by privacy loss distributions to ε′ − ε₀ − ε₁ for
        the rate and the steps of this run.

    Returns
    -------
    Training
        Batches are drawn at the rate 1/⌈n/1024⌉.

    Raises
    ------
    ValueError
        If the kind of noise is unknown.
    """
    rate, steps = printed_sampling(n_train, target.epochs)
    if noise == "printed":
        return Training(target.sigma / CLIP, rate, steps)
    if noise == "stated":
        left = target.epsilon - 2 * group_epsilon
        return Training(dp_sgd_noise(left, DELTA, rate, steps, "pld"), rate, steps)
    raise ValueError(f"noise: found {noise!r}, expected one of {NOISES}")


def account(targets: Sequence[Target], *, n_train: int, group_epsilon: float) -> list[dict[str, Any]]:
    """Return what training and the whole really cost, for every target and kind of noise.

    Parameters
    ----------
    targets : sequence of Target
        Which.
    n_train, group_epsilon
        As in `training`.

    Returns
    -------
    list of dict
        ``target, noise, noise_multiplier, sample_rate, steps``; ``training_add_remove`` and
        ``training_replace_one``: ε of DP-SGD alone at δ = 10⁻⁵, by privacy loss distributions;
        ``summed``: the first plus ε₀ + ε₁, the sum that the source forms.
    """
    done = []
    for target in targets:
        for noise in NOISES:
            run = training(target, n_train=n_train, group_epsilon=group_epsilon, noise=noise)
            added, replaced = (
                dp_sgd_statement(*run, DELTA, "pld", relation=relation).epsilon
                for relation in ("add-remove", "replace-one")
            )
            done.append(
                {"target": target.epsilon, "noise": noise, **run._asdict(), "training_add_remove": added,
                 "training_replace_one": replaced, "summed": added + 2 * group_epsilon}
            )  # fmt: skip
    return done


def whole_statement(run: Training, post: PrivacyStatement) -> PrivacyStatement:
    """Return the statement of Algorithm 2 as run, under the relation of its post-processing.

    Training and post-processing read different rows, chosen by position, so that a replaced record is in one
    of them only and the larger ε counts. Training is accounted under replace-one, which includes it.

    Parameters
    ----------
    run : Training
        The DP-SGD run.
    post : PrivacyStatement
        That of the post-processing.

    Returns
    -------
    PrivacyStatement
        Without guarantee: seeded noise, and features that were standardised by the training rows.
    """
    trained = mark_noise(convert(_training_statement(run), RELATION), "study")
    both = compose(trained, convert(post, RELATION), parallel="position")
    terms = dict.fromkeys(f"{both.note}; {LEAK}".split("; "))  # the parts share some
    return replace(both, guarantee=False, note="; ".join(terms))


@functools.lru_cache
def _training_statement(run: Training) -> PrivacyStatement:
    return dp_sgd_statement(
        *run, DELTA, "pld", relation="replace-one", public=("the number of training rows", "the two labels")
    )


def compare_on_splits(
    dataset: Dataset, *, targets: Sequence[Target], group_epsilon: float, trials: int, seed: int = 0,
    fixed_test: bool = True,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Give the rows of `compare_on_split` for several splits of one data set, split by split.

    Parameters
    ----------
    dataset, targets, group_epsilon, seed, fixed_test
        As for `compare_on_split`.
    trials : int
        Number of splits; each has noise of its own.
    """
    for split in range(trials):
        yield from compare_on_split(
            dataset, targets=targets, group_epsilon=group_epsilon, split=split, seed=seed,
            fixed_test=fixed_test,
        )  # fmt: skip


def compare_on_split(
    dataset: Dataset, *, targets: Sequence[Target], group_epsilon: float, split: int, seed: int = 0,
    fixed_test: bool = True,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Train by DP-SGD, post-process privately and test, on one split of a data set.

    One logistic regression for both groups, with the group as a feature, from a start at 0: batches of
    expected size about 1024, clipping at 1.5, learning rate 0.01. The post-processing rows give the rates, to
    which Laplace noise is added. A further baseline, the *coin*, ignores everything about a person: it
    selects everyone with the same probability, the common rate at which Algorithm 2 aims.

    Parameters
    ----------
    dataset : Dataset
        With a sensitive attribute of two groups.
    targets : sequence of Target
        What to run, each with both kinds of noise.
    group_epsilon : float
        ε₀ = ε₁.
    split : int
        Number of the split, from 0.
    seed : int
        Seed of splits and noise.
    fixed_test : bool
        Keep the test rows of the published split in all splits, or draw them anew.

    Yields
    ------
    dict
        ``split, target, noise, method, accuracy, rate_0, rate_1, drawn_accuracy, drawn_rate_0, drawn_rate_1,
        statement``. The first three numbers are exact over the flips, given the model and the noisy rates;
        the *drawn* ones are of one realised draw, as in the published runs. Target and noise are empty
        for methods without privacy.

    References
    ----------
    ISIT, § IV and App. B.
    """
    from dpfair_lib.datasets import split_isit

    parts = split_isit(len(dataset.y), rng=np.random.default_rng([seed, split]), fixed_test=fixed_test)
    truth, group = dataset.y.iloc[parts.test].to_numpy(), dataset.sensitive_features.iloc[parts.test]
    draws = np.random.default_rng([seed, split, 1])
    plain = plain_predictions(dataset, parts)
    found: list[tuple[float | None, str | None, str, np.ndarray, Any]]
    found = [(None, None, method, plain[method], promise) for method, promise in PLAIN.items()]
    features = feature_arrays(dataset, parts, aware=True)
    for place, target in enumerate(targets):
        for kind, noise in enumerate(NOISES):
            run = training(target, n_train=len(parts.train), group_epsilon=group_epsilon, noise=noise)
            source = np.random.default_rng([seed, split, 2, place, kind])
            for done in run_privately(dataset, parts, features, run, group_epsilon, source, backend="opacus"):
                found.append((target.epsilon, noise, *done))
    for target_epsilon, noise_kind, method, probability, statement in found:
        drawn = (draws.random(len(truth)) < probability).astype(int)
        yield {
            "split": split,
            "target": target_epsilon,
            "noise": noise_kind,
            "method": method,
            **measured(truth, group, probability, ""),
            **measured(truth, group, drawn, "drawn_"),
            "statement": str(statement),
        }


def run_privately(
    dataset: Dataset, parts: Split, features: list[np.ndarray], run: Training, group_epsilon: float,
    source: np.random.Generator, *, backend: Literal["fused", "opacus"],
) -> list[tuple[str, np.ndarray, PrivacyStatement]]:  # fmt: skip
    """Run DP-SGD and post-process its predictions, once.

    Parameters
    ----------
    dataset : Dataset
        With two groups.
    parts : Split
        Rows to train, post-process and test on.
    features : list of ndarray
        Features of the three parts.
    run : Training
        Noise and sampling.
    group_epsilon : float
        ε₀ = ε₁.
    source : Generator
        Seed.
    backend : {"fused", "opacus"}
        What carries out the steps.

    Returns
    -------
    list of (str, ndarray, PrivacyStatement)
        Method, P(Ŷ = 1) of every test row and statement, in the order of `PRIVATE`.
    """
    from dpfair_lib.central import PrivateFairPostprocessor
    from dpfair_lib.learners import DPLogisticRegression

    train, post, test = features
    model = DPLogisticRegression(
        noise_multiplier=run.noise_multiplier, delta=DELTA, max_grad_norm=CLIP, sample_rate=run.sample_rate,
        steps=run.steps, learning_rate=LEARNING_RATE, backend=backend, noise="study",
        random_state=source,
    ).fit(train, dataset.y.iloc[parts.train].to_numpy())  # fmt: skip
    groups = {name: dataset.sensitive_features.iloc[rows] for name, rows in parts._asdict().items()}
    fair = PrivateFairPostprocessor(
        group_epsilon, relation=RELATION, mechanism="laplace", noise="study", random_state=source
    ).fit(model.predict(post), sensitive_features=groups["post"])
    labels = model.predict(test)
    flipped = fair.predict_proba(labels, sensitive_features=groups["test"])[:, 1]
    coin = np.full(len(labels), float(np.mean(list(fair.noisy_rates_.values()))))
    whole = whole_statement(run, fair.privacy_statement_)
    alone = without_guarantee(model.privacy_statement_, LEAK)
    return [("DP-SGD", labels.astype(float), alone), ("Algorithm 2", flipped, whole), ("coin", coin, whole)]


def measured(truth: np.ndarray, group: Any, probability: np.ndarray, prefix: str) -> dict[str, float]:
    """Return accuracy and the groups' selection rates, exact over the flips, their names with a prefix."""
    rates = selection_rates(probability, sensitive_features=group)
    accuracy = float(np.where(truth == 1, probability, 1 - probability).mean())
    return {
        f"{prefix}accuracy": accuracy,
        **{f"{prefix}rate_{at}": float(rate) for at, rate in enumerate(rates.values())},
    }


def experiment(name: str, *, data: str, fixed_test: bool) -> Experiment:
    """Return the comparison on a data set with the printed and the stated noise, a task per split."""
    from dpfair_lib.datasets import split_isit

    targets = published_targets(data)
    described = describe_dataset(data)
    chosen: dict[str, Any] = {"seed": 0, "fixed_test": fixed_test, "group_epsilon": GROUP_EPSILON[data]}
    n_train = len(split_isit(described["rows"], rng=np.random.default_rng(0)).train)
    privacy = account(targets, n_train=n_train, group_epsilon=GROUP_EPSILON[data])
    return Experiment(
        name,
        described,
        {"trials": TRIALS, **chosen, "privacy": privacy},
        functools.partial(on_data, compare_on_split),
        [{"source": Source(data), "split": split, "targets": targets, **chosen} for split in range(TRIALS)],
    )


EXPERIMENTS: Experiments = {
    f"isit-alg-2-{data}{suffix}": functools.partial(experiment, data=data, fixed_test=fixed_test)
    for data in ("adult", "credit")
    for suffix, fixed_test in (("", True), ("-fresh-test", False))
}
