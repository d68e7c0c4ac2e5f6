"""`FairPostprocessor`: equal selection rates with the fewest changes (Algorithm 1 of ISIT)."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from dpfair_lib._labels import places
from dpfair_lib._validation import as_binary, as_groups, as_numbers, check_lengths
from dpfair_lib.central.flips import FlipRule, accuracy_by_rate, fit_flip_rule
from dpfair_lib.fairness.draws import drawn_labels


class RandomFlips(BaseEstimator):
    """What is fitted to flip predictions applies the flips; who is flipped is drawn at each call."""

    groups_: list[Any]
    rules_: dict[Any, FlipRule]
    uses_scores_: bool

    def predict_proba(self, y_pred: Any, *, sensitive_features: Any, scores: Any = None) -> np.ndarray:
        """Return the exact probabilities of the two labels, over the random flips.

        Parameters
        ----------
        y_pred, sensitive_features, scores : array of shape (n,)
            As in `fit`. Give scores if and only if `fit` had them.

        Returns
        -------
        ndarray of shape (n, 2)
            P(Ŷ = 0) and P(Ŷ = 1) of each row.

        Raises
        ------
        ValueError
            If an argument is malformed, if a group was not seen in `fit`, or if scores are missing or unexpected.
        """
        check_is_fitted(self, "rules_")
        y_pred = as_binary(y_pred, "y_pred")
        codes = places(sensitive_features, self.groups_, "sensitive_features")
        if (scores is not None) != self.uses_scores_:
            found, wanted = ("None", "scores, as in fit") if scores is None else ("scores", "None, as in fit")
            raise ValueError(f"scores: found {found}, expected {wanted}")
        order = np.zeros(len(y_pred)) if scores is None else as_numbers(scores, "scores").astype(float)
        check_lengths(y_pred=y_pred, sensitive_features=codes, scores=order)
        positive = y_pred.astype(float)
        for code, group in enumerate(self.groups_):
            row = codes == code
            flip = self.rules_[group].flip_probability(y_pred[row], order[row])
            positive[row] = np.where(y_pred[row] == 1, 1 - flip, flip)
        return np.column_stack([1 - positive, positive])

    def predict(
        self, y_pred: Any, *, sensitive_features: Any, random_state: Any, scores: Any = None
    ) -> np.ndarray:
        """Return labels after random flips, drawn independently for every row.

        Parameters
        ----------
        y_pred, sensitive_features, scores : array of shape (n,)
            As in `predict_proba`.
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
            If an argument is malformed, if a group was not seen in `fit`, or if scores are missing or unexpected.
        """
        positive = self.predict_proba(y_pred, sensitive_features=sensitive_features, scores=scores)[:, 1]
        return drawn_labels(positive, random_state)


class FairPostprocessor(RandomFlips):
    """Give two groups the same selection rate, and change as few predictions as possible.

    Both groups get one common rate. In the group with the higher rate, some selected people are rejected; in the other
    group, some rejected people are selected. These people are drawn at random, again at every call of `predict` without
    `StableAnswers`. The rates are equal in expectation on the rows given to `fit`; on other rows they differ by the
    sampling error. This estimator gives no privacy: `rates_` and every prediction depend on the data without noise.

    Parameters
    ----------
    rate : {"midpoint", "accuracy"} or float, default="midpoint"
        The common rate. "midpoint" is halfway between the two rates; "accuracy" is the rate with the most correct
        labels on the rows given to `fit`; a number between the two rates is used as it is.

    Attributes
    ----------
    groups_ : list
        The two group labels, sorted.
    rates_ : dict
        Group → its selection rate in the rows given to `fit`.
    target_rate_ : float
        The common rate.
    rules_ : dict
        Group → `FlipRule`, which says whose prediction is changed and with which probability.
    uses_scores_ : bool
        Whether scores decide whose prediction is changed.

    References
    ----------
    Ghoukasian and Asoodeh (ISIT 2024), Algorithm 1 and Theorem 2; Ghoukasian (thesis, 2024), Algorithm 1 and Theorem 7.
    The rates other than the midpoint, and the use of scores, are ours.

    Examples
    --------
    Group a selects three people of four, group b one of four. The common rate is one half.

    >>> import dpfair_lib as dpf
    >>> y_pred, group = [1, 1, 1, 0, 1, 0, 0, 0], list("aaaabbbb")
    >>> fair = dpf.FairPostprocessor().fit(y_pred, sensitive_features=group)
    >>> fair.rates_, fair.target_rate_
    ({'a': 0.75, 'b': 0.25}, 0.5)
    >>> fair.predict_proba(y_pred, sensitive_features=group)[:, 1].round(3)
    array([0.667, 0.667, 0.667, 0.   , 1.   , 0.333, 0.333, 0.333])
    """

    def __init__(self, rate: str | float = "midpoint") -> None:
        self.rate = rate

    def fit(
        self, y_pred: Any, y: Any = None, *, sensitive_features: Any, y_true: Any = None, scores: Any = None
    ) -> Self:
        """Measure the selection rates and decide whose predictions to change.

        Parameters
        ----------
        y_pred : array of shape (n,) or (n, 1)
            Predicted labels 0 and 1.
        y : array of shape (n,), optional
            The same as ``y_true``. A scikit-learn pipeline passes the labels under this name.
        sensitive_features : array of shape (n,)
            Group of each row. There are exactly two groups.
        y_true : array of shape (n,), optional
            True labels 0 and 1; needed for ``rate="accuracy"``.
        scores : array of shape (n,), optional
            A number that is higher for a more likely positive. If given, the least certain predictions are changed
            first, ties at random; otherwise the people are drawn at random. Scores are compared as 64-bit floats, so
            give `predict` scores of the same precision as `fit`.

        Returns
        -------
        FairPostprocessor
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If an argument has the wrong shape, a missing or infinite value or a label other than 0 and 1; if there are
            not exactly two groups; if the rate is unknown or not between the two groups' rates; if ``rate="accuracy"``
            comes without labels.
        """
        if y is not None and y_true is not None:
            raise ValueError("y_true: found labels in both y and y_true, expected one of them")
        y_true = y if y_true is None else y_true
        y_pred = as_binary(y_pred, "y_pred")
        levels, codes = as_groups(sensitive_features)
        if len(levels) != 2:
            raise ValueError(
                f"sensitive_features: found {len(levels)} group(s) {levels.tolist()}, expected 2"
            )
        truth = None if y_true is None else as_binary(y_true, "y_true")
        order = None if scores is None else as_numbers(scores, "scores")
        check_lengths(y_pred=y_pred, sensitive_features=codes, y_true=truth, scores=order)

        self.groups_ = levels.tolist()
        self.rates_: dict[Any, float] = {
            group: float(y_pred[codes == code].mean()) for code, group in enumerate(self.groups_)
        }
        self.uses_scores_ = order is not None
        order = np.zeros(len(y_pred)) if order is None else order.astype(float)
        self.target_rate_ = self._choose_rate(y_pred, truth, order, codes)
        ones = np.ones(len(y_pred))
        self.rules_ = {
            group: fit_flip_rule(
                y_pred[codes == code], order[codes == code], ones[codes == code], self.target_rate_
            )
            for code, group in enumerate(self.groups_)
        }
        return self

    def _choose_rate(
        self, y_pred: np.ndarray, y_true: np.ndarray | None, scores: np.ndarray, codes: np.ndarray
    ) -> float:
        low, high = sorted(self.rates_.values())
        middle = (low + high) / 2
        if isinstance(self.rate, Real) and not isinstance(self.rate, bool):
            # a rate given in decimal may miss an end of the interval by rounding
            if not low - 1e-12 <= self.rate <= high + 1e-12:
                raise ValueError(
                    f"rate: found {self.rate}, expected a number between the groups' rates {low} and {high}"
                )
            return float(min(max(self.rate, low), high))
        if not (isinstance(self.rate, str) and self.rate in ("midpoint", "accuracy")):
            raise ValueError(f"rate: found {self.rate!r}, expected 'midpoint', 'accuracy' or a number")
        if self.rate == "midpoint":
            return middle
        if y_true is None:
            raise ValueError("y_true: found None, expected the true labels, which rate='accuracy' needs")
        if y_true.min() == y_true.max():
            raise ValueError(f"y_true: found only the label {y_true[0]}, expected both labels")
        rates, accuracies = accuracy_by_rate(y_pred, y_true, scores, np.ones(len(y_pred)), codes)
        # among rates that are equally accurate up to rounding, the one closest to the midpoint
        best = rates[accuracies >= accuracies.max() - 1e-12]
        return float(best[np.argmin(abs(best - middle))])
