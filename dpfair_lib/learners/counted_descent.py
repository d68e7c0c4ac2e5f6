"""What learners have in common whose steps of DP-SGD first release noisy counts: parameters, checks, and the cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from dpfair_lib._arguments import inside_unit, positive, positive_integer
from dpfair_lib._labels import declared_labels, places
from dpfair_lib._validation import as_groups, check_lengths
from dpfair_lib.learners.linear import HEAVIEST, LEFT_OUT, LinearClassifier, checked, two_labels
from dpfair_lib.learners.logistic import COUNTED, FIXED, LABELS
from dpfair_lib.learners.settings import Steps
from dpfair_lib.privacy import PrivacyStatement, dp_sgd_noise, dp_sgd_statement
from dpfair_lib.privacy.grid_noise import continuous_delta, grid_statement
from dpfair_lib.privacy.noise_source import NoiseSource, is_secure
from dpfair_lib.privacy.sampling import Noise


class Counting(Protocol):
    """How records are counted, and what follows from the counts."""

    width: int
    """How many counts a step releases."""


Counts = TypeVar("Counts", bound=Counting)
Train = Callable[
    [np.ndarray, np.ndarray, np.ndarray, Steps, float, Counts, np.random.Generator | None], np.ndarray
]
"""Takes features, labels, groups, steps, the counts' share, how to count, and study noise or None; gives weights."""


class CountedDescent(LinearClassifier):
    """Linear models by DP-SGD with noisy counts in its steps; what the counts are for is left to subclasses."""

    known: ClassVar[tuple[str, ...]] = (LABELS,)

    def __init__(
        self, *, epsilon: float | None, noise_multiplier: float | None, delta: float, max_grad_norm: float,
        sample_rate: float, steps: int, learning_rate: float, count_share: float, expected_batch_size: float | None,
        classes: Any, fit_intercept: bool, noise: Noise, random_state: Any, verbose: bool,
    ) -> None:  # fmt: skip
        self.epsilon = epsilon
        self.noise_multiplier = noise_multiplier
        self.delta = delta
        self.max_grad_norm = max_grad_norm
        self.sample_rate = sample_rate
        self.steps = steps
        self.learning_rate = learning_rate
        self.count_share = count_share
        self.expected_batch_size = expected_batch_size
        self.classes = classes
        self.fit_intercept = fit_intercept
        self.noise = noise
        self.random_state = random_state
        self.verbose = verbose

    def _fit(
        self, X: Any, y: Any, sensitive_features: Any, train: Train[Counts], counting: Callable[[float], Counts]
    ) -> Counts:  # fmt: skip
        """Train the model, and return what counted.

        Parameters
        ----------
        X, y, sensitive_features : array
            As `fit` was given them.
        train : callable
            Takes the steps.
        counting : callable
            Makes what counts from the divisor of the noisy sums.
        """
        delta, secure = inside_unit(self.delta, "delta"), is_secure(self.noise)
        share = inside_unit(self.count_share, "count_share")
        source = NoiseSource.of(self.noise, self.random_state)
        steps = self._steps(continuous_delta(delta) if secure else delta)
        features, labels = checked(self, X, y)
        self.classes_, codes = two_labels(labels, self.classes)
        groups = self._places(sensitive_features, len(features))
        counts = counting(steps.divisor(len(features)))
        width = features.shape[1] + steps.fit_intercept + counts.width
        statement = self._statement(steps, width, delta, secure=secure)
        self.privacy_statement_: PrivacyStatement = source.mark(replace(statement, note=LEFT_OUT))
        with np.errstate(all="ignore"):
            weights = train(features, codes, groups, steps, share, counts, source.generator)
        if not (abs(weights) <= HEAVIEST).all():  # NaN among them
            raise ValueError(
                f"learning_rate: found {self.learning_rate}, at which weights overflow and the loss is not finite, "
                "expected less"
            )
        self.coef_, self.intercept_ = weights[None, :-1], weights[-1:]
        self.noise_multiplier_ = steps.noise_multiplier
        return counts

    def _statement(self, steps: Steps, width: int, delta: float, *, secure: bool) -> PrivacyStatement:
        public = (COUNTED if steps.expected_batch_size is None else FIXED, *self.known)
        numbers = steps.noise_multiplier, steps.sample_rate, steps.count
        if secure:
            return grid_statement(*numbers, width, delta, public=public)
        return dp_sgd_statement(*numbers, delta, "pld", public=public)

    def _steps(self, delta: float) -> Steps:
        if (self.epsilon is None) == (self.noise_multiplier is None):
            found = "neither" if self.epsilon is None else "both"
            raise ValueError(
                f"epsilon, noise_multiplier: found {found}, expected exactly one of the two to be given"
            )
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise ValueError(f"fit_intercept: found {self.fit_intercept!r}, expected True or False")
        steps = Steps(
            noise_multiplier=0.0
            if self.noise_multiplier is None
            else positive(self.noise_multiplier, "noise_multiplier"),
            max_grad_norm=self.max_grad_norm,
            sample_rate=self.sample_rate,
            count=positive_integer(self.steps, "steps"),
            learning_rate=self.learning_rate,
            fit_intercept=bool(self.fit_intercept),
            expected_batch_size=self.expected_batch_size,
        )
        if self.epsilon is None:
            return steps
        return replace(
            steps, noise_multiplier=dp_sgd_noise(self.epsilon, delta, steps.sample_rate, steps.count, "pld")
        )

    def _places(self, _: Any, n: int, /) -> np.ndarray:
        """Return the place of each row's group; here all are in one, and nothing is looked at."""
        return np.zeros(n, dtype=np.int64)


class CountedByGroup(CountedDescent):
    """The same with groups, declared or those that occur; sets ``groups_``."""

    known = (LABELS, "which groups there are")
    groups: Sequence[Any] | None

    def _places(self, sensitive_features: Any, n: int, /) -> np.ndarray:
        if self.groups is None:
            self.groups_, found = as_groups(sensitive_features)
            if len(self.groups_) < 2:
                raise ValueError(
                    f"sensitive_features: found one group ({self.groups_[0]!r}), expected two or more"
                )
        else:
            known = declared_labels(self.groups, "groups", least=2, ordered=True)
            self.groups_, found = np.asarray(known), places(sensitive_features, known, "sensitive_features")
        check_lengths(X=range(n), sensitive_features=found)
        return np.asarray(found)
