"""A small network in place of the linear model, on the splits of `trials`; recorded by itself, on fewer of them.

Methods that change labels take any classifier, so under add-remove they run with `DPNetworkClassifier`. Shares of ε and
dials are those of the linear model, so that pairs differ in the classifier alone. Units and steps are chosen for each ε
on the same held data and from the same steps, by the same rule.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.fair_learners.bases import PRESENT, Base, Bases, nearest
from dpfair_lib.experiments.fair_learners.methods import CHANGED, METHODS, PLAIN
from dpfair_lib.experiments.fair_learners.people import (
    LABELS,
    MOST_ROWS,
    TEST_ROWS,
    TEST_SHARE,
    held_people,
    measured,
    split_people,
)
from dpfair_lib.experiments.fair_learners.settings import EPSILONS, bases_settings, held_rows, tuned
from dpfair_lib.experiments.fair_learners.summary import Dials, interval, loss, method_rows
from dpfair_lib.experiments.fair_learners.trials import OPEN, Tuning, checked, row_of, unprotected
from dpfair_lib.experiments.ours.private_learners_fits import STEPS, Candidate
from dpfair_lib.experiments.ours.private_learners_settings import EPSILONS as RECORDED
from dpfair_lib.experiments.ours.private_learners_settings import HELD, SIZES, STANDS_FOR
from dpfair_lib.experiments.recorded_results import read_record
from dpfair_lib.experiments.sources import Source, describe_table, on_data
from dpfair_lib.learners.networks.network_steps import layers_of
from dpfair_lib.privacy import PrivacyStatement

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset

TRIALS = 5
"""Splits: the first ones of `trials`."""
CANDIDATES: tuple[Candidate, ...] = tuple({"hidden": hidden} | steps for hidden in (4, 16) for steps in STEPS)
HIDDEN = 16
"""Units of the network without privacy."""
ROUNDS = 200
"""Of its solver, L-BFGS, at most."""
RUN = tuple(one for one in METHODS if one.protection == PRESENT and one.name in (PLAIN, *CHANGED))
"""Methods that take any classifier."""


class NetworkBase(Base):
    """A network that several methods change; its weights stand in one vector."""

    def scores(self, people: Any) -> np.ndarray:
        """Return the score of each row."""
        hidden = (len(self.weights) - 1) // (people.features.shape[1] + 2)
        inner, outer, bias = layers_of(self.weights, hidden)
        return np.asarray(np.tanh(people.features @ inner[:, :-1].T + inner[:, -1]) @ outer + bias)


class NetworkBases(Bases):
    """The networks of one split: under add-remove, and without privacy. Settings have a list ``network``."""

    def get(self, protection: str, epsilon: float) -> Base:
        """Return the network with this ε."""
        return NetworkBase(*super().get(protection, epsilon))

    def _descent(self, epsilon: float) -> tuple[np.ndarray, PrivacyStatement]:
        from dpfair_lib import DPNetworkClassifier

        found = nearest(self.settings["network"], epsilon)
        model = DPNetworkClassifier(
            hidden=int(found["hidden"]), epsilon=epsilon, delta=self.delta, max_grad_norm=1.0,
            sample_rate=found["sample_rate"], steps=int(found["steps"]), learning_rate=found["learning_rate"],
            classes=(0, 1), noise="study", random_state=self.seed("descent", epsilon),
        ).fit(self.train.features, self.train.labels)  # fmt: skip
        return in_one(model), model.privacy_statement_

    def _open(self) -> np.ndarray:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.neural_network import MLPClassifier

        model = MLPClassifier(
            HIDDEN, activation="tanh", solver="lbfgs", max_iter=ROUNDS, random_state=self.entropy[-1]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # so many rounds are meant
            return in_one(model.fit(self.train.features, self.train.labels))


def in_one(model: Any) -> np.ndarray:
    """Return the weights of a fitted network in one vector, as `layers_of` takes them."""
    inner = np.column_stack([model.coefs_[0].T, model.intercepts_[0]])
    return np.concatenate([inner.ravel(), model.coefs_[1][:, 0], model.intercepts_[1]])


def run_choice(dataset: Dataset, *, size: str, label: str, draw: int, seed: int) -> Iterator[dict[str, Any]]:
    """Try every candidate on the held data, with study noise, at each ε of the linear model's choice.

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

    Yields
    ------
    dict
        ``size, label, draw, level, candidate`` (its number), and what `measured` gives.
    """
    entropy = (seed, list(SIZES).index(size), LABELS.index(label), draw)
    rows, attributes, _ = SIZES[size]
    train, test = held_people(dataset, label, rows, attributes, np.random.default_rng(entropy))
    for epsilon in RECORDED:
        for at, candidate in enumerate(CANDIDATES):
            bases = NetworkBases(train, {"network": [candidate] * len(RECORDED)}, entropy)
            guesses = bases.get(PRESENT, epsilon).guesses(test).astype(float)
            yield {
                "size": size, "label": label, "draw": draw, "level": epsilon, "candidate": at, **measured(test, guesses)
            }  # fmt: skip


def chosen(held: pd.DataFrame) -> list[Candidate]:
    """Return the candidate with the least mean error at each ε, the first of equals; rows of one size."""
    means = held.groupby(["level", "candidate"])["error"].mean()
    return [CANDIDATES[int(means[epsilon].idxmin())] for epsilon in RECORDED]


def run_trial(
    dataset: Dataset, *, split: int, seed: int, settings: Mapping[str, list[Candidate]], tuning: Tuning,
    epsilons: tuple[float, ...] = EPSILONS,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Fit every method of `RUN` to networks on one split, with study noise.

    Parameters
    ----------
    dataset, split, seed, tuning, epsilons
        As for `trials.run_trial`.
    settings : mapping
        ``network``: a candidate for each ε of the choice.

    Yields
    ------
    dict
        As `trials.run_trial`; without privacy too.
    """
    train, test = split_people(dataset, split, seed)
    bases = NetworkBases(train, settings, (seed, split))
    for method, notion, fit in unprotected(bases, test):
        names = {"protection": OPEN, "method": method, "notion": notion, "level": None}
        yield {"split": split, **names, **row_of(fit, test)}
    for one in RUN:
        names = {"protection": PRESENT, "method": one.name, "notion": one.notion}
        for at, epsilon in enumerate(epsilons):
            for fit in checked(one, bases, test, epsilon, tuning[f"{PRESENT}/{one.name}"][at]):
                yield {"split": split, **names, "level": epsilon, **row_of(fit, test)}


