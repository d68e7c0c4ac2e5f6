"""Fair post-processing: ours against fairlearn's ThresholdOptimizer.

With two groups the two solve different problems under one constraint: ours the most accurate classifier among those
that change fewest predictions of a given one, theirs the most accurate of all that randomise between two thresholds.
With several groups and three notions both minimise errors, with the same scores; every turn draws other rows.
"""

from __future__ import annotations

import functools
import itertools
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.timing import Check, Contender, check, target
from dpfair_lib import FairPostprocessor, demographic_parity_difference
from dpfair_lib.experiments.ours.several_groups_costs import drawn_rows
from dpfair_lib.experiments.ours.several_groups_data import Part

TITLE = "Fit and predict: two groups under demographic parity as rows grow; three notions as groups grow"
UNIT = "one fit and one prediction"
AXES = {"rows": (10_000, 100_000), "groups": (5, 20)}  # the peer takes 15 s at a million rows
REHEARSAL = {"AXES": {"rows": (1_000,), "groups": (3,)}, "ROWS": 300}
ROWS = 10_000  # as groups grow
NOTIONS = {
    "demographic_parity": "demographic_parity", "equal_opportunity": "true_positive_rate_parity",
    "equalized_odds": "equalized_odds",
}  # fmt: skip
OURS, THEIRS = "dpfair_lib.FairPostprocessor", "fairlearn.ThresholdOptimizer"
LEAST = 10  # times as fast, in the median over the draws


class Scores(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose features are its scores."""

    classes_ = np.array([0, 1])

    def fit(self, X, y):  # noqa: ARG002 (scikit-learn's signature)
        """Do nothing."""
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, X):
        """Return the scores."""
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def contenders(rows: int | None = None, groups: int | None = None) -> dict[str, Contender]:
    """Return the contenders for two groups and so many rows, or for three notions and so many groups."""
    return two_groups(rows) if groups is None else several_groups(groups)


def several_groups(groups: int) -> dict[str, Contender]:
    """Return ours and theirs under each notion; each call takes the rows of the next draw."""

    def call(fit: Callable[[Part], float]) -> Contender:
        draws = itertools.count()
        return Contender(lambda: fit(drawn_rows_once(ROWS, groups, next(draws))))

    return {
        f"{name}, {notion}": call(functools.partial(fit, notion=notion))
        for notion in NOTIONS
        for name, fit in ((OURS, ours), (THEIRS, theirs))
    }


@functools.lru_cache(maxsize=64)
def drawn_rows_once(rows: int, groups: int, draw: int) -> Part:
    """Return drawn rows, the same for all contenders."""
    return drawn_rows(rows, groups, draw)


def ours(part: Part, notion: str) -> float:
    """Return the errors of the least errors under a notion."""
    given = {"sensitive_features": part.groups, "scores": part.scores}
    fair = FairPostprocessor(notion=notion, objective="errors").fit(part.guesses, y_true=part.labels, **given)
    chance = fair.predict_proba(part.guesses, **given)[:, 1]
    return float(abs(chance - part.labels).mean())


def theirs(part: Part, notion: str) -> float:
    """Return the errors of ThresholdOptimizer under a notion."""
    fair = ThresholdOptimizer(
        estimator=Scores(), constraints=NOTIONS[notion], objective="accuracy_score", prefit=True,
        predict_method="predict_proba",
    )  # fmt: skip
    features = part.scores.reshape(-1, 1)
    fair.fit(features, part.labels, sensitive_features=part.groups)
    chance = fair._pmf_predict(features, sensitive_features=part.groups)[:, 1]
    return float(abs(chance - part.labels).mean())


def targets(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each notion and number of groups the median over the draws; its name says the worst."""
    seconds = {(row["value"], row["name"]): row["seconds"] for row in found if row["axis"] == "groups"}
    lines = []
    for groups, notion in itertools.product(dict.fromkeys(value for value, _ in seconds), NOTIONS):
        both = [seconds[groups, f"{name}, {notion}"] for name in (OURS, THEIRS)]
        ratios = [theirs / ours for ours, theirs in zip(*both, strict=True)]
        what = f"median over draws, {notion}, {groups} groups (worst {min(ratios):.1f})"
        lines.append(target(what, 1.0, statistics.median(ratios), LEAST))
    return lines


def two_groups(rows: int) -> dict[str, Contender]:
    """Return ours and theirs under demographic parity."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, size=rows)
    scores = rng.beta(2 + groups, 3)
    y_true = (rng.uniform(size=rows) < scores).astype(int)
    y_pred = (scores > 0.5).astype(int)

    def gap(labels: np.ndarray) -> float:
        return demographic_parity_difference(y_true, labels, sensitive_features=groups)

    def ours() -> float:
        fair = FairPostprocessor("accuracy")
        fair.fit(y_pred, sensitive_features=groups, y_true=y_true, scores=scores)
        return gap(fair.predict(y_pred, sensitive_features=groups, scores=scores, random_state=0))

    def theirs() -> float:
        fair = ThresholdOptimizer(
            estimator=Scores(), constraints="demographic_parity", prefit=True, predict_method="predict_proba"
        )
        fair.fit(scores.reshape(-1, 1), y_true, sensitive_features=groups)
        return gap(fair.predict(scores.reshape(-1, 1), sensitive_features=groups, random_state=0))

    return {OURS: Contender(ours), THEIRS: Contender(theirs)}


def checks() -> list[Check]:
    # each removes the gap up to draws: 5 standard deviations of the difference of two rates of 5,000 rows are 0.05
    found = {name: contender.call() for name, contender in two_groups(10_000).items()}
    lines = [check(f"parity gap left by {name}, 10,000 rows", gap, 0.05) for name, gap in found.items()]
    part = drawn_rows_once(ROWS, 5, 0)
    for notion in NOTIONS:
        more = ours(part, notion) - theirs(part, notion)
        lines.append(check(f"errors of ours minus theirs, {notion}, 5 groups", more, 1e-9))
    return lines
