"""`PrivateFairPostprocessor`: nearly equal rates of all groups from noisy counts (after Algorithm 2 of ISIT)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, get_args

import numpy as np

from dpfair_lib._arguments import one_of
from dpfair_lib._arrays import Space, space_of
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib._labels import declared_labels, places, zeros_and_ones
from dpfair_lib._validation import are_empty, as_count, as_groups, check_lengths
from dpfair_lib.central.flips import FlipRule, flip_probabilities
from dpfair_lib.central.gap_law import Mechanism
from dpfair_lib.central.postprocessor import RandomFlips
from dpfair_lib.central.released_rates import release_epsilon
from dpfair_lib.central.several_groups import opportunity
from dpfair_lib.central.several_groups.per_group import MECHANISMS, noise_levels
from dpfair_lib.central.several_groups.targets import checked_gamma, checked_rate, most_accurate, target_band
from dpfair_lib.privacy import PrivacyStatement, mechanisms
from dpfair_lib.privacy.budgets.open_budgets import charge
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import noise_scale
from dpfair_lib.privacy.sampling import Noise
from dpfair_lib.privacy.statements import BEHIND_PREDICTIONS

Notion = Literal["demographic_parity", "equal_opportunity"]

_PUBLIC = {
    "replace-within-group": "group sizes of the rows given to fit, the two group labels",
    "add-remove": "divisors fixed beforehand, the two group labels",
    "replace-one": "number of rows, divisors fixed beforehand, the two group labels",
    "sensitive-attribute": "everything but who is in which group, divisors fixed beforehand",
}
"""Relation → what is known to everyone, for selection rates."""


class PrivateFairPostprocessor(RandomFlips):
    """Give all groups nearly the same rate, with differential privacy for the rows given to `fit`.

    The rate is the selection rate (demographic parity) or the true positive rate (equal opportunity). It works like
    `FairPostprocessor` with the midpoint, but with noisy rates in [0, 1]. Everything that this object keeps is computed
    from the noisy counts, and so is differentially private. The classifier that made the predictions is not covered; if
    it was trained on the same people, it needs its own privacy statement. For selection rates `parity_bound` and
    `parity_violation_probability` say how large the remaining gap may be, for true positive rates `opportunity_bound`.

    For equal opportunity the numbers of true positives and of false negatives of each group get noise, and their share
    is the noisy rate: nothing is divided by the private number of positives. Negative noisy counts count as 0; if both
    are 0, the rate is one half. Labels are not known at prediction, so flips concern everybody of a group.

    Parameters
    ----------
    epsilon : float or sequence of float
        ε of the noise on each group's counts, in the order of the sorted group labels; infinity for no noise.
    relation : {"replace-within-group", "add-remove", "replace-one", "sensitive-attribute"}
        Which data sets are neighbours, that is, must be hard to distinguish. Except for the first, the size of a group
        is private too, and ``group_sizes`` is needed.
    mechanism : {"laplace", "geometric"}
        Laplace noise, as published, or two-sided geometric noise, which keeps counts whole and is smaller.
    noise : {"secure", "study"}
        "secure" uses OpenDP's sampler. "study" uses seeded floating-point noise, for experiments; it protects nobody.
    group_sizes : mapping, optional
        Group → the number by which its count is divided. Choose it without looking at the data, for example from a
        published statistic. It is not compared with the data. `parity_bound` and the exact distributions hold only if
        these are the numbers of rows. For equal opportunity only the groups matter: a list of them is enough.
    random_state : int, Generator or RandomState, optional
        Seed of study noise. Must be None for secure noise.
    rate : {"midpoint", "median", "most-accurate"} or float
        The common rate, or the middle of the band. "midpoint" changes least, as far as the noisy rates tell: it is the
        middle of all bands of least change, for γ = 0 the median, halfway between the two middle rates if there are
        two. "median" is the lower of the two. "most-accurate" is the rate of the group that the public divisors and ε
        make the most accurate: nobody in this group is changed. For equal opportunity the noisy numbers of positives
        stand for the divisors. A number is used as it is, whatever the rates are.
    gamma : float
        Width of the band, γ in [0, 1]. A group whose noisy rate is in the band is not changed.
    notion : {"demographic_parity", "equal_opportunity"}
        What is made nearly equal: the selection rates, or the true positive rates. For true and false positive rates
        together see `EqualizedOddsPostprocessor`.

    Attributes
    ----------
    groups_ : list
        The group labels, sorted.
    noisy_rates_ : dict
        Group → its noisy rate. The exact rates are not stored.
    noisy_counts_ : dict
        For equal opportunity: group → its noisy numbers of true positives and of false negatives.
    target_rate_ : float
        The common rate, or the middle of the band.
    band_ : (float, float)
        The lowest and the highest rate that a group would have if its noisy rate were its rate.
    rules_ : dict
        Group → `FlipRule`, which says whose prediction is changed and with which probability.
    privacy_statement_ : PrivacyStatement
        What the release of the noisy counts costs. For selection rates it is the largest ε if one record can change one
        count only; otherwise it is the sum of the two largest ε, for any number of groups. For equal opportunity it is
        the largest ε for "add-remove", the sum of the two largest for "sensitive-attribute", and else twice the
        largest: a record that is replaced may leave one cell of its group and enter the other.

    References
    ----------
    Ghoukasian and Asoodeh (ISIT 2024), Algorithm 2 and Theorem 3; Ghoukasian (thesis, 2024), Theorem 8. The relations
    other than the first, the geometric noise, more than two groups, the band and equal opportunity are ours.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=2000, random_state=0)
    >>> y_pred = (adult.X["education-num"] > 11).astype(int)
    >>> fair = dpf.PrivateFairPostprocessor(epsilon=0.5)
    >>> fair = fair.fit(y_pred, sensitive_features=adult.sensitive_features)
    >>> print(fair.privacy_statement_)
    ε = 0.5 (pure), replace-within-group, per record; public: group sizes of the rows given to fit, the two group
    labels; not covered: the classifier behind y_pred, which must be fixed beforehand or private itself
    """

    privacy_statement_: PrivacyStatement

    def __init__(
        self, epsilon: Any, *, relation: str = "replace-within-group", mechanism: Mechanism = "laplace",
        noise: Noise = "secure", group_sizes: Mapping[Any, int] | Sequence[Any] | None = None,
        random_state: Any = None, rate: str | float = "midpoint", gamma: float = 0.0,
        notion: Notion = "demographic_parity",
    ) -> None:  # fmt: skip
        self.epsilon = epsilon
        self.relation = relation
        self.mechanism = mechanism
        self.noise = noise
        self.group_sizes = group_sizes
        self.random_state = random_state
        self.rate = rate
        self.gamma = gamma
        self.notion = notion

    @whole_or_not_at_all
    def fit(
        self, y_pred: Any, y: Any = None, *, sensitive_features: Any, y_true: Any = None, scores: Any = None,
        sample_weight: Any = None,
    ) -> Self:  # fmt: skip
        """Compute the noisy rates, and from them decide whose predictions to change.

        Parameters
        ----------
        y_pred : array of shape (n,) or (n, 1)
            Predicted labels 0 and 1. What has a pandas index has to have the same.
        y : array of shape (n,), optional
            The same as ``y_true``. A scikit-learn pipeline passes the labels under this name.
        sensitive_features : array of shape (n,) or (n, c)
            Group of each row; of several columns, the tuple of a row's values. There are at least two groups; with
            ``group_sizes`` they are among its keys.
        y_true : array of shape (n,), optional
            True labels 0 and 1; needed for equal opportunity, else ignored. `predict` does not need them.
        scores, sample_weight : None
            Refused: a threshold that follows the scores tells a person's score, and a person of weight w moves a
            count by w.

        Returns
        -------
        PrivateFairPostprocessor
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If an argument has the wrong shape, a missing or infinite value or a label other than 0 and 1; if there are
            fewer than two groups; if ε, γ or the rate is out of its range; if the mechanism, the noise, the relation or
            the notion is unknown; if the relation needs ``group_sizes``, or if they are not positive whole numbers; if
            scores or weights are given; if true labels are given twice, or are needed and missing. No error depends on
            how many rows of a group have which labels.
        """
        self.__dict__.pop("noisy_counts_", None)  # of an earlier fit: selection rates have none
        rate, gamma = self._aim(scores, sample_weight)
        truth = self._labels(y, y_true)
        source = NoiseSource.of(self.noise, self.random_state)
        space = space_of(y_pred=y_pred, y_true=truth, sensitive_features=sensitive_features)
        groups = self._groups(sensitive_features, space)
        epsilons = noise_levels(self.epsilon, len(groups))
        divisors = self._divisors(groups)
        # charged when all public arguments are known to be right
        statement = self._statement(epsilons, source)
        y_pred, truth, codes = self._rows(y_pred, truth, sensitive_features, groups, space)

        if truth is not None:
            cells = opportunity.count_positives(y_pred, truth, codes, len(groups))
            noisy = [self._noisy(pair, each, source) for pair, each in zip(cells, epsilons, strict=True)]
            rates = [opportunity.true_positive_rate(*pair) for pair in noisy]
            self.noisy_counts_: dict[Any, tuple[float, ...]] = dict(zip(groups, noisy, strict=True))
            # a group of less than one noisy positive is as inaccurate as one of one
            divisors = [max(max(found, 0) + max(missed, 0), 1.0) for found, missed in noisy]
        else:
            divisors = divisors or space.counts(codes, len(groups)).tolist()
            counts = space.counts_where(codes, y_pred == 1, len(groups))  # 0 of a group without rows
            released = [
                self._noisy([one], each, source)[0] for one, each in zip(counts, epsilons, strict=True)
            ]
            rates = [min(max(one / size, 0.0), 1.0) for one, size in zip(released, divisors, strict=True)]
        low, high = target_band(rates, rate, gamma, most_accurate(divisors, epsilons, self.mechanism))
        self.groups_ = groups
        self.noisy_rates_: dict[Any, float] = dict(zip(groups, rates, strict=True))
        self.band_ = (low, high)
        self.target_rate_ = low + gamma / 2
        self.uses_scores_ = False
        self.rules_ = {
            group: _rule(rate, min(max(rate, low), high)) for group, rate in self.noisy_rates_.items()
        }
        self.privacy_statement_ = statement
        return self

    def _aim(self, scores: Any, sample_weight: Any) -> tuple[str | float, float]:
        """Return the checked rate and γ; refuse what is not offered."""
        if self.notion not in get_args(Notion):
            raise ValueError(
                f"notion: found {self.notion!r}, expected 'demographic_parity' or 'equal_opportunity'; "
                "EqualizedOddsPostprocessor makes true and false positive rates nearly equal under privacy"
            )
        if scores is not None:
            raise ValueError(
                "scores: found scores, expected None: thresholds that follow the scores of the rows would tell them"
            )
        if sample_weight is not None:
            raise ValueError(
                "sample_weight: found weights, expected None: a record of weight w moves a count by w, so no noise of "
                "a fixed scale protects it"
            )
        return checked_rate(self.rate), checked_gamma(self.gamma)

    def _labels(self, y: Any, y_true: Any) -> Any:
        """Return the true labels as they were given, None where none are needed."""
        if y is not None and y_true is not None:
            raise ValueError("y_true: found labels in both y and y_true, expected one of them")
        if self.notion == "demographic_parity":
            return None
        if y is None and y_true is None:
            raise ValueError(
                "y_true: found None, expected the true labels, which notion='equal_opportunity' needs"
            )
        return y if y_true is None else y_true

    def _groups(self, sensitive_features: Any, space: Space) -> list[Any]:
        """Return the group labels, which are public: declared, or else those of the rows."""
        if self.group_sizes is not None:
            return self._declared_groups(self.group_sizes)
        if self.relation in _PUBLIC and self.relation != "replace-within-group":
            wanted = (
                "public numbers to divide by, one per group"
                if self.notion == "demographic_parity"
                else "the groups"
            )
            raise ValueError(
                f"group_sizes: found None beside relation={self.relation!r}, under which a group's size is private; "
                f"expected {wanted}"
            )
        groups: list[Any] = as_groups(sensitive_features, space=space)[0].tolist()
        if len(groups) < 2:
            raise ValueError(
                f"sensitive_features: found {len(groups)} group(s) {groups}, expected at least 2"
            )
        return groups

    def _divisors(self, groups: list[Any]) -> list[Any] | None:
        """Return the declared divisor of each group; None if there are none."""
        if not isinstance(self.group_sizes, Mapping):
            return None
        return [as_count(self.group_sizes[group], "group_sizes", 1) for group in groups]

    def _rows(
        self, y_pred: Any, truth: Any, sensitive_features: Any, groups: list[Any], space: Space
    ) -> tuple[Any, Any, Any]:
        """Return the predictions, the true labels if they are needed, and each row's place among the groups."""
        if self.group_sizes is not None and are_empty(
            y_pred, sensitive_features, *([] if truth is None else [truth])
        ):
            # an error would distinguish an empty table from one with a single row
            nobody = space.put(np.zeros(0, dtype=np.int64))
            return nobody, None if truth is None else nobody, nobody
        y_pred = zeros_and_ones(y_pred, "y_pred", space)
        truth = None if truth is None else zeros_and_ones(truth, "y_true", space)
        codes = places(sensitive_features, groups, "sensitive_features", space=space)
        check_lengths(y_pred=y_pred, sensitive_features=codes, y_true=truth)
        return y_pred, truth, codes

    def _noisy(self, counts: Any, epsilon: float, source: NoiseSource) -> tuple[float, ...]:
        if math.isinf(epsilon):
            return tuple(float(count) for count in counts)
        add = source.add_laplace if self.mechanism == "laplace" else source.add_discrete_laplace
        return tuple(float(one) for one in add(counts, noise_scale(1, epsilon)))

    def _statement(self, epsilons: tuple[float, ...], source: NoiseSource) -> PrivacyStatement:
        statement = self._cost(epsilons)
        if statement.guarantee:
            return source.mark(statement)
        charge(statement)
        return statement

    def _cost(self, epsilons: tuple[float, ...]) -> PrivacyStatement:
        """Return what a release with secure noise costs; nothing is charged."""
        one_of(self.mechanism, "mechanism", MECHANISMS)
        relation = one_of(self.relation, "relation", _PUBLIC)
        # without noise nothing is promised, whatever moves
        finite = not math.isinf(max(epsilons))
        costs = epsilons if finite else (1,) * len(epsilons)
        if self.notion == "equal_opportunity":
            total, public = opportunity.opportunity_epsilon(costs, relation), opportunity.PUBLIC[relation]
        else:
            total, public = release_epsilon(costs, relation, mechanism=self.mechanism), _PUBLIC[relation]
        if len(epsilons) > 2:
            public = public.replace("the two group labels", "the group labels")
        if self.group_sizes is not None:
            public = public.replace("group sizes of the rows given to fit", "group sizes")
        if not finite:
            return PrivacyStatement(
                math.inf,
                0.0,
                relation,
                public=(public,),
                guarantee=False,
                note="a rate is released without noise",
            )
        # one or two counts move by 1 each, and the ratios of vectors of Laplace noise add up
        laplace = (mechanisms.Mechanism("laplace", total),) if self.mechanism == "laplace" else ()
        return PrivacyStatement(
            total, 0.0, relation, public=(public,), note=BEHIND_PREDICTIONS, mechanism=laplace
        )

    def _declared_groups(self, sizes: Any) -> list[Any]:
        if self.notion == "equal_opportunity" and not isinstance(sizes, Mapping):
            return declared_labels(sizes, "group_sizes", least=2, ordered=True)
        if not isinstance(sizes, Mapping) or len(sizes) < 2:
            raise ValueError(
                f"group_sizes: found {sizes!r}, expected a mapping of at least two groups to numbers"
            )
        return declared_labels(list(sizes), "group_sizes", ordered=True)


def _rule(rate: float, target: float) -> FlipRule:
    """Flip anyone of the one label with the one probability: all have the score 0."""
    down, up = flip_probabilities(rate, target)
    return FlipRule(1, 0.0, down) if down > 0 else FlipRule(0, 0.0, up)