def compared(
    networks: pd.DataFrame, linear: pd.DataFrame, dials: Dials, notion: str, *, level: float
) -> pd.DataFrame:
    """Return how far networks are from linear models: paired differences on the splits that both have.

    Parameters
    ----------
    networks, linear : DataFrame
        Rows of `run_trial` and of `trials.run_trial`, of one data set.
    dials : mapping
        From `settings.dials`, for that data set and notion; both are at that setting.
    notion : str
        Which gap counts.
    level : float
        Confidence of each interval, alone.

    Returns
    -------
    DataFrame
        ``method, level`` (ε; None without privacy); mean and half-width of network minus linear as pairs: ``error``,
        ``gap``, ``loss``; ``verdict`` on the loss: "better", "worse" or "not apart".
    """
    keys: list[tuple[str, str, float | None]] = [(OPEN, PLAIN, None)]
    keys += [(PRESENT, one.name, epsilon) for one in RUN for epsilon in EPSILONS]
    lines = []
    for protection, name, epsilon in keys:
        dial = dials[protection, name, epsilon] if epsilon is not None else None
        own, other = (method_rows(rows, protection, name, epsilon, dial) for rows in (networks, linear))
        other = other.loc[own.index]
        pairs = {
            "error": interval(own["error"] - other["error"], level),
            "gap": interval(own[notion] - other[notion], level),
            "loss": interval(loss(own, notion) - loss(other, notion), level),
        }
        mean, half = pairs["loss"]
        word = "better" if mean + half < 0 else "worse" if mean - half > 0 else "not apart"
        lines.append({"method": name, "level": epsilon, **pairs, "verdict": word})
    return pd.DataFrame(lines)


def choice(name: str, *, size: str) -> Experiment:
    """Return errors of all candidates on the held data of one size, a task per label and draw."""
    shape = SIZES[size]
    parameters = {
        "seed": 0, "size": list(shape), "test_rows": TEST_ROWS, "epsilons": RECORDED, "candidates": list(CANDIDATES),
        "noise": "study",
    }  # fmt: skip
    tasks = [
        {"source": Source(HELD), "size": size, "label": label, "draw": draw, "seed": 0}
        for label in LABELS
        for draw in range(shape.draws)
    ]
    return Experiment(name, describe_table(HELD), parameters, functools.partial(on_data, run_choice), tasks)


def experiment(name: str, *, data: str) -> Experiment:
    """Return networks on the first splits of `trials.experiment`, a task per split."""
    held, _ = read_record(f"private-fair-networks-settings-{STANDS_FOR[data]}")
    settings = bases_settings(data) | {"network": chosen(held)}
    tuning = tuned(held_rows(data), data)
    tuning = {key: tuning[key] for key in (f"{PRESENT}/{one.name}" for one in RUN)}
    parameters = {
        "seed": 0, "test_share": TEST_SHARE, "most_rows": MOST_ROWS, "epsilons": EPSILONS, "settings": settings,
        "tuning": tuning, "noise": "study", "without_privacy": [HIDDEN, ROUNDS],
    }  # fmt: skip
    tasks = [
        {"source": Source(data), "split": split, "seed": 0, "settings": settings, "tuning": tuning}
        for split in range(TRIALS)
    ]
    return Experiment(name, describe_table(data), parameters, functools.partial(on_data, run_trial), tasks)


EXPERIMENTS: Experiments = {
    f"private-fair-networks-settings-{size}": functools.partial(choice, size=size) for size in SIZES
} | {f"private-fair-networks-{data}": functools.partial(experiment, data=data) for data in STANDS_FOR}
