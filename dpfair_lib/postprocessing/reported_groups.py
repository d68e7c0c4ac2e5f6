"""Post-processing for equalized odds where groups are known from randomised reports only."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import linprog
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from dpfair_lib._arguments import one_of
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib._labels import places
from dpfair_lib._scoring import expected_accuracy
from dpfair_lib._validation import as_binary, as_single_rate, check_lengths, check_row_labels, same_rows
from dpfair_lib.fairness.draws import drawn_labels
from dpfair_lib.privacy import PrivacyStatement
from dpfair_lib.privacy.sampling import KINDS, Noise

WORST = 1e6
"""The largest condition number of a channel: beyond, reports hardly tell the groups."""


class ReportedRule(NamedTuple):
    """The solution of `cheapest_reported_rule`.

    Parameters
    ----------
    rule : ndarray of shape (2, m)
        P(new label 1 | predicted label, report).
    errors : float
        Its expected errors on the estimated counts.
    gap : float
        Its largest difference of two groups' rates on them.
    """

    rule: np.ndarray
    errors: float
    gap: float


def true_counts(reported: np.ndarray, channel: np.ndarray) -> np.ndarray:
    """Return estimates of the counts by true group, from the counts by report.

    Parameters
    ----------
    reported : ndarray of shape (2, m, 2)
        Counts by predicted label, report and true label.
    channel : ndarray of shape (k, m)
        P(report | group), of rank k.

    Returns
    -------
    ndarray of shape (2, k, 2)
        Without bias where reports depend on nothing but the group; an estimate may be negative.
    """
    return np.einsum("zk,yzt->ykt", np.linalg.pinv(channel), reported)


def cheapest_reported_rule(counts: np.ndarray, channel: np.ndarray, gamma: float) -> ReportedRule:
    """Return the rule by predicted label and report with the fewest errors, such that true groups' rates agree.

    A person of group a has the report z with probability q_az, whatever else is true of the person. So a rule p(ŷ, z)
    acts on group a as Σ_z q_az p(ŷ, z), and the program is linear in p. Rules that give everybody the same chance are
    always allowed.

    Parameters
    ----------
    counts : ndarray of shape (2, k, 2)
        Counts by predicted label, true group and true label, at least 0.
    channel : ndarray of shape (k, m)
        q.
    gamma : float
        Largest difference of two groups' true, and of their false positive rates. A rate without rows is taken as
        that of predictions of which half are 1.

    Raises
    ------
    RuntimeError
        If the solver gives up.
    """
    k, m = channel.shape
    rows = counts.sum(axis=0)
    shares = np.where(rows > 0, counts / np.where(rows > 0, rows, 1), 0.5)  # of ŷ, given group and true label
    acting = np.einsum("yat,az->atyz", shares, channel).reshape(k, 2, 2 * m)
    pairs = [acting[a, t] - acting[b, t] for a, b in itertools.permutations(range(k), 2) for t in (0, 1)]
    scale = max(float(rows.sum()), 1.0)
    price = np.einsum("ya,az->yz", counts[:, :, 0] - counts[:, :, 1], channel).ravel() / scale
    solved = linprog(price, np.array(pairs), np.full(len(pairs), gamma), bounds=(0, 1), method="highs")
    if solved.status != 0:
        raise RuntimeError(f"the linear program was not solved: {solved.message}")
    rule = np.clip(solved.x, 0, 1)
    errors = float(price @ rule * scale + counts[:, :, 1].sum())
    return ReportedRule(rule.reshape(2, m), errors, float(max((pair @ rule for pair in pairs), default=0.0)))


def rates_through(shares: np.ndarray, rule: np.ndarray, channel: np.ndarray) -> np.ndarray:
    """Return the true groups' rates of the new label 1 when a rule is applied to what a channel makes of the group.

    Parameters
    ----------
    shares : ndarray of shape (2, k, 2)
        P(predicted label | group, true label).
    rule : ndarray of shape (2, m)
        P(new label 1 | predicted label, z).
    channel : ndarray of shape (k, m)
        P(z | group), whatever else is true of the person: of all that stands between a group and the rule, a second
        report or a guess included.

    Returns
    -------
    ndarray of shape (k, 2)
        P(new label 1 | group, true label); exact for `Fraction` entries.

    References
    ----------
    Ours; the chapter "What has appeared since".
    """
    acts = channel @ rule.T
    return np.asarray(sum(shares[y] * acts[:, y, None] for y in (0, 1)))


def gap_through(shares: Any, rule: Any, exchanged_0: Any, exchanged_1: Any) -> Any:
    """Return by how much two groups' rates differ when a rule of equal rates is applied through a channel.

    Parameters
    ----------
    shares : array of shape (2, 2)
        P(predicted label | group) for one true label; column: group.
    rule : array of shape (2, 2)
        P(new label 1 | predicted label, group), with equal rates m.
    exchanged_0, exchanged_1 : number
        a and b, the probabilities that group 0 is taken for 1, and group 1 for 0, whatever else is true of the person.

    Returns
    -------
    number
        Rate 0 less rate 1: a(S₀₁ − m) − b(S₁₀ − m), where S_ij is the rate of group i under the rule of group j.

    References
    ----------
    Ours; the chapter "What has appeared since", Result 1.
    """
    rates = [[sum(shares[y][i] * rule[y][j] for y in (0, 1)) for j in (0, 1)] for i in (0, 1)]
    return exchanged_0 * (rates[0][1] - rates[0][0]) - exchanged_1 * (rates[1][0] - rates[1][1])


def largest_gap(exchanged_0: Any, exchanged_1: Any) -> Any:
    """Return the largest `gap_through` in size, over all predictions and rules: the larger of a and b."""
    return max(exchanged_0, exchanged_1)


class ReportedOddsPostprocessor(BaseEstimator):
    """Give groups similar true and false positive rates where each person's group is known by a randomised report only.

    Each person reports the group through a public channel (local privacy), and nobody else learns it. From the reports
    the counts of the true groups are estimated, without bias before negative estimates are set to 0. A linear program
    then chooses the probability of the new label 1 for each predicted label and each *report*, such that the rates of
    the *true* groups differ by at most γ on the estimated counts, with the fewest expected errors. A report is needed
    for each new person too, from the same channel.

    The estimator draws nothing that protects: all that it keeps is computed from reports that are private already.

    Parameters
    ----------
    channel : Randomizer
        What made the reports. Each person's report must depend on nothing but the person's group.
    gamma : float
        γ in [0, 1]: largest difference between two true groups' rates, on the estimated counts.
    noise : {"secure", "study"}, default="secure"
        How the reports were drawn: from the operating system's words, or with a seed, which protects nobody. Only the
        statement depends on it.

    Attributes
    ----------
    counts_ : ndarray of shape (2, k, 2)
        Estimated counts by predicted label, true group and true label; negative estimates are set to 0.
    rule_ : ndarray of shape (2, m)
        P(new label 1 | predicted label, report).
    group_rule_ : ndarray of shape (2, k)
        What that is for a person of each true group, over the report.
    gap_ : float
        The largest difference of two true groups' rates on the estimated counts.
    privacy_statement_ : PrivacyStatement
        What one report costs the person who gives it, under "local".

    Notes
    -----
    *Proof.* The counts by report are a function of the reports, of predictions and of true labels. A person's report is
    ε-private for the person's group, and everybody else's does not depend on it. So the release is, too; labels and
    predictions are not protected, and a classifier behind the predictions must not have seen the true groups. The
    object cannot check that the reports came from ``channel``: without that nothing is promised. A prediction that uses
    the person's report spoils the estimated counts, not privacy.

    *Differences from the publication.* Any number of groups and any channel of full rank, where the public code
    (husseinmozannar/fairlearn_private_data) has two groups and randomised response. Negative estimates are set to 0. At
    the time of prediction that code mixes the rules for both reports. Its notebook passes true groups, so the channel
    acts once; given reports it would act twice, and the rates of the true groups may differ by more than the program
    allows. Here the rule of the report is used. On tables without negative estimates both programs have the same
    optimum: a test compares with numbers of that code as run. The first step of the publication, a learner that takes
    reports for groups, is any learner with reports as ``sensitive_features``.

    References
    ----------
    Mozannar, Ohannessian and Srebro (2020), Fair learning with private demographic data: the second step, as in the
    public code. Of the text the abstract was at hand.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=4000, random_state=0)
    >>> y_pred = (adult.X["education-num"] > 11).astype(int)
    >>> channel = dpf.generalized_randomized_response(2, epsilon=1.0)
    >>> groups = (adult.sensitive_features == adult.sensitive_features[0]).astype(int)
    >>> reports = channel.apply(groups)  # by each person
    >>> fair = dpf.ReportedOddsPostprocessor(channel, gamma=0.02)
    >>> fair = fair.fit(y_pred, y_true=adult.y, reports=reports)
    >>> fair.predict(y_pred, reports=reports, random_state=0).shape
    (4000,)
    >>> print(fair.privacy_statement_)
    ε = 1 (pure), local, per sensitive attribute; ...
    """

    def __init__(self, channel: Any, *, gamma: float, noise: Noise = "secure") -> None:
        self.channel = channel
        self.gamma = gamma
        self.noise = noise

    @whole_or_not_at_all
    def fit(self, y_pred: Any, *, y_true: Any, reports: Any) -> Self:
        """Estimate the counts of the true groups, and solve the program.

        Parameters
        ----------
        y_pred, y_true : array of shape (n,)
            Predicted and true labels 0 and 1.
        reports : array of shape (n,)
            Each person's report, one of 0, …, m − 1.

        Returns
        -------
        ReportedOddsPostprocessor
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If an argument is malformed; if γ is out of its range; if the channel has fewer than two groups, or its rows
            are so close to dependent that reports do not tell the groups.
        """
        gamma, matrix = float(as_single_rate(self.gamma, "gamma")), self._matrix()
        statement = self.channel.privacy_statement(
            attribute="the group", noise=one_of(self.noise, "noise", KINDS)
        )
        predicted, truth = as_binary(y_pred, "y_pred"), as_binary(y_true, "y_true")
        reported = places(reports, range(matrix.shape[1]), "reports")
        check_lengths(y_pred=predicted, y_true=truth, reports=reported)
        table = np.zeros((2, matrix.shape[1], 2))
        np.add.at(table, (predicted, reported, truth), 1)
        counts = np.maximum(true_counts(table, matrix), 0)
        found = cheapest_reported_rule(counts, matrix, gamma)
        self.counts_, self.rule_, self.gap_ = counts, found.rule, found.gap
        self.group_rule_ = found.rule @ matrix.T
        self.privacy_statement_: PrivacyStatement = statement
        return self

    def score(self, X: Any, y: Any, *, reports: Any, sample_weight: Any = None) -> float:
        """Return the expected accuracy, over the draw of the new labels, on some rows.

        Parameters
        ----------
        X, reports : array of shape (n,)
            Predicted labels and reports, as ``y_pred`` and ``reports`` in `predict_proba`.
        y : array of shape (n,)
            True labels 0 and 1.
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
        check_row_labels(X=X, y=y, reports=reports, sample_weight=sample_weight)
        return expected_accuracy(self.predict_proba(X, reports=reports), y, [0, 1], sample_weight)

    @same_rows
    def predict_proba(self, y_pred: Any, *, reports: Any) -> np.ndarray:
        """Return the exact probabilities of the two labels, over the draw of the new label.

        Parameters
        ----------
        y_pred, reports : array of shape (n,)
            As in `fit`.

        Returns
        -------
        ndarray of shape (n, 2)
            P(Ŷ = 0) and P(Ŷ = 1) of each row.

        Raises
        ------
        ValueError
            If an argument is malformed.
        """
        check_is_fitted(self, "rule_")
        predicted = as_binary(y_pred, "y_pred")
        reported = places(reports, range(self.rule_.shape[1]), "reports")
        check_lengths(y_pred=predicted, reports=reported)
        positive = self.rule_[predicted, reported]
        return np.column_stack([1 - positive, positive])

    def predict(self, y_pred: Any, *, reports: Any, random_state: Any = None) -> np.ndarray:
        """Draw the new labels, independently for every row.

        Parameters
        ----------
        y_pred, reports : array of shape (n,)
            As in `fit`.
        random_state : int, numpy.random.Generator, numpy.random.RandomState, PersonalDraws or None
            Source of the draws, as in `EqualizedOddsPostprocessor.predict`.

        Returns
        -------
        ndarray of shape (n,)
            Labels 0 and 1.

        Raises
        ------
        ValueError
            If an argument is malformed.
        """
        return drawn_labels(self.predict_proba(y_pred, reports=reports)[:, 1], random_state)

    def _matrix(self) -> np.ndarray:
        if not all(hasattr(self.channel, name) for name in ("matrix", "privacy_statement")):
            raise ValueError(f"channel: found {self.channel!r}, expected a Randomizer")
        matrix = np.asarray(self.channel.matrix, dtype=float)
        if len(matrix) < 2:
            raise ValueError("channel: found one group, expected at least 2")
        values = np.linalg.svd(matrix, compute_uv=False)
        if len(values) < len(matrix) or values[0] > WORST * values[-1]:
            raise ValueError(
                "channel: found rows that are dependent, or nearly so, expected one whose reports tell the groups"
            )
        return matrix
