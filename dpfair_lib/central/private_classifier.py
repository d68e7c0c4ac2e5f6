"""`PrivateFairClassifier`: a private learner and private post-processing, with one statement for both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, Self, get_args

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from dpfair_lib._arguments import below_one, inside_unit, one_of, positive
from dpfair_lib._fitting import UnseededIfSecure, declares_statement, whole_or_not_at_all
from dpfair_lib._labels import declared_labels, places
from dpfair_lib._scoring import ScoredByChances
from dpfair_lib._validation import as_count, as_groups, check_lengths, same_rows
from dpfair_lib.central.planning import adjustment_share
from dpfair_lib.central.private_postprocessor import Notion, PrivateFairPostprocessor
from dpfair_lib.central.row_parts import held_out
from dpfair_lib.central.several_groups.per_group import noise_levels
from dpfair_lib.central.several_groups.targets import checked_gamma, checked_rate
from dpfair_lib.fairness.draws import drawn_labels
from dpfair_lib.learners.linear import LEFT_OUT, checked, two_labels
from dpfair_lib.learners.objective_perturbation import PUBLIC, ObjectivePerturbation
from dpfair_lib.privacy import PrivacyStatement, compose, convert
from dpfair_lib.privacy.budgets.open_budgets import charged_as_one
from dpfair_lib.privacy.noise_source import NoiseSource, is_secure, mark_noise, replicate_seeds
from dpfair_lib.privacy.rounding import below
from dpfair_lib.privacy.sampling import Noise
from dpfair_lib.privacy.statements import BEHIND_PREDICTIONS

COUNTS_MOVED = {
    "demographic_parity": {"replace-within-group": 1, "replace-one": 2, "sensitive-attribute": 2},
    "equal_opportunity": {"replace-within-group": 2, "replace-one": 2, "sensitive-attribute": 2},
}
"""Notion → relation → how many of the noisy counts one record can move, for those that every private learner knows."""


class PrivateFairClassifier(ScoredByChances, UnseededIfSecure):
    """Train a private classifier and give all groups nearly the same rate, under one total (ε, δ).

    A private learner is trained first. Then `PrivateFairPostprocessor` counts how many rows of each group it selects,
    or how many of those of the second label, adds noise to the counts, and decides whose prediction to change. The
    privacy statement covers both releases.

    With ``rows="shared"`` both use all rows, and their ε add up. With ``rows="split"`` each row serves one of the two,
    and each of them has the whole ε. Sharing is the more accurate for a linear model of few features. But the rates
    are then those of the rows that the classifier was trained on, and may differ from the rates of new rows by more
    than the sampling error; `parity_bound`, and `opportunity_bound` for the population, speak of split rows only.

    Parameters
    ----------
    epsilon : float
        Total ε > 0.
    delta : float
        Total δ in [0, 1), all for the learner. The default learner draws Laplace noise for δ = 0.
    feature_bound : float, optional
        For the default learner, an `ObjectivePerturbation`: longer rows are scaled down to this norm. A public number.
    learner : estimator, optional
        Another learner, not fitted, with the parameters ``epsilon``, ``delta``, ``classes``, ``noise`` and
        ``random_state``; these are set here. Its statement must imply one under ``relation``.
    relation : {"replace-within-group", "replace-one", "sensitive-attribute"}
        Which data sets are neighbours. Except for the first, ``group_sizes`` is needed.
    rows : {"shared", "split"}
        Whether the same rows train the classifier and adjust it. "split" divides them by their position, in a fixed
        pattern that depends on their number alone.
    share : float, optional
        Share of ε (shared rows) or of the rows (split rows) for the adjustment, in (0, 1). None takes one half of split
        rows, and for shared rows the largest `adjustment_share` of two groups: of rates of one half, the noise then
        lengthens the standard deviation of no two groups' difference by more than a tenth, unless that takes more than
        half of ε. How many rows have the second label is private; for equal opportunity it is assumed
        that half of each group has it. If a share π has it, take √(1/(2π)) times as much.
    classes : sequence of two labels, optional
        The two labels, chosen without looking at the data. By default those that occur in y, which are then public.
    group_sizes : mapping, optional
        Group → about how many of the rows are in it, chosen without looking at the data.
    notion : {"demographic_parity", "equal_opportunity"}
        What is made nearly equal: the selection rates, or the true positive rates, that is, the shares that are
        selected of those of the second label.
    rate, gamma
        Where the groups meet, and how far apart they may stay, as in `PrivateFairPostprocessor`. The statement is the
        same for all: they are public, and only decide what is computed from the noisy counts.
    noise : {"secure", "study"}
        "secure" uses OpenDP's sampler. "study" uses seeded floating-point noise, for experiments; it protects nobody.
    random_state : int, Generator or RandomState, optional
        Seed of study noise. Must be None for secure noise.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels, sorted. The second is the one that is selected.
    groups_ : list
        The group labels, sorted; of several sensitive columns, tuples.
    share_ : float
        The share used.
    learner_ : estimator
        The trained classifier, of labels 0 and 1.
    postprocessor_ : PrivateFairPostprocessor
        The noisy rates and the rules.
    privacy_statement_ : PrivacyStatement
        What both releases cost together, with theirs as its parts.

    References
    ----------
    Ghoukasian and Asoodeh (ISIT 2024), Algorithm 2, after a private learner. The comparison of sharing and splitting,
    the share and the bound on the bias of shared rows are proved in the chapter on a private and fair model (ours).
    More than two groups and equal opportunity are ours too.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=2000, random_state=0)
    >>> X, group = adult.X[["age", "education-num"]] / [90, 16], adult.sensitive_features
    >>> model = dpf.PrivateFairClassifier(epsilon=1.0, delta=1e-6, feature_bound=1.5)
    >>> model = model.fit(X, adult.y, sensitive_features=group)
    >>> model.predict(X, sensitive_features=group, random_state=None).shape
    (2000,)
    >>> model.privacy_statement_.epsilon, [round(part.epsilon, 2) for part in model.privacy_statement_.parts]
    (1.0, [0.78, 0.22])
    """

    privacy_statement_: PrivacyStatement

    def __init__(
        self, *, epsilon: float, delta: float, feature_bound: float | None = None, learner: Any = None,
        relation: str = "replace-within-group", rows: Literal["shared", "split"] = "shared", share: float | None = None,
        classes: Any = None, group_sizes: Mapping[Any, int] | None = None, noise: Noise = "secure",
        random_state: Any = None, notion: Notion = "demographic_parity", rate: str | float = "midpoint",
        gamma: float = 0.0,
    ) -> None:  # fmt: skip
        self.epsilon = epsilon
        self.delta = delta
        self.feature_bound = feature_bound
        self.learner = learner
        self.relation = relation
        self.rows = rows
        self.share = share
        self.classes = classes
        self.group_sizes = group_sizes
        self.noise = noise
        self.random_state = random_state
        self.notion = notion
        self.rate = rate
        self.gamma = gamma

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Self:
        """Train the classifier, count whom it selects, and decide whose predictions to change.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, finite numbers. If the group is to be used, it has to be one of them.
        y : array of shape (n,)
            Labels: two different ones, or some of ``classes``.
        sensitive_features : array of shape (n,) or (n, c)
            Group of each row; of several columns, the tuple of a row's values. There are at least two groups; with
            ``group_sizes`` they are among its keys.

        Returns
        -------
        PrivateFairClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range or unknown; if both or none of ``learner`` and ``feature_bound`` are
            given; if the relation needs ``group_sizes``; if an argument is malformed; if there are not exactly two
            labels, or fewer than two groups; if one of the parts of split rows is empty, or without ``group_sizes`` the
            part that adjusts lacks a group; if the learner's statement is not of the
            ε and δ given to it, under replace-one; if too little is left of an open `Budget`; as the learner and
            `PrivateFairPostprocessor`.
        """
        epsilon, relation = self._check()
        NoiseSource.of(self.noise, self.random_state)  # refuses what does not go together
        if y is None:
            raise ValueError("y: found None, expected a label for every row")
        features, labels = checked(self, X, y)
        self.classes_, codes = two_labels(labels, self.classes)
        sizes, group = self._groups(sensitive_features)
        check_lengths(X=features, sensitive_features=group)
        self.share_ = self._share(list(sizes.values()), epsilon)
        training, adjusting = self._parts(len(features))
        self._check_adjusted(group[adjusting], sizes)

        for_counts = epsilon if self.rows == "split" else below(Fraction(epsilon) * Fraction(self.share_))
        for_learner = epsilon if self.rows == "split" else below(Fraction(epsilon) - Fraction(for_counts))
        learner, postprocessor = self._estimators(for_learner, for_counts, sizes, len(features), adjusting)
        planned = self._planned(for_learner, postprocessor, len(sizes))
        with charged_as_one(self._together(relation, *planned)):
            self.learner_ = learner.fit(features[training], codes[training])
            with np.errstate(all="ignore"):  # a warning would tell of a row whose score overflows
                y_pred = self.learner_.predict(features[adjusting])
            self.postprocessor_ = postprocessor.fit(
                y_pred, codes[adjusting], sensitive_features=group[adjusting]
            )
        self.groups_ = self.postprocessor_.groups_
        _check_as_planned(self.learner_.privacy_statement_, planned[0])
        self.privacy_statement_ = self._together(
            relation, self.learner_.privacy_statement_, self.postprocessor_.privacy_statement_
        )
        return self

    @same_rows
    def predict_proba(self, X: Any, *, sensitive_features: Any) -> np.ndarray:
        """Return the exact probabilities of the two classes, over the random changes.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, as in `fit`.
        sensitive_features : array of shape (n,) or (n, c)
            Group of each row.

        Returns
        -------
        ndarray of shape (n, 2)
            Probabilities, in the order of `classes_`.

        Raises
        ------
        ValueError
            If an argument is malformed, or if a group is not one of `groups_`.
        """
        check_is_fitted(self, "postprocessor_")
        (features,) = checked(self, X, reset=False)
        group = places(sensitive_features, self.groups_, "sensitive_features")
        check_lengths(X=features, sensitive_features=group)
        named = _of_rows(self.groups_, group)
        return self.postprocessor_.predict_proba(self.learner_.predict(features), sensitive_features=named)

    def predict(self, X: Any, *, sensitive_features: Any, random_state: Any = None) -> np.ndarray:
        """Return classes after random changes.

        Parameters
        ----------
        X, sensitive_features
            As in `predict_proba`.
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
            If an argument is malformed, or if a group is not one of `groups_`.
        """
        chances = self.predict_proba(X, sensitive_features=sensitive_features)[:, 1]
        return np.asarray(self.classes_[drawn_labels(chances, random_state)])

    def _check(self) -> tuple[float, str]:
        one_of(self.notion, "notion", get_args(Notion))
        relation = one_of(self.relation, "relation", COUNTS_MOVED[self.notion])
        one_of(self.rows, "rows", ("shared", "split"))
        checked_rate(self.rate)
        checked_gamma(self.gamma)
        below_one(self.delta, "delta")
        if (self.learner is None) == (self.feature_bound is None):
            found = "none of the two" if self.learner is None else "both"
            raise ValueError(f"learner: found {found}, expected either a learner or a feature_bound")
        if self.learner is not None:
            self._check_learner()
        if relation != "replace-within-group" and self.group_sizes is None:
            raise ValueError(
                f"group_sizes: found None beside relation={relation!r}, under which a group's size is private; "
                "expected about how many rows are in each group, a public number"
            )
        return positive(self.epsilon, "epsilon"), relation

    def _check_learner(self) -> None:
        """Refuse what is no private learner, before it sees a row."""
        known = set(self.learner.get_params()) if hasattr(self.learner, "get_params") else set()
        lacks = ", ".join(sorted({"epsilon", "delta", "classes", "noise", "random_state"} - known))
        if lacks or not declares_statement(self.learner):
            found = f"{self.learner!r} without {lacks or 'a declared privacy_statement_'}"
            raise ValueError(f"learner: found {found}, expected a private learner that has it")

    def _groups(self, sensitive_features: Any) -> tuple[dict[Any, int], np.ndarray]:
        """Return each group's size, declared or else counted, and each row's group."""
        if self.group_sizes is None:
            levels, codes = as_groups(sensitive_features)
            groups = levels.tolist()
            if len(groups) < 2:
                raise ValueError(
                    f"sensitive_features: found {len(groups)} group(s) {groups}, expected at least 2"
                )
            return dict(zip(groups, np.bincount(codes).tolist(), strict=True)), _of_rows(groups, codes)
        if not isinstance(self.group_sizes, Mapping) or len(self.group_sizes) < 2:
            raise ValueError(
                f"group_sizes: found {self.group_sizes!r}, expected a mapping of at least two groups to numbers"
            )
        groups = declared_labels(list(self.group_sizes), "group_sizes", ordered=True)
        sizes = {one: as_count(self.group_sizes[one], "group_sizes", 1) for one in groups}
        codes = places(sensitive_features, groups, "sensitive_features")
        return sizes, _of_rows(groups, codes)

    def _share(self, sizes: list[int], epsilon: float) -> float:
        if self.share is not None:
            return inside_unit(self.share, "share")
        if self.rows == "split":
            return 0.5
        # the pair of groups to which noise adds most, compared with sampling, has the smallest group in it
        least, *others = sorted(sizes)
        return max(adjustment_share((least, other), epsilon, moved=self._moved) for other in others)

    @property
    def _moved(self) -> int:
        return COUNTS_MOVED[self.notion][self.relation]

    def _parts(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return which rows train and which adjust: by position alone."""
        if self.rows == "shared":
            return np.ones(n, dtype=bool), np.ones(n, dtype=bool)
        adjusting = held_out(n, self.share_)
        if not 0 < adjusting.sum() < n:
            raise ValueError(
                f"share: found {self.share_} of {n} rows, which leaves one part empty; expected more rows"
            )
        return ~adjusting, adjusting

    def _check_adjusted(self, named: np.ndarray, sizes: dict[Any, int]) -> None:
        if self.group_sizes is not None:
            return  # who is in which group is private
        found = set(as_groups(named)[0].tolist())
        if lacking := [group for group in sizes if group not in found]:
            raise ValueError(
                f"sensitive_features: found no row of group {lacking[0]!r} in the part that adjusts, expected one of "
                "every group, or group_sizes"
            )

    def _estimators(
        self, for_learner: float, for_counts: float, sizes: dict[Any, int], n: int, adjusting: np.ndarray
    ) -> tuple[Any, PrivateFairPostprocessor]:
        seeds: list[Any] = [None, None]
        if not is_secure(self.noise):
            seeds = [int(seed.generate_state(1)[0]) for seed in replicate_seeds(self.random_state, 2)]
        common: dict[str, Any] = {"noise": self.noise}
        settings = {"epsilon": for_learner, "delta": self.delta, "classes": (0, 1), "random_state": seeds[0]}
        if self.learner is None:
            kind: Any = "laplace" if self.delta == 0 else "gaussian"
            given: dict[str, Any] = {**settings, **common, "noise_kind": kind}
            learner: Any = ObjectivePerturbation(feature_bound=self.feature_bound, **given)  # type: ignore[arg-type]
        else:
            learner = clone(self.learner).set_params(**settings, **common)
        divisors = None
        if self.group_sizes is not None:  # of the rows that are counted, in proportion
            part = Fraction(int(adjusting.sum()), n)
            divisors = {group: max(round(size * part), 1) for group, size in sizes.items()}
        return learner, PrivateFairPostprocessor(
            for_counts / self._moved, relation=self.relation, mechanism="geometric", group_sizes=divisors,
            random_state=seeds[1], notion=self.notion, rate=self.rate, gamma=self.gamma, **common,
        )  # fmt: skip

    def _planned(
        self, for_learner: float, postprocessor: PrivateFairPostprocessor, groups: int
    ) -> tuple[PrivacyStatement, PrivacyStatement]:
        """Return both statements before anything is fitted, for budgets that are open."""
        trained = PrivacyStatement(for_learner, self.delta, "replace-one", public=PUBLIC, note=LEFT_OUT)
        counted = postprocessor._cost(noise_levels(postprocessor.epsilon, groups))
        return mark_noise(trained, self.noise), mark_noise(counted, self.noise)

    def _together(
        self, relation: str, trained: PrivacyStatement, counted: PrivacyStatement
    ) -> PrivacyStatement:
        """Compose the two statements; the learner's speaks of replaced records, whatever their group."""
        # the classifier behind the predictions is the other part
        words = [each for each in counted.note.split("; ") if each != BEHIND_PREDICTIONS]
        parts = convert(trained, relation), replace(counted, note="; ".join(words))
        if self.rows == "shared":
            return compose(*parts)
        total = compose(*parts, parallel="position")
        # nobody changes group under this relation, so the sizes in a part do not change either
        public = tuple(
            each.replace("of the rows given to fit", "of each part of the rows") for each in total.public
        )
        return replace(total, public=public)


def _check_as_planned(found: PrivacyStatement, planned: PrivacyStatement) -> None:
    kinds = [(each.relation, each.unit, each.guarantee) for each in (found, planned)]
    # noise on a grid may cost slightly less than the ε that it was calibrated for
    if kinds[0] != kinds[1] or found.epsilon > planned.epsilon or found.delta > planned.delta:
        raise ValueError(f"learner: found the statement {found}, expected {planned} at most")


def _of_rows(groups: list[Any], codes: np.ndarray) -> np.ndarray:
    """Return each row's group; of several columns a table."""
    # an array of the labels' own type would turn numbers beside strings into strings
    return np.array(groups, dtype=object)[codes]
