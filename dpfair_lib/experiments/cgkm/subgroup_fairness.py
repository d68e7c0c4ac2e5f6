"""Subgroup fairness on Adult: private no-regret dynamics against a linear program and a single draw."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.sources import describe_table

LEVELS: dict[Hashable, tuple[Any, ...]] = {
    "schooling": ("up to high school", "some college", "bachelor or more"),
    "hours": ("up to 40", "over 40"),
    "married": ("no", "yes"),
    "sex": ("Female", "Male"),
    "race": ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"),
    "age": ("under 30", "30 to 44", "45 and over"),
}
FEATURES = "schooling", "hours", "married"
SENSITIVE = "sex", "race", "age"
CLASSES: dict[str, tuple[tuple[str, ...], ...]] = {
    "sex": (("sex",),),
    "race": (("race",),),
    "sex × race": (("sex", "race"),),
    "all conjunctions": tuple(
        columns for order in (1, 2, 3) for columns in itertools.combinations(SENSITIVE, order)
    ),
}
TOLERANCE, DUAL_BOUND, SAMPLES, DELTA = 0.005, 10.0, 100, 1e-6
EPSILONS = 0.1, 0.5, 1.0, 3.0
NOISY_ROUNDS = (
    100  # where every round is noised, more of them are each noisier, and the auditor's choice is lost
)
TEST_SHARE = 0.3
TRIALS, ROUNDS = 10, 1000


@functools.lru_cache(maxsize=2)
def coded_adult(standin: int | None = None) -> pd.DataFrame:
    """Return Adult's complete rows in the public levels of `LEVELS`, with the label ``y``.

    Parameters
    ----------
    standin : int, optional
        Number of rows of the stand-in; by default the data themselves.
    """
    from dpfair_lib.datasets import load_table
    from dpfair_lib.datasets.adult import complete_rows
    from dpfair_lib.datasets.loading import spec_of
    from dpfair_lib.datasets.standin import draw, recorded

    if standin is None:
        table = complete_rows(load_table("adult"))
    else:
        table = draw(spec_of("adult"), recorded()["adult"], n=standin, rng=np.random.default_rng(0))

    def named(column: str, codes: Any) -> np.ndarray:
        return np.array(LEVELS[column], dtype=object)[np.asarray(codes, dtype=int)]

    coded = {
        "schooling": named("schooling", np.digitize(table["education-num"], [9.5, 12.5])),
        "hours": named("hours", table["hours-per-week"] > 40),
        "married": named("married", table["marital-status"].str.startswith("Married-")),
        "sex": table["sex"].to_numpy(),
        "race": table["race"].to_numpy(),
        "age": named("age", np.digitize(table["age"], [29.5, 44.5])),
        "y": (table["income"] == ">50K").to_numpy().astype(np.int64),
    }
    return pd.DataFrame(coded)


def subgroups_of(name: str) -> list[dict[Any, Any]]:
    """Return the subgroups of a class of `CLASSES`."""
    from dpfair_lib.compatibility.subgroup_fairness.public_grid import conjunctions

    return [
        group
        for columns in CLASSES[name]
        for group in conjunctions({column: LEVELS[column] for column in columns}, len(columns))
    ]


def run_trial(
    *, subgroups: str, split: int, seed: int, rounds: int, standin: int | None = None
) -> list[dict[str, Any]]:
    """Run every method on one split, for one class of subgroups.

    Parameters
    ----------
    subgroups : str
        A key of `CLASSES`.
    split, seed : int
        Number of the split, from 0; seed of splits, of study noise and of the learners' draws.
    rounds : int
        Rounds of the dynamics.
    standin : int, optional
        Number of rows of the stand-in; by default the data themselves.

    Returns
    -------
    list of dict
        ``split, subgroups, method, level``, the level being ε or empty; ``error, violation`` on the training rows, and
        ``test error, test violation``. All are exact over the classifier's own draws. A violation is the largest
        A(g)·|FP(h) − FP(h, g)|.
    """
    from dpfair_lib.compatibility.subgroup_fairness.subgroup_game import game_from_counts

    frame = coded_adult(standin)
    order = np.random.default_rng([seed, split]).permutation(len(frame))
    cut = round(len(frame) * TEST_SHARE)
    members_of = subgroups_of(subgroups)
    (counts, members), (held_out, _) = (
        _counted(frame.iloc[rows], members_of) for rows in (order[cut:], order[:cut])
    )
    train, test = (game_from_counts(table, members) for table in (counts, held_out))
    rng = np.random.default_rng([seed, split, 1])
    rows = []
    for method, level, h in _methods(train, counts, members, rounds, rng):
        found = {"split": split, "subgroups": subgroups, "method": method, "level": level}
        for name, game in (("", train), ("test ", test)):
            found[f"{name}error"] = round(float(game.errors(h)), 7)
            found[f"{name}violation"] = round(float(abs(game.violations(h)).max()), 7)
        rows.append(found)
    return rows


def _counted(frame: pd.DataFrame, subgroups: list[dict[Any, Any]]) -> tuple[np.ndarray, np.ndarray]:
    from dpfair_lib.compatibility.subgroup_fairness.public_grid import cell_of, count_table, membership

    cell, cells = cell_of(frame[list(FEATURES)], LEVELS, "X")
    profile, profiles = cell_of(frame[list(SENSITIVE)], LEVELS, "sensitive_features")
    members = membership(SENSITIVE, LEVELS, subgroups)
    return count_table(cell, profile, frame["y"].to_numpy(), cells, profiles), members


def _methods(
    game: Any, counts: np.ndarray, members: np.ndarray, rounds: int, rng: np.random.Generator
) -> Iterator[tuple[str, float | None, np.ndarray]]:
    from dpfair_lib.compatibility.subgroup_fairness.fair_dynamics import (
        no_regret_dynamics,
        printed_dynamics,
        printed_scale,
        rho_for,
        round_noise,
    )
    from dpfair_lib.compatibility.subgroup_fairness.no_regret import noisy_counts
    from dpfair_lib.compatibility.subgroup_fairness.subgroup_game import game_from_counts, optimum

    n = int(counts.sum())
    play = functools.partial(
        no_regret_dynamics, rounds=rounds, samples=SAMPLES, dual_bound=DUAL_BOUND, tolerance=TOLERANCE, rng=rng
    )  # fmt: skip
    yield "least error", None, (game.error < 0).astype(float)
    yield "linear program", None, optimum(game, TOLERANCE)
    yield "dynamics", None, play(game)
    sizes = counts.sum(axis=(1, 2))
    as_printed = functools.partial(
        printed_dynamics, game, sizes, rounds=rounds, samples=SAMPLES, dual_bound=DUAL_BOUND, rng=rng
    )
    for epsilon in EPSILONS:
        scale = printed_scale(epsilon, DELTA, n, dual_bound=DUAL_BOUND, rounds=rounds, samples=SAMPLES)
        yield "as printed", epsilon, as_printed(scale=scale).mean(axis=0)
        rho = rho_for(epsilon, DELTA)
        noisy = game_from_counts(noisy_counts(counts, rho, noise="study", rng=rng), members, n)
        yield "noisy counts, dynamics", epsilon, play(noisy)
        yield "noisy counts, linear program", epsilon, optimum(noisy, TOLERANCE)
        for few in sorted({min(NOISY_ROUNDS, rounds), rounds}):
            every = round_noise(epsilon, DELTA, n, rounds=few, dual_bound=DUAL_BOUND)
            yield f"{few} noisy rounds", epsilon, play(game, private=every, rounds=few)
        yield "exponential mechanism", epsilon, one_shot(game, n, epsilon, rng)


def one_shot(game: Any, n: int, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """Draw one of all deterministic classifiers on the cells by the exponential mechanism.

    The score is minus the error and C times what the largest violation exceeds the tolerance by. A replaced record
    moves an error and a violation by at most 1/n each, and so the score by (1 + C)/n.
    """
    from dpfair_lib.privacy import ExponentialMechanism

    every = np.array(list(itertools.product((0.0, 1.0), repeat=len(game.error))))
    over = np.maximum(abs(game.violations(every)).max(axis=1) - TOLERANCE, 0)
    scores = -(game.errors(every) + DUAL_BOUND * over)
    chances = ExponentialMechanism(epsilon, (1 + DUAL_BOUND) / n).probabilities(scores)
    return every[int(rng.choice(len(every), p=chances / chances.sum()))]


def experiment(name: str) -> Experiment:
    """Return private no-regret dynamics and their rivals, a task per split and class of subgroups."""
    parameters = {
        "trials": TRIALS, "seed": 0, "rounds": ROUNDS, "samples": SAMPLES, "dual_bound": DUAL_BOUND,
        "tolerance": TOLERANCE, "delta": DELTA, "noisy_rounds": NOISY_ROUNDS,
    }  # fmt: skip
    tasks = [
        {"subgroups": subgroups, "split": split, "seed": 0, "rounds": ROUNDS}
        for subgroups in CLASSES
        for split in range(TRIALS)
    ]
    return Experiment(name, describe_table("adult"), parameters, run_trial, tasks)


EXPERIMENTS: Experiments = {"cgkm-subgroups-adult": experiment}
