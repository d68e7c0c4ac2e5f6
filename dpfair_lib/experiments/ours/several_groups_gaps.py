"""Why our rules leave the larger gap on new rows: variants that do the same on the rows of the fit.

Each variant keeps every group's two rates, and so all errors, on the rows of the fit. One puts each threshold halfway
between two people, where ours puts it next to one. Another mixes thresholds that lie as far apart as the rates allow.
"""

from __future__ import annotations

import functools
import unittest.mock
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpfair_lib._extras import extra
from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.ours.several_groups import TRIALS, row_of
from dpfair_lib.experiments.ours.several_groups_data import (
    MOST_ROWS,
    SHARES,
    Description,
    Part,
    Split,
    dataset_of,
    split_rows,
)
from dpfair_lib.experiments.ours.several_groups_measures import MANY
from dpfair_lib.experiments.ours.several_groups_methods import (
    ERRORS,
    NOTIONS,
    OPTIMIZER,
    Method,
    Rule,
    ours,
    threshold_optimizer,
)

DATA = "acs-income", "adult", "compas", "lsac"
NEGLIGIBLE = 1e-12
FINE = 10_000
"""Steps of the finer grid; fairlearn's own has 1,000."""
HALFWAY, WIDEST = "ours, thresholds halfway", "ours, thresholds far apart"
BOTH, FINER = "ours, halfway and far apart", "ThresholdOptimizer, finer grid"


def variants(notion: str) -> Iterator[Method]:
    """Yield ours, its variants and `ThresholdOptimizer` for one notion, all with γ = 0."""
    settings: dict[str, Any] = {"notion": notion, "gamma": 0.0}
    least = functools.partial(ours, **settings, objective="errors")
    yield Method(ERRORS, notion, 0.0, None, least)
    for name, halfway, widest in ((HALFWAY, True, False), (WIDEST, False, True), (BOTH, True, True)):
        fit = functools.partial(refitted, fit=least, halfway=halfway, widest=widest)
        yield Method(name, notion, 0.0, None, fit)
    yield Method(OPTIMIZER, notion, 0.0, None, functools.partial(threshold_optimizer, **settings))
    yield Method(FINER, notion, 0.0, None, functools.partial(finer_optimizer, notion=notion))


def finer_optimizer(split: Split, *, notion: str) -> Rule:
    """Fit `ThresholdOptimizer` as `threshold_optimizer` does, on a finer grid."""
    with extra("peers"):
        from fairlearn.postprocessing import ThresholdOptimizer

    fine = functools.partial(ThresholdOptimizer, grid_size=FINE)
    with unittest.mock.patch("fairlearn.postprocessing.ThresholdOptimizer", fine):
        return threshold_optimizer(split, notion=notion, gamma=0.0)


def refitted(split: Split, *, fit: Any, halfway: bool, widest: bool) -> Rule:
    """Fit a rule, and return one that does the same in every group of the rows of the fit.

    Parameters
    ----------
    split : Split
        Its post-processing rows are used.
    fit : callable
        From a split to a rule that mixes thresholds of the score.
    halfway : bool
        Whether thresholds are put halfway between neighbouring scores, not next to one.
    widest : bool
        Whether thresholds are as far apart as the group's rates allow.
    """
    rows, rule = split.post, fit(split)
    chance = rule(rows)
    found = {}
    for group in np.unique(rows.groups):
        own = rows.groups == group
        scores, first, place = np.unique(rows.scores[own], return_index=True, return_inverse=True)
        # how much the chance rises at each score is the chance of the threshold there
        shares = np.diff(chance[own][first], prepend=0.0)
        shares = np.append(shares, 1 - shares.sum())
        if widest:
            shares = far_apart(shares, place, rows.labels[own])
        cuts = (scores[1:] + scores[:-1]) / 2 if halfway else np.nextafter(scores[:-1], np.inf)
        lowest = int(np.argmax(shares > NEGLIGIBLE))
        if not halfway and 0 < lowest < len(scores):  # so that few are left to chance, as in ours
            cuts[lowest - 1] = scores[lowest]
        found[group] = np.concatenate([[-np.inf], cuts, [np.inf]]), np.maximum(shares, 0)

    def predict(those: Part) -> np.ndarray:
        chances = np.empty(len(those.scores))
        for group, (cuts, shares) in found.items():
            own = those.groups == group
            reached = np.searchsorted(cuts, those.scores[own], side="right")
            chances[own] = np.minimum(np.cumsum(shares)[reached - 1], 1)
        return chances

    return predict


def far_apart(shares: np.ndarray, place: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the chances of the thresholds with the same two rates whose selection rate varies most.

    Parameters
    ----------
    shares : ndarray of shape (levels + 1,)
        The chance of each threshold, from that which selects everybody to that which selects nobody.
    place, labels : ndarray of shape (n,)
        Each row's place among the levels, ascending, and its label.
    """
    from scipy.optimize import linprog

    kinds = [np.bincount(place[labels == label], minlength=len(shares) - 1) for label in (0, 1)]
    rates = [np.append(np.cumsum(kind[::-1])[::-1], 0) / kind.sum() for kind in kinds]
    selected = np.append(np.cumsum((kinds[0] + kinds[1])[::-1])[::-1], 0) / len(labels)
    points = np.stack([np.ones(len(shares)), *rates])
    solved = linprog(-(selected**2), A_eq=points, b_eq=points @ shares, method="highs-ds")
    return solved.x if solved.status == 0 else shares


def small_chance(rows: Part, chance: np.ndarray) -> float | None:
    """Return how often two draws differ for a person of a group below `MANY`; None if there is no such group."""
    _, codes, counts = np.unique(rows.groups, return_inverse=True, return_counts=True)
    few = counts[codes] < MANY
    return float((2 * chance * (1 - chance))[few].mean()) if few.any() else None


def _fitted(rule: Rule, split: Split) -> Rule:  # noqa: ARG001 (the signature of a fit)
    return rule


def run_on(*, data: str, split: int, seed: int) -> list[dict[str, Any]]:
    """Fit every variant on one split of the data set of that name."""
    parts = split_rows(dataset_of(data), split, seed)
    found = []
    for notion in NOTIONS:
        for method in variants(notion):
            rule = method.fit(parts)
            row = row_of(method._replace(fit=functools.partial(_fitted, rule)), parts)
            found.append(
                {"split": split, **row, "test_small_chance": small_chance(parts.test, rule(parts.test))}
            )
    return found


def experiment(name: str, *, data: str) -> Experiment:
    """Return the variants on the splits of one data set, a task per split."""
    parameters = {"seed": 0, "shares": SHARES, "most_rows": MOST_ROWS, "fine": FINE}
    tasks = [{"data": data, "split": split, "seed": 0} for split in range(TRIALS)]
    return Experiment(name, Description(data), parameters, run_on, tasks)


EXPERIMENTS: Experiments = {
    f"several-groups-gaps-{data}": functools.partial(experiment, data=data) for data in DATA
}
