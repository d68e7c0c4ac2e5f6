"""Figures 5.1–5.10 of the thesis: a classifier trained on randomised reports of a sensitive attribute."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpfair_lib._extras import extra
from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.sources import describe_table
from dpfair_lib.local.randomizer import Randomizer

# of the experiments that the thesis follows, less 50, where all is as at 20; its own: unstated
LEVELS = 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 20.0
TUNED_LEVELS = 0.5, 2.0, 8.0, 20.0
SEEDS = 20
TUNED_SEEDS = {"adult-26k": 5, "lsac": 20}
TEST_SHARE = 0.2
# the five pairs of figures: data and the columns whose combined value is randomised
SETTINGS = {
    "adult-gender": ("adult-26k", ("gender",)),
    "lsac-gender": ("lsac", ("gender",)),
    "adult-race": ("adult-26k", ("race",)),
    "lsac-family-income": ("lsac", ("fam_inc",)),
    "adult-race-gender": ("adult-26k", ("race", "gender")),
}
# tuned in the experiments that the thesis follows, on the attribute as it is
TUNED: dict[str, dict[str, float | int]] = {
    "adult-26k": {"max_depth": 38, "learning_rate": 0.022557, "n_estimators": 1100},
    "lsac": {"max_depth": 9, "learning_rate": 0.181780, "n_estimators": 1100},
}
ROUNDED = {"OPT, ζ to hundredths": 100, "OPT, ζ to tenths": 10}
SIGNED = "parity signed", "opportunity signed"
SHUFFLES = 200
DIGITS = 7


class Coded(NamedTuple):
    """A table for training: ``X`` has the other columns one-hot, ``a`` the group's number, ``y`` the labels."""

    X: np.ndarray
    a: np.ndarray
    y: np.ndarray
    k: int


@functools.lru_cache(maxsize=2)
def coded_table(setting: str, standin: int | None = None) -> Coded:
    """Return a data set coded as in the experiments that the thesis follows: every column one-hot.

    Of LSAC, test scores are rounded to whole points and grades to halves, and race is Black or not.

    Parameters
    ----------
    setting : str
        One of `SETTINGS`.
    standin : int, optional
        Number of rows of the stand-in; by default the data themselves.

    References
    ----------
    Thesis § 5.7.1; Arcolezi et al. (2023).
    """
    name, columns = SETTINGS[setting]
    table = _table(name, standin)
    if name == "lsac":
        table["lsat"], table["ugpa"] = table["lsat"].round(), (table["ugpa"] * 2).round()
        table["race1"] = (table["race1"] != "black").astype(int)
        label = table.pop("pass_bar")
    else:
        label = table.pop("income")
    groups = table[list(columns)].apply(tuple, axis=1)
    values = sorted(set(groups))
    blocks = [
        (table[column].to_numpy()[:, None] == np.unique(table[column])).astype(np.float32)
        for column in table.columns.difference(list(columns), sort=False)
    ]
    return Coded(
        np.hstack(blocks), pd.Index(values).get_indexer(pd.Index(groups)), label.to_numpy(), len(values)
    )


def _table(name: str, standin: int | None) -> pd.DataFrame:
    from dpfair_lib.datasets import load_table
    from dpfair_lib.datasets import standin as drawn
    from dpfair_lib.datasets.loading import spec_of

    spec = spec_of(name)
    if standin:
        return drawn.draw(spec, drawn.recorded()[name], n=standin, rng=np.random.default_rng(0))
    return spec.clean(load_table(name))


def mechanisms(p: np.ndarray, p1: np.ndarray, epsilon: float) -> dict[str, Randomizer]:
    """Return what is compared at one ε.

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
    dict
        "OPT": Theorem 14's channel for k = 2, else (5.5.9) at ζ_min, the smallest feasible error. "GRR", "SS".
        For k = 2 also "RR, as true as OPT", plain randomised response of OPT's truth probability, at a smaller ε; and
        "fairest, as true as OPT", of least Δ at ε and OPT's truth probability.
        For k > 2 also "OPT, ζ to hundredths" and "OPT, ζ to tenths", (5.5.9) with ζ_min rounded up; and "no
        unfairness", of Δ = 0 at ε.

    References
    ----------
    Thesis §§ 5.7.2 and 5.7.3; the others are ours.
    """
    from dpfair_lib.local import generalized_randomized_response, optimal_randomizer, subset_selection

    k = len(p)
    found: dict[str, Randomizer] = {
        "GRR": generalized_randomized_response(k, epsilon),
        "SS": subset_selection(k, epsilon),
    }
    # where several channels are optimal each method has its own: that of the records
    optimum = functools.partial(optimal_randomizer, method="columns")
    return found | (_binary(p, p1, epsilon) if k == 2 else _larger(p, p1, epsilon, optimum))


