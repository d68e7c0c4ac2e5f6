"""Logistic regression by DP-SGD whose clipping follows noisy counts of the batch: one norm for each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from dpfair_lib._arguments import inside_unit, positive, positive_integer
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib._labels import declared_labels, places
from dpfair_lib._validation import as_groups, check_lengths
from dpfair_lib.learners.counted_steps import GroupRule, Rule, train_counted
from dpfair_lib.learners.linear import HEAVIEST, LEFT_OUT, LinearClassifier, checked, two_labels
from dpfair_lib.learners.logistic import COUNTED, FIXED, LABELS
from dpfair_lib.learners.settings import Steps
from dpfair_lib.privacy import PrivacyStatement, dp_sgd_noise, dp_sgd_statement
from dpfair_lib.privacy.grid_noise import continuous_delta, grid_statement
from dpfair_lib.privacy.noise_source import NoiseSource, is_secure
from dpfair_lib.privacy.sampling import Noise

GROUPS = "which groups there are"


class CountedClipping(LinearClassifier):
    """What learners with noisy counts in their steps have in common; of two kinds of clipping, `_fit` too."""

    known: ClassVar[tuple[str, ...]] = (LABELS,)
    epsilon: float | None
    noise_multiplier: float | None
    delta: float
    max_grad_norm: float
    sample_rate: float
    steps: int
    learning_rate: float
    count_share: float
    expected_batch_size: float | None
    classes: Any
    fit_intercept: bool
    noise: Noise

    def _fit(self, X: Any, y: Any, sensitive_features: Any) -> Self:
        delta, secure = inside_unit(self.delta, "delta"), is_secure(self.noise)
        share = inside_unit(self.count_share, "count_share")
        source = NoiseSource.of(self.noise, self.random_state)
        steps = self._steps(continuous_delta(delta) if secure else delta)
        features, labels = checked(self, X, y)
        self.classes_, codes = two_labels(labels, self.classes)
        groups = self._places(sensitive_features, len(features))
        rule = self._rule(steps.divisor(len(features)))
        width = features.shape[1] + steps.fit_intercept + rule.width
        statement = self._statement(steps, width, delta, secure=secure)
        self.privacy_statement_: PrivacyStatement = source.mark(replace(statement, note=LEFT_OUT))
        with np.errstate(all="ignore"):
            weights = train_counted(features, codes, groups, steps, share, rule, source.generator)
        if not (abs(weights) <= HEAVIEST).all():  # NaN among them
            raise ValueError(
                f"learning_rate: found {self.learning_rate}, at which weights overflow and the loss is not finite, "
                "expected less"
            )
        self.coef_, self.intercept_ = weights[None, :-1], weights[-1:]
        self.noise_multiplier_ = steps.noise_multiplier
        return self

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
        return np.zeros(n, dtype=np.int64)

    def _rule(self, divisor: float, /) -> Rule:
        """Return what sets the norms of a step from its counts.

        Abstract, and called by `_fit` alone: each kind of clipping has its own. `DPLagrangianClassifier` has a `fit` of
        its own, and clips to one norm.
        """
        raise NotImplementedError


class DPGroupClippingClassifier(CountedClipping):
    """Logistic regression by DP-SGD that clips each group's gradients to a norm of its own (DP-SGD-F).

    DP-SGD shortens long gradients, so groups whose gradients are long learn less. Here each step counts, for every
    group, the long and the short gradients of its batch, with noise. A group's clipping norm is C₀(1 + s/s̄), where s is
    its share of long ones by these counts, and s̄ the mean share of all groups. It is C₀ for all if no share is above 0.
    A group without counted records has the share 1. Noise follows the largest norm, so such a group makes noise grow
    even if nobody's gradient is long. The goal is a similar loss of accuracy in all groups; selection rates are not
    looked at. The group is needed in `fit`, not in `predict`.

    The privacy statement covers the rows given to `fit` under add-remove: features, labels, groups, and whether a
    record is present. It includes the counts.

    Parameters
    ----------
    epsilon : float, optional
        ε under add-remove, of counts and gradients together. Calibrated with privacy loss distributions.
    noise_multiplier : float, optional
        σ of a whole step, instead of epsilon.
    delta : float
        δ in (0, 1).
    max_grad_norm : float
        C₀: a gradient is long if its norm is above C₀. Each group's clipping norm is C₀ or more, and (1 + the number of
        groups) C₀ at most.
    sample_rate : float
        Probability, in (0, 1], with which each record enters a batch.
    steps : int
        Number of steps.
    learning_rate : float
        Step length, before the noisy sum over the expected batch size.
    count_share : float, default=0.01
        In (0, 1): the part of 1/σ² that the counts use. Counts get noise of deviation σ/√share, sums of gradients
        σ/√(1 − share) times the largest clipping norm.
    expected_batch_size : float, optional
        Public number by which noisy sums are divided. By default ``sample_rate`` times the number of rows, which is
        then public.
    groups : sequence, optional
        The groups, chosen without looking at the data; some may have no row. By default those that occur, which are
        then public.
    classes : sequence of two labels, optional
        The two labels, likewise.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    noise : {"secure", "study"}, default="secure"
        Exact noise by OpenDP and batches by the operating system, or seeded ones, which protect nobody.
    random_state : int, Generator or RandomState, optional
        Seed of study noise. Must be None for secure noise.
    verbose : bool, default=False
        Whether to show on the standard error how many steps are done, after two seconds and then every ten.

    Attributes
    ----------
    classes_, groups_ : ndarray
        The labels and the groups, sorted.
    coef_, intercept_ : ndarray of shape (1, d) and (1,)
        Weights.
    noise_multiplier_ : float
        σ of a whole step.
    privacy_statement_ : PrivacyStatement
        What the training costs.

    Notes
    -----
    The proof stands in `dpfair_lib.learners.counted_steps`. It needs noise in proportion to the largest norm of *all*
    groups. In the public code (layer6ai-labs/fair-dp) the noise follows the largest norm among the records of the
    batch. Whether it is C₁ or C₂ then tells whether anybody of group 2 is in the batch, whatever the gradients; a test
    shows two data sets that differ in one record and can be distinguished so. Another difference from that code is the
    accountant, which is RDP there. Without noise a step agrees with that code as run, in another test. The rule for the
    norms is taken from the code, which attributes it to the publication; the publication itself was not at hand.

    References
    ----------
    Xu, Du and Wu (2021), Removing disparate impact on model accuracy in differentially private stochastic gradient
    descent; the rule as in the public code of Esipova et al. (2023).

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=500, random_state=0)
    >>> X = adult.X[["age", "education-num"]] / [90, 16]
    >>> model = dpf.DPGroupClippingClassifier(
    ...     epsilon=1.0, delta=1e-5, max_grad_norm=0.5, sample_rate=0.1, steps=20, learning_rate=0.5
    ... ).fit(X, adult.y, sensitive_features=adult.sensitive_features)
    >>> model.predict(X).shape
    (500,)
    >>> print(model.privacy_statement_)
    ε = 0.9999..., δ = 1e-05, add-remove, per record; ...
    """

    known = (LABELS, GROUPS)

    def __init__(
        self, *, epsilon: float | None = None, noise_multiplier: float | None = None, delta: float,
        max_grad_norm: float, sample_rate: float, steps: int, learning_rate: float, count_share: float = 0.01,
        expected_batch_size: float | None = None, groups: Sequence[Any] | None = None, classes: Any = None,
        fit_intercept: bool = True, noise: Noise = "secure", random_state: Any = None, verbose: bool = False,
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
        self.groups = groups
        self.classes = classes
        self.fit_intercept = fit_intercept
        self.noise = noise
        self.random_state = random_state
        self.verbose = verbose

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Self:
        """Train the model.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, finite numbers, scaled by public numbers.
        y : array of shape (n,)
            Labels: two different ones, or some of ``classes``.
        sensitive_features : array of shape (n,)
            Group of each row; at least two groups, or some of ``groups``.

        Returns
        -------
        DPGroupClippingClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range; if neither or both of epsilon and noise_multiplier are given; if a seed
            comes with secure noise; if X, y or the groups are malformed or outside what was declared; if labels or
            groups are not declared and there is one only; if a weight overflows.
        """
        return self._fit(X, y, sensitive_features)

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

    def _rule(self, _: float, /) -> Rule:
        return GroupRule(positive(self.max_grad_norm, "max_grad_norm"), len(self.groups_))
