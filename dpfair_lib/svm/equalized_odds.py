"""Post-processing for equalized odds: a linear program on counts of the rows, private if the counts are noisy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpfair_lib._arguments import inside_unit, one_of, positive
from dpfair_lib._fitting import UnseededIfSecure, whole_or_not_at_all
from dpfair_lib._labels import declared_labels, places, zeros_and_ones
from dpfair_lib._scoring import ScoredByChances
from dpfair_lib._validation import are_empty, as_groups, as_single_rate, check_lengths, same_rows
from dpfair_lib.fairness.draws import drawn_labels
from dpfair_lib.privacy import PrivacyStatement, mechanisms
from dpfair_lib.privacy.budgets.open_budgets import charge
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import noise_scale
from dpfair_lib.privacy.sampling import Noise
from dpfair_lib.privacy.statements import BEHIND_PREDICTIONS
from dpfair_lib.svm.equalized_odds_program import OddsProgram, OddsSolution, solve
from dpfair_lib.svm.guarantees import (
    COUNT_SENSITIVITY,
    MECHANISMS,
    excess_errors,
    noise_radius,
    rate_deviation,
    slack,
)

_PUBLIC = {
    "sensitive-attribute": ("predictions and labels of all rows", "which groups there are"),
    "replace-one": ("the number of rows", "which groups there are"),
    "add-remove": ("which groups there are",),
}
"""Relation → what is known to everyone."""


class EqualizedOddsPostprocessor(ScoredByChances, UnseededIfSecure):
    """Give groups similar true and false positive rates, by random changes that cause as few errors as possible.

    The rows are counted by predicted label, group and true label. With ε, noise is added to the counts. A linear
    program then chooses, for each group and predicted label, the probability of the new label 1, such that the rates of
    any two groups differ by at most γ (with noise: γ plus a slack). Negative noisy counts are set to 0 first, and a
    rate without rows counts as ½. The program always has a solution. Everything that this object keeps is computed from
    the noisy counts, so it is as private as they are.

    `FairPostprocessor` with ``notion="equalized_odds"`` also takes scores, but gives no privacy. There nobody has a
    lower chance than somebody of the group with a lower score; here the program may also turn a group's labels round.

    It is no case of `PrivateFairPostprocessor`, whose groups move to a common rate or band: for two rates there is no
    aim that one number could say, and the program needs four noisy counts of each group.

    The privacy statement covers the rows given to `fit`. The classifier must be fixed beforehand or be private itself;
    in the latter case add its statement with `compose`.

    Parameters
    ----------
    gamma : float
        γ in [0, 1]: largest allowed difference between two groups' rates.
    epsilon : float, optional
        ε > 0 of the release. None means no noise and no privacy.
    relation : {"sensitive-attribute", "replace-one", "add-remove"}
        Which data sets are neighbours: one person's group differs; one record differs; one record is added or removed.
        The counts then differ by 2, 2 and 1 in total.
    mechanism : {"geometric", "laplace"}
        Two-sided geometric noise, which keeps counts whole, or Laplace noise, as published.
    relaxed : bool
        Whether the limits of the noisy program get a slack, with which every solution of the exact program remains
        allowed with probability 1 − β. This bounds the additional errors, but allows larger differences; without it the
        differences on the noisy counts are at most γ.
    failure : float
        β in (0, 1), the failure probability for the slack and the bounds.
    reference : group label, optional
        Compare all groups with this one only, as published; two others may then differ by 2γ. None compares all pairs.
    groups : sequence, optional
        The group labels, chosen without looking at the data; a group may then have no rows. By default those that
        occur, which are then public.
    noise : {"secure", "study"}
        "secure" uses OpenDP's sampler. "study" uses seeded floating-point noise, for experiments; it protects nobody.
    random_state : int, Generator or RandomState, optional
        Seed of study noise. Must be None for secure noise.

    Attributes
    ----------
    groups_ : list
        The group labels, sorted.
    counts_ : ndarray of shape (2, |A|, 2)
        The counts by predicted label, group and true label; with noise if ε is given.
    probabilities_ : dict
        Group → probabilities of the new label 1 for the predicted labels 0 and 1.
    program_, solution_ : OddsProgram, OddsSolution
        The linear program on these counts, and its solution with a proof of optimality.
    noise_bound_ : float
        η: with probability 1 − β, the noise changes no count by more than this; 0 without noise.
    gap_bound_ : float
        With probability 1 − β, the largest difference between two compared groups' rates on the rows given to `fit`.
    excess_errors_bound_ : float
        With probability 1 − β, the largest number of additional expected errors on these rows, compared with the best
        rule that satisfies γ on them; infinite if not relaxed.
    privacy_statement_ : PrivacyStatement
        What the release costs.

    References
    ----------
    Jagielski et al. (2019), as in Seiders and Kumar (2024), § 5 and Appendix B; without noise Hardt, Price and Srebro
    (2016). The other relations, whole counts, the treatment of negative counts, the comparison of all pairs and the
    constants are ours. Without slack, `central.odds_violation_bounds` has the distribution of the gap of two groups for
    γ = 0, and else bounds, from the true rates.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=2000, random_state=0)
    >>> y_pred = (adult.X["education-num"] > 11).astype(int)
    >>> fair = dpf.EqualizedOddsPostprocessor(gamma=0.05, epsilon=1.0)
    >>> fair = fair.fit(y_pred, y_true=adult.y, sensitive_features=adult.sensitive_features)
    >>> y_fair = fair.predict(y_pred, sensitive_features=adult.sensitive_features, random_state=0)
    >>> print(fair.privacy_statement_)
    ε = 1 (pure), sensitive-attribute, per record; public: predictions and labels of all rows, ...
    """

    privacy_statement_: PrivacyStatement

    def __init__(
        self, *, gamma: float, epsilon: float | None = None, relation: str = "sensitive-attribute",
        mechanism: str = "geometric", relaxed: bool = True, failure: float = 0.05, reference: Any = None,
        groups: Sequence[Any] | None = None, noise: Noise = "secure", random_state: Any = None,
    ) -> None:  # fmt: skip
        self.gamma = gamma
        self.epsilon = epsilon
        self.relation = relation
        self.mechanism = mechanism
        self.relaxed = relaxed
        self.failure = failure
        self.reference = reference
        self.groups = groups
        self.noise = noise
        self.random_state = random_state

    @whole_or_not_at_all
    def fit(
        self, y_pred: Any, y: Any = None, *, sensitive_features: Any, y_true: Any = None, scores: Any = None,
        sample_weight: Any = None,
    ) -> Self:  # fmt: skip
        """Count the rows, add noise if ε is given, and solve the linear program.

        Parameters
        ----------
        y_pred : array of shape (n,) or (n, 1)
            Predicted labels 0 and 1. Arguments with a pandas index have to have the same one.
        y : array of shape (n,), optional
            The same as ``y_true``. A scikit-learn pipeline passes the labels under this name.
        sensitive_features : array of shape (n,)
            Group of each row; at least two groups, or some of ``groups``.
        y_true : array of shape (n,)
            True labels 0 and 1.
        scores, sample_weight : None
            Refused otherwise. Thresholds that follow scores would tell them; a record of weight w moves a count by w.

        Returns
        -------
        EqualizedOddsPostprocessor
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If scores or weights are given; if an argument has the wrong shape, a missing or infinite value or a label
            other than 0 and 1; if there are fewer than two groups; if a parameter is out of its range. Without noise
            also if a group lacks one of the true labels, so that a rate is not defined. With noise no error depends on
            the counts, because it would reveal something about them.
        """
        _refuse(scores, sample_weight)
        gamma, source = (
            float(as_single_rate(self.gamma, "gamma")),
            NoiseSource.of(self.noise, self.random_state, sampled=self._noisy),
        )
        statement = self._statement(source)
        self._check_switch()
        inside_unit(self.failure, "failure")
        one_of(self.mechanism, "mechanism", MECHANISMS)
        groups, codes, truth = self._rows(y_pred, y, sensitive_features, y_true)
        exact, pairs = np.zeros((2, len(groups), 2), dtype=np.int64), self._pairs(groups)
        np.add.at(exact, (truth[0], codes, truth[1]), 1)
        if self._noisy:
            counts = self._released(exact, source)
            radius = noise_radius(
                self._epsilon_as_given(), groups=len(groups), failure=self.failure, relation=self.relation,
                mechanism=self.mechanism,
            )  # fmt: skip
        else:
            _check_cells(exact, groups)
            counts, radius = exact, 0.0
        nonnegative = np.maximum(counts, 0).astype(float)
        rows = nonnegative.sum(axis=0).T
        extra = slack(rows, pairs, radius) if self.relaxed and self._noisy else 0.0
        limits = np.minimum(np.full((2, len(pairs)), gamma) + extra, 1.0)
        program = OddsProgram(nonnegative, pairs, limits)
        solution = solve(program)
        self.groups_, self.counts_, self.noise_bound_ = groups, counts, radius
        self.program_: OddsProgram = program
        self.solution_: OddsSolution = solution
        self._set_bounds(rows)
        self.privacy_statement_ = statement
        return self

    @same_rows
    def predict_proba(self, y_pred: Any, *, sensitive_features: Any) -> np.ndarray:
        """Return the exact probabilities of the two labels, over the draw of the new label.

        Parameters
        ----------
        y_pred, sensitive_features : array of shape (n,)
            As in `fit`.

        Returns
        -------
        ndarray of shape (n, 2)
            P(Ŷ = 0) and P(Ŷ = 1) of each row.

        Raises
        ------
        ValueError
            If an argument is malformed, or if a group was not known in `fit`.
        """
        check_is_fitted(self, "probabilities_")
        y_pred, codes = (
            zeros_and_ones(y_pred, "y_pred"),
            places(sensitive_features, self.groups_, "sensitive_features"),
        )
        check_lengths(y_pred=y_pred, sensitive_features=codes)
        positive = self.solution_.rule[y_pred, codes]
        return np.column_stack([1 - positive, positive])

    def predict(self, y_pred: Any, *, sensitive_features: Any, random_state: Any = None) -> np.ndarray:
        """Draw the new labels, independently for every row.

        Parameters
        ----------
        y_pred, sensitive_features : array of shape (n,)
            As in `fit`.
        random_state : int, numpy.random.Generator, numpy.random.RandomState, PersonalDraws or None
            Source of the draws. With None, every call draws differently; with ``StableAnswers().of(identifiers)`` the
            same person gets the same answer at every call.

        Returns
        -------
        ndarray of shape (n,)
            Labels 0 and 1.

        Raises
        ------
        ValueError
            If an argument is malformed, or if a group was not known in `fit`.
        """
        positive = self.predict_proba(y_pred, sensitive_features=sensitive_features)[:, 1]
        return drawn_labels(positive, random_state)

    @property
    def _noisy(self) -> bool:
        return self.epsilon is not None and self.epsilon != math.inf

    def _epsilon_as_given(self) -> float:
        return positive(self.epsilon, "epsilon")

    def _check_switch(self) -> None:
        if not isinstance(self.relaxed, bool):
            raise ValueError(f"relaxed: found {self.relaxed!r}, expected True or False")

    def _statement(self, source: NoiseSource) -> PrivacyStatement:
        relation = one_of(self.relation, "relation", _PUBLIC)
        public = _PUBLIC[relation]
        if not self._noisy:
            nothing = PrivacyStatement(
                math.inf, 0.0, relation, public=public, guarantee=False, note="counts without noise"
            )
            charge(nothing)
            return nothing
        laplace = (
            (mechanisms.Mechanism("laplace", self._epsilon_as_given()),)
            if self.mechanism == "laplace"
            else ()
        )
        statement = PrivacyStatement(
            self._epsilon_as_given(), 0.0, relation, public=public, note=BEHIND_PREDICTIONS, mechanism=laplace
        )
        return source.mark(statement)

    def _rows(
        self, y_pred: Any, y: Any, sensitive_features: Any, y_true: Any
    ) -> tuple[list[Any], np.ndarray, tuple[np.ndarray, np.ndarray]]:
        if (y is None) == (y_true is None):
            found = "none" if y is None else "labels in both y and y_true"
            raise ValueError(f"y_true: found {found}, expected the true labels once")
        truth = y if y_true is None else y_true
        if self.groups is not None:
            groups = declared_labels(self.groups, "groups", least=2, ordered=True)
            if self._noisy and are_empty(y_pred, truth, sensitive_features):
                # an error would distinguish an empty table from one with a single row
                nobody = np.zeros(0, dtype=np.int64)
                return groups, nobody, (nobody, nobody)
            codes = places(sensitive_features, groups, "sensitive_features")
        else:
            levels, codes = as_groups(sensitive_features)
            groups = levels.tolist()
            if len(groups) < 2:
                raise ValueError(
                    f"sensitive_features: found {len(groups)} group {groups}, expected at least 2"
                )
        labels = zeros_and_ones(y_pred, "y_pred"), zeros_and_ones(truth, "y_true")
        check_lengths(y_pred=labels[0], y_true=labels[1], sensitive_features=codes)
        return groups, codes, labels

    def _pairs(self, groups: list[Any]) -> tuple[tuple[int, int], ...]:
        if self.reference is None:
            return tuple(itertools.combinations(range(len(groups)), 2))
        if self.reference not in groups:
            raise ValueError(f"reference: found {self.reference!r}, expected one of {groups}")
        at = groups.index(self.reference)
        return tuple((a, at) for a in range(len(groups)) if a != at)

    def _released(self, counts: np.ndarray, source: NoiseSource) -> np.ndarray:
        scale = noise_scale(COUNT_SENSITIVITY[self.relation], self._epsilon_as_given())
        add = source.add_laplace if self.mechanism == "laplace" else source.add_discrete_laplace
        return add(counts.reshape(-1), scale).reshape(counts.shape)

    def _set_bounds(self, rows: np.ndarray) -> None:
        rule, radius, pairs = self.solution_.rule, self.noise_bound_, self.program_.pairs
        self.probabilities_: dict[Any, tuple[float, float]] = {
            group: (float(rule[0, at]), float(rule[1, at])) for at, group in enumerate(self.groups_)
        }
        moved = abs(rule[1] - rule[0]) * rate_deviation(radius, rows)
        first, second = (list(groups) for groups in zip(*pairs, strict=True))
        bounds = abs(self.program_.differences(rule)) + moved[:, first] + moved[:, second]
        self.gap_bound_ = float(min(bounds.max(), 1.0))
        relaxed = self.relaxed or not self._noisy
        self.excess_errors_bound_ = float(excess_errors(len(self.groups_), radius)) if relaxed else math.inf


def _refuse(scores: Any, sample_weight: Any) -> None:
    """Refuse what `FairPostprocessor` takes and noisy counts cannot."""
    if scores is not None:
        raise ValueError(
            "scores: found scores, expected None: thresholds that follow the scores of the rows would tell them; "
            "FairPostprocessor takes scores, without privacy"
        )
    if sample_weight is not None:
        raise ValueError(
            "sample_weight: found weights, expected None: a record of weight w moves a count by w, so no noise of a "
            "fixed scale protects it; FairPostprocessor takes weights, without privacy"
        )


def _check_cells(counts: np.ndarray, groups: list[Any]) -> None:
    empty = np.argwhere(counts.sum(axis=0) == 0)
    if len(empty):
        group, label = empty[0]
        raise ValueError(
            f"y_true: found no label {label} in group {groups[group]!r}, expected both labels in every group"
        )
