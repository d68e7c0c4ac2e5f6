"""`PrivateFairPostprocessor`: nearly equal selection rates from noisy counts (Algorithm 2 of ISIT)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from dpfair_lib._arguments import one_of
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib._labels import declared_labels, places
from dpfair_lib._validation import are_empty, as_binary, as_count, as_groups, check_lengths
from dpfair_lib.central.flips import FlipRule, flip_probabilities
from dpfair_lib.central.gap_law import Mechanism
from dpfair_lib.central.postprocessor import RandomFlips
from dpfair_lib.central.released_rates import release_epsilon
from dpfair_lib.central.several_groups.per_group import MECHANISMS, noise_levels
from dpfair_lib.central.several_groups.targets import checked_gamma, checked_rate, most_accurate, target_band
from dpfair_lib.privacy import PrivacyStatement, mechanisms
from dpfair_lib.privacy.budgets.open_budgets import charge
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import noise_scale
from dpfair_lib.privacy.sampling import Noise

_PUBLIC = {
    "replace-within-group": "group sizes of the rows given to fit, the two group labels",
    "add-remove": "divisors fixed beforehand, the two group labels",
    "replace-one": "number of rows, divisors fixed beforehand, the two group labels",
    "sensitive-attribute": "everything but who is in which group, divisors fixed beforehand",
}
"""Relation → what is known to everyone."""


class PrivateFairPostprocessor(RandomFlips):
    """Give all groups nearly the same selection rate, with differential privacy for the rows given to `fit`.

    It works like `FairPostprocessor` with the midpoint, but uses noisy selection rates, clipped to [0, 1]. Everything
    that this object keeps is computed from the noisy rates, and so is differentially private. The classifier that made
    the predictions is not covered; if it was trained on the same people, it needs its own privacy statement.
    `parity_bound` and `parity_violation_probability` say how large the remaining gap may be.

    Parameters
    ----------
    epsilon : float or sequence of float
        ε of the noise on each group's count, in the order of the sorted group labels; infinity for no noise.
    relation : {"replace-within-group", "add-remove", "replace-one", "sensitive-attribute"}
        Which data sets are neighbours, that is, must be hard to distinguish. Except for the first, the size of a group
        is private too, and ``group_sizes`` is needed.
    mechanism : {"laplace", "geometric"}
        Laplace noise, as published, or two-sided geometric noise, which keeps counts whole and is smaller.
    noise : {"secure", "study"}
        "secure" uses OpenDP's sampler. "study" uses seeded floating-point noise, for experiments; it protects nobody.
    group_sizes : mapping, optional
        Group → the number by which its count is divided. Choose it without looking at the data, for example from a
        published statistic. It is not compared with the data.
    random_state : int, Generator or RandomState, optional
        Seed of study noise. Must be None for secure noise.
    rate : {"midpoint", "median", "most-accurate"} or float
        The common rate, or the middle of the band. "midpoint" changes least, as far as the noisy rates tell: it is
        halfway between the two groups' rates, or between the two middle ones of several groups. "median" is the lower
        of the two. "most-accurate" is the rate of the group that the public divisors and ε make the most accurate:
        nobody in this group is changed. A number is used as it is, whatever the rates are.
    gamma : float
        Width of the band, γ in [0, 1]. A group whose noisy rate is in the band is not changed.
    notion : {"demographic_parity"}
        What is made nearly equal: the selection rates. For error rates see `EqualizedOddsPostprocessor`.

    Attributes
    ----------
    groups_ : list
        The group labels, sorted.
    noisy_rates_ : dict
        Group → its noisy selection rate. The exact rates are not stored.
    target_rate_ : float
        The common rate, or the middle of the band.
    band_ : (float, float)
        The lowest and the highest rate that a group would have if its noisy rate were its rate.
    rules_ : dict
        Group → `FlipRule`, which says whose prediction is changed and with which probability.
    privacy_statement_ : PrivacyStatement
        What the release of the noisy rates costs. The cost is the largest ε if one record can change one count only;
        otherwise it is the sum of the two largest ε, for any number of groups.

    References
    ----------
    Ghoukasian and Asoodeh (ISIT 2024), Algorithm 2 and Theorem 3; Ghoukasian (thesis, 2024), Theorem 8. The relations
    other than the first, the geometric noise, more than two groups and the band are ours.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=2000, random_state=0)
    >>> y_pred = (adult.X["education-num"] > 11).astype(int)
    >>> fair = dpf.PrivateFairPostprocessor(epsilon=0.5)
    >>> fair = fair.fit(y_pred, sensitive_features=adult.sensitive_features)
    >>> print(fair.privacy_statement_)
    ε = 0.5 (pure), replace-within-group, per record; public: group sizes of the rows given to fit, the two group
    labels
    """

    def __init__(
        self, epsilon: Any, *, relation: str = "replace-within-group", mechanism: Mechanism = "laplace",
        noise: Noise = "secure", group_sizes: Mapping[Any, int] | None = None, random_state: Any = None,
        rate: str | float = "midpoint", gamma: float = 0.0, notion: str = "demographic_parity",
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
        self, y_pred: Any, y: Any = None, *, sensitive_features: Any, scores: Any = None, sample_weight: Any = None
    ) -> Self:  # fmt: skip
        """Compute the noisy selection rates, and from them decide whose predictions to change.

        Parameters
        ----------
        y_pred : array of shape (n,) or (n, 1)
            Predicted labels 0 and 1. They are paired with the groups by position; a pandas index is ignored.
        y : None
            Ignored. A scikit-learn pipeline passes the labels under this name.
        sensitive_features : array of shape (n,) or (n, c)
            Group of each row; of several columns, the tuple of a row's values. There are at least two groups; with
            ``group_sizes`` they are among its keys.
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
            scores or weights are given.
        """
        del y
        rate, gamma = self._aim(scores, sample_weight)
        source = NoiseSource.of(self.noise, self.random_state)
        groups = self._groups(sensitive_features)
        epsilons = noise_levels(self.epsilon, len(groups))
        declared = self.group_sizes is not None and [
            as_count(self.group_sizes[group], "group_sizes", 1) for group in groups
        ]
        # charged when all public arguments are known to be right
        statement = self._statement(epsilons, source)
        y_pred, codes = self._rows(y_pred, sensitive_features, groups)
        divisors = declared or np.bincount(codes, minlength=len(groups)).tolist()

        rates = []
        for code, (divisor, epsilon) in enumerate(zip(divisors, epsilons, strict=True)):
            count = int(y_pred[codes == code].sum())  # 0 of a group without rows
            rates.append(min(max(self._noisy(count, epsilon, source) / divisor, 0.0), 1.0))
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
        if self.notion != "demographic_parity":
            raise ValueError(
                f"notion: found {self.notion!r}, expected 'demographic_parity'; EqualizedOddsPostprocessor makes error "
                "rates nearly equal under privacy"
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

    def _groups(self, sensitive_features: Any) -> list[Any]:
        """Return the group labels, which are public: declared, or else those of the rows."""
        if self.group_sizes is not None:
            return self._declared_groups(self.group_sizes)
        if self.relation in _PUBLIC and self.relation != "replace-within-group":
            raise ValueError(
                f"group_sizes: found None beside relation={self.relation!r}, under which a group's size is private; "
                "expected public numbers to divide by, one per group"
            )
        groups: list[Any] = as_groups(sensitive_features)[0].tolist()
        if len(groups) < 2:
            raise ValueError(
                f"sensitive_features: found {len(groups)} group(s) {groups}, expected at least 2"
            )
        return groups

    def _rows(self, y_pred: Any, sensitive_features: Any, groups: list[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Return the predictions, and each row's place among the groups."""
        if self.group_sizes is not None and are_empty(y_pred, sensitive_features):
            # an error would distinguish an empty table from one with a single row
            nobody = np.zeros(0, dtype=np.int64)
            return nobody, nobody
        y_pred = as_binary(y_pred, "y_pred")
        codes = places(sensitive_features, groups, "sensitive_features")
        check_lengths(y_pred=y_pred, sensitive_features=codes)
        return y_pred, codes

    def _noisy(self, count: int, epsilon: float, source: NoiseSource) -> float:
        if math.isinf(epsilon):
            return float(count)
        add = source.add_laplace if self.mechanism == "laplace" else source.add_discrete_laplace
        return float(add([count], noise_scale(1, epsilon))[0])

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
        total = release_epsilon(
            epsilons if finite else (1,) * len(epsilons), relation, mechanism=self.mechanism
        )
        public = _PUBLIC[relation]
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
        return PrivacyStatement(total, 0.0, relation, public=(public,), mechanism=laplace)

    @staticmethod
    def _declared_groups(sizes: Any) -> list[Any]:
        if not isinstance(sizes, Mapping) or len(sizes) < 2:
            raise ValueError(
                f"group_sizes: found {sizes!r}, expected a mapping of at least two groups to numbers"
            )
        return declared_labels(list(sizes), "group_sizes", ordered=True)


def _rule(rate: float, target: float) -> FlipRule:
    """Flip anyone of the one label with the one probability: all have the score 0."""
    down, up = flip_probabilities(rate, target)
    return FlipRule(1, 0.0, down) if down > 0 else FlipRule(0, 0.0, up)
