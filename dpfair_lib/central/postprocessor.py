"""Algorithm 1 as an estimator."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from dpfair_lib._validation import as_binary, as_groups, as_numbers, check_lengths
from dpfair_lib.central.flips import FlipRule, accuracy_by_rate, fit_flip_rule
from dpfair_lib.fairness.draws import drawn_labels


class RandomFlips(BaseEstimator):
    """What is fitted to flip predictions applies the flips; who is flipped is drawn anew at each call."""

    groups_: list[Any]
    rules_: dict[Any, FlipRule]
    uses_scores_: bool

    def predict_proba(self, y_pred: Any, *, sensitive_features: Any, scores: Any = None) -> np.ndarray:
        """Return the exact probabilities of the two labels, over the draw of the flips.

        Parameters
        ----------
        y_pred, sensitive_features, scores : array of shape (n,)
            As in `fit`; scores if and only if `fit` had them.

        Returns
        -------
        ndarray of shape (n, 2)
            P(Ŷ = 0) and P(Ŷ = 1) of each row.

        Raises
        ------
        ValueError
            If an argument is malformed, a group was not seen in `fit`, or scores are missing or unexpected.
        """
        check_is_fitted(self, "rules_")
        y_pred = as_binary(y_pred, "y_pred")
        levels, codes = as_groups(sensitive_features)
        unknown = [level for level in levels.tolist() if level not in self.rules_]
        if unknown:
            raise ValueError(
                f"sensitive_features: found group {unknown[0]!r}, expected one of {self.groups_}"
            )
        if (scores is not None) != self.uses_scores_:
            found, wanted = ("None", "scores, as in fit") if scores is None else ("scores", "None, as in fit")
            raise ValueError(f"scores: found {found}, expected {wanted}")
        order = np.zeros(len(y_pred)) if scores is None else as_numbers(scores, "scores").astype(float)
        check_lengths(y_pred=y_pred, sensitive_features=codes, scores=order)
        positive = y_pred.astype(float)
        for code, level in enumerate(levels.tolist()):
            row = codes == code
            flip = self.rules_[level].flip_probability(y_pred[row], order[row])
            positive[row] = np.where(y_pred[row] == 1, 1 - flip, flip)
        return np.column_stack([1 - positive, positive])

    def predict(
        self, y_pred: Any, *, sensitive_features: Any, random_state: Any, scores: Any = None
    ) -> np.ndarray:
        """Draw the flips, independently for every row.

        Parameters
        ----------
        y_pred, sensitive_features, scores : array of shape (n,)
            As in `predict_proba`.
        random_state : int, numpy.random.Generator, numpy.random.RandomState or None
            Source of the draws; None draws afresh at every call.

        Returns
        -------
        ndarray of shape (n,)
            Labels 0 and 1.

        Raises
        ------
        ValueError
            As `predict_proba`.
        """
        positive = self.predict_proba(y_pred, sensitive_features=sensitive_features, scores=scores)[:, 1]
        return drawn_labels(positive, random_state)


class FairPostprocessor(RandomFlips):
    """Give two groups the same selection rate, changing as few predictions as possible.

    The group of higher rate demotes some of the people whom it selects, the group of lower rate promotes
    some of those whom it does not, until both have one common rate. Whoever is flipped is drawn anew at each
    call. The rates are those of the data given to `fit`; on other data parity holds up to sampling error.
    This estimator gives no privacy: `rates_` and every prediction depend on the data without noise.

    Parameters
    ----------
    rate : {"midpoint", "accuracy"} or float, default="midpoint"
        The common rate: halfway between the two (Algorithm 1), the most accurate on the labels given to
        `fit`, or a number between the two.

    Attributes
    ----------
    groups_ : list
        The two group labels, sorted.
    rates_ : dict
        Group → its selection rate in the data given to `fit`.
    target_rate_ : float
        The common rate.
    rules_ : dict
        Group → `FlipRule`.
    uses_scores_ : bool
        Whether flips follow a score.

    References
    ----------
    ISIT, Algorithm 1 and Theorem 2; thesis, Algorithm 1 and Theorem 7. The rates other than the midpoint and
    the flips by score are ours.
    """

    def __init__(self, rate: str | float = "midpoint") -> None:
        self.rate = rate

    def fit(
        self, y_pred: Any, y: Any = None, *, sensitive_features: Any, y_true: Any = None, scores: Any = None
    ) -> Self:
        """Measure the selection rates and choose whom to flip.

        Parameters
        ----------
        y_pred : array of shape (n,) or (n, 1)
            Predicted labels 0 and 1.
        y : array of shape (n,), optional
            The place where a scikit-learn pipeline passes the labels; the same as ``y_true``.
        sensitive_features : array of shape (n,)
            Group of each row; two groups.
        y_true : array of shape (n,), optional
            True labels 0 and 1; needed for ``rate="accuracy"``.
        scores : array of shape (n,), optional
            Higher for a more likely positive. If given, the least certain predictions are flipped first
            (ties at random) instead of anyone at random. Scores are compared as 64-bit floats, so give
            `predict` scores of the same precision as `fit`.

        Returns
        -------
        FairPostprocessor
            Itself.

        Raises
        ------
        ValueError
            If an argument has the wrong shape, a missing or infinite value or a label other than 0 and 1; if
            there are not exactly two groups; if the rate is unknown or outside the two groups' rates; if
            ``rate="accuracy"`` comes without labels.
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