def _binary(p: np.ndarray, p1: np.ndarray, epsilon: float) -> dict[str, Randomizer]:
    from dpfair_lib.local import binary_optimum
    from dpfair_lib.local.binary import binary_matrix
    from dpfair_lib.local.truthful import binary_front

    opt = binary_optimum(p, p1, epsilon)
    truth = float(opt.truth_probability(p))
    return {
        "OPT": opt,
        "RR, as true as OPT": Randomizer(binary_matrix(truth, truth)),
        "fairest, as true as OPT": Randomizer(binary_front(p, math.exp(-epsilon), 1 - truth)),
    }


def _larger(p: np.ndarray, p1: np.ndarray, epsilon: float, solve: Any) -> dict[str, Randomizer]:
    from dpfair_lib.local import smallest_error
    from dpfair_lib.local.optimal.closed_forms import perfect_channel
    from dpfair_lib.local.optimal.program import as_program

    least = smallest_error(p, epsilon)
    found = {"OPT": solve(p, p1, epsilon)}
    for name, steps in ROUNDED.items():
        found[name] = solve(p, p1, epsilon, error=math.ceil(least * steps) / steps)
    found["no unfairness"] = Randomizer(perfect_channel(as_program(p, p1, epsilon, 1.0)))
    return found


def run_trial(
    *, setting: str, seed: int, levels: Sequence[float], tuned: bool, standin: int | None = None
) -> list[dict[str, Any]]:
    """Train and measure every mechanism at every ε on one split.

    The training rows' attribute is randomised, the test rows keep theirs. A report that is one value enters the
    classifier one-hot, a report that is a set by the indicators of its values; on the test rows one indicator is 1.
    Mechanisms draw from the same random words, so that they differ by no more than they must.

    Parameters
    ----------
    setting : str
        One of `SETTINGS`.
    seed : int
        Seed of the split (stratified by label), of the reports and of the learner.
    levels : sequence of float
        ε.
    tuned : bool
        Whether the learner has the settings of `TUNED`.
    standin : int, optional
        Number of rows of the stand-in; by default the data themselves.

    Returns
    -------
    list of dict
        ``setting, seed, method, epsilon``; ``accuracy, f1, parity, opportunity`` on the test rows, the gaps as the
        largest difference between two of their own groups; for two groups ``parity signed, opportunity signed``, the
        second group's rate less the first's, as the followed experiments take it; of the training rows ``reported``,
        Δ′ by report, ``relative``, Δ, and ``truth``, the share of true reports, missing where reports are sets;
        ``parity floor`` and ``opportunity floor``, the mean gaps when the groups of the test rows are shuffled, for the
        method "none" only.
        "none" trains on the attribute as it is, "left out" without it.

    References
    ----------
    Thesis § 5.7, Figures 5.1–5.10.
    """
    from sklearn.model_selection import train_test_split

    coded = coded_table(setting, standin)
    train, test = train_test_split(
        np.arange(len(coded.y)), test_size=TEST_SHARE, random_state=seed, stratify=coded.y
    )
    learn = _Learner(coded, train, test, _learner_settings(setting, seed, tuned))
    a, y = coded.a[train], coded.y[train]
    p = np.bincount(a, minlength=coded.k) / len(a)
    p1 = np.bincount(a, weights=y, minlength=coded.k) / np.bincount(a, minlength=coded.k)
    plain = learn(np.eye(coded.k, dtype=np.float32)[a])
    rows = [{"method": "none", **_of_reports(y, a, a), **_measured(coded, test, plain)}]
    rows[0] |= _floors(coded, test, plain, np.random.default_rng([seed, 1]))
    blind = learn(np.zeros((len(a), coded.k), dtype=np.float32))
    rows.append({"method": "left out", **_measured(coded, test, blind)})
    for epsilon in levels:
        for method, channel in mechanisms(p, p1, epsilon).items():
            reports = _drawn(channel, a, np.random.default_rng([seed, 0]))
            about = _of_reports(y, a, reports) if reports.ndim == 1 else {}
            indicators = np.eye(coded.k, dtype=np.float32)[reports] if reports.ndim == 1 else reports
            named = {"method": method, "epsilon": epsilon}
            rows.append(named | about | _measured(coded, test, learn(indicators.astype(np.float32))))
    blank = dict.fromkeys(
        ("epsilon", *SIGNED, "reported", "relative", "truth", "parity floor", "opportunity floor")
    )
    return [
        {name: round(value, DIGITS) if isinstance(value, float) else value for name, value in row.items()}
        for row in ({"setting": setting, "seed": seed, "method": "", **blank, **row} for row in rows)
    ]


def _learner_settings(setting: str, seed: int, tuned: bool) -> dict[str, Any]:
    extra = TUNED[SETTINGS[setting][0]] if tuned else {}
    # one thread and one layout of the histograms: nothing may depend on the machine's load
    fixed = {"n_jobs": 1, "verbose": -1, "deterministic": True, "force_row_wise": True}
    return {**extra, **fixed, "random_state": seed}


