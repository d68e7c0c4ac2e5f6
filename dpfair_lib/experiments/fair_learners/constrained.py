"""Learners under fairness constraints, on the splits and beside the methods of `trials`; recorded by themselves.

What is chosen about them is chosen on the same held data, by the same rule as in `settings`. Which data sets are
recorded stands in `constrained_runs`, so that a record stays up to date when another one is added.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpfair_lib.experiments.fair_learners.bases import ATTRIBUTE, PRESENT, Bases
from dpfair_lib.experiments.fair_learners.methods import Fit, Method
from dpfair_lib.experiments.fair_learners.people import (
    LABELS,
    NOTIONS,
    People,
    held_people,
    measured,
    split_people,
)
from dpfair_lib.experiments.fair_learners.settings import EPSILONS
from dpfair_lib.experiments.fair_learners.summary import Case, method_rows
from dpfair_lib.experiments.fair_learners.trials import OF_NOTION, checked, row_of
from dpfair_lib.experiments.ours.private_learners_fits import Candidate
from dpfair_lib.experiments.ours.private_learners_settings import SIZES, STANDS_FOR
from dpfair_lib.experiments.recorded_results import read_record

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset

RATES = 0.01, 0.03, 0.06, 0.1, 0.3
"""The dial of the Lagrangian: how fast its multipliers grow."""
BOUNDS = 0.25, 0.5, 1.0, 2.0
"""The dial of exponentiated gradient: the largest price of a gap."""
KEYS = ["protection", "method", "level", "candidate"]


def lagrangian(
    bases: Bases, test: People, epsilon: float, candidate: Candidate, *, notion: str
) -> Iterator[Fit]:
    """Train by DP-SGD on the Lagrangian; the dial is the rate of its multipliers."""
    from dpfair_lib import DPLagrangianClassifier

    steps, train = bases.steps(epsilon), bases.train
    steps["learning_rate"] *= candidate["factor"]
    for rate in RATES:
        start = time.process_time()
        model = DPLagrangianClassifier(
            notion=OF_NOTION[notion], multiplier_rate=rate, epsilon=epsilon, delta=bases.delta, max_grad_norm=1.0,
            fit_intercept=False, classes=(0, 1), groups=(0, 1), noise="study",
            random_state=bases.seed("lagrangian", notion, epsilon), **steps,
        ).fit(train.features, train.labels, sensitive_features=train.groups)  # fmt: skip
        chances = model.predict(test.features).astype(float)
        yield Fit(rate, chances, model.privacy_statement_, time.process_time() - start)


def gradient(
    bases: Bases, test: People, epsilon: float, candidate: Candidate, *, notion: str
) -> Iterator[Fit]:
    """Play the game of exponentiated gradient; the dial is the largest price of a gap."""
    from dpfair_lib import PrivateExponentiatedGradient

    train = bases.train
    for bound in BOUNDS:
        start = time.process_time()
        model = PrivateExponentiatedGradient(
            notion=OF_NOTION[notion], multiplier_bound=bound, multiplier_rate=candidate["rate"], feature_bound=1.0,
            epsilon=epsilon, delta=bases.delta, classes=(0, 1), groups=(0, 1), noise="study",
            random_state=bases.seed("gradient", notion, epsilon),
        ).fit(train.features, train.labels, sensitive_features=train.groups)  # fmt: skip
        chances = model.predict_proba(test.features)[:, 1]
        yield Fit(bound, chances, model.privacy_statement_, time.process_time() - start)


METHODS = tuple(
    Method(f"{name}, {notion}", protection, notion, candidates, functools.partial(fit, notion=notion))
    for name, protection, candidates, fit in (
        ("Lagrangian", PRESENT, ({"factor": 1.0}, {"factor": 3.0}), lagrangian),
        ("exponentiated gradient", ATTRIBUTE, ({"rate": 2.0}, {"rate": 8.0}), gradient),
    )
    for notion in NOTIONS
)


def run_choice(
    dataset: Dataset, *, size: str, label: str, draw: int, seed: int, settings: dict[str, list[Candidate]]
) -> Iterator[dict[str, Any]]:
    """Try every candidate on the held data, with study noise; the arguments and rows of `settings.run_choice`."""
    entropy = (seed, list(SIZES).index(size), LABELS.index(label), draw)
    rows, attributes, _ = SIZES[size]
    train, test = held_people(dataset, label, rows, attributes, np.random.default_rng(entropy))
    bases = Bases(train, settings, entropy)
    for method in METHODS:
        for epsilon in EPSILONS:
            for at, candidate in enumerate(method.candidates):
                for fit in checked(method, bases, test, epsilon, candidate):
                    yield {
                        "size": size, "label": label, "draw": draw, "protection": method.protection,
                        "method": method.name, "level": epsilon, "candidate": at, "dial": fit.dial,
                        **measured(test, fit.chances),
                    }  # fmt: skip


def run_trial(
    dataset: Dataset, *, split: int, seed: int, settings: Mapping[str, list[Candidate]],
    tuning: Mapping[str, list[Candidate]], epsilons: tuple[float, ...] = EPSILONS,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Fit every method on one split, with study noise; the arguments and rows of `trials.run_trial`."""
    train, test = split_people(dataset, split, seed)
    bases = Bases(train, settings, (seed, split))
    for method in METHODS:
        for at, epsilon in enumerate(epsilons):
            candidate = tuning[f"{method.protection}/{method.name}"][at]
            for fit in checked(method, bases, test, epsilon, candidate):
                yield {
                    "split": split, "protection": method.protection, "method": method.name, "notion": method.notion,
                    "level": epsilon, **row_of(fit, test),
                }  # fmt: skip


def tuned(held: pd.DataFrame) -> dict[str, list[Candidate]]:
    """Return the candidates that the held rows of one size choose, by the rule of `settings.tuned`."""
    cost = held["error"] + held[list(NOTIONS)].mean(axis=1)
    best = held.assign(cost=cost).groupby([*KEYS, "dial"])["cost"].mean().groupby(KEYS).min()
    return {
        f"{one.protection}/{one.name}": [
            one.candidates[int(best[one.protection, one.name, epsilon].idxmin())] for epsilon in EPSILONS
        ]
        for one in METHODS
    }


def dials(held: pd.DataFrame, notion: str) -> dict[tuple[str, str, float], float]:
    """Return the dial that the held rows of one size choose for a notion, as `settings.dials`."""
    tuning, found = tuned(held), {}
    for one in METHODS:
        for epsilon, candidate in zip(EPSILONS, tuning[f"{one.protection}/{one.name}"], strict=True):
            key = (one.protection, one.name, epsilon)
            those = held.set_index(KEYS).sort_index().loc[(*key, one.candidates.index(candidate))]  # type: ignore[index]
            costs = (those["error"] + those[notion]).groupby(those["dial"].to_numpy()).mean()
            found[key] = float(costs.idxmin())
    return found


def candidates(rows: pd.DataFrame, held: pd.DataFrame, case: Case) -> dict[str, pd.DataFrame]:
    """Return the methods that may be used in a case, at the dials that the held rows chose: name → rows by split."""
    chosen = dials(held, case.notion)
    names = [one.name for one in METHODS if one.protection == case.protection]
    return {
        name: method_rows(rows, case.protection, name, case.level, chosen[case.protection, name, case.level])
        for name in names
    }


def held_rows(data: str) -> pd.DataFrame:
    """Return the recorded choice for a data set."""
    return read_record(f"private-constrained-settings-{STANDS_FOR[data]}")[0]
