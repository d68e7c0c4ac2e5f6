"""Private exponentiated gradient: fair classification as a game of a learner with an auditor who sees noisy counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from dpfair_lib._arguments import below_one, inside_unit, one_of, positive, positive_integer
from dpfair_lib._fitting import UnseededIfSecure, whole_or_not_at_all
from dpfair_lib._labels import declared_labels, places
from dpfair_lib._scoring import expected_accuracy
from dpfair_lib._validation import as_groups, check_lengths, check_row_labels
from dpfair_lib.fairness.draws import drawn_labels
from dpfair_lib.learners.constrained.lagrangian_steps import CONDITIONS, Notion
from dpfair_lib.learners.constrained.reduction_game import (
    Auditor,
    Learner,
    Public,
    deviations,
    group_sums,
    play,
    ratio,
)
from dpfair_lib.learners.functional import WIDEST_BOUND
from dpfair_lib.learners.linear import LEFT_OUT, checked, two_labels
from dpfair_lib.learners.minimiser import bounded_rows
from dpfair_lib.privacy import PrivacyStatement
from dpfair_lib.privacy.mechanisms import Mechanism
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.sampling import Noise

PUBLIC = ("everything but who is in which group", "the two labels", "the two groups")
MOST_ROUNDS, HIGHEST, LEAST = 10_000, 1e9, 1e-12


class PrivateExponentiatedGradient(ClassifierMixin, UnseededIfSecure, BaseEstimator):
    """Exponentiated gradient with a private learner and a private auditor; the group of each person is protected.

    Fair classification becomes a game. The auditor raises the price of a gap that it sees, by multiplicative weights.
    The learner answers with the classifier that is best at these prices: least squares on the cost of each row. All
    that either learns of the groups is noisy: the sum of the second group's rows, once, and in every round the number
    of its selected rows. The classifier is the mixture of all rounds: it draws a round for each row. The group is
    needed in `fit`, not in `predict`.

    The privacy statement covers the group of each row given to `fit`, one of which may change. Features, labels and how
    many rows there are count as public.

    Parameters
    ----------
    notion : {"demographic_parity", "equal_opportunity", "equalized_odds"}
        Whether the rates of all rows are compared, those of label 1 (the second), or those of each label.
    gamma : float, default=0.0
        γ in [0, 1): the gap that is allowed at no price.
    feature_bound : float
        Longer rows are scaled down to this Euclidean norm.
    epsilon, delta : float
        ε > 0 and δ in (0, 1), of the whole release.
    rounds : int, default=30
        T.
    multiplier_bound : float, default=2.0
        B: the largest price of a gap of 1, where an error rate of 1 costs 1. At most 10⁹.
    multiplier_rate : float, default=2.0
        By how much a gap of 1 moves the logarithm of its price in a round.
    sums_share : float, default=0.3
        In (0, 1): the part of the privacy, in μ², that the sums use. The counts use the rest.
    regularization : float, default=0.0001
        Weight of ‖w‖² beside the mean square, at least 10⁻¹².
    groups : sequence of two, optional
        The two groups, chosen without looking at the data. By default those that occur, which are then public.
    classes : sequence of two labels, optional
        The two labels, likewise.
    noise : {"secure", "study"}, default="secure"
        "secure" uses OpenDP's sampler. "study" uses seeded floating-point noise, for experiments; it protects nobody.
    random_state : int, Generator or RandomState, optional
        Seed of study noise. Must be None for secure noise.

    Attributes
    ----------
    classes_, groups_ : ndarray of shape (2,)
        The labels and the groups, sorted.
    coefs_, intercepts_ : ndarray of shape (T, d) and (T,)
        Weights of every round.
    privacy_statement_ : PrivacyStatement
        What the release costs.

    Notes
    -----
    *What one group moves.* Let one row change its group. Then its x, of norm at most Λ, enters or leaves the sum of one
    condition: each condition is about other rows, so it is in one sum at most. On a grid of Λ/2²² the whole numbers
    move by 2²² + ½√p at most. Given the earlier answers, the classifier of a round is fixed, and the row enters or
    leaves one count. With deviations in proportion to these moves, each release is dominated by N(0, 1) and N(μ_i, 1)
    whatever the earlier ones gave. So all of them together are dominated by N(0, 1) and N(μ, 1), μ² = Σ μ_i²: one
    Gaussian release, whose ε at δ is exact. Everything else is computed from the answers and from what is public: the
    sums of all rows, all labels, how many rows a round selects.

    *What is needed.* The size of the second group is private, too: here it is an entry of the noisy sums. A noise level
    that follows the exact size of the smaller group is not private, unless these sizes are public. If one person
    changes groups of 1 and 3 into groups of 2 and 2, such noise halves; a test shows how surely one tells them apart.

    *Differences from the publication*, of which only the abstract and descriptions by others were at hand. Its auditor
    adds Laplace noise and its learner uses the exponential mechanism over a finite class; here both get Gaussian noise,
    since it composes exactly, and the learner is least squares, as in the work of some of its authors on subgroups. Its
    learner pays in every round; here the learner pays once, since costs depend on the group through these sums alone.

    *The public code as run* (SaeedSharifiMa/FairDP, commit 8c984e2f). Without noise each round agrees with it to nine
    digits after the point: the prices after the same gaps, the answer to the same prices, its gaps. A whole game does
    not. That code answers with the best of all classifiers so far, mixes them by a linear programme and stops early.
    Its noise does not hide the group of one person; a test shows two data sets.

    References
    ----------
    Jagielski, Kearns, Mao, Oprea, Roth, Sharifi-Malvajerdi and Ullman (2019), Differentially private fair learning, its
    first algorithm; after Agarwal et al. (2018). The proof and the learner's noise are ours.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=2000, random_state=0)
    >>> X = adult.X[["age", "education-num"]] / [90, 16] - 0.5
    >>> model = dpf.PrivateExponentiatedGradient(
    ...     notion="demographic_parity", feature_bound=1.0, epsilon=1.0, delta=1e-5
    ... ).fit(X, adult.y, sensitive_features=adult.sensitive_features)
    >>> model.predict(X, random_state=0).shape
    (2000,)
    >>> print(model.privacy_statement_)
    ε = 1, δ = 1e-05, sensitive-attribute, per record; public: everything but who is in which group, ...
    """

    privacy_statement_: PrivacyStatement
    stated_relation = "sensitive-attribute"

    def __init__(
        self, *, notion: Notion, gamma: float = 0.0, feature_bound: float, epsilon: float, delta: float,
        rounds: int = 30, multiplier_bound: float = 2.0, multiplier_rate: float = 2.0, sums_share: float = 0.3,
        regularization: float = 1e-4, groups: Sequence[Any] | None = None, classes: Any = None,
        noise: Noise = "secure", random_state: Any = None,
    ) -> None:  # fmt: skip
        self.notion = notion
        self.gamma = gamma
        self.feature_bound = feature_bound
        self.epsilon = epsilon
        self.delta = delta
        self.rounds = rounds
        self.multiplier_bound = multiplier_bound
        self.multiplier_rate = multiplier_rate
        self.sums_share = sums_share
        self.regularization = regularization
        self.groups = groups
        self.classes = classes
        self.noise = noise
        self.random_state = random_state

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Self:
        """Play the game, with noise.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, finite numbers.
        y : array of shape (n,)
            Labels: two different ones, or some of ``classes``.
        sensitive_features : array of shape (n,)
            Group of each row: two different ones, or some of ``groups``.

        Returns
        -------
        PrivateExponentiatedGradient
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range; if a seed comes with secure noise; if X, y or the groups are malformed
            or outside what was declared; if labels or groups are not declared and there are not two.
        """
        epsilon, delta = positive(self.epsilon, "epsilon"), inside_unit(self.delta, "delta")
        bound, share = (
            positive(self.feature_bound, "feature_bound"),
            inside_unit(self.sums_share, "sums_share"),
        )
        if bound > WIDEST_BOUND:
            raise ValueError(f"feature_bound: found {bound}, expected at most {WIDEST_BOUND:g}")
        rounds = positive_integer(self.rounds, "rounds", MOST_ROUNDS)
        modulus = positive(self.regularization, "regularization")
        if modulus < LEAST:
            raise ValueError(f"regularization: found {modulus}, expected at least {LEAST:g}")
        auditor = self._auditor()
        source = NoiseSource.of(self.noise, self.random_state)
        features, labels = checked(self, X, y)
        self.classes_, codes = two_labels(labels, self.classes)
        second = self._places(sensitive_features)
        check_lengths(X=features, sensitive_features=second)
        known, order = self._public(features, codes, bound)
        second = second[order]
        p = known.rows.shape[1]
        noise = deviations(epsilon, delta, p, rounds, share)
        self.privacy_statement_: PrivacyStatement = source.mark(PrivacyStatement(
            epsilon, delta, "sensitive-attribute", public=PUBLIC, note=LEFT_OUT,
            mechanism=(Mechanism("gaussian", ratio(noise, p, rounds)),),
        ))  # fmt: skip
        sums = group_sums(known, second)
        noisy = source.add_gaussian(sums.ravel(), noise.sums).reshape(sums.shape)
        with np.errstate(all="ignore"):
            learner = Learner(known, noisy, modulus)
            found = play(known, second, learner, auditor, rounds, noise.counts, source)
        self.coefs_, self.intercepts_ = found[:, :-1].copy(), found[:, -1].copy()
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the exact probabilities of the two classes, over the draw of a round.

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
        check_is_fitted(self, "coefs_")
        (features,) = checked(self, X, reset=False)
        rows, _ = bounded_rows(features, positive(self.feature_bound, "feature_bound"), intercept=True)
        second = (rows @ np.column_stack([self.coefs_, self.intercepts_]).T > 0).mean(axis=1)
        return np.column_stack([1 - second, second])

    def predict(self, X: Any, *, random_state: Any = None) -> np.ndarray:
        """Draw labels, independently for every row.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.
        random_state : int, numpy.random.Generator, numpy.random.RandomState, PersonalDraws or None
            Source of the draws. With None, every call draws differently; with ``StableAnswers().of(identifiers)`` the
            same person gets the same answer at every call.

        Returns
        -------
        ndarray of shape (n,)
            Labels from `classes_`.

        Raises
        ------
        ValueError
            As `predict_proba`.
        """
        return np.asarray(self.classes_[drawn_labels(self.predict_proba(X)[:, 1], random_state)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the expected accuracy, over the draws, on some rows.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.
        y : array of shape (n,)
            True labels.
        sample_weight : array of shape (n,), optional
            Weight of each row, at least 0. By default all are equal.

        Returns
        -------
        float
            A number in [0, 1]. The same at every call, as nothing is drawn.

        Raises
        ------
        ValueError
            As `predict_proba`; if a label is unknown, or a weight is negative, or all are 0.
        """
        check_row_labels(X=X, y=y, sample_weight=sample_weight)
        return expected_accuracy(self.predict_proba(X), y, self.classes_, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _auditor(self) -> Auditor:
        condition = CONDITIONS[one_of(self.notion, "notion", CONDITIONS)]
        bound = positive(self.multiplier_bound, "multiplier_bound")
        if bound > HIGHEST:
            raise ValueError(f"multiplier_bound: found {bound}, expected at most {HIGHEST:g}")
        rate = positive(self.multiplier_rate, "multiplier_rate")
        return Auditor(max(condition) + 1, below_one(self.gamma, "gamma"), bound, rate)

    def _public(self, features: np.ndarray, y: np.ndarray, bound: float) -> tuple[Public, np.ndarray]:
        """Return what is public, and the order in which it is: that of the rows, since sums of floats depend on it."""
        conditions = np.array(CONDITIONS[self.notion])
        rows, longest = bounded_rows(features, bound, intercept=True)
        order = np.lexsort([*rows.T, y])
        about = np.array([conditions[y[order]] == j for j in range(conditions.max() + 1)])
        return Public(rows[order], y[order], about, longest), order

    def _places(self, sensitive_features: Any) -> np.ndarray:
        if self.groups is not None:
            known = declared_labels(self.groups, "groups", least=2, most=2, ordered=True)
            self.groups_ = np.asarray(known)
            return np.asarray(places(sensitive_features, known, "sensitive_features"))
        self.groups_, found = as_groups(sensitive_features)
        if len(self.groups_) != 2:
            raise ValueError(
                f"sensitive_features: found {len(self.groups_)} groups {self.groups_.tolist()}, expected 2"
            )
        return np.asarray(found)
