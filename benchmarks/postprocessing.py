"""Fair post-processing under demographic parity: ours against fairlearn's ThresholdOptimizer.

The two solve different problems under one constraint: ours the most accurate classifier among those that change
fewest predictions of a given one, theirs the most accurate of all that randomise between two thresholds.
"""

from __future__ import annotations

import numpy as np
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.timing import Check, Contender, check
from dpfair_lib import FairPostprocessor, demographic_parity_difference

TITLE = "Fit and predict under demographic parity, most accurate rate, flips by score"
UNIT = "one fit and one prediction"
AXES = {"rows": (10_000, 100_000)}  # the peer takes 15 s at a million
REHEARSAL = {"AXES": {"rows": (1_000,)}}


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


def contenders(rows: int) -> dict[str, Contender]:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, size=rows)
    scores = rng.beta(2 + groups, 3)
    y_true = (rng.uniform(size=rows) < scores).astype(int)
    y_pred = (scores > 0.5).astype(int)

    def gap(labels: np.ndarray) -> float:
        return demographic_parity_difference(labels, sensitive_features=groups)

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

    return {
        "dpfair_lib.FairPostprocessor": Contender(ours),
        "fairlearn.ThresholdOptimizer": Contender(theirs),
    }


def checks() -> list[Check]:
    # each removes the gap up to draws: 5 standard deviations of the difference of two rates of 5,000 rows are 0.05
    found = {name: contender.call() for name, contender in contenders(10_000).items()}
    return [check(f"parity gap left by {name}, 10,000 rows", gap, 0.05) for name, gap in found.items()]
