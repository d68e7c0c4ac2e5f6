"""Which private and fair learner? Methods side by side at equal certified ε, on redrawn splits of five data sets."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.fair_learners.bases import ATTRIBUTE, Bases
from dpfair_lib.experiments.fair_learners.methods import GAMMAS, METHODS, PLAIN, Fit, Method
from dpfair_lib.experiments.fair_learners.people import (
    MOST_ROWS,
    NOTIONS,
    TEST_SHARE,
    People,
    measured,
    split_people,
)
from dpfair_lib.experiments.fair_learners.settings import EPSILONS, bases_settings, held_rows, tuned
from dpfair_lib.experiments.ours.private_learners_fits import Candidate
from dpfair_lib.experiments.ours.private_learners_settings import STANDS_FOR
from dpfair_lib.experiments.sources import Source, describe_table, on_data

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset
    from dpfair_lib.postprocessing.groups import Notion

TRIALS = 20
"""Splits of each data set."""
OPEN = "none"
"""The protection of what has no privacy."""
CONSTANT, FAIR = "constant", "fair, no privacy"
OF_NOTION: dict[str, Notion] = {
    "parity": "demographic_parity",
    "opportunity": "equal_opportunity",
    "odds": "equalized_odds",
}
Tuning = Mapping[str, list[Candidate]]
"""``protection/method`` → a candidate for each ε."""


def run_trial(
    dataset: Dataset, *, split: int, seed: int, settings: Mapping[str, list[Candidate]], tuning: Tuning,
    epsilons: tuple[float, ...] = EPSILONS,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Fit every method on one split, with study noise.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled, and two groups.
    split, seed : int
        As for `split_people`; both seed the noise.
    settings : mapping
        For the base classifiers, from `private_learners_settings.chosen`.
    tuning : mapping
        From `settings.tuned`.
    epsilons : tuple of float
        ε, those of the tuning in their order.

    Yields
    ------
    dict
        ``split, protection, method, notion, level`` (ε, or None), ``dial``, what `measured` gives, and ``seconds`` of
        processor time.
    """
    train, test = split_people(dataset, split, seed)
    bases = Bases(train, settings, (seed, split))
    for method, notion, fit in unprotected(bases, test):
        yield _row(split, (OPEN, method, notion), None, fit, test)
    for chosen in METHODS:
        for at, epsilon in enumerate(epsilons):
            candidate = tuning[f"{chosen.protection}/{chosen.name}"][at]
            for fit in checked(chosen, bases, test, epsilon, candidate):
                yield _row(split, (chosen.protection, chosen.name, chosen.notion), epsilon, fit, test)


def checked(
    method: Method, bases: Bases, test: People, epsilon: float, candidate: Candidate
) -> Iterator[Fit]:
    """Yield the fits of a method, each after a look at what it cost.

    Raises
    ------
    RuntimeError
        If its statement promises less than this ε and δ under the method's protection.
    """
    for fit in method.fit(bases, test, epsilon, candidate):
        found = fit.statement
        meant = {method.protection, "local"} if method.protection == ATTRIBUTE else {method.protection}
        if (
            found is None
            or found.relation not in meant
            or found.epsilon > epsilon
            or found.delta > bases.delta
        ):
            raise RuntimeError(
                f"{method.name}: found {found}, expected ε = {epsilon} and δ = {bases.delta} at most under "
                f"{method.protection}"
            )
        yield fit


def unprotected(bases: Bases, test: People) -> Iterator[tuple[str, str, Fit]]:
    """Yield what has no privacy: the constant, logistic regression, and its fair post-processing for each notion."""
    from dpfair_lib import FairPostprocessor

    train, base = bases.train, bases.get(ATTRIBUTE, 1.0)
    often = float(2 * train.labels.sum() > len(train.labels))
    yield CONSTANT, "", Fit(None, np.full(len(test.labels), often), None, 0.0)
    yield PLAIN, "", Fit(None, base.guesses(test).astype(float), None, base.seconds)
    for notion in NOTIONS:
        for gamma in GAMMAS:
            start = time.process_time()
            fair = FairPostprocessor(notion=OF_NOTION[notion], gamma=gamma, objective="errors").fit(
                base.guesses(train), y_true=train.labels, sensitive_features=train.groups,
                scores=base.scores(train),
            )  # fmt: skip
            chances = fair.predict_proba(
                base.guesses(test), sensitive_features=test.groups, scores=base.scores(test)
            )[:, 1]
            yield FAIR, notion, Fit(gamma, chances, None, base.seconds + time.process_time() - start)


def row_of(fit: Fit, test: People) -> dict[str, Any]:
    """Return the dial, what `measured` gives, and the seconds of a fit."""
    return {"dial": fit.dial, **measured(test, fit.chances), "seconds": round(fit.seconds, 4)}


def _row(split: int, of: tuple[str, str, str], level: float | None, fit: Fit, test: People) -> dict[str, Any]:
    names = dict(zip(("protection", "method", "notion"), of, strict=True))
    return {"split": split, **names, "level": level, **row_of(fit, test)}


def experiment(name: str, *, data: str) -> Experiment:
    """Return all methods on redrawn splits of one data set, a task per split."""
    settings, tuning = bases_settings(data), tuned(held_rows(data), data)
    parameters = {
        "seed": 0, "test_share": TEST_SHARE, "most_rows": MOST_ROWS, "epsilons": EPSILONS, "settings": settings,
        "tuning": tuning, "noise": "study",
    }  # fmt: skip
    tasks = [
        {"source": Source(data), "split": split, "seed": 0, "settings": settings, "tuning": tuning}
        for split in range(TRIALS)
    ]
    return Experiment(name, describe_table(data), parameters, functools.partial(on_data, run_trial), tasks)


EXPERIMENTS: Experiments = {
    f"private-fair-{data}": functools.partial(experiment, data=data) for data in STANDS_FOR
}
