"""Post-processing for several groups: ours and fairlearn's, all fitted to the same rows and scores.

A method is fitted to some rows and gives, for any rows, each one's probability of the label 1 over the method's own
draws. So errors and gaps are expectations, and no draw adds to them.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib._extras import extra
from dpfair_lib.experiments.ours.several_groups_data import Part, Split, learner

NOTIONS = {
    "demographic_parity": "demographic_parity",
    "equal_opportunity": "true_positive_rate_parity",
    "equalized_odds": "equalized_odds",
}
"""Our names of the notions, and those of fairlearn's `ThresholdOptimizer`."""
MOMENTS = {
    "demographic_parity": "DemographicParity",
    "equal_opportunity": "TruePositiveRateParity",
    "equalized_odds": "EqualizedOdds",
}
"""Our names of the notions, and the classes that fairlearn's `ExponentiatedGradient` takes."""
GAMMAS = 0.0, 0.02, 0.05, 0.1
GRADIENT_BOUND = 0.01
"""Its allowed difference between a group and everybody, and its default."""
NONE, LEAST, ERRORS = "no post-processing", "ours, least changes", "ours, least errors"
OPTIMIZER, GRADIENT = "ThresholdOptimizer", "ExponentiatedGradient"

Rule = Callable[[Part], np.ndarray]
"""From rows to each one's probability of the label 1."""


class Method(NamedTuple):
    """A method with its settings.

    Attributes
    ----------
    name : str
        Of the method.
    notion : str
        A key of `NOTIONS`.
    gamma : float or None
        The gap that it allows.
    epsilon : float or None
        ε of the post-processing, if it is private.
    fit : callable
        From a `Split` to a `Rule`.
    """

    name: str
    notion: str
    gamma: float | None
    epsilon: float | None
    fit: Callable[[Split], Rule]


def methods() -> Iterator[Method]:
    """Yield every method that is not private, with every setting."""
    for notion in NOTIONS:
        yield Method(NONE, notion, None, None, unchanged)
        for gamma in GAMMAS:
            objective = functools.partial(ours, notion=notion, gamma=gamma, objective="errors")
            yield Method(ERRORS, notion, gamma, None, objective)
            if gamma == 0 or notion != "equalized_odds":  # fairlearn has no relaxation of it
                theirs = functools.partial(threshold_optimizer, notion=notion, gamma=gamma)
                yield Method(OPTIMIZER, notion, gamma, None, theirs)
        yield Method(
            LEAST, notion, 0.0, None, functools.partial(ours, notion=notion, gamma=0.0, objective="changes")
        )
        gradient = functools.partial(exponentiated_gradient, notion=notion)
        yield Method(GRADIENT, notion, GRADIENT_BOUND, None, gradient)


def unchanged(split: Split) -> Rule:  # noqa: ARG001 (the signature of a fit)
    """Leave the learner's labels as they are."""
    return lambda rows: rows.guesses.astype(float)


def ours(split: Split, *, notion: str, gamma: float, objective: str) -> Rule:
    """Fit `FairPostprocessor` with the learner's scores.

    Parameters
    ----------
    split : Split
        Its post-processing rows are used.
    notion, gamma, objective
        As for `FairPostprocessor`.
    """
    from dpfair_lib.central.postprocessor import FairPostprocessor

    rows = split.post
    fair = FairPostprocessor(notion=notion, gamma=gamma, objective=objective).fit(  # type: ignore[arg-type]
        rows.guesses, sensitive_features=rows.groups, y_true=rows.labels, scores=rows.scores
    )
    return lambda rows: fair.predict_proba(rows.guesses, sensitive_features=rows.groups, scores=rows.scores)[
        :, 1
    ]


def threshold_optimizer(split: Split, *, notion: str, gamma: float) -> Rule:
    """Fit fairlearn's `ThresholdOptimizer` to the scores of the post-processing rows.

    Parameters
    ----------
    split : Split
        Its post-processing rows are used.
    notion : str
        A key of `NOTIONS`.
    gamma : float
        Its ``tol``.
    """
    with extra("peers"):
        from fairlearn.postprocessing import ThresholdOptimizer

    fair = ThresholdOptimizer(
        estimator=_scores(), constraints=NOTIONS[notion], objective="accuracy_score", prefit=True,
        predict_method="predict_proba", tol=gamma or None,
    )  # fmt: skip
    rows = split.post
    fair.fit(rows.scores.reshape(-1, 1), rows.labels, sensitive_features=rows.groups)
    return lambda rows: fair._pmf_predict(rows.scores.reshape(-1, 1), sensitive_features=rows.groups)[:, 1]


@functools.cache
def _scores() -> Any:
    """Return what gives its one feature out as the probability of label 1."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Scores(ClassifierMixin, BaseEstimator):
        """A fitted classifier whose features are its scores."""

        classes_ = np.array([0, 1])

        def fit(self, X: Any, y: Any) -> Scores:  # noqa: ARG002 (scikit-learn's signature)
            """Do nothing."""
            return self

        def __sklearn_is_fitted__(self) -> bool:
            return True

        def predict_proba(self, X: np.ndarray) -> np.ndarray:
            """Return the scores."""
            return np.column_stack([1 - X[:, 0], X[:, 0]])

    return Scores()


def exponentiated_gradient(split: Split, *, notion: str) -> Rule:
    """Fit fairlearn's `ExponentiatedGradient` with the same learner to the rows of learner and post-processing.

    Parameters
    ----------
    split : Split
        Its test rows are not used.
    notion : str
        A key of `NOTIONS`.
    """
    with extra("peers"):
        from fairlearn import reductions

    constraint = getattr(reductions, MOMENTS[notion])
    features, labels, groups = (
        np.concatenate([getattr(part, name) for part in (split.train, split.post)])
        for name in ("features", "labels", "groups")
    )
    fair = reductions.ExponentiatedGradient(learner(), constraint(difference_bound=GRADIENT_BOUND))
    with warnings.catch_warnings(
        action="ignore", category=DeprecationWarning
    ):  # of pandas, about its own code
        fair.fit(features, labels, sensitive_features=groups)
    return lambda rows: np.asarray(fair._pmf_predict(rows.features))[:, 1]


def fairlearn_version() -> str:
    """Return the version of fairlearn, which records hold."""
    return version("fairlearn")
