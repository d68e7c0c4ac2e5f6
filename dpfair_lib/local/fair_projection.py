"""Fair projection: the fair probabilities that are nearest to those of a given classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from dpfair_lib._arguments import nonnegative, one_of
from dpfair_lib._arrays import host_array
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib._labels import places
from dpfair_lib._scoring import ScoredByChances
from dpfair_lib._validation import as_groups, as_probabilities, as_vector, check_lengths, even, same_rows
from dpfair_lib.local.projection import DIVERGENCES, Constraints, Divergence, project, tilted

NOTIONS = ("demographic_parity", "mean_equalized_odds")
LARGEST_TOLERANCE = 1e9


class FairProjection(ScoredByChances, BaseEstimator):
    """Replace a classifier's probabilities by the nearest ones that satisfy a fairness constraint.

    For every group a and class c, the rate r_a(c) in the group must be between (1 − tolerance)·r(c) and
    (1 + tolerance)·r(c), where r(c) is the rate in all rows. The rates are means of the new probabilities of class c:

    * ``"demographic_parity"``: over all rows;
    * ``"mean_equalized_odds"``: over the rows of class c, each row weighted by its given probability of c.

    The constraints hold for `predict_proba` on the rows given to `fit`. Labels drawn with these probabilities satisfy
    them in expectation, and `score` is their expected accuracy. `predict` returns the most likely class, for which
    nothing is guaranteed. The group is needed in `predict` too. This estimator gives no privacy.

    Parameters
    ----------
    notion : {"demographic_parity", "mean_equalized_odds"}
        Which rates are compared.
    divergence : {"kl", "ce"}
        What is minimised: the mean of KL(h ‖ y), or of KL(y ‖ h), which equals the cross-entropy up to a constant. Here
        h are the new probabilities and y the given ones.
    tolerance : float
        Relative tolerance, from 0 to 10⁹; 0 requires equal rates.

    Attributes
    ----------
    groups_ : list
        The group labels, sorted.
    n_classes_ : int
        Number of classes C.
    classes_ : ndarray of shape (C,)
        The labels 0 … C − 1.
    multipliers_ : ndarray of shape (C, groups, 2)
        The dual solution: multipliers of the upper and of the lower bound on each rate. New rows are projected with
        them.
    divergence_value_ : float
        Mean divergence between the new and the given probabilities, in nats.
    duality_gap_ : float
        How far the divergence can be from its minimum; at most 1e-8.
    violation_ : float
        Largest violation of a constraint on the rows given to `fit`, relative to the size of a rate; at most 1e-9.
    n_steps_ : int
        Number of Newton steps.

    References
    ----------
    Alghamdi et al. (2022), Beyond Adult and COMPAS: Fair Multi-Class Prediction via Information Projection; Ghoukasian
    (thesis, 2024), § 5.7.4. The constraints are those of their published experiments, the solver is ours.

    Examples
    --------
    The mean probability is 0.7 in group a and 0.3 in group b before the projection.

    >>> import dpfair_lib as dpf
    >>> y_proba, group = [0.9, 0.8, 0.4, 0.5, 0.3, 0.1], list("aaabbb")
    >>> fair = dpf.FairProjection("demographic_parity", tolerance=0.0).fit(y_proba, sensitive_features=group)
    >>> y_fair = fair.predict_proba(y_proba, sensitive_features=group)[:, 1]
    >>> y_fair.round(2)
    array([0.76, 0.58, 0.19, 0.74, 0.55, 0.24])
    >>> bool(dpf.demographic_parity_difference(None, y_fair, sensitive_features=group) < 1e-9)
    True
    """

    def __init__(self, notion: str, divergence: str = "kl", *, tolerance: float) -> None:
        self.notion = notion
        self.divergence = divergence
        self.tolerance = tolerance

    @whole_or_not_at_all
    def fit(self, y_proba: Any, y: Any = None, *, sensitive_features: Any) -> Self:
        """Compute the projection of the given probabilities.

        Parameters
        ----------
        y_proba : array of shape (n,) or (n, C)
            The classifier's probabilities of label 1, or of the classes 0 … C − 1. None may be 0.
        y : array of shape (n,), optional
            Labels 0 … C − 1. For ``"mean_equalized_odds"`` they give the number of rows of each class in each group, as
            in the published experiments. By default the probabilities give these numbers.
        sensitive_features : array of shape (n,)
            Group of each row; two groups or more.

        Returns
        -------
        FairProjection
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If a parameter or an argument is malformed; if a probability is 0 or the probabilities of a row do not sum
            to 1; if there is only one group; if a group lacks a label; if no probabilities satisfy the constraints.
        """
        self._check_parameters()
        given = _as_distributions(y_proba)
        levels, codes = as_groups(sensitive_features)
        check_lengths(y_proba=given, sensitive_features=codes)
        if len(levels) < 2:
            raise ValueError(f"sensitive_features: found 1 group {levels.tolist()}, expected 2 or more")
        self.groups_: list[Any] = levels.tolist()
        self.n_classes_ = given.shape[1]
        self.classes_ = np.arange(self.n_classes_)
        self.shares_ = self._shares(given, codes, y)
        constraints = self._constraints(given, codes)
        solved = project(given, constraints, self._kind)
        self.multipliers_ = solved.multipliers.reshape(self.n_classes_, len(levels), 2)
        self.divergence_value_ = solved.value
        self.duality_gap_, self.violation_ = solved.gap, solved.violation
        self.n_steps_ = solved.steps
        return self

    @same_rows
    def predict_proba(self, y_proba: Any, *, sensitive_features: Any) -> np.ndarray:
        """Return the projected probabilities of rows, those given to `fit` or others.

        Parameters
        ----------
        y_proba, sensitive_features : array
            As in `fit`.

        Returns
        -------
        ndarray of shape (n, C)
            Probabilities; each row sums to 1.

        Raises
        ------
        ValueError
            If an argument is malformed, or if a group was not seen in `fit`.
        """
        check_is_fitted(self, "multipliers_")
        given = _as_distributions(y_proba)
        codes = places(sensitive_features, self.groups_, "sensitive_features")
        if given.shape[1] != self.n_classes_:
            raise ValueError(f"y_proba: found {given.shape[1]} classes, expected {self.n_classes_} as in fit")
        check_lengths(y_proba=given, sensitive_features=codes)
        tilt = self._constraints(given, codes).tilt(self.multipliers_.ravel())
        return tilted(given, tilt, self._kind).probabilities

    def predict(self, y_proba: Any, *, sensitive_features: Any) -> np.ndarray:
        """Return the most likely class of each row, the smallest if several are equally likely.

        The fairness constraints do not hold for these labels, only for the probabilities.

        Parameters
        ----------
        y_proba, sensitive_features : array
            As in `fit`.

        Returns
        -------
        ndarray of shape (n,)
            Labels 0 … C − 1.

        Raises
        ------
        ValueError
            If an argument is malformed, or if a group was not seen in `fit`.
        """
        return self.predict_proba(y_proba, sensitive_features=sensitive_features).argmax(axis=1)

    @property
    def _kind(self) -> Divergence:
        return one_of(self.divergence, "divergence", DIVERGENCES)

    def _check_parameters(self) -> None:
        one_of(self.notion, "notion", NOTIONS)
        one_of(self.divergence, "divergence", DIVERGENCES)
        if nonnegative(self.tolerance, "tolerance") > LARGEST_TOLERANCE:
            raise ValueError(
                f"tolerance: found {self.tolerance}, expected a number from 0 to {LARGEST_TOLERANCE:g}: no rate is so "
                "many times another"
            )

    def _shares(self, given: np.ndarray, codes: np.ndarray, y: Any) -> np.ndarray:
        """Return, for every class and group, the share of all rows that the rate's denominator has."""
        labels = None if y is None else _as_labels(y, given)
        if self.notion == "demographic_parity":
            counts = np.tile(np.bincount(codes).astype(float), (given.shape[1], 1))
        elif labels is None:
            counts = np.array([np.bincount(codes, weights=column) for column in given.T])
        else:
            counts = np.array(
                [np.bincount(codes[labels == c], minlength=codes.max() + 1) for c in range(given.shape[1])]
            )
            if (counts == 0).any():
                c, a = np.argwhere(counts == 0)[0]
                raise ValueError(
                    f"y: found no row of group {self.groups_[a]!r} with label {c}, expected at least one"
                )
        return counts / len(given)

    def _constraints(self, given: np.ndarray, codes: np.ndarray) -> Constraints:
        """Return (r_a(c) − r(c)) − tolerance·r(c) ≤ 0 and its mirror image for every class c and group a."""
        weights = []
        own = codes[:, np.newaxis] == np.arange(len(self.groups_))
        for c, shares in enumerate(self.shares_):
            counted = 1.0 if self.notion == "demographic_parity" else given[:, [c]]
            above = counted * (own / shares - 1 / shares.sum())
            slack = counted * self.tolerance / shares.sum()
            weights.append(np.stack([above - slack, -above - slack], axis=2).reshape(len(codes), -1))
        return Constraints(weights)


