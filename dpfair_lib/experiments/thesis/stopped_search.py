"""Figures 5.5–5.8 with the channel of the later paper's public code: no bound on the error, and a search that stops.

The search is written anew from its description: it halves ranges of the 2k signed ratios and stops near the best value.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.sources import describe_table
from dpfair_lib.experiments.thesis import randomised_training as training
from dpfair_lib.experiments.thesis.randomised_training_records import DATA
from dpfair_lib.local.randomizer import Randomizer

METHOD = "OPT of the public code"
STOP = 0.01  # how far from the best value the search may end
MOST = 2000  # linear programs; the code itself has no such bound
# those of the figures, but for 20: there e^(−ε) is below what the linear programs are solved to
LEVELS = tuple(level for level in training.LEVELS if level < 20)
TUNED_LEVELS = tuple(level for level in training.TUNED_LEVELS if level < 20)
# five groups each; with ten the search does not end at ε of 1 and more
SETTINGS = {"adult": ("adult-race",), "lsac": ("lsac-family-income",)}

Ranges = list[tuple[float, float]]


class Ratios(NamedTuple):
    """The signed ratios (C·y + f)/(E·y + g) of the entries off the diagonal, y, and the polytope A·y ≤ b, y ≥ 0."""

    C: np.ndarray
    f: np.ndarray
    E: np.ndarray
    g: np.ndarray
    A: np.ndarray
    b: np.ndarray

    def worst(self, y: np.ndarray) -> float:
        """Return the largest ratio: Δ."""
        return float(((self.C @ y + self.f) / (self.E @ y + self.g)).max())


class Searched(NamedTuple):
    """A channel, its Δ, the least bound of the last round, how many programs that took, and whether it stopped."""

    matrix: np.ndarray
    value: float
    bound: float
    programs: int
    stopped: bool


def as_ratios(p: np.ndarray, p1: np.ndarray, epsilon: float) -> Ratios:
    """Return the program: a report's rate of label 1 over the overall one, less 1, with both signs.

    Parameters
    ----------
    p : array of shape (k,)
        P(A = i).
    p1 : array of shape (k,)
        P(Y = 1 | A = i).
    epsilon : float
        ε.

    Returns
    -------
    Ratios
        Privacy and both kinds of truthfulness bound the entries; the error may be anything.
    """
    k, overall = len(p), float(p @ p1)
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    i, j = np.array(pairs).T
    one, leaves = np.eye(len(pairs)), np.zeros((k, len(pairs)))
    leaves[i, np.arange(len(pairs))] = 1  # a diagonal entry is 1 less the rest of its row
    come = np.zeros_like(leaves)
    come[j, np.arange(len(pairs))] = p[i]
    away = p1 - overall
    C = come * away[i] - leaves * (p * away)[:, None]
    E = overall * (come - leaves * p[:, None])
    A = np.vstack(
        [-math.exp(epsilon) * one - leaves[j], leaves, one + leaves[i], one + leaves[j], (p @ leaves)[None]]
    )
    b = np.concatenate([-np.ones(len(pairs)), np.ones(k + 2 * len(pairs)), [1.0]])
    f, g = p * away, overall * p
    return Ratios(np.vstack([C, -C]), np.r_[f, -f], np.vstack([E, E]), np.r_[g, g], A, b)


def searched(
    p: np.ndarray, p1: np.ndarray, epsilon: float, *, stop: float = STOP, most: int = MOST
) -> Searched:
    """Halve the longest range of every box, round after round, until a channel is near the least bound.

    Parameters
    ----------
    p, p1, epsilon
        As of `as_ratios`.
    stop : float
        The search ends with a Δ of at most this above the least bound of a round.
    most : int
        No round begins once so many linear programs were solved.

    Returns
    -------
    Searched
        With the best channel found, also if the search did not stop.

    Raises
    ------
    ValueError
        If the solver finds no point of any box, as it may where e^(−ε) is below its tolerance.

    References
    ----------
    Ghoukasian and Asoodeh (2025), public code, commit 7096ba4f; Jiao and Li (2022).
    """
    it = as_ratios(p, p1, epsilon)
    ends = [[_least(it, sign * it.E[n]) * sign + it.g[n] for sign in (1, -1)] for n in range(len(it.f))]
    boxes: list[Ranges] = [[_range(it, n) for n in range(len(it.f))]]
    programs, best, value, bound = 4 * len(it.f), np.zeros(it.A.shape[1]), math.inf, -math.inf
    while programs < most and boxes:
        kept: list[Ranges] = []
        bound = math.inf
        for box in itertools.chain.from_iterable(map(halves, boxes)):
            found, programs = _relaxed(it, box, ends), programs + 1
            if found is None:
                continue
            low, y = found
            bound = min(bound, low)
            if low < value:
                kept.append(box)
                if it.worst(y) < value:
                    best, value = y, it.worst(y)
        if value - bound <= stop:
            return Searched(_channel(len(p), best), value, bound, programs, True)
        boxes = kept
    if math.isinf(value):
        raise ValueError(
            f"found no channel at epsilon={epsilon:g}: the solver calls every linear program empty"
        )
    return Searched(_channel(len(p), best), value, bound, programs, False)


def halves(box: Ranges) -> tuple[Ranges, Ranges]:
    """Return both halves of a box, cut across the first of its longest ranges."""
    at = int(np.argmax([high - low for low, high in box]))
    low, high = box[at]
    middle = (low + high) / 2
    return [*box[:at], (low, middle), *box[at + 1 :]], [*box[:at], (middle, high), *box[at + 1 :]]


def _solved(cost: np.ndarray, **constraints: Any) -> Any:
    from scipy.optimize import linprog

    return linprog(cost, method="highs", **constraints)


def _least(it: Ratios, cost: np.ndarray) -> float:
    return float(_solved(cost, A_ub=it.A, b_ub=it.b).fun)


def _range(it: Ratios, n: int) -> tuple[float, float]:
    """Return the least and the largest value of one ratio: two linear programs in y and a scale (Charnes–Cooper)."""
    cost, scaled = np.r_[it.C[n], it.f[n]], np.hstack([it.A, -it.b[:, None]])
    bounds = {"A_ub": scaled, "b_ub": 0 * it.b, "A_eq": np.r_[it.E[n], it.g[n]][None], "b_eq": [1]}
    return float(_solved(cost, **bounds).fun), -float(_solved(-cost, **bounds).fun)


def _relaxed(it: Ratios, box: Ranges, ends: list[list[float]]) -> tuple[float, np.ndarray] | None:
    """Return the least largest t with t·D replaced by its envelope on the box, and y; None if the box is empty.

    For t in [l, u] and D in [d, e] the product t·D is at most u·D + d·(t − u) and e·t + l·(D − e), and at least
    l·D + d·(t − l) and e·t + u·(D − e).
    """
    m, n = it.C.shape
    rows, limits = [], []
    for at, ((low, high), (least, largest)) in enumerate(zip(box, ends, strict=True)):
        sides = ((1, largest, low), (-1, largest, high), (1, least, high), (-1, least, low))
        for sign, mass, end in sides:
            row = np.zeros(n + m + 1)
            row[:n], row[n + at] = sign * (it.C[at] - end * it.E[at]), -sign * mass
            rows.append(row)
            limits.append(sign * (end * it.g[at] - mass * end - it.f[at]))
    below = np.hstack([np.zeros((m, n)), np.eye(m), -np.ones((m, 1))])  # every t is at most the last unknown
    domain = np.hstack([it.A, np.zeros((len(it.b), m + 1))])
    found = _solved(
        np.r_[np.zeros(n + m), 1.0], A_ub=np.vstack([below, *rows, domain]), b_ub=np.r_[np.zeros(m), limits, it.b],
        bounds=[(0, None)] * n + box + [(None, None)],
    )  # fmt: skip
    return (float(found.x[-1]), found.x[:n]) if found.success else None


def _channel(k: int, y: np.ndarray) -> np.ndarray:
    matrix = np.zeros((k, k))
    matrix[~np.eye(k, dtype=bool)] = np.maximum(y, 0)
    matrix[np.arange(k), np.arange(k)] = 1 - matrix.sum(axis=1)
    return matrix


@functools.lru_cache(maxsize=64)
def channel_of(setting: str, epsilon: float, standin: int | None = None) -> Searched:
    """Return the channel from the shares and rates of all rows, as the code computes them."""
    coded = training.coded_table(setting, standin)
    counts = np.bincount(coded.a, minlength=coded.k)
    return searched(
        counts / counts.sum(), np.bincount(coded.a, weights=coded.y, minlength=coded.k) / counts, epsilon
    )


def run_trial(
    *, setting: str, seed: int, levels: Sequence[float], tuned: bool, standin: int | None = None
) -> list[dict[str, Any]]:
    """Train with the code's channel at every ε on one split: that, the reports' seed and the learner of the figures.

    Parameters
    ----------
    setting, seed, levels, tuned, standin
        As of `dpfair_lib.experiments.thesis.randomised_training.run_trial`.

    Returns
    -------
    list of dict
        ``setting, seed, method, epsilon, accuracy, f1, parity, opportunity, truth`` as there; of the channel ``delta``,
        its Δ on all rows, ``bound``, ``programs`` and ``stopped``.
    """
    from sklearn.model_selection import train_test_split

    coded = training.coded_table(setting, standin)
    train, test = train_test_split(
        np.arange(len(coded.y)), test_size=training.TEST_SHARE, random_state=seed, stratify=coded.y
    )
    learn = training._Learner(coded, train, test, training._learner_settings(setting, seed, tuned))
    rows = []
    for epsilon in levels:
        found = channel_of(setting, epsilon, standin)
        reports = training._drawn(Randomizer(found.matrix), coded.a[train], np.random.default_rng([seed, 0]))
        indicators = np.eye(coded.k, dtype=np.float32)[reports]
        numbers = training._measured(coded, test, learn(indicators)) | {
            "truth": float((reports == coded.a[train]).mean()), "delta": found.value, "bound": found.bound,
        }  # fmt: skip
        rows.append(
            {"setting": setting, "seed": seed, "method": METHOD, "epsilon": epsilon}
            | {name: round(number, training.DIGITS) for name, number in numbers.items()}
            | {"programs": found.programs, "stopped": int(found.stopped)}
        )
    return rows


def recorded(*, tuned: bool = False) -> pd.DataFrame:
    """Return the recorded trials."""
    from dpfair_lib.experiments.recorded_results import read_record

    names = [f"thesis-stopped-search-{data}{'-tuned' * tuned}" for data in DATA]
    return pd.concat([read_record(name)[0] for name in names], ignore_index=True)


def experiment(name: str, *, settings: tuple[str, ...], tuned: bool) -> Experiment:
    """Return the trials for attributes of one data set, a task per attribute and seed."""
    data = training.SETTINGS[settings[0]][0]
    seeds = training.TUNED_SEEDS[data] if tuned else training.SEEDS
    levels = TUNED_LEVELS if tuned else LEVELS
    tasks = [
        {"setting": setting, "seed": seed, "levels": levels, "tuned": tuned}
        for setting in settings
        for seed in range(seeds)
    ]
    parameters = {
        "settings": settings, "seeds": seeds, "levels": levels, "tuned": tuned, "stop": STOP, "most": MOST,
    }  # fmt: skip
    return Experiment(name, describe_table(data), parameters, run_trial, tasks)


EXPERIMENTS: Experiments = {
    f"thesis-stopped-search-{data}{suffix}": functools.partial(experiment, settings=settings, tuned=tuned)
    for data, settings in SETTINGS.items()
    for suffix, tuned in (("", False), ("-tuned", True))
}