class _Learner:
    """Trains on the training rows' indicators and predicts the test rows; the same indicators are trained on once."""

    def __init__(self, coded: Coded, train: np.ndarray, test: np.ndarray, settings: dict[str, Any]) -> None:
        self.coded, self.train, self.settings = coded, train, settings
        own = np.eye(coded.k, dtype=np.float32)[coded.a[test]]
        self.asked = np.hstack([coded.X[test], own])
        self.known: dict[bytes, np.ndarray] = {}

    def __call__(self, indicators: np.ndarray) -> np.ndarray:
        with extra("figures"):
            import lightgbm

        key = np.packbits(indicators.astype(bool)).tobytes()
        if key not in self.known:
            X = np.hstack([self.coded.X[self.train], indicators])
            # the booster itself: names of columns are of no use here
            model = lightgbm.LGBMClassifier(**self.settings).fit(X, self.coded.y[self.train])
            self.known[key] = (np.asarray(model.booster_.predict(self.asked)) > 0.5).astype(np.int64)
        return self.known[key]


def _drawn(channel: Randomizer, a: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw by the channel's matrix, so that equal channels give equal reports; sets of two or more as indicators."""
    size = getattr(channel, "size", 1)
    reports = Randomizer(channel.matrix).apply(a, rng)
    if size == 1:
        return reports
    sets = np.array([[int(i in chosen) for i in range(channel.k)] for chosen in _subsets(channel.k, size)])
    return sets[reports]


def _subsets(k: int, size: int) -> list[tuple[int, ...]]:
    return list(itertools.combinations(range(k), size))


def _of_reports(y: np.ndarray, a: np.ndarray, reports: np.ndarray) -> dict[str, float]:
    from dpfair_lib.fairness import data_unfairness

    unfairness = functools.partial(data_unfairness, y, sensitive_features=reports)
    return {
        "reported": float(unfairness(kind="difference")),
        "relative": float(unfairness(kind="ratio")),
        "truth": float((a == reports).mean()),
    }


def _measured(coded: Coded, test: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    from sklearn.metrics import f1_score

    from dpfair_lib.fairness import demographic_parity_difference, equal_opportunity_difference

    y, a = coded.y[test], coded.a[test]
    signed = {}
    if coded.k == 2:
        for name, rows in (("parity signed", y >= 0), ("opportunity signed", y == 1)):
            first, second = (predicted[rows & (a == group)].mean() for group in (0, 1))
            signed[name] = float(second - first)
    return signed | {
        "accuracy": float((predicted == y).mean()),
        "f1": float(f1_score(y, predicted)),
        "parity": float(demographic_parity_difference(y, predicted, sensitive_features=a)),
        "opportunity": float(equal_opportunity_difference(y, predicted, sensitive_features=a)),
    }


def _floors(
    coded: Coded, test: np.ndarray, predicted: np.ndarray, rng: np.random.Generator
) -> dict[str, float]:
    """Return the mean gaps when groups mean nothing: of the sizes of the groups alone."""
    shuffled = [coded._replace(a=coded.a[rng.permutation(test)]) for _ in range(SHUFFLES)]
    found = [_gaps(coded.y[test], groups.a, predicted, coded.k) for groups in shuffled]
    parity, opportunity = np.mean(found, axis=0)
    return {"parity floor": float(parity), "opportunity floor": float(opportunity)}


def _gaps(y: np.ndarray, a: np.ndarray, predicted: np.ndarray, k: int) -> tuple[float, float]:
    """Return both gaps, empty groups left out (a shuffle may leave one without a positive)."""
    rates = []
    for counted in (np.ones(len(y), dtype=bool), y == 1):
        rows = np.bincount(a[counted], minlength=k)
        chosen = np.bincount(a[counted], weights=predicted[counted], minlength=k)
        rates.append(float(np.ptp(chosen[rows > 0] / rows[rows > 0])))
    return rates[0], rates[1]


def experiment(name: str, *, settings: tuple[str, ...], tuned: bool) -> Experiment:
    """Return Figures 5.1–5.10 for attributes of one data set, a task per attribute and seed."""
    data = SETTINGS[settings[0]][0]
    seeds, levels = (TUNED_SEEDS[data], TUNED_LEVELS) if tuned else (SEEDS, LEVELS)
    tasks = [
        {"setting": setting, "seed": seed, "levels": levels, "tuned": tuned}
        for setting in settings
        for seed in range(seeds)
    ]
    parameters = {"settings": settings, "seeds": seeds, "levels": levels, "tuned": tuned}
    return Experiment(name, describe_table(data), parameters, run_trial, tasks)


RECORDED = {
    "adult": ("adult-gender", "adult-race", "adult-race-gender"),
    "lsac": ("lsac-gender", "lsac-family-income"),
    # once more on their own: with the signs of the differences
    "adult-gender": ("adult-gender",),
    "lsac-gender": ("lsac-gender",),
}
EXPERIMENTS: Experiments = {
    f"thesis-figures-{part}{suffix}": functools.partial(experiment, settings=settings, tuned=tuned)
    for part, settings in RECORDED.items()
    for suffix, tuned in (("", False), ("-tuned", True))
}
