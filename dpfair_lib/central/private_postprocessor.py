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
from dpfair_lib.central.parity import MECHANISMS, noise_levels
from dpfair_lib.central.postprocessor import RandomFlips
from dpfair_lib.central.released_rates import release_epsilon
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
    """Give two groups nearly the same selection rate, with differential privacy for the rows given to `fit`.

    It works like `FairPostprocessor` with the midpoint, but uses noisy selection rates, clipped to [0, 1]. Everything
    that this object keeps is computed from the noisy rates, and so is differentially private. The classifier that made
    the predictions is not covered; if it was trained on the same people, it needs its own privacy statement.
    `parity_bound` and `parity_violation_probability` say how large the remaining gap may be.

    Parameters
    ----------
    epsilon : float or (float, float)
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

    Attributes
    ----------
    groups_ : list
        The two group labels, sorted.
    noisy_rates_ : dict
        Group → its noisy selection rate. The exact rates are not stored.
    target_rate_ : float
        The common rate, halfway between the noisy rates.
    rules_ : dict
        Group → `FlipRule`, which says whose prediction is changed and with which probability.
    privacy_statement_ : PrivacyStatement
        What the release of the noisy rates costs. The cost is the larger ε if one record can change one count only;
        otherwise it is the sum.

    References
    ----------
    Ghoukasian and Asoodeh (ISIT 2024), Algorithm 2 and Theorem 3; Ghoukasian (thesis, 2024), Theorem 8. The relations
    other than the first and the geometric noise are ours.

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
    ) -> None:  # fmt: skip
        self.epsilon = epsilon
        self.relation = relation
        self.mechanism = mechanism
        self.noise = noise
        self.group_sizes = group_sizes
        self.random_state = random_state

    @whole_or_not_at_all
    def fit(self, y_pred: Any, y: Any = None, *, sensitive_features: Any) -> Self:  # noqa: ARG002
        """Compute the noisy selection rates, and from them decide whose predictions to change.

        Parameters
        ----------
        y_pred : array of shape (n,) or (n, 1)
            Predicted labels 0 and 1. They are paired with the groups by position; a pandas index is ignored.
        y : None
            Ignored. A scikit-learn pipeline passes the labels under this name.
        sensitive_features : array of shape (n,)
            Group of each row. There are exactly two groups; with ``group_sizes`` they are among its keys.

        Returns
        -------
        PrivateFairPostprocessor
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If an argument has the wrong shape, a missing or infinite value or a label other than 0 and 1; if there are
            not exactly two groups; if ε is out of its range; if the mechanism, the noise or the relation is unknown; if
            the relation needs ``group_sizes``, or if they are not positive whole numbers.
        """
        epsilons = noise_levels(self.epsilon)
        source = NoiseSource.of(self.noise, self.random_state)
        statement = self._statement(epsilons, source)
        y_pred, self.groups_, codes = self._rows(y_pred, sensitive_features)
        divisors = np.bincount(codes, minlength=2).tolist()
        if self.group_sizes is not None:
            divisors = [as_count(self.group_sizes[group], "group_sizes", 1) for group in self.groups_]

        rates = []
        for code, (divisor, epsilon) in enumerate(zip(divisors, epsilons, strict=True)):
            count = int(y_pred[codes == code].sum())  # 0 of a group without rows
            rates.append(min(max(self._noisy(count, epsilon, source) / divisor, 0.0), 1.0))
        self.noisy_rates_: dict[Any, float] = dict(zip(self.groups_, rates, strict=True))
        self.target_rate_ = (rates[0] + rates[1]) / 2
        self.uses_scores_ = False
        self.rules_ = {group: _rule(rate, self.target_rate_) for group, rate in self.noisy_rates_.items()}
        self.privacy_statement_ = statement
        return self

    def _rows(self, y_pred: Any, sensitive_features: Any) -> tuple[np.ndarray, list[Any], np.ndarray]:
        """Return the predictions, the two groups, and each row's place among them."""
        groups = None if self.group_sizes is None else self._declared_groups(self.group_sizes)
        if groups is not None and are_empty(y_pred, sensitive_features):
            # an error would distinguish an empty table from one with a single row
            nobody = np.zeros(0, dtype=np.int64)
            return nobody, groups, nobody
        y_pred = as_binary(y_pred, "y_pred")
        if groups is None:
            levels, codes = as_groups(sensitive_features)
            groups = levels.tolist()
            if len(groups) != 2:
                raise ValueError(f"sensitive_features: found {len(groups)} group(s) {groups}, expected 2")
        else:
            codes = places(sensitive_features, groups, "sensitive_features")
        check_lengths(y_pred=y_pred, sensitive_features=codes)
        return y_pred, groups, codes

    def _noisy(self, count: int, epsilon: float, source: NoiseSource) -> float:
        if math.isinf(epsilon):
            return float(count)
        add = source.add_laplace if self.mechanism == "laplace" else source.add_discrete_laplace
        return float(add([count], noise_scale(1, epsilon))[0])

    def _statement(self, epsilons: tuple[float, float], source: NoiseSource) -> PrivacyStatement:
        statement = self._cost(epsilons)
        if statement.guarantee:
            return source.mark(statement)
        charge(statement)
        return statement

    def _cost(self, epsilons: tuple[float, float]) -> PrivacyStatement:
        """Return what a release with secure noise costs; nothing is charged."""
        one_of(self.mechanism, "mechanism", MECHANISMS)
        relation = one_of(self.relation, "relation", _PUBLIC)
        # without noise nothing is promised, whatever moves
        finite = not math.isinf(max(epsilons))
        total = release_epsilon(epsilons if finite else (1, 1), relation, mechanism=self.mechanism)
        if relation != "replace-within-group" and self.group_sizes is None:
            raise ValueError(
                f"group_sizes: found None beside relation={relation!r}, under which a group's size is private; "
                "expected public numbers to divide by, one per group"
            )
        public = _PUBLIC[relation]
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
        if not isinstance(sizes, Mapping) or len(sizes) != 2:
            raise ValueError(f"group_sizes: found {sizes!r}, expected a mapping of two groups to numbers")
        return declared_labels(list(sizes), "group_sizes", ordered=True)


def _rule(rate: float, target: float) -> FlipRule:
    """Flip anyone of the one label with the one probability: all have the score 0."""
    down, up = flip_probabilities(rate, target)
    return FlipRule(1, 0.0, down) if down > 0 else FlipRule(0, 0.0, up)