def _as_distributions(y_proba: Any) -> np.ndarray:
    """Return probabilities as an array of shape (n, C), all above 0 and rows summing to 1 exactly."""
    table = even(host_array(y_proba, "y_proba"), "y_proba")
    if table.ndim == 2 and table.shape[1] >= 2:
        flat = as_probabilities(table.reshape(-1), "y_proba").astype(float).reshape(table.shape)
    else:
        positive = as_probabilities(y_proba, "y_proba").astype(float)
        flat = np.column_stack([1 - positive, positive])
    if (off := abs(flat.sum(axis=1) - 1)).max() > 1e-6:
        at = int(off.argmax())
        raise ValueError(
            f"y_proba: found the sum {flat[at].sum():.6g} in row {at}, expected rows that sum to 1"
        )
    if (flat <= 0).any():
        at = int(np.argmax((flat <= 0).any(axis=1)))
        raise ValueError(
            f"y_proba: found a probability of 0 in row {at}, expected all above 0 (mix in a little of the uniform ones)"
        )
    return flat / flat.sum(axis=1, keepdims=True)


def _as_labels(y: Any, given: np.ndarray) -> np.ndarray:
    labels = as_vector(y, "y")
    check_lengths(y_proba=given, y=labels)
    known = np.isin(labels, np.arange(given.shape[1]))
    if not known.all():
        at = int(np.argmin(known))
        raise ValueError(f"y: found {labels[at]} at position {at}, expected labels 0 to {given.shape[1] - 1}")
    return labels.astype(np.int64)
