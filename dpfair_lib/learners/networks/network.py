"""A small network trained by DP-SGD."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from dpfair_lib._arguments import inside_unit, positive, positive_integer
from dpfair_lib._fitting import UnseededIfSecure, whole_or_not_at_all
from dpfair_lib._scoring import ScoredByLabels
from dpfair_lib.learners.linear import LEFT_OUT, checked, two_labels
from dpfair_lib.learners.logistic import COUNTED, FIXED, LABELS
from dpfair_lib.learners.networks.network_steps import HEAVIEST, layers_of, train_network
from dpfair_lib.learners.settings import Steps
from dpfair_lib.privacy import PrivacyStatement, dp_sgd_noise, dp_sgd_statement
from dpfair_lib.privacy.grid_noise import continuous_delta, grid_statement
from dpfair_lib.privacy.noise_source import NoiseSource, is_secure
from dpfair_lib.privacy.sampling import Noise

MOST_UNITS = 10_000


class DPNetworkClassifier(ScoredByLabels, UnseededIfSecure):
    """A network with one hidden layer of tanh units, trained by DP-SGD with clipping of each record's whole gradient.

    It costs what `DPLogisticRegression` costs at the same noise multiplier, rate and number of steps: a record adds one
    vector of norm at most C to a sum that gets noise. But noise reaches every weight, and a network has many. Compare
    it with the linear model first.

    The privacy statement covers the rows given to `fit` under add-remove: features, labels, and whether a record is
    present.

    Parameters
    ----------
    hidden : int, default=16
        Number of hidden units, at most 10,000.
    epsilon : float, optional
        ε under add-remove. The noise is calibrated to it with privacy loss distributions.
    noise_multiplier : float, optional
        Standard deviation of the noise divided by ``max_grad_norm``. Give either this or epsilon.
    delta : float
        δ in (0, 1).
    max_grad_norm : float
        C: the gradient of each record, by all weights together, is clipped to this norm.
    sample_rate : float
        Probability, in (0, 1], with which each record enters a batch.
    steps : int
        Number of steps.
    learning_rate : float
        Step length, before the noisy sum over the expected batch size.
    expected_batch_size : float, optional
        Public number by which noisy sums are divided. By default ``sample_rate`` times the number of rows, which is
        then public.
    start : int, default=1
        At least 1. The weights of the hidden units start from numbers that follow from this one by a hash, the other
        weights from 0. It is public, and must not be chosen by looking at the data.
    classes : sequence of two labels, optional
        The two labels, chosen without looking at the data. By default those that occur, which are then public.
    noise : {"secure", "study"}, default="secure"
        Exact noise by OpenDP and batches by the operating system, or seeded ones, which protect nobody.
    random_state : int, Generator or RandomState, optional
        Seed of study noise and batches. Must be None for secure noise.
    verbose : bool, default=False
        Whether to show on the standard error how many steps are done, after two seconds and then every ten.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels, sorted.
    coefs_, intercepts_ : list of two ndarray
        Weights, as those of scikit-learn's `MLPClassifier`: of shape (d, hidden) and (hidden,) into the hidden units,
        (hidden, 1) and (1,) into the score.
    noise_multiplier_ : float
        The noise multiplier used.
    privacy_statement_ : PrivacyStatement
        What the training costs.

    Notes
    -----
    Why this is private, and what would break it, stands in `dpfair_lib.learners.networks.network_steps`.

    References
    ----------
    Abadi et al. (2016), Algorithm 1, with Poisson sampling. Goodfellow (2015), Efficient per-example gradient
    computations, for norms without gradients.

    Examples
    --------
    Scale the features by public numbers first, to rows of a norm of about 1.

    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=500, random_state=0)
    >>> X = adult.X[["age", "education-num"]] / [90, 16]
    >>> model = dpf.DPNetworkClassifier(
    ...     hidden=8, epsilon=1.0, delta=1e-5, max_grad_norm=1.0, sample_rate=0.1, steps=20, learning_rate=0.5
    ... ).fit(X, adult.y)
    >>> model.predict(X).shape, round(model.noise_multiplier_, 2)
    ((500,), 2.1)
    >>> print(model.privacy_statement_)
    ε = 0.999951, δ = 1e-05, add-remove, per record; ...
    """

    classes_: np.ndarray
    coefs_: list[np.ndarray]
    intercepts_: list[np.ndarray]
    privacy_statement_: PrivacyStatement
    stated_relation = "add-remove"

    def __init__(
        self, *, hidden: int = 16, epsilon: float | None = None, noise_multiplier: float | None = None, delta: float,
        max_grad_norm: float, sample_rate: float, steps: int, learning_rate: float,
        expected_batch_size: float | None = None, start: int = 1, classes: Any = None, noise: Noise = "secure",
        random_state: Any = None, verbose: bool = False,
    ) -> None:  # fmt: skip
        self.hidden = hidden
        self.epsilon = epsilon
        self.noise_multiplier = noise_multiplier
        self.delta = delta
        self.max_grad_norm = max_grad_norm
        self.sample_rate = sample_rate
        self.steps = steps
        self.learning_rate = learning_rate
        self.expected_batch_size = expected_batch_size
        self.start = start
        self.classes = classes
        self.noise = noise
        self.random_state = random_state
        self.verbose = verbose

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any) -> Self:
        """Train the network.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, finite numbers, scaled by public numbers.
        y : array of shape (n,)
            Labels: two different ones, or some of ``classes``.

        Returns
        -------
        DPNetworkClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range; if neither or both of epsilon and noise_multiplier are given; if a seed
            comes with secure noise; if X or y is malformed or empty, or has a label outside ``classes``; if a weight
            overflows.
        """
        delta, secure = inside_unit(self.delta, "delta"), is_secure(self.noise)
        hidden, start = (
            positive_integer(self.hidden, "hidden", MOST_UNITS),
            positive_integer(self.start, "start"),
        )
        source = NoiseSource.of(self.noise, self.random_state)
        steps = self._steps(continuous_delta(delta) if secure else delta)
        features, labels = checked(self, X, y)
        self.classes_, codes = two_labels(labels, self.classes)
        width = hidden * (features.shape[1] + 2) + 1
        statement = self._statement(steps, width, delta, secure=secure)
        self.privacy_statement_ = source.mark(replace(statement, note=LEFT_OUT))
        with np.errstate(all="ignore"):
            weights = train_network(features, codes, steps, hidden, start, source.generator)
        if not (abs(weights) <= HEAVIEST).all():  # NaN among them
            raise ValueError(
                f"learning_rate: found {self.learning_rate}, at which weights overflow and the loss is not finite, "
                "expected less"
            )
        found = layers_of(weights, hidden)
        self.coefs_ = [found.inner[:, :-1].T.copy(), found.outer[:, None].copy()]
        self.intercepts_ = [found.inner[:, -1].copy(), weights[-1:].copy()]
        self.noise_multiplier_ = steps.noise_multiplier
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of rows: the log-odds of the second of `classes_`.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n,)
            Scores.

        Raises
        ------
        ValueError
            If X is malformed, or if its features differ from those in `fit`.
        """
        check_is_fitted(self, "coefs_")
        (features,) = checked(self, X, reset=False)
        units = np.tanh(features @ self.coefs_[0] + self.intercepts_[0])
        return np.asarray(units @ self.coefs_[1][:, 0] + self.intercepts_[1])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the network's probabilities of the two classes.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, 2)
            Probabilities, in the order of `classes_`.

        Raises
        ------
        ValueError
            If X is malformed, or if its features differ from those in `fit`.
        """
        odds = self.decision_function(X)
        return np.stack([expit(-odds), expit(odds)], axis=-1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the more likely class of each row.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n,)
            Labels from `classes_`.

        Raises
        ------
        ValueError
            If X is malformed, or if its features differ from those in `fit`.
        """
        second = self.decision_function(X) > 0
        return np.asarray(self.classes_[second.astype(int)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _statement(self, steps: Steps, width: int, delta: float, *, secure: bool) -> PrivacyStatement:
        """Return what the steps cost, before it is marked by the kind of noise."""
        public = (COUNTED if steps.expected_batch_size is None else FIXED, LABELS)
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
        multiplier = 0.0 if self.epsilon is not None else positive(self.noise_multiplier, "noise_multiplier")
        steps = Steps(
            noise_multiplier=multiplier,
            max_grad_norm=self.max_grad_norm,
            sample_rate=self.sample_rate,
            count=positive_integer(self.steps, "steps"),
            learning_rate=self.learning_rate,
            fit_intercept=True,
            expected_batch_size=self.expected_batch_size,
        )
        if self.epsilon is None:
            return steps
        return replace(
            steps, noise_multiplier=dp_sgd_noise(self.epsilon, delta, steps.sample_rate, steps.count, "pld")
        )
