"""What several private and fair methods of one split share: private classifiers, and sums of the training rows."""

from __future__ import annotations

import functools
import time
import zlib
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.experiments.fair_learners.people import People
from dpfair_lib.experiments.ours.private_learners_fits import Candidate, objective_regularization
from dpfair_lib.experiments.ours.private_learners_settings import EPSILONS as RECORDED
from dpfair_lib.privacy import PrivacyStatement
from dpfair_lib.privacy.rounding import below

RECORD, PRESENT, ATTRIBUTE = "replace-one", "add-remove", "sensitive-attribute"
"""The protections: a record replaced, a record added or removed, one person's group changed."""


class Base(NamedTuple):
    """A classifier that several methods change.

    Attributes
    ----------
    weights : ndarray of shape (d,)
        Without intercept.
    statement : PrivacyStatement or None
        What it cost; None if it has not seen what is protected, the groups.
    seconds : float
        Processor time of its training.
    """

    weights: np.ndarray
    statement: PrivacyStatement | None
    seconds: float

    def scores(self, people: People) -> np.ndarray:
        """Return the score of each row."""
        return np.asarray(people.features @ self.weights)

    def guesses(self, people: People) -> np.ndarray:
        """Return the label of each row."""
        return (self.scores(people) > 0).astype(np.int64)


class Shares(NamedTuple):
    """Two parts of an ε whose sum is at most it, exactly."""

    first: float
    second: float


def divided(epsilon: float, share: float) -> Shares:
    """Return the part of ε that a share is, and the rest of it, both rounded down.

    Parameters
    ----------
    epsilon : float
        ε > 0.
    share : float
        In (0, 1).
    """
    second = below(Fraction(epsilon) * Fraction(share))
    return Shares(below(Fraction(epsilon) - Fraction(second)), second)


def nearest(settings: list[Candidate], epsilon: float) -> Candidate:
    """Return what was chosen for the recorded ε whose quotient with this one is nearest to 1; the smaller of two."""
    ratios = [abs(np.log(epsilon / at)) for at in RECORDED]
    return settings[int(np.argmin(np.round(ratios, 9)))]


class Bases:
    """The base classifiers of one split, each trained once however many methods use it.

    Parameters
    ----------
    train : People
        The training rows.
    settings : mapping
        From `private_learners_settings.chosen`: a candidate for each learner and recorded ε.
    entropy : tuple of int
        Of the study noise.
    """

    def __init__(
        self, train: People, settings: Mapping[str, list[Candidate]], entropy: tuple[int, ...]
    ) -> None:
        self.train, self.settings, self.entropy = train, settings, entropy
        self.delta = len(train.labels) ** -2.0
        self._found: dict[tuple[str, float], Base] = {}

    def get(self, protection: str, epsilon: float) -> Base:
        """Return the classifier with this ε under a protection; under that of the attribute it costs nothing."""
        key = (protection, 0.0 if protection == ATTRIBUTE else epsilon)
        if key not in self._found:
            fit: Callable[[float], tuple[np.ndarray, PrivacyStatement | None]] = {
                RECORD: self._objective, PRESENT: self._descent, ATTRIBUTE: lambda _: (self._open(), None),
            }[protection]  # fmt: skip
            start = time.process_time()
            weights, statement = fit(epsilon)
            self._found[key] = Base(weights, statement, time.process_time() - start)
        return self._found[key]

    def seed(self, *more: Any) -> np.random.Generator:
        """Return a generator of study noise, another one for each purpose."""
        words = [zlib.crc32(str(one).encode()) for one in more]
        return np.random.default_rng([*self.entropy, *words])

    def steps(self, epsilon: float) -> dict[str, Any]:
        """Return rate, number and length of the steps of DP-SGD."""
        found = nearest(self.settings["DP-SGD"], epsilon)
        return {
            "sample_rate": found["sample_rate"], "steps": int(found["steps"]),
            "learning_rate": found["learning_rate"],
        }  # fmt: skip

    @functools.cached_property
    def sums(self) -> np.ndarray:
        """The exact sums of the functional mechanism. They depend on neither ε nor penalty."""
        from dpfair_lib.learners.functional import coefficient_sums
        from dpfair_lib.learners.minimiser import bounded_rows

        rows, bound = bounded_rows(self.train.features, 1.0, intercept=True)
        return coefficient_sums(rows, self.train.labels, self.train.groups, bound)

    def _objective(self, epsilon: float) -> tuple[np.ndarray, PrivacyStatement]:
        from dpfair_lib.learners import ObjectivePerturbation
        from dpfair_lib.privacy import gaussian_sigma

        n, p = self.train.features.shape
        found = nearest(self.settings["objective, Gaussian"], epsilon)
        deviation = gaussian_sigma(epsilon, self.delta, 2.0, "analytic")
        model = ObjectivePerturbation(
            regularization=objective_regularization(deviation, epsilon, p, **found) / n, feature_bound=1.0,
            epsilon=epsilon, delta=self.delta, fit_intercept=False, classes=(0, 1), noise="study",
            random_state=self.seed("objective", epsilon),
        ).fit(self.train.features, self.train.labels)  # fmt: skip
        return model.coef_[0], model.privacy_statement_

    def _descent(self, epsilon: float) -> tuple[np.ndarray, PrivacyStatement]:
        from dpfair_lib.learners import DPLogisticRegression

        model = DPLogisticRegression(
            epsilon=epsilon, delta=self.delta, max_grad_norm=1.0, fit_intercept=False, classes=(0, 1), device="cpu",
            noise="study", random_state=self.seed("descent", epsilon), **self.steps(epsilon),
        ).fit(self.train.features, self.train.labels)  # fmt: skip
        return model.coef_[0], model.privacy_statement_

    def _open(self) -> np.ndarray:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=1e4, fit_intercept=False, max_iter=5000)
        return np.asarray(model.fit(self.train.features, self.train.labels).coef_[0])
