"""`FairPostprocessor`: nearly equal rates of any number of groups at the least cost (after Algorithm 1 of ISIT)."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Self, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpfair_lib._arrays import HOST, space_of
from dpfair_lib._fitting import UnseededIfSecure, whole_or_not_at_all
from dpfair_lib._labels import places, zeros_and_ones
from dpfair_lib._scoring import ScoredByChances
from dpfair_lib._validation import as_groups, as_numbers, as_single_rate, check_lengths, same_rows
from dpfair_lib.central.summed_rows import scaled_weights, summed_rows
from dpfair_lib.fairness.draws import drawn_labels
from dpfair_lib.postprocessing.bands import Band, cheapest_band
from dpfair_lib.postprocessing.curves import Curve
from dpfair_lib.postprocessing.groups import Group, Notion, Objective, check_known
from dpfair_lib.postprocessing.odds import cheapest_odds

SMALLEST_WEIGHT = 1e-12


class RandomFlips(ScoredByChances, UnseededIfSecure):
    """What is fitted to flip predictions applies the flips; who is flipped is drawn at each call."""

    groups_: list[Any]
    rules_: dict[Any, Any]
    uses_scores_: bool

    @same_rows
    def predict_proba(self, y_pred: Any, *, sensitive_features: Any, scores: Any = None) -> np.ndarray:
        """Return the exact probabilities of the two labels, over the random flips.

        Parameters
        ----------
        y_pred, sensitive_features, scores : array
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
        y_pred = zeros_and_ones(y_pred, "y_pred")
        codes = places(sensitive_features, self.groups_, "sensitive_features")
        if (scores is not None) != self.uses_scores_:
            found, wanted = ("None", "scores, as in fit") if scores is None else ("scores", "None, as in fit")
            raise ValueError(f"scores: found {found}, expected {wanted}")
        order = np.zeros(len(y_pred)) if scores is None else as_numbers(scores, "scores").astype(float)
        check_lengths(y_pred=y_pred, sensitive_features=codes, scores=order)
        positive = y_pred.astype(float)
        for code, group in enumerate(self.groups_):
            row = np.flatnonzero(codes == code)
            positive[row] = self.rules_[group].positive_probability(y_pred[row], order[row])
        return np.column_stack([1 - positive, positive])

    def predict(
        self, y_pred: Any, *, sensitive_features: Any, random_state: Any = None, scores: Any = None
    ) -> np.ndarray:
        """Return labels after random flips, drawn independently for every row.

        Parameters
        ----------
        y_pred, sensitive_features, scores : array
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
    """Bring the rates of all groups within γ of each other, and change predictions as little as possible.

    The rate is the selection rate (demographic parity), the true positive rate (equal opportunity), or both the false
    and the true positive rate (equalized odds). In a group whose rate is too high some selected people are rejected; in
    one whose rate is too low some rejected people are selected. With scores these are the least certain ones, else they
    are drawn at random, again at every call of `predict` without `StableAnswers`. The rates are within γ in expectation
    on the rows given to `fit`; on other rows they differ by the sampling error. This estimator gives no privacy:
    `rates_` and every prediction depend on the data without noise.

    Nobody gets a lower chance of the label 1 than somebody of the same group who stands lower, first by the old label
    and then by the score. Among the rules with this property none costs less. Neither the order of the rows nor the
    names of the groups matter.

    Parameters
    ----------
    rate : {"midpoint", "accuracy"} or float, default="midpoint"
        Which band of width γ to take. "midpoint" is in the middle of all bands that cost least: of two groups, halfway
        between the two rates. "accuracy" is that of them with the most correct labels on the rows given to `fit`. A
        number is the middle of the band, moved if the band would leave [0, 1]; of two groups and γ = 0 it has to lie
        between their selection rates. For equalized odds only "midpoint": the rules of least cost, and of these for
        each group the thresholds whose selection rate varies least, so that little is left to chance. If rules of other
        rates cost the same, those are taken at which the solver of the linear program ends, and not their middle. It
        gets the groups ordered by what their thresholds give. So they are the same for every order of the rows and of
        the groups, with one version of the solver.
    notion : {"demographic_parity", "equal_opportunity", "equalized_odds"}
        Which rates.
    gamma : float
        How far two groups' rates may be apart, γ in [0, 1]. For equalized odds a solver's accuracy limits it: no gap
        was seen to exceed γ by 1e-9 where weights differed by factors up to 1e6, and by 1e-6 at factors up to 1e11.
    objective : {"change_rates", "changes", "errors"}
        What it costs: the sum over the groups of the share of predictions that change; the number of predictions that
        change; or the number of wrong labels.

    Attributes
    ----------
    groups_ : list
        The groups, sorted; of several sensitive columns, tuples.
    rates_, fair_rates_ : dict
        Group → its rate in the rows given to `fit`, before and after; for equalized odds the pair of the false and the
        true positive rate.
    band_ : tuple
        The band's lower and upper end; for equalized odds a pair of bands.
    target_rate_ : float or tuple
        The middle of the band, or of both.
    cost_ : float
        What the rules cost.
    rules_ : dict
        Group → `ThresholdMixture`, which says who gets the label 1 and with which probability.
    uses_scores_ : bool
        Whether scores decide whose prediction is changed.

    References
    ----------
    Ghoukasian and Asoodeh (ISIT 2024), Algorithm 1 and Theorem 2; Ghoukasian (thesis, 2024), Algorithm 1 and Theorem 7,
    for two groups, equal selection rates and the midpoint. All else is ours.

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

    Two columns give four groups here. Their rates may differ by one quarter:

    >>> table = [[one, sex] for one, sex in zip(group, "ffmmffmm")]
    >>> fair = dpf.FairPostprocessor(gamma=0.25).fit(y_pred, sensitive_features=table)
    >>> fair.rates_
    {('a', 'f'): 1.0, ('a', 'm'): 0.5, ('b', 'f'): 0.5, ('b', 'm'): 0.0}
    >>> fair.band_, fair.cost_
    ((0.375, 0.625), 0.75)

    Equal chances for those of true label 1, with the fewest wrong labels:

    >>> y_true = [1, 1, 0, 0, 1, 1, 1, 0]
    >>> fair = dpf.FairPostprocessor(notion="equal_opportunity", objective="errors")
    >>> fair = fair.fit(y_pred, sensitive_features=group, y_true=y_true)
    >>> fair.fair_rates_, fair.cost_
    ({'a': 1.0, 'b': 1.0}, 2.0)
    """

    def __init__(
        self, rate: str | float = "midpoint", *, notion: Notion = "demographic_parity", gamma: float = 0.0,
        objective: Objective = "change_rates",
    ) -> None:  # fmt: skip
        self.rate = rate
        self.notion = notion
        self.gamma = gamma
        self.objective = objective

    @whole_or_not_at_all
    def fit(
        self, y_pred: Any, y: Any = None, *, sensitive_features: Any, y_true: Any = None, scores: Any = None,
        sample_weight: Any = None,
    ) -> Self:  # fmt: skip
        """Measure the rates and decide whose predictions to change.

        Parameters
        ----------
        y_pred : array of shape (n,) or (n, 1)
            Predicted labels 0 and 1.
        y : array of shape (n,), optional
            The same as ``y_true``. A scikit-learn pipeline passes the labels under this name.
        sensitive_features : array of shape (n,) or (n, c)
            Group of each row, at least two. Of several columns, a group is the tuple of a row's values; combinations
            that do not occur are no groups.
        y_true : array of shape (n,), optional
            True labels 0 and 1; needed for ``rate="accuracy"``, for ``objective="errors"``, and for every notion but
            demographic parity. `predict` does not need them.
        scores : array of shape (n,), optional
            A number that is higher for a more likely positive. If given, the least certain predictions are changed
            first, ties at random; otherwise the people are drawn at random. Scores are compared as 64-bit floats, so
            give `predict` scores of the same precision as `fit`.
        sample_weight : array of shape (n,), optional
            Weight of each row, at least 0; a row of weight 2 counts like two rows, one of weight 0 not at all. Positive
            weights are at least 1e-12 of the largest.

        Returns
        -------
        FairPostprocessor
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If an argument has the wrong shape, a missing or infinite value or a label other than 0 and 1; if a
            parameter is unknown or out of its range; if there are fewer than two groups; if a group has no row of
            positive weight, or none of a true label that the notion needs; if true labels are needed and missing.
        """
        if y is not None and y_true is not None:
            raise ValueError("y_true: found labels in both y and y_true, expected one of them")
        y_true = y if y_true is None else y_true
        gamma = self._check()
        space = HOST  # with scores, each of which is a level of its own: they are sorted there
        if scores is None:
            space = space_of(
                y_pred=y_pred,
                sensitive_features=sensitive_features,
                y_true=y_true,
                sample_weight=sample_weight,
            )
        y_pred = zeros_and_ones(y_pred, "y_pred", space)
        levels, codes = as_groups(sensitive_features, space=space)
        named = levels.tolist()
        if len(named) < 2:
            raise ValueError(f"sensitive_features: found 1 group {named}, expected at least 2")
        truth = None if y_true is None else zeros_and_ones(y_true, "y_true", space)
        order = None if scores is None else as_numbers(scores, "scores").astype(float)
        weights, unit = (None, 1.0) if sample_weight is None else scaled_weights(sample_weight, space)
        check_lengths(
            y_pred=y_pred, sensitive_features=codes, y_true=truth, scores=order, sample_weight=weights
        )
        if not space.host:
            y_pred, truth, codes, weights = summed_rows(y_pred, truth, codes, weights, len(named), space)
        if weights is None:
            weights = np.ones(len(codes))
        kept = weights > 0
        lacking = np.flatnonzero(np.bincount(codes[kept], minlength=len(named)) == 0)
        if lacking.size:
            raise ValueError(
                f"sample_weight: found no positive weight in group {named[lacking[0]]!r}, expected some in every group"
            )
        self._check_labels(None if truth is None else truth[kept], codes[kept], named)
        self.uses_scores_ = order is not None
        order = np.zeros(len(codes)) if order is None else order
        rows = [np.flatnonzero(kept & (codes == code)) for code in range(len(named))]
        groups = [
            Group.of(y_pred[r], order[r], weights[r], None if truth is None else truth[r]) for r in rows
        ]
        if self.notion == "equalized_odds":
            self._fit_two_bands(groups, named, gamma)
        else:
            self._fit_band(groups, named, gamma)
        if self.objective != "change_rates":
            self.cost_ *= unit
        self.groups_ = named
        return self

    def _check(self) -> float:
        """Return γ; raise if a parameter is unknown or out of its range."""
        two = check_known(self.notion, "notion", get_args(Notion)) == "equalized_odds"
        check_known(self.objective, "objective", get_args(Objective))
        if isinstance(self.rate, str) and self.rate in (("midpoint",) if two else ("midpoint", "accuracy")):
            pass
        elif two:
            raise ValueError(
                f"rate: found {self.rate!r}, expected 'midpoint': notion='equalized_odds' has two bands"
            )
        elif not isinstance(self.rate, Real) or isinstance(self.rate, bool):
            raise ValueError(f"rate: found {self.rate!r}, expected 'midpoint', 'accuracy' or a number")
        elif not 0 <= self.rate <= 1:
            raise ValueError(f"rate: found {self.rate}, expected a number in [0, 1]")
        return float(as_single_rate(self.gamma, "gamma"))

    def _check_labels(self, truth: np.ndarray | None, codes: np.ndarray, named: list[Any]) -> None:
        """Raise unless the true labels that are needed are there."""
        needed: dict[str, tuple[int, ...]] = {}
        if isinstance(self.rate, str) and self.rate == "accuracy":
            needed["rate='accuracy'"] = ()
        if self.objective == "errors":
            needed["objective='errors'"] = ()
        if self.notion != "demographic_parity":
            needed[f"notion={self.notion!r}"] = (1,) if self.notion == "equal_opportunity" else (0, 1)
        for parameter, labels in needed.items():
            if truth is None:
                raise ValueError(f"y_true: found None, expected the true labels, which {parameter} needs")
            if parameter == "rate='accuracy'" and truth.min() == truth.max():
                raise ValueError(f"y_true: found only the label {truth[0]}, expected both labels")
            for label in labels:
                lacking = np.bincount(codes[truth == label], minlength=len(named)) == 0
                if lacking.any():
                    raise ValueError(
                        f"y_true: found no label {label} in group {named[int(np.argmax(lacking))]!r}, expected at "
                        f"least one in every group, which {parameter} needs"
                    )

    def _fit_band(self, groups: Sequence[Group], named: list[Any], gamma: float) -> None:
        label = None if self.notion == "demographic_parity" else 1
        curves = [group.curve(self.notion, self.objective) for group in groups]
        self.rates_: dict[Any, Any] = {
            name: float(g.rate(label)) for name, g in zip(named, groups, strict=True)
        }
        best = cheapest_band(curves, gamma)
        start = self._start(best, curves, groups)
        rates = [best.rate(curve, start) for curve in curves]
        self.fair_rates_: dict[Any, Any] = dict(zip(named, map(float, rates), strict=True))
        self.band_: tuple[Any, Any] = (start, min(start + gamma, 1.0))
        self.target_rate_: Any = start + gamma / 2
        self.cost_ = max(float(sum(curve.cost(rate) for curve, rate in zip(curves, rates, strict=True))), 0.0)
        self.rules_ = {
            name: group.levels.rule(curve.mixture(rate))
            for name, group, curve, rate in zip(named, groups, curves, rates, strict=True)
        }

    def _start(self, best: Band, curves: Sequence[Curve], groups: Sequence[Group]) -> float:
        """Return the lower end of the band."""
        if not isinstance(self.rate, str):
            if len(groups) == 2 and best.gamma == 0 and self.notion == "demographic_parity":
                low, high = sorted(self.rates_.values())
                # a rate given in decimal may miss an end of the interval by rounding
                if not low - 1e-12 <= self.rate <= high + 1e-12:
                    raise ValueError(
                        f"rate: found {self.rate}, expected a number between the groups' rates {low} and {high}"
                    )
                return float(min(max(self.rate, low), high))
            return float(min(max(self.rate - best.gamma / 2, 0.0), 1 - best.gamma))
        middle = float(best.middle)
        if self.rate == "midpoint":
            return middle
        wrong = [group.errors()[curve.selected] for group, curve in zip(groups, curves, strict=True)]
        at = np.concatenate([[best.lowest, middle, best.highest], *(curve.rates for curve in curves)])
        starts = np.unique(np.concatenate([at, at - best.gamma]))
        starts = starts[(starts >= best.lowest) & (starts <= best.highest)]
        errors = np.zeros(len(starts))
        for curve, own in zip(curves, wrong, strict=True):
            errors += np.interp(best.rate(curve, starts), curve.rates, own)
        errors /= sum(group.weight.sum() for group in groups)
        # among bands that are equally accurate up to rounding, the one closest to the middle
        best_starts = starts[errors <= errors.min() + 1e-12]
        return float(best_starts[np.argmin(abs(best_starts - middle))])

    def _fit_two_bands(self, groups: Sequence[Group], named: list[Any], gamma: float) -> None:
        thresholds = [group.thresholds(self.objective) for group in groups]
        solved = cheapest_odds(thresholds, gamma)
        self.rates_ = {
            name: (float(g.rate(0)), float(g.rate(1))) for name, g in zip(named, groups, strict=True)
        }
        rates = [each.rates(mixture) for each, mixture in zip(thresholds, solved.mixtures, strict=True)]
        self.fair_rates_ = dict(zip(named, rates, strict=True))
        self.band_ = (_around([fpr for fpr, _ in rates], gamma), _around([tpr for _, tpr in rates], gamma))
        self.target_rate_ = (sum(self.band_[0]) / 2, sum(self.band_[1]) / 2)
        self.cost_ = max(float(solved.cost), 0.0)
        self.rules_ = {
            name: group.levels.rule(mixture)
            for name, group, mixture in zip(named, groups, solved.mixtures, strict=True)
        }


def _around(rates: list[float], gamma: float) -> tuple[float, float]:
    """Return the band of width γ in [0, 1] with the rates in its middle, up to its ends at 0 and 1."""
    start = min(max((min(rates) + max(rates) - gamma) / 2, 0.0), 1 - gamma)
    return start, start + gamma
